"""KLUE and CLUE, as their files are written, against computations by their published rules."""

from __future__ import annotations

import json
import string
import zipfile
from difflib import SequenceMatcher
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from benchmark.test_shipped import lines, small, some_values
from click.testing import CliRunner
from sklearn import metrics as sk  # noqa: TID251 the oracles
from sklearn.metrics import accuracy_score  # noqa: TID251

from gluebench import check, grade, load_benchmark, read_gold, write_submission
from gluebench.cli import main


def test_ids_of_cmrc_are_those_of_its_files() -> None:
    """Counted in the public dev set, and in a public submission for the test set."""
    splits = load_benchmark("clue").task("CMRC2018").splits
    for name, first, last, passages in (
        ("dev", "DEV_0_QUERY_0", "DEV_1989_QUERY_4", 848),
        ("test", "TEST_0_QUERY_0", "TEST_1093_QUERY_2", 470),
    ):
        ids = splits[name].ids
        assert (ids[0], ids[-1], len({one.rpartition("_QUERY_")[0] for one in ids})) == (
            first,
            last,
            passages,
        )
    assert "TEST_7_QUERY_0" not in splits["test"].ids
    assert splits["test"].ids[4:6] == ("TEST_0_QUERY_4", "TEST_1_QUERY_0")


def test_a_c3_of_version_1_0_is_refused_with_the_reason(tmp_path: Path) -> None:
    rows = [{"id": at, "label": 0} for at in range(3892)]
    (tmp_path / "c311_predict.json").write_text(lines(rows))
    checked = check(tmp_path / "c311_predict.json", "clue-reading")
    assert checked.verdict == "invalid"
    assert any("3,892 questions, which CLUE replaced" in str(problem) for problem in checked.errors)


def test_clue_reads_one_object_of_ids_to_answers(tmp_path: Path) -> None:
    """Answers in any order of ids; CMRC's gold nested as in its file. Both averages come from one folder."""
    rng = Random(7)
    clue, reading = small(tmp_path, "clue", 30), small(tmp_path, "clue-reading", 30)
    folder, gold = tmp_path / "submission", tmp_path / "gold"
    folder.mkdir()
    gold.mkdir()
    questions = [f"TEST_{at // 3}_QUERY_{at % 3}" for at in range(30)]
    valid = [["北京大学", "北大"] if at % 2 else ["Windows系统"] for at in range(30)]
    texts = ["《北京大学》。", "北大", "windows系统", "北京", ""]
    given = [rng.choice(texts) for _ in questions]
    qas = [
        {"id": name, "question": "?", "answers": [{"text": text, "answer_start": 0} for text in answers]}
        for name, answers in zip(questions, valid, strict=True)
    ]
    paragraphs = [
        {"paragraphs": [{"id": f"TEST_{at}", "context": "", "qas": qas[3 * at : 3 * at + 3]}]}
        for at in range(10)
    ]
    (gold / "cmrc2018_predict.json").write_text(json.dumps({"version": "v1.0", "data": paragraphs}))
    by_id = rng.sample([*zip(questions, given, strict=True)], 30)
    (folder / "cmrc2018_predict.json").write_text(json.dumps(dict(by_id)))
    places = [[rng.randrange(10) if rng.random() < 0.5 else 3 for _ in range(30)] for _ in range(2)]
    for where, column in ((folder, places[1]), (gold, places[0])):
        blanks = {f"#idiom{600168 + at}#": place for at, place in enumerate(column)}
        (where / "chid10_predict.json").write_text(json.dumps(dict(rng.sample([*blanks.items()], 30))))
    others = {}
    for file in clue.files():
        if file.name not in ("CMRC2018", "CMRC2018-F1", "ChID"):
            columns = [some_values(clue.task(file.task), file, seed) for seed in (1, 2)]
            others[file.name] = accuracy_score(*columns)
            for where, column in ((folder, columns[1]), (gold, columns[0])):
                rows = [{"id": at, "label": word} for at, word in enumerate(column)]
                name = {"TNEWS": "tnews_predict.json", "CLUEWSC": "wsc_predict.json"}.get(
                    file.name, file.path
                )
                (where / (name if where is folder else file.path)).write_text(lines(rows))

    def plain(text: str) -> str:
        return "".join(letter for letter in text.lower() if letter not in "《》。")

    exact = fmean(plain(text) in map(plain, of) for text, of in zip(given, valid, strict=True))
    parts = {
        "《北京大学》。": 4,
        "北大": 2,
        "北京": 2,
        "windows系统": 3,
        "": 0,
        "Windows系统": 3,
        "北京大学": 4,
    }
    runs = {
        ("北京大学", "北京"): 2,
        ("北京大学", "北大"): 1,
        ("北大", "北京"): 1,
        ("北大", "《北京大学》。"): 1,
    }

    def f1(of: str, text: str) -> float:
        same = parts[of] if plain(of) == plain(text) else runs.get((of, text), 0)
        return 2 * same / (parts[of] + parts[text])

    common = fmean(max(f1(each, text) for each in of) for text, of in zip(given, valid, strict=True))
    expected = [exact, accuracy_score(*places), others["C3"]]
    report = grade(check(folder, reading), read_gold(gold, reading))
    assert [task.score.value for task in report.tasks.values() if task.score] == pytest.approx(expected)
    assert report.score is not None
    assert report.score.value == pytest.approx(fmean(expected))
    assert 0.2 < exact < common < 0.8
    reported = report.diagnostics["CMRC2018 F1"]
    assert reported is not None
    assert reported.overall.value == pytest.approx(common)
    checked = check(folder, clue)
    notices = {problem.file for problem in checked.problems if problem.code == "file-name"}
    assert notices == {"tnews_predict.json", "wsc_predict.json"}
    assert checked.verdict == "valid"
    whole = grade(checked, read_gold(gold, clue))
    counted = [others[name] for name in ("AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "CLUEWSC", "CSL")]
    assert whole.score is not None
    assert whole.score.value == pytest.approx(fmean(counted))
    assert [whole.tasks[name].score for name in report.tasks] == [
        task.score for task in report.tasks.values()
    ]

    write_submission(tmp_path / "again.zip", check(folder, reading).predictions, reading)
    with zipfile.ZipFile(tmp_path / "again.zip") as archive:
        written = {name: json.loads(archive.read(name)) for name in archive.namelist() if name[:2] == "ch"}
        assert json.loads(archive.read("cmrc2018_predict.json")) == dict(zip(questions, given, strict=True))
    places_by_id = {f"#idiom{600168 + at}#": place for at, place in enumerate(places[1])}
    assert written == {"chid10_predict.json": places_by_id}
    renamed = {name.replace("TEST_9_", "TEST_10_"): text for name, text in by_id}
    (folder / "cmrc2018_predict.json").write_text(json.dumps(renamed))
    wrong = check(folder, reading)
    assert wrong.verdict == "invalid"
    assert {problem.code for problem in wrong.errors} == {"unknown-id", "missing-id"}


def test_klue_reading_and_dialogue_state(tmp_path: Path) -> None:
    rng = Random(8)
    benchmark = small(tmp_path, "klue", 60)
    slots = ["hotel-area-north", "hotel-price range-cheap", "taxi-type-dontcare", "식당-지역-서울 동쪽"]
    states = [[rng.sample(slots, rng.choice([0, 1, 1, 2, 3])) for _ in range(60)] for _ in range(2)]
    states[1][:20] = states[0][:20]
    valid = [rng.choice([["서울"], ["서울특별시", "서울"], ["The KBS 1TV"], [""]]) for _ in range(60)]
    texts = [rng.choice(["서울", "'서울'", "the kbs  1tv.", "KBS 1TV", "서울 시", ""]) for _ in range(60)]
    write_submission(tmp_path / "s.zip", {"MRC": texts, "WoS": states[1]}, benchmark)
    gold = {"MRC": valid, "WoS": states[0]}
    report = grade(check(tmp_path / "s.zip", benchmark), gold, benchmark=benchmark)

    def normal(text: str) -> str:
        kept = (letter for letter in text.lower() if letter not in string.punctuation)
        return " ".join("".join(kept).split())

    slot_f1 = []
    for right, said in zip(*states, strict=True):
        both = sum(slot in said for slot in right)
        precision, recall = (both / len(part) if part else 0 for part in (said, right))
        f1 = 2 * precision * recall / (precision + recall) if both else 0
        slot_f1.append(f1 if right or said else 1)
    jga = [set(right) == set(said) for right, said in zip(*states, strict=True)]
    exact = [normal(text) in map(normal, of) for text, of in zip(texts, valid, strict=True)]
    scores = {
        task: {name: score.value for name, score in of.metrics.items()} for task, of in report.tasks.items()
    }
    assert scores["WoS"] == {
        "joint_goal_accuracy": pytest.approx(fmean(jga)),
        "slot_f1": pytest.approx(fmean(slot_f1)),
    }

    def rouge_w(gold: str, said: str) -> float:
        if not gold:
            return float(said == gold)
        run = SequenceMatcher(None, said, gold).find_longest_match(0, len(said), 0, len(gold)).size
        precision, recall = run / max(len(said), 1), run / len(gold)
        return 2 * precision * recall / (precision + recall) if run else 0.0

    pairs = [(normal(text), [*map(normal, of)]) for text, of in zip(texts, valid, strict=True)]
    rouge = fmean(max(rouge_w(each, text) for each in of) for text, of in pairs)
    assert scores["MRC"] == {
        "exact_match": pytest.approx(fmean(exact)),
        "rouge_w": pytest.approx(rouge, abs=1e-12),
    }
    assert fmean(exact) < rouge < 0.9
    assert 0.1 < fmean(exact) < 0.8
    assert 0.3 < fmean(jga) < fmean(slot_f1) < 0.9


SIZE = 90
AVERAGES = {"auprc", "uas", "las"}
"""Averages over classes whose name does not say so; one that is too rare leaves them without interval."""


def cells_of(*columns: Any) -> list[str]:
    """The rows of one column, or "head:relation" of two, as cells."""
    return [
        " ".join(":".join(map(str, parts)) for parts in zip(*row, strict=True))
        for row in zip(*columns, strict=True)
    ]


def table(heading: str, cells: list[str]) -> str:
    return f"index\t{heading}\n" + "".join(f"{at}\t{cell}\n" for at, cell in enumerate(cells))


Side = tuple[list[str], list[str]]
"""Cells of gold and of a submission."""


def some_entities(tags: tuple[str, ...], rng: np.random.Generator) -> tuple[Side, dict[str, float]]:
    gold = [rng.choice(tags, rng.integers(1, 12)) for _ in range(SIZE)]
    given = [np.where(rng.random(len(row)) < 0.7, row, rng.choice(tags, len(row))) for row in gold]
    flat = [np.concatenate(side) for side in (gold, given)]
    value = sk.f1_score(*flat, labels=tags, average="macro", zero_division=1)
    return (cells_of(gold), cells_of(given)), {"character_macro_f1": value}


def some_relations(relations: tuple[str, ...], rng: np.random.Generator) -> tuple[Side, dict[str, float]]:
    """Every relation occurs in gold; no_relation is the first."""
    codes = np.concatenate([np.arange(len(relations)), rng.integers(0, 5, SIZE - len(relations))])
    shares = rng.dirichlet(np.ones(len(relations)), SIZE) + np.eye(len(relations))[codes] * 0.05
    shares /= shares.sum(axis=1, keepdims=True)
    curves = [sk.precision_recall_curve(codes == at, shares[:, at]) for at in range(len(relations))]
    gold, given = [relations[code] for code in codes], [" ".join(map(str, row)) for row in shares]
    return (gold, given), {
        "micro_f1": sk.f1_score(codes, shares.argmax(axis=1), labels=range(1, 30), average="micro"),
        "auprc": fmean(sk.auc(recall, precision) for precision, recall, _ in curves),
    }


def some_trees(labels: tuple[str, ...], rng: np.random.Generator) -> tuple[Side, dict[str, float]]:
    """Ten of the relations in the data are not among the fifteen with a class of their own."""
    kinds = [rng.choice(labels[:25], rng.integers(1, 9)) for _ in range(SIZE)]
    heads = [rng.integers(0, len(row) + 1, len(row)) for row in kinds]
    moved = [np.where(rng.random(len(row)) < 0.7, row, 0) for row in heads]
    renamed = [np.where(rng.random(len(row)) < 0.7, row, rng.choice(labels[:25], len(row))) for row in kinds]
    right, said, truth, relations = (np.concatenate(rows) for rows in (heads, moved, kinds, renamed))
    classes = [np.where(np.isin(side, labels[:15]), side, "others") for side in (truth, relations)]
    return (cells_of(heads, kinds), cells_of(moved, renamed)), {
        "uas": sk.f1_score(right, said, average="macro"),
        "las": sk.f1_score(classes[0], np.where(right == said, classes[1], "wrong"), average="macro"),
    }


def run(folder: Path, command: str, *options: str) -> Any:
    """The command on the folder's submission."""
    words = [
        command,
        str(folder / "submission"),
        *options,
        "--benchmark",
        str(folder / "klue.toml"),
        "--json",
    ]
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_klue_by_the_commands(tmp_path: Path) -> None:
    """Entities, relations and dependencies from files, with the scores of KLUE's rules."""
    benchmark, gold = small(tmp_path, "klue", SIZE), str(tmp_path / "gold")
    expected = {}
    for name in ("gold", "submission"):
        (tmp_path / name).mkdir()
    for name, some in (("NER", some_entities), ("RE", some_relations), ("DP", some_trees)):
        sides, expected[name] = some(benchmark.task(name).vocabulary, np.random.default_rng(9))
        for where, heading, cells in zip(("gold", "submission"), ("label", "prediction"), sides, strict=True):
            (tmp_path / where / f"{name}.tsv").write_text(table(heading, cells))
    checked = json.loads(run(tmp_path, "check").stdout)
    assert {problem["code"] for problem in checked["problems"]} == {"missing-file"}
    graded = run(tmp_path, "grade", "--gold", gold)
    assert graded.exit_code == 0, graded.output
    for task, metrics in expected.items():
        scores = json.loads(graded.stdout)["tasks"][task]["metrics"]
        for name, value in metrics.items():
            assert scores[name]["value"] == pytest.approx(value, abs=1e-12), (task, name)
            if scores[name]["low"] is None:
                assert "macro" in name or name in AVERAGES
            else:
                assert scores[name]["low"] < value < scores[name]["high"]

    path = tmp_path / "submission" / "DP.tsv"
    rows = path.read_text().splitlines()
    for row, message in (
        ("3\t1-NP", "expected a head and a relation for each word, as 2:NP, with blanks between words"),
        ("3\t" + "0:NP " * 20, "expected one tag for each token of the example"),
    ):
        path.write_text("\n".join([*rows[:4], row, *rows[5:], ""]))
        result = run(tmp_path, "grade", "--gold", gold)
        assert result.exit_code == 1
        assert message in result.output
        assert "DP.tsv" in result.output
        assert "(index 3)" in result.output
