"""Rows at their sizes: what trainer and probe have as the paper's settings, and what smaller ones change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gluebench.benchmark import UnknownNameError
from gluebench.systems.probe.settings import preset_called
from gluebench.systems.reproduce import row_called, rows
from gluebench.systems.reproduce.row import Files, check_files, needed_files, presets
from gluebench.systems.training.settings import PRESETS, SEEDS, SINGLE

NAMES = [row.name for row in rows()]


@pytest.mark.parametrize("preset", ["paper", "released"])
@pytest.mark.parametrize("name", NAMES)
def test_the_presets_of_full_size_are_those_of_the_trainer(name: str, preset: str) -> None:
    found = row_called(name).at(preset)
    assert found.seeds == SEEDS
    if found.training == "frozen":
        assert (found.settings, found.probe) == (None, preset_called(f"paper:{name}"))
    else:
        assert found.settings == (PRESETS if found.training == "multi-task" else SINGLE)[preset]
        snli = preset == "released" and found.training == "multi-task"
        assert found.auxiliary == (("SNLI",) if snli else ())


@pytest.mark.parametrize("name", NAMES[:12])
def test_a_row_s_options_follow_from_its_name(name: str) -> None:
    """Facts of the released code: 1500 a direction, 40 tokens, dropout on ELMo, draws for unknown words."""
    row = row_called(name)
    model = row.at("paper").model
    words = next((kind for kind in ("elmo", "cove") if kind in name), "glove")
    common = {"hidden": 1500, "layers": 2, "dropout": 0.2, "classifier": 512, "longest": 40}
    assert {key: model[key] for key in common} == common
    assert (model["words"], model["attention"], model["pool_padding"]) == (words, "attn" in name, False)
    if words == "elmo":
        assert (model["elmo_dropout"], model["elmo_carry"]) == (0.5, True)
        assert "vocabulary" not in model
    else:
        assert (model["vocabulary"], model["oov"], model["case"]) == (30000, "normal", "exact")
    assert row.auxiliary == (("SNLI",) if name.startswith("multi") else ())
    assert row.best == ("run" if name.startswith("multi") else "task")


@pytest.mark.parametrize("preset", ["tiny", "small"])
@pytest.mark.parametrize("name", NAMES)
def test_smaller_presets_keep_what_a_row_is(name: str, preset: str) -> None:
    row = row_called(name)
    small, paper = row.at(preset), row.at("paper")
    assert len(small.seeds) == 1
    assert small.best == paper.best
    kept = ("words", "attention", "elmo_dropout", "oov", "reader", "pooling", "padding", "models", "eos")
    for mine, its in ((small.model, paper.model), (small.encoder, paper.encoder)):
        assert {key: mine.get(key) for key in kept} == {key: its.get(key) for key in kept}


def test_tiny_limits_the_probe_for_every_task() -> None:
    probe = row_called("cbow").at("tiny").probe
    assert probe is not None
    for task in ("CoLA", "SST-2"):
        assert probe.of(task).max_epoch == 4
        assert probe.of(task).penalties == (1e-4,)
        assert probe.of(task).relatedness.max_epoch == 50
    assert probe.of("CoLA").batch_size == 16


def test_seeds_may_be_chosen_and_are_no_part_of_what_a_run_is() -> None:
    row = row_called("single-bilstm")
    one, two = row.at("tiny", seeds=(1, 2)), row.at("tiny")
    assert one.seeds == (1, 2)
    assert one.identity() == two.identity() == replace(one, seeds=(1,)).identity()
    assert one.identity() != row.at("small").identity()


def test_changes_come_after_the_preset_and_reach_the_row_that_owns_a_task() -> None:
    row = row_called("single-bilstm-attn").at("small", changes=("patience=3", "hidden=150"))
    assert row.settings == replace(row_called("single-bilstm-attn").at("small").settings, patience=3)
    assert row.model == {**row_called("single-bilstm-attn").at("small").model, "hidden": 150}
    owner = row_called(row.owners["CoLA"]).at(row.preset, changes=row.changes)
    assert owner.identity()["settings"]["patience"] == 3


def test_an_unknown_preset_is_told_with_those_there_are() -> None:
    assert [*presets()] == ["tiny", "small", "paper", "released"]
    with pytest.raises(UnknownNameError, match="tiny"):
        row_called("cbow").at("tinny")


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_had_names_file_address_license_and_option(name: str) -> None:
    from gluebench.systems.reproduce.row import MissingFilesError

    with pytest.raises(MissingFilesError) as caught:
        check_files(row_called(name).at("paper"), Files())
    needs = [needed_files()[need] for need in row_called(name).needs]
    assert len(caught.value.reasons) == len(needs)
    for reason, need in zip(caught.value.reasons, needs, strict=True):
        for part in (*need.files, need.address, need.license, need.option):
            assert part in reason


def test_rows_over_glove_train_vectors_of_their_own_in_smaller_presets() -> None:
    can = [name for name in NAMES if row_called(name).at("small").own_vectors]
    assert can == ["single-bilstm", "single-bilstm-attn", "multi-bilstm", "multi-bilstm-attn", "cbow"]
    for name in can:
        check_files(row_called(name).at("small"), Files())
