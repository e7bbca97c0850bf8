"""The loop: what a run leaves, what each option changes, and that a killed run comes to the same end."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from nearly import same_weights
from systems.training.killed import SETTINGS as KILLED_SETTINGS
from systems.training.killed import main
from systems.training.several import main as stoppable
from systems.training.toy import TOY, best_weights, toy_data, toy_model

from gluebench.data import DataError, Example
from gluebench.systems.run import quiet
from gluebench.systems.training.checkpoint import Outcome, read_weights, save_weights, take_weights
from gluebench.systems.training.evaluation import predict, score
from gluebench.systems.training.log import draw_curves, read_log
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.trainer import Trainer

TESTS = Path(__file__).resolve().parents[2]
SOURCE = TESTS.parent / "src"
KILLED = ("17-during", "12-weights", "20-state")
"""The update and the moment at which runs are killed."""


def trained(folder: Path, settings: Settings = TOY, *names: str, auxiliary: str = "") -> Outcome:
    data = toy_data(*(names or ("SST-2", "STS-B", "MNLI")), auxiliary=auxiliary)
    model = toy_model([each.task for each in data.values()])
    return Trainer(model, data, settings, folder).train()


def weights(outcome: Outcome) -> dict[str, torch.Tensor]:
    file = next(iter(outcome.tasks.values())).weights
    return read_weights(outcome.folder / file)


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Return whether all weights are equal to the last bit."""
    return all(torch.equal(one[name], other[name]) for name in {*one, *other})


def test_a_run_leaves_its_log_its_card_its_outcome_and_the_best_weights(tmp_path: Path) -> None:
    outcome = trained(tmp_path)
    rows = read_log(tmp_path)
    best = max(rows, key=lambda row: row["macro"])
    assert [row["update"] for row in rows] == [12, 24, 36, 48]
    assert outcome.score == best["macro"]
    assert {task.check for task in outcome.tasks.values()} == {int(best["check"])}
    assert outcome.tasks["MNLI"].score == best["MNLI score"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "log.csv", "times.csv", "card.json", "outcome.json", f"best-{int(best['check'])}.safetensors",
    }  # fmt: skip
    card = json.loads((tmp_path / "card.json").read_text())
    assert card["settings"] == asdict(TOY)
    assert card["data"]["MNLI"]["examples"] == {"train": 20, "dev_matched": 20, "dev_mismatched": 20}
    # A build of PyTorch may name its device in the one place and not in the other: 2.13.0+cu130.
    assert torch.__version__.startswith(card["software"]["torch"])
    assert card["model"]["trained_parameters"] == sum(each.numel() for each in weights(outcome).values())


def test_the_score_of_a_run_is_that_of_its_weights_on_the_whole_dev_split(tmp_path: Path) -> None:
    outcome = trained(tmp_path)
    data = toy_data("SST-2", "STS-B", "MNLI")
    model = toy_model([each.task for each in data.values()], seed=9)
    take_weights(model, outcome)
    for name, each in data.items():
        answers = {split: predict(model, name, rows, batch_size=3) for split, rows in each.dev.items()}
        assert score(each, answers).score == pytest.approx(outcome.tasks[name].score, abs=1e-6)


def test_the_same_seed_comes_to_the_same_weights_another_to_others(tmp_path: Path) -> None:
    one, again = (weights(trained(tmp_path / name)) for name in ("one", "again"))
    other = weights(trained(tmp_path / "other", replace(TOY, seed=222)))
    assert same_weights(one, again)
    assert not same_weights(one, other)


def test_training_leaves_no_global_state_behind(tmp_path: Path) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    trained(tmp_path, replace(TOY, precision="tf32"))
    assert torch.equal(torch.get_rng_state(), before)


def test_half_precision_trains_nearly_the_same(tmp_path: Path) -> None:
    whole, half = (
        weights(trained(tmp_path / name, replace(TOY, precision=name, max_checks=1)))  # type: ignore[arg-type]
        for name in ("fp32", "bf16")
    )
    assert not same(whole, half)
    assert all(values.dtype == torch.float32 for values in half.values())
    assert all(torch.allclose(whole[name], half[name], atol=0.1) for name in whole)


def test_a_toy_task_is_learnt(tmp_path: Path) -> None:
    data = toy_data("SST-2", sizes=[800])
    settings = replace(TOY, check_every=None, max_checks=8)
    outcome = Trainer(toy_model([data["SST-2"].task]), data, settings, tmp_path).train()
    assert read_log(tmp_path)[0]["update"] == 100
    assert outcome.tasks["SST-2"].score >= 0.85


def test_a_finished_run_is_not_run_again_and_another_is_not_taken_for_it(tmp_path: Path) -> None:
    first = trained(tmp_path)
    before = (tmp_path / "card.json").stat().st_mtime_ns
    assert trained(tmp_path) == first
    assert (tmp_path / "card.json").stat().st_mtime_ns == before
    with pytest.raises(DataError, match=r"another run: settings clip was 5.0, and is 1.0 now;"):
        trained(tmp_path, replace(TOY, clip=1.0))
    with pytest.raises(DataError, match=r"another run: data MNLI train was \".*\", and is not there now;"):
        trained(tmp_path, TOY, "SST-2", "STS-B")


def test_the_weights_of_a_finished_run_that_are_gone_are_named(tmp_path: Path) -> None:
    outcome = trained(tmp_path)
    (tmp_path / outcome.tasks["MNLI"].weights).unlink()
    with pytest.raises(DataError, match="the weights of this run are gone"):
        trained(tmp_path)


def test_weights_that_share_memory_are_saved_and_everybody_may_read_them_who_may_read_the_log(
    tmp_path: Path,
) -> None:
    table = torch.arange(6.0).reshape(2, 3)
    shared = {"table": table, "tied": table, "turned": table.T, "one": torch.tensor(3.0)}
    save_weights(tmp_path / "weights.safetensors", shared)
    assert same(read_weights(tmp_path / "weights.safetensors"), shared)
    (tmp_path / "log.csv").touch()
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("idle", ["keep", "decay"])
def test_heads_without_a_part_rest_or_are_moved_by_adams_momentum(tmp_path: Path, idle: str) -> None:
    data = toy_data("SST-2", "STS-B", sizes=[200, 20])
    model = toy_model([each.task for each in data.values()])
    name = next(name for name in model.state_dict() if "STS-B" in name and name.endswith("weight"))
    heads = [model.state_dict()[name].clone()]
    settings = replace(TOY, idle_heads=idle, check_every=1, max_checks=60, patience=99)  # type: ignore[arg-type]
    Trainer(
        model,
        data,
        settings,
        tmp_path,
        say=lambda line: line.startswith("check") and heads.append(model.state_dict()[name].clone()),
    ).train()
    rows = read_log(tmp_path)
    updated = [row["STS-B updates"] > 0 for row in rows]
    moved = [not torch.equal(before, after) for before, after in pairwise(heads[: len(rows) + 1])]
    first = updated.index(True)
    assert 0 < first < 40
    assert moved[:first] == [False] * first  # PyTorch 0.4 too moved no head before its first gradient
    assert moved[first:] == (updated[first:] if idle == "keep" else [True] * (60 - first))
    assert not all(updated[first:])


def test_the_loss_of_a_small_task_is_scaled_before_the_gradient_is_clipped(tmp_path: Path) -> None:
    """With a clip so small that it always binds, scaling changes nothing; without a binding clip it does."""
    names = ("SST-2", "STS-B")
    bound = [
        weights(
            trained(tmp_path / f"bound-{scaling}", replace(TOY, clip=1e-6, l2=1e-12, scaling=scaling), *names)
        )
        for scaling in ("batches", "none")
    ]
    free = [
        weights(trained(tmp_path / f"free-{scaling}", replace(TOY, clip=1e9, scaling=scaling), *names))
        for scaling in ("batches", "none")
    ]
    assert all(torch.allclose(bound[0][name], bound[1][name], atol=1e-4) for name in bound[0])
    assert not all(torch.allclose(free[0][name], free[1][name], atol=1e-4) for name in free[0])


def test_an_auxiliary_task_is_trained_and_counts_only_where_asked(tmp_path: Path) -> None:
    names = ("SNLI", "RTE")
    for counted in (False, True):
        settings = replace(TOY, count_auxiliary=counted)
        outcome = trained(tmp_path / str(counted), settings, *names, auxiliary="SNLI")
        rows = read_log(tmp_path / str(counted))
        assert sum(row["SNLI updates"] for row in rows) > 0
        for row in rows:
            expected = (row["SNLI score"] + row["RTE score"]) / 2 if counted else row["RTE score"]
            assert row["macro"] == pytest.approx(expected)
        assert outcome.tasks["SNLI"].metrics.keys() == {"accuracy"}


def test_mnli_is_the_mean_of_two_accuracies_or_pooled_and_stsb_by_pearson_alone() -> None:
    data = toy_data("STS-B", "MNLI")
    mnli = data["MNLI"]
    uneven = replace(
        mnli, dev={"dev_matched": mnli.dev["dev_matched"][:4], **_without(mnli.dev, "dev_matched")}
    )
    answers: dict[str, list[str | float]] = {
        "dev_matched": [str(row.label) for row in uneven.dev["dev_matched"]],
        "dev_mismatched": [wrong(row) for row in uneven.dev["dev_mismatched"]],
    }
    assert score(uneven, answers).score == 0.5
    assert score(uneven, answers, "pooled").score == pytest.approx(4 / 24)
    curved = {"dev": [float(row.label or 0) ** 3 for row in data["STS-B"].dev["dev"]]}
    whole, pooled = score(data["STS-B"], curved), score(data["STS-B"], curved, "pooled")
    assert whole.metrics["spearman"] == pytest.approx(1.0)
    assert whole.score == pytest.approx((whole.metrics["pearson"] + 1) / 2)
    assert pooled.score == pytest.approx(whole.metrics["pearson"])
    assert pooled.score < 1


def _without(splits: Mapping[str, Sequence[Example]], name: str) -> dict[str, Sequence[Example]]:
    return {split: rows for split, rows in splits.items() if split != name}


def wrong(row: Example) -> str:
    return "neutral" if row.label == "entailment" else "entailment"


def test_each_task_may_keep_the_weights_of_its_own_best_check(tmp_path: Path) -> None:
    outcome = trained(tmp_path, replace(TOY, best="task", max_checks=8))
    rows = read_log(tmp_path)
    for name, task in outcome.tasks.items():
        assert task.score == max(row[f"{name} score"] for row in rows)
        assert (tmp_path / task.weights).is_file()
    assert len(list(tmp_path.glob("best-*.safetensors"))) == 3


def test_without_a_terminal_a_line_says_how_far_the_run_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gluebench.systems.training.trainer.SPOKEN_EVERY", 0.0)
    data = toy_data("SST-2")
    settings = replace(TOY, check_every=3, max_checks=1)
    lines: list[str] = []
    model = toy_model([data["SST-2"].task])
    Trainer(model, data, settings, tmp_path, say=lines.append).train()
    said = [line for line in lines if line.startswith("update ")]
    assert [line.partition(";")[0] for line in said] == ["update 1 of at most 3", "update 2 of at most 3"]
    assert all(
        re.search(r"; loss \d\.\d{3}; .* updates(/s| a minute), at most \S+ left$", line) for line in said
    )


def test_a_run_without_dev_examples_keeps_the_last_weights_and_leaves_plain_json(tmp_path: Path) -> None:
    (data,) = toy_data("SST-2").values()
    data = replace(data, dev={})
    settings = replace(TOY, check_every=3, max_checks=2, best="last")
    lines: list[str] = []
    for _ in range(2):  # the second reads what the first left
        trainer = Trainer(toy_model([data.task]), {"SST-2": data}, settings, tmp_path, say=lines.append)
        outcome = trainer.train()
        assert math.isnan(outcome.score)
        assert outcome.tasks["SST-2"].check == 2
    assert "no dev examples; loss" in lines[1]
    for name in ("outcome.json", "card.json"):
        assert "NaN" not in (tmp_path / name).read_text()


def test_a_loss_that_is_no_number_ends_the_run_with_a_word_for_it(tmp_path: Path) -> None:
    with pytest.raises(FloatingPointError, match=r"the training loss of .* is (nan|inf) by update 12"):
        trained(tmp_path, replace(TOY, learning_rate=1e30))


def test_a_loss_that_is_no_number_is_not_saved_over_a_sound_state(tmp_path: Path) -> None:
    settings = replace(TOY, learning_rate=1e30, save_minutes=0)
    with pytest.raises(FloatingPointError, match=r"by update [2-9];"):
        trained(tmp_path, settings)
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    assert all(math.isfinite(loss) for loss in state["ranks"][0]["losses"].values())


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Where the killed runs are, and how each of their processes ended."""
    folder = tmp_path_factory.mktemp("killed")
    script = [sys.executable, str(Path(__file__).with_name("killed.py")), str(folder), "toy", *KILLED]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{TESTS}"}
    done = subprocess.run(script, env=environment, check=True, capture_output=True, text=True)
    return folder, dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_run_that_is_begun_again_comes_to_the_same_end(
    ended: tuple[Path, dict[str, str]], uninterrupted: Path, name: str
) -> None:
    """To the last bit: same machine, one thread, same batches, and PyTorch aligns each array it allocates."""
    folder, exits = ended
    assert exits[name] == f"{-signal.SIGKILL} 0"
    assert same(best_weights(folder / name), best_weights(uninterrupted))
    assert (folder / name / "log.csv").read_bytes() == (uninterrupted / "log.csv").read_bytes()
    assert not (folder / name / "state.pt").exists()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    main(folder)
    return folder


def needs(body: str) -> None:
    """Skip the test if the packages of this body are not installed."""
    if body in ("full", "lora"):
        pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    if body == "lora":
        pytest.importorskip("peft", reason="peft is not installed (gluebench[lora])")


BODIES = ("elmo", "cove", "glove", "full", "lora")


@pytest.mark.parametrize("body", BODIES)
def test_a_row_that_is_stopped_comes_to_the_same_end(tmp_path: Path, body: str) -> None:
    """To the last bit, what a language model carries from batch to batch with it."""
    needs(body)
    settings = replace(TOY, save_minutes=0, check_every=9, max_checks=1)
    for folder, stops in (("whole", [0]), ("stopped", [7, 0])):
        for stop in stops:
            stoppable(tmp_path / folder, json.dumps(asdict(settings)), body, stop)
    assert same(best_weights(tmp_path / "whole"), best_weights(tmp_path / "stopped"))
    assert (tmp_path / "whole" / "log.csv").read_bytes() == (tmp_path / "stopped" / "log.csv").read_bytes()


def test_heads_that_adam_moves_while_idle_do_so_after_a_stop_too(tmp_path: Path) -> None:
    """A gradient of zero is not the same as none, and is no part of the saved state."""
    settings = replace(TOY, idle_heads="decay", save_minutes=0, check_every=40, max_checks=1)
    for folder, stops in (("whole", [0]), ("stopped", [25, 0])):
        for stop in stops:
            stoppable(tmp_path / folder, json.dumps(asdict(settings)), "toy", stop)
    assert same(best_weights(tmp_path / "whole"), best_weights(tmp_path / "stopped"))


@pytest.mark.parametrize("body", ["toy", "elmo"])
def test_the_duration_is_estimated_before_and_changes_nothing(tmp_path: Path, body: str) -> None:
    settings = replace(TOY, check_every=6, max_checks=1)
    data = toy_data("SST-2", "STS-B")
    lines: list[str] = []
    for name, say in (("quiet", quiet), ("told", lines.append)):
        model = toy_model([each.task for each in data.values()], body=body)
        Trainer(model, data, settings, tmp_path / name, say=say).train()
    # The duration is that of this machine, whatever else runs on it.
    assert re.match(r"at most 6 updates, about \d\d:\d\d at the speed of the first batches", lines[0])
    (loss,) = re.findall(r"; loss (\S+); learning rate", lines[1])
    (row,) = read_log(tmp_path / "told")
    both = [(row[f"{name} loss"], row[f"{name} updates"]) for name in data if row[f"{name} updates"]]
    assert float(loss) == pytest.approx(sum(mean * count for mean, count in both) / 6, abs=6e-4)
    assert same(best_weights(tmp_path / "quiet"), best_weights(tmp_path / "told"))
    assert (tmp_path / "quiet" / "log.csv").read_bytes() == (tmp_path / "told" / "log.csv").read_bytes()


def test_a_task_that_ends_in_one_answer_for_all_is_warned_of(tmp_path: Path) -> None:
    warned = []
    for name, rate, checks in (("slow", 1e-9, 1), ("fast", 1e-2, 8)):
        data = toy_data("SST-2", sizes=[800])
        model = toy_model([data["SST-2"].task])
        with torch.no_grad():
            model.head("SST-2").layers[-1].bias.copy_(torch.tensor([1.0, 0.0]))  # type: ignore[index]
        settings = replace(TOY, learning_rate=rate, check_every=None, max_checks=checks)
        lines: list[str] = []
        Trainer(model, data, settings, tmp_path / name, say=lines.append).train()
        warned.append([line for line in lines if "every dev example gets the same answer" in line])
    assert [len(lines) for lines in warned] == [1, 0]
    assert warned[0][0].startswith("WARNING: SST-2: ")


class SignalledTrainer(Trainer):
    """Gets a signal in the middle of an update."""

    number: int
    at: int

    def _update(self) -> None:
        super()._update()
        if self._progress.update == self.at:
            signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", [7, 12, 36])
def test_a_signal_saves_the_run_and_then_has_its_effect(
    tmp_path: Path, uninterrupted: Path, number: signal.Signals, at: int
) -> None:
    """At 12 between a check and the next batch; at 36 with the last update, so that the run is finished."""

    def exit_as_a_sweep_does(*_: object) -> None:
        raise SystemExit(143)

    data = toy_data("SST-2", "STS-B", "MNLI")
    lines: list[str] = []
    settings = replace(KILLED_SETTINGS, save_minutes=60)
    before = signal.signal(signal.SIGTERM, exit_as_a_sweep_does)
    model = toy_model([each.task for each in data.values()])
    trainer = SignalledTrainer(model, data, settings, tmp_path, say=lines.append)
    trainer.number, trainer.at = number, at
    try:
        with pytest.raises(KeyboardInterrupt if number == signal.SIGINT else SystemExit):
            trainer.train()
        assert signal.getsignal(signal.SIGTERM) is exit_as_a_sweep_does
    finally:
        signal.signal(signal.SIGTERM, before)
    told = f"stopped by {number.name} after update {at}, which is saved in {tmp_path / 'state.pt'}; "
    assert (told + "the same command goes on from there" in lines) == (at < 36)
    main(tmp_path)
    assert same(best_weights(tmp_path), best_weights(uninterrupted))
    assert (tmp_path / "log.csv").read_bytes() == (uninterrupted / "log.csv").read_bytes()


def test_a_second_signal_ends_a_run_at_once(tmp_path: Path) -> None:
    class Impatient(SignalledTrainer):
        def _update(self) -> None:
            super()._update()
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    data = toy_data("SST-2")
    trainer = Impatient(toy_model([data["SST-2"].task]), data, TOY, tmp_path)
    trainer.number, trainer.at = signal.SIGINT, 0
    with pytest.raises(KeyboardInterrupt):
        trainer.train()
    assert not (tmp_path / "state.pt").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_state_is_saved_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of this test goes on by a minute with every update."""
    saved_after = []
    plain_save = Trainer._save

    def save(self: Trainer) -> None:
        saved_after.append(self._progress.update)
        plain_save(self)

    data = toy_data("SST-2")
    settings = replace(TOY, check_every=100, max_checks=1, save_minutes=30)
    trainer = Trainer(toy_model([data["SST-2"].task]), data, settings, tmp_path)
    monkeypatch.setattr(Trainer, "_save", save)
    monkeypatch.setattr("gluebench.systems.training.trainer.time", MinutesOf(trainer))
    trainer.train()
    assert saved_after == [30, 60, 90, 100]


class MinutesOf:
    """A clock that shows a run's updates as minutes."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    def monotonic(self) -> float:
        return 60.0 * self._trainer._progress.update


@pytest.mark.slow
@pytest.mark.parametrize("body", ["glove", "full"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_runs_that_are_ended_at_random_moments_come_to_the_same_end(
    tmp_path: Path, body: str, number: signal.Signals
) -> None:
    """Twenty moments; what came before the signal is saved, but for the update that it may have cut."""
    needs(body)
    script = [sys.executable, str(Path(__file__).with_name("killed.py")), str(tmp_path), body, "random"]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{TESTS}"}
    command = [*script, str(int(number)), "20"]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    ends = [line.split() for line in done.stdout.splitlines()]
    assert len(ends) == 20
    for name, update, saved, exit_code in ends:
        assert exit_code == "0"
        assert saved == "0" or int(saved) >= int(update) - 1
        assert same(best_weights(tmp_path / name), best_weights(tmp_path / "whole"))
        assert (tmp_path / name / "log.csv").read_bytes() == (tmp_path / "whole" / "log.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES)
def test_a_killed_row_comes_to_the_same_end(tmp_path: Path, body: str) -> None:
    needs(body)
    script = [sys.executable, str(Path(__file__).with_name("killed.py")), str(tmp_path), body, *KILLED]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{TESTS}"}
    done = subprocess.run(script, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"{name} {-signal.SIGKILL} 0" for name in KILLED]
    main(tmp_path / "whole", body)
    for name in KILLED:
        assert same(best_weights(tmp_path / name), best_weights(tmp_path / "whole"))
        assert (tmp_path / name / "log.csv").read_bytes() == (tmp_path / "whole" / "log.csv").read_bytes()


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    (tmp_path / "state.pt").write_bytes(b"not a state")
    with pytest.raises(DataError, match=r"state.pt: cannot be read as a saved run"):
        trained(tmp_path)


def test_what_is_the_clocks_is_apart_from_the_log(tmp_path: Path) -> None:
    trained(tmp_path)
    with (tmp_path / "times.csv").open() as file:
        times = list(csv.DictReader(file))
    assert [row["update"] for row in times] == ["12", "24", "36", "48"]
    assert all(float(row["seconds"]) > 0 for row in times)


def test_curves_are_drawn_and_alike_from_the_same_logs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    trained(tmp_path / "a")
    trained(tmp_path / "b", replace(TOY, seed=222))
    files = [tmp_path / "curves.svg", tmp_path / "again.svg"]
    for file in files:
        draw_curves({"seed 111": tmp_path / "a", "seed 222": tmp_path / "b"}, file)
    assert files[0].read_text().count("<path") > 20
    assert files[0].read_bytes() == files[1].read_bytes()
