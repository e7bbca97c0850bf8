"""Rows run again on tasks of the sample benchmark: what is trained, kept, shared, chosen and said."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; pip install 'gluebench[train]'")

from systems.reproduce.small_world import SAMPLE, place, write_cut, write_vectors  # noqa: E402

from gluebench.data import DataError, load_split  # noqa: E402
from gluebench.scoring import accuracy, matthews_correlation, read_gold  # noqa: E402
from gluebench.systems.reproduce.compare import HIDDEN, replace_rows, results, row_of_cells  # noqa: E402
from gluebench.systems.reproduce.rerun import (  # noqa: E402
    Request,
    Result,
    RowResult,
    Setup,
    reproduce,
)

TASKS = ("CoLA", "WNLI")
ROWS = ("cbow", "single-bilstm", "single-bilstm-attn", "multi-bilstm", "infersent")
ASKED = Request("table6", "tiny", TASKS)


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cut(sample_folder, tmp_path_factory.mktemp("cut") / "data")


@pytest.fixture(scope="module")
def vectors(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_vectors(tmp_path_factory.mktemp("vectors") / "words.txt", folder, TASKS)


@pytest.fixture(scope="module")
def here(folder: Path, tmp_path_factory: pytest.TempPathFactory, vectors: Path) -> Setup:
    return place(folder, tmp_path_factory.mktemp("out"), vectors=vectors)


@pytest.fixture(scope="module")
def ran(here: Setup) -> dict[str, RowResult]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = reproduce(ASKED, ROWS, here, gold=here.dev, say=lambda line: None)
    torch.set_num_threads(threads)
    return {each.row.name: each for each in found}


def predicted(folder: Path, name: str, role: str = "dev", *, task: str = "") -> list[str]:
    """The predictions for a test file that a run's folder has."""
    files = json.loads((folder / f"{task or name}.json").read_text())["files"]
    (own,) = [file["values"] for file in files if (file["role"], file["file"]) == (role, name)]
    return own


def labels(task: str) -> list[str]:
    return [str(each.label) for each in load_split(FOLDER[0], SAMPLE, task, "dev")]


FOLDER: list[Path] = []


@pytest.fixture(autouse=True)
def _folder(folder: Path) -> None:
    FOLDER[:] = [folder]


@pytest.mark.parametrize("name", ["cbow", "single-bilstm", "multi-bilstm"])
def test_scores_are_those_of_the_predictions_that_were_kept(
    ran: dict[str, RowResult], here: Setup, name: str
) -> None:
    found = {(cell.column, cell.metric): cell for cell in row_of_cells(ran[name], ASKED, SAMPLE)}
    folders = {"multi-bilstm": ("CoLA+WNLI", "CoLA+WNLI")}.get(name, TASKS)
    for task, folder, metric in zip(TASKS, folders, (matthews_correlation, accuracy), strict=True):
        kept = here.out / "tiny" / name / folder / "seed-111"
        expected = metric(labels(task), predicted(kept, task))
        title = SAMPLE.task(task).metrics[0].title
        score = found[task, title].obtained
        assert score is not None
        assert score.value == pytest.approx(expected)
        assert score.n == len(labels(task))
    assert found["CoLA", "Matthews corr."].expected == {"cbow": 0.046, "single-bilstm": 0.176}.get(
        name, 0.186
    )


def test_single_sentences_are_not_trained_twice(ran: dict[str, RowResult], here: Setup) -> None:
    own = here.out / "tiny" / "single-bilstm-attn"
    assert sorted(path.name for path in own.iterdir()) == ["WNLI"]
    runs = [ran[name].chosen["CoLA"] for name in ("single-bilstm-attn", "single-bilstm")]
    assert runs[0].session.folder == runs[1].session.folder
    (cola, *_) = row_of_cells(ran["single-bilstm-attn"], ASKED, SAMPLE)
    assert cola.reason == "the run of single-bilstm"


def test_a_row_without_its_weights_says_what_it_needs(ran: dict[str, RowResult]) -> None:
    (reason,) = ran["infersent"].whole
    assert "infersent1.pkl" in reason
    assert "CC BY-NC 4.0" in reason
    assert "--weights DIR" in reason
    assert all(
        cell.obtained is None and cell.reason == reason
        for cell in row_of_cells(ran["infersent"], ASKED, SAMPLE)
    )


def test_a_finished_run_is_not_made_again_and_a_lost_one_is(
    ran: dict[str, RowResult], here: Setup, tmp_path: Path
) -> None:
    copy = tmp_path / "out"
    shutil.copytree(here.out, copy)
    again = Setup(here.corpus, here.files, copy, here.dev)
    names = ("cbow", "single-bilstm")
    lost = copy / "tiny" / "single-bilstm" / "WNLI" / "seed-111"
    shutil.rmtree(lost)
    stamps = {path: path.stat().st_mtime_ns for path in copy.glob("tiny/*/*/seed-*/*.json")}
    said: list[str] = []
    found = reproduce(ASKED, names, again, gold=again.dev, say=said.append)
    assert {path for path in copy.glob("tiny/*/*/seed-*/*.json") if path not in stamps} == {
        lost / "run.json",
        lost / "WNLI.json",
    }
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    assert not any(line.startswith("CoLA: seed") for line in said)
    assert any(line.startswith("WNLI: seed 111, check 1") for line in said)
    before = [row_of_cells(ran[name], ASKED, SAMPLE) for name in names]
    assert [row_of_cells(each, ASKED, SAMPLE) for each in found] == before


def test_runs_of_something_else_are_not_taken_for_these(
    ran: dict[str, RowResult], here: Setup, vectors: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text(vectors.read_text() + f"surplus {' '.join(['0.5'] * 12)}\n")
    elsewhere = Setup(here.corpus, here.files._replace(vectors=other), here.out, here.dev)
    with pytest.raises(DataError, match=r"another run; .*--out.*\nfiles words.txt was"):
        reproduce(ASKED, ["cbow"], elsewhere, gold=here.dev, say=lambda line: None)


def test_a_damaged_result_is_named(ran: dict[str, RowResult], here: Setup, tmp_path: Path) -> None:
    copy = tmp_path / "out"
    shutil.copytree(here.out / "tiny" / "cbow", copy / "tiny" / "cbow")
    (copy / "tiny" / "cbow" / "WNLI" / "seed-111" / "WNLI.json").write_text("{")
    with pytest.raises(DataError, match="not the results of a task"):
        reproduce(
            ASKED, ["cbow"], Setup(here.corpus, here.files, copy, here.dev), gold=None, say=lambda line: None
        )


def test_the_best_run_answers(folder: Path, tmp_path: Path, vectors: Path) -> None:
    """Three seeds of the multi-task row: the one of the best dev score, computed here anew."""
    there = place(folder, tmp_path, vectors=vectors)
    asked = Request("table6", "tiny", ("WNLI",), (3, 1, 2))
    (found,) = reproduce(asked, ["multi-bilstm"], there, gold=there.dev, say=lambda line: None)
    means = {}
    for seed in (3, 1, 2):
        kept = tmp_path / "tiny" / "multi-bilstm" / "WNLI" / f"seed-{seed}"
        means[seed] = accuracy(labels("WNLI"), predicted(kept, "WNLI"))
    best = max(means, key=means.__getitem__)  # of equals the first
    assert {task: result.seed for task, result in found.chosen.items()} == {"WNLI": best}


def test_table_4_has_the_majority_class_on_wnli_and_trains_nothing_for_it(
    folder: Path, tmp_path: Path, vectors: Path
) -> None:
    there = place(folder, tmp_path, vectors=vectors)
    gold = read_gold(folder / "gold", SAMPLE, role="test", partial=True)
    asked = Request("table4", "tiny", ("WNLI",))
    (found,) = reproduce(asked, ["cbow"], there, gold=gold, say=lambda line: None)
    assert not found.chosen
    assert not (tmp_path / "tiny" / "cbow").exists()
    train = Counter(example.label for example in load_split(folder, SAMPLE, "WNLI", "train"))
    majority = max(SAMPLE.task("WNLI").words, key=train.__getitem__)
    true = list(gold.columns["WNLI"].words())
    (cell,) = row_of_cells(found, asked, SAMPLE)
    assert cell.obtained is not None
    assert cell.obtained.value == pytest.approx(true.count(majority) / len(true))
    assert (cell.expected, cell.reason) == (0.651, "majority class, as in the paper")
    (bare,) = reproduce(asked, ["cbow"], there, gold=None, say=lambda line: None)
    (cell,) = row_of_cells(bare, asked, SAMPLE)
    assert cell.obtained is None
    assert HIDDEN in cell.reason


def test_a_task_without_data_has_its_reason(here: Setup, ran: dict[str, RowResult], tmp_path: Path) -> None:
    for task in TASKS[:1]:
        shutil.copytree(FOLDER[0] / task, tmp_path / "data" / task)
    there = place(tmp_path / "data", tmp_path / "out", vectors=here.files.vectors)
    (found,) = reproduce(ASKED, ["cbow"], there, gold=there.dev, say=lambda line: None)
    one, two = row_of_cells(found, ASKED, SAMPLE)
    assert one.obtained is not None
    assert two.obtained is None
    assert "no data of WNLI" in two.reason
    assert "gluebench data get" in two.reason


def test_the_diagnostic_set_is_answered_by_the_mnli_classifier(folder: Path, tmp_path: Path) -> None:
    vectors = write_vectors(tmp_path / "words.txt", folder, ("MNLI",))
    there = place(folder, tmp_path / "out", vectors=vectors)
    gold = read_gold(folder / "gold", SAMPLE, role="test", partial=True)
    asked = Request("table5", "tiny")
    (found,) = reproduce(asked, ["cbow"], there, gold=gold, say=lambda line: None)
    assert [*found.chosen] == ["MNLI"]
    session = found.chosen["MNLI"].session
    assert sorted(session.columns("test")) == ["AX", "MNLI-m", "MNLI-mm"]
    own = row_of_cells(found, asked, SAMPLE)
    assert [cell.column for cell in own][:3] == ["All", "Lexical Semantics", "Predicate-Argument Structure"]
    assert own[0].expected == 0.09
    assert own[0].obtained is not None
    assert own[0].obtained.n == 600
    with (folder / "gold" / "AX.tsv").open(newline="") as file:
        true = [row["label"] for row in csv.DictReader(file, delimiter="\t")]
    from gluebench.scoring import r_k

    answers = predicted(session.folder, "AX", "test", task="MNLI")
    assert own[0].obtained.value == pytest.approx(r_k(true, answers))


def test_results_hold_whole_columns_alone_and_join_earlier_ones() -> None:
    before = {"benchmark": "glue", "tables": {"table6": {"cbow": {"RTE": [50.0]}, "gensen": {"RTE": [60.0]}}}}
    after = replace_rows(before, "table6", {"cbow": {"RTE": [51.0]}})
    assert after["tables"]["table6"] == {"cbow": {"RTE": [51.0]}, "gensen": {"RTE": [60.0]}}
    assert before["tables"]["table6"]["cbow"] == {"RTE": [50.0]}  # type: ignore[index]


def test_results_are_times_100_and_lack_what_was_not_obtained(ran: dict[str, RowResult]) -> None:
    rows = {name: row_of_cells(each, ASKED, SAMPLE) for name, each in ran.items()}
    found = results(rows)
    assert "infersent" not in found
    (wnli,) = found["cbow"]["WNLI"]
    kept = json.loads(json.dumps(found))
    assert wnli == pytest.approx(100 * ran["cbow"].chosen["WNLI"].scores["WNLI"], abs=1e-3)
    assert kept == found


def test_the_macro_average_of_a_run_is_over_its_tasks() -> None:
    result = Result(1, {"A": 0.5, "B": 0.7}, 1.0, None, {})  # type: ignore[arg-type]
    assert result.score == pytest.approx(0.6)
