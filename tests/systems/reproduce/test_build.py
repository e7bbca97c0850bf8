"""Rows as systems: over published weights in small, and what `fit` makes of the splits it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; pip install 'gluebench[train]'")
pytest.importorskip("h5py", reason="h5py is not installed; pip install 'gluebench[train]'")

from systems.reproduce.small_world import SAMPLE, write_cut, write_vectors  # noqa: E402
from systems.weights import files  # noqa: E402

from gluebench.data import DataError, Example, load_split  # noqa: E402
from gluebench.systems import TrainablePredictor, run  # noqa: E402
from gluebench.systems.encoders.corpus import Corpus  # noqa: E402
from gluebench.systems.reproduce.build import NeuralSystem, system, task_data  # noqa: E402
from gluebench.systems.reproduce.row import MissingFilesError, needed_files  # noqa: E402
from gluebench.systems.text import ptb  # noqa: E402

WIDTH = 6


@pytest.fixture(scope="module")
def data(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cut(sample_folder, tmp_path_factory.mktemp("cut") / "data")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small random weights in the original layouts, under the published names."""
    folder = tmp_path_factory.mktemp("weights")
    options = files.elmo_options()
    made = files.write_elmo(folder, options, files.elmo_arrays(options))
    for path, name in zip(made, needed_files()["elmo"].files, strict=True):
        path.rename(folder / name)
    (cove,) = needed_files()["cove"].files
    files.write_state(folder / cove, files.recurrent(4, WIDTH, 4, layers=2))
    files.write_state(folder / "infersent1.pkl", files.recurrent(4, WIDTH, 5, prefix="enc_lstm."))
    files.write_skip_thought(folder, ["<eos>", "UNK", "the", "a", "was", "."])
    return folder


@pytest.fixture(scope="module")
def vectors(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_vectors(tmp_path_factory.mktemp("vectors") / "words.txt", data, ("WNLI",), width=WIDTH)


def examples(data: Path, task: str, split: str) -> list[Example]:
    return load_split(data, SAMPLE, task, split)


@pytest.mark.parametrize("name", ["single-bilstm-elmo", "multi-bilstm-cove", "infersent", "skip-thought"])
def test_rows_over_published_weights_learn_and_answer(
    data: Path, weights: Path, vectors: Path, name: str
) -> None:
    part = SAMPLE._replace(tasks=(SAMPLE.task("WNLI"),))
    made = system(name, Corpus(part, data), preset="tiny", vectors=vectors, weights=weights)
    assert isinstance(made, TrainablePredictor)
    columns = run(made, part, data, role="dev")
    assert len(columns["WNLI"]) == 70


def test_the_language_model_is_not_trained_and_its_mix_is(data: Path, weights: Path) -> None:
    made = system("single-bilstm-elmo", Corpus(SAMPLE, data), preset="tiny", weights=weights)
    assert isinstance(made, NeuralSystem)
    made.fit(SAMPLE.task("WNLI"), examples(data, "WNLI", "train"), examples(data, "WNLI", "dev"))
    model = made._models["WNLI"]
    trained = {name for name, each in model.named_parameters() if each.requires_grad}
    assert not any(".elmo." in name for name in trained)
    assert {name for name in trained if ".mix." in name} == {
        "body.vectors.mix.weights",
        "body.vectors.mix.gamma",
    }


def test_vectors_that_cove_does_not_take_are_told(data: Path, weights: Path, tmp_path: Path) -> None:
    wide = write_vectors(tmp_path / "wide.txt", data, ("WNLI",), width=WIDTH + 1)
    made = system("single-bilstm-cove", Corpus(SAMPLE, data), preset="tiny", vectors=wide, weights=weights)
    with pytest.raises(MissingFilesError, match=r"vectors of 7 numbers; CoVe takes 6"):
        made.fit(SAMPLE.task("WNLI"), examples(data, "WNLI", "train"), examples(data, "WNLI", "dev"))


def test_files_are_asked_for_before_anything_is_read(data: Path, weights: Path) -> None:
    with pytest.raises(MissingFilesError, match=r"nli_large_bothskip\.model.*--weights DIR"):
        system("gensen", Corpus(SAMPLE, data), weights=weights)


@pytest.mark.parametrize("name", ["single-bilstm", "single-bilstm-elmo"])
def test_a_second_seed_or_row_splits_no_text_again(
    data: Path, weights: Path, vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("GLUEBENCH_DATA", str(tmp_path))
    split: list[str] = []
    plain = ptb.tokenize
    monkeypatch.setattr(ptb, "tokenize", lambda text: (split.append(text), plain(text))[1])
    counts = []
    for row, seed in ((name, 1), (name, 2), ("single-bilstm-attn", 1)):
        split.clear()
        made = system(
            row, Corpus(SAMPLE, data), preset="tiny", vectors=vectors, weights=weights, seeds=[seed]
        )
        made.fit(SAMPLE.task("WNLI"), examples(data, "WNLI", "train")[:40], examples(data, "WNLI", "dev")[:9])
        counts.append(len(split))
    assert counts[0] > 100
    assert counts[1:] == [0, 0]


def test_a_multi_task_row_waits_until_it_has_all_its_tasks(data: Path, vectors: Path) -> None:
    made = system("multi-bilstm", Corpus(SAMPLE, data), preset="tiny", vectors=vectors)
    assert isinstance(made, NeuralSystem)
    tasks = [SAMPLE.task(name) for name in ("WNLI", "RTE")]
    for task in tasks:
        made.fit(task, examples(data, task.name, "train"), examples(data, task.name, "dev"))
        assert not made._models
    for task in tasks:
        answers = made.predict(task, examples(data, task.name, "dev")[:5])
        assert set(answers) <= set(task.words)
    one, two = (made._models[task.name] for task in tasks)
    assert one is two
    assert [head.task.name for head in one.heads.values()] == ["WNLI", "RTE"]


def numbered(indices: Sequence[int]) -> list[Example]:
    (first, *_) = [Example(0, {"premise": "a", "hypothesis": "b"}, "neutral")]
    return [replace(first, index=index) for index in indices]


def test_dev_splits_one_after_another_are_told_apart() -> None:
    task = SAMPLE.task("MNLI")
    found = task_data(task, numbered([0]), numbered([0, 1, 2, 0, 1]))
    assert {name: len(rows) for name, rows in found.dev.items()} == {"dev_matched": 3, "dev_mismatched": 2}
    with pytest.raises(DataError, match="the dev examples are of 3 splits; expected 2"):
        task_data(task, numbered([0]), numbered([0, 0, 0]))


def test_a_single_dev_split_may_be_in_any_order() -> None:
    dev = numbered([3, 1, 2])
    assert task_data(SAMPLE.task("RTE"), numbered([0]), dev).dev == {"dev": dev}


def test_without_dev_every_tenth_training_example_is_held_out() -> None:
    found = task_data(SAMPLE.task("WNLI"), numbered(range(25)), [])
    assert [row.index for row in found.dev["dev"]] == [9, 19]
    assert len(found.train) == 23
