"""A run that is never lost: what is kept, what is done again, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from nearly import nearly, same_columns

from gluebench.benchmark import Benchmark, Task
from gluebench.data import DataError, Example
from gluebench.scoring import grade, read_gold
from gluebench.systems import SYSTEMS, run
from gluebench.systems.adapters.session import RunPlan, Session, lock_folder
from gluebench.systems.run import Answers, choose_tasks, units


class Watcher:
    def __init__(self) -> None:
        self.begun: list[str] = []
        self.left: list[float | None] = []

    def report_start(self, place) -> None:
        self.begun.append(f"{place.number}/{place.of} {place.unit.task.name}")
        self.left.append(place.left)

    def report_end(self, place, result) -> None:
        self.left.append(place.left)


class Breaks:
    """Majority, until it comes to a task."""

    def __init__(self, at: str | None = None) -> None:
        self.inner = SYSTEMS["majority"].make()
        self.at = at
        self.fitted: list[str] = []
        self.forgotten: list[str] = []

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        self.fitted.append(task.name)
        self.inner.fit(task, train, dev)

    def predict(self, task: Task, examples: Sequence[Example]) -> Sequence[str | float]:
        if task.name == self.at:
            raise OSError("the power went")
        return self.inner.predict(task, examples)

    def forget(self, task: Task) -> None:
        self.forgotten.append(task.name)


@pytest.fixture(scope="module")
def plan(sample: Benchmark, sample_folder: Path) -> RunPlan:
    return RunPlan(sample, sample_folder, sample.tasks)


def done(folder: Path, plan: RunPlan, system, identity=None, **options) -> tuple[Session, Watcher]:
    watcher = Watcher()
    with lock_folder(folder, **options):
        session = Session(folder, plan, identity or {"model": "m"})
        session.claim()
        session.run(system, watcher)
    return session, watcher


@pytest.fixture(scope="module")
def overlap(plan: RunPlan, tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Watcher]:
    """A whole run of the word overlap."""
    return done(tmp_path_factory.mktemp("overlap") / "r", plan, SYSTEMS["overlap"].make())


def test_the_dev_answers_are_saved_before_the_test_set_is_answered(plan: RunPlan, tmp_path: Path) -> None:
    class BreaksOnTest(Breaks):
        def predict(self, task: Task, examples: Sequence[Example]) -> Sequence[str | float]:
            self.at = task.name if self.fitted.count("killed") else None
            self.fitted.append("killed")
            return super().predict(task, examples)

    small = plan._replace(tasks=choose_tasks(plan.benchmark, ["WNLI"]))
    with pytest.raises(OSError, match="the power went"):
        done(tmp_path / "r", small, BreaksOnTest())
    session = Session(tmp_path / "r", small, {"model": "m"})
    assert session.columns("dev").keys() == {"WNLI"}
    assert session.columns("test") == {}
    report = session.dev_report()
    assert report is not None
    assert report.tasks["WNLI"].score is not None
    assert [unit.task.name for unit in session.missing()] == ["WNLI"]


def test_units_are_tasks_with_all_that_their_models_answer(sample: Benchmark) -> None:
    found = units(sample, sample.tasks, ("dev", "test"))
    assert [unit.task.name for unit in found] == [task.name for task in sample.scored]
    mnli = next(unit for unit in found if unit.task.name == "MNLI")
    assert [query.key for query in mnli.queries] == [
        ("dev", "MNLI-m"),
        ("dev", "MNLI-mm"),
        ("test", "MNLI-m"),
        ("test", "MNLI-mm"),
        ("test", "AX"),
    ]
    assert mnli.size() == 6000 + 300 + 300 + 1500 + 1500 + 600
    assert [task.name for task in choose_tasks(sample, ["mnli"])] == ["MNLI", "AX"]
    alone = units(sample, choose_tasks(sample, ["AX"]), ("test",))
    assert [(unit.task.name, [query.file.name for query in unit.queries]) for unit in alone] == [
        ("MNLI", ["AX"])
    ]


def test_task_by_task_gives_what_a_whole_run_gives(plan: RunPlan, overlap: tuple[Session, Watcher]) -> None:
    session, watcher = overlap
    whole = run(SYSTEMS["overlap"].make(), plan.benchmark, plan.data)
    assert same_columns(session.columns("test"), whole)
    assert watcher.begun[0] == "1/9 CoLA"
    assert watcher.left[0] is None
    assert watcher.left[-1] == 0.0


def test_the_scores_are_those_of_the_gold_folder(
    plan: RunPlan, overlap: tuple[Session, Watcher], sample_folder: Path
) -> None:
    session, _ = overlap
    report = session.dev_report()
    expected = grade(
        session.columns("dev"), read_gold(sample_folder / "gold-dev", plan.benchmark, role="dev")
    )
    assert report is not None
    tasks, expected_tasks = report.as_dict()["tasks"], expected.as_dict()["tasks"]
    assert tasks.keys() == expected_tasks.keys()
    for name, task in tasks.items():
        if name != "WNLI":  # the gold folder knows which of its examples share a premise; the data do not
            assert task == nearly(expected_tasks[name], tolerance=1e-9)
    assert report.score is not None
    assert expected.score is not None
    assert report.score.value == pytest.approx(expected.score.value, abs=1e-9)


def test_what_was_done_before_an_error_is_kept_and_only_the_rest_is_done(
    plan: RunPlan, tmp_path: Path
) -> None:
    folder = tmp_path / "r"
    with pytest.raises(OSError, match="the power went"):
        done(folder, plan, Breaks("STS-B"))
    assert sorted(path.name for path in folder.iterdir()) == [
        "CoLA.json",
        "MRPC.json",
        "SST-2.json",
        "lock",
        "run.json",
    ]
    system = Breaks()
    session, watcher = done(folder, plan, system)
    assert system.fitted == ["STS-B", "QQP", "MNLI", "QNLI", "RTE", "WNLI"] == system.forgotten
    assert watcher.begun[0] == "4/9 STS-B"
    assert session.columns("test") == run(SYSTEMS["majority"].make(), plan.benchmark, plan.data)
    again = Breaks()
    done(folder, plan, again)
    assert again.fitted == []
    done(folder, plan, again, again=True)
    assert len(again.fitted) == 9


def test_what_is_learned_together_is_given_every_task_first_and_again_after_a_kill(
    plan: RunPlan, tmp_path: Path
) -> None:
    part = plan._replace(tasks=choose_tasks(plan.benchmark, ["RTE", "WNLI"]))
    for at in ("WNLI", None):
        system = Breaks(at)
        session = Session(tmp_path / "r", part, {"model": "m"})
        with lock_folder(tmp_path / "r"):
            session.claim()
            if at:
                with pytest.raises(OSError, match="the power went"):
                    session.run(system, Watcher(), together=True)
            else:
                session.run(system, Watcher(), together=True)
        assert system.fitted == ["RTE", "WNLI"]
    assert set(session.columns("test")) == {"RTE", "WNLI"}


def test_further_tasks_and_splits_join_what_is_there(plan: RunPlan, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    part = plan._replace(tasks=choose_tasks(plan.benchmark, ["AX"]), dev=False)
    session, _ = done(folder, part, Breaks())
    assert list(session.columns("test")) == ["AX"]
    session, _ = done(folder, plan._replace(tasks=choose_tasks(plan.benchmark, ["RTE", "MNLI"])), Breaks())
    assert set(session.columns("test")) == {"RTE", "MNLI-m", "MNLI-mm", "AX"}
    assert set(session.columns("dev")) == {"RTE", "MNLI-m", "MNLI-mm"}


def test_another_model_is_refused_with_all_that_differs(plan: RunPlan, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    done(folder, plan, Breaks(), {"model": "m", "seed": 1, "shots": 2})
    with pytest.raises(DataError) as caught:
        done(folder, plan, Breaks(), {"model": "n", "seed": 1})
    first, *others = caught.value.problems
    assert "another run; give another --out, or start over with --again" in first
    assert others == ['model was "m", and is "n" now', "shots was 2, and is not there now"]


def test_data_that_have_changed_are_refused(sample: Benchmark, sample_folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "RTE").mkdir(parents=True)
    for file in (sample_folder / "RTE").iterdir():
        (data / "RTE" / file.name).write_bytes(file.read_bytes())
    plan = RunPlan(sample, data, choose_tasks(sample, ["RTE"]))
    done(tmp_path / "r", plan, Breaks())
    train = data / "RTE" / "train.tsv"
    lines = train.read_text().splitlines(keepends=True)
    train.write_text("".join([lines[0], *reversed(lines[1:])]))
    with pytest.raises(DataError, match="RTE/train: its file has changed since RTE was done"):
        done(tmp_path / "r", plan, Breaks())


def test_one_process_at_a_time_and_nothing_left_where_nothing_was_done(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    with lock_folder(folder), pytest.raises(DataError, match="another process"), lock_folder(folder):
        pass
    assert not folder.exists()


def test_a_folder_of_something_else_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("dear")
    with pytest.raises(DataError, match="not the folder of a run"), lock_folder(tmp_path, again=True):
        pass
    assert (tmp_path / "thesis.tex").read_text() == "dear"


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: values["files"][0]["values"].pop(),
        lambda values: values["files"][0]["values"].__setitem__(0, "perhaps"),
        lambda values: values.pop("files"),
        lambda values: values.__setitem__("schema", "x"),
    ],
)
def test_damaged_results_are_told_with_their_file(plan: RunPlan, tmp_path: Path, damage) -> None:
    part = plan._replace(tasks=choose_tasks(plan.benchmark, ["WNLI"]))
    session, _ = done(tmp_path / "r", part, Breaks())
    path = tmp_path / "r" / "WNLI.json"
    values = json.loads(path.read_text())
    damage(values)
    path.write_text(json.dumps(values))
    with pytest.raises(DataError, match=r"WNLI\.json: not the results of a task .*remove the file"):
        session.results()


class Silent:
    """Right by luck; what stands in for a label that it does not answer is the right one, too."""

    def __init__(self, gold) -> None:
        self.gold = gold

    def predict(self, task: Task, examples: Sequence[Example]) -> Answers:
        return Answers([self.gold[task.name][each.index] for each in examples], [0, 3])


def test_an_unanswered_label_counts_as_wrong_and_a_score_as_what_stands_in(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    gold = read_gold(sample_folder / "gold-dev", sample, role="dev")
    right = {"RTE": gold.columns["RTE"].words(), "STS-B": list(gold.columns["STS-B"].numbers)}
    right["STS-B"][0] = right["STS-B"][3] = 2.5
    plan = RunPlan(sample, sample_folder, choose_tasks(sample, list(right)), role="dev")
    session, _ = done(tmp_path / "r", plan, Silent(right))
    report = session.dev_report()
    assert report is not None
    score = report.tasks["RTE"].metrics["accuracy"]
    assert score.value == pytest.approx(0.98)
    expected = grade({"STS-B": right["STS-B"]}, gold).tasks["STS-B"]
    assert report.tasks["STS-B"].metrics["pearson"].value == expected.metrics["pearson"].value < 1.0
    assert session.columns("dev")["RTE"].words() == right["RTE"]
