"""The packaged manifests of other benchmarks: what is written for them is valid, and is graded as defined."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef  # noqa: TID251 the oracles

import gluebench.benchmark
from gluebench import Benchmark, check, grade, load_benchmark, read_gold, write_submission
from gluebench.benchmark import Task
from gluebench.benchmark.metrics import needs
from gluebench.submission import fix_submission

NAMES = ["advglue", "clue", "clue-reading", "klej", "klue", "plue", "russian-superglue", "superglue"]
HOME = Path(gluebench.benchmark.__file__).parent


def small(folder: Path, name: str, most: int = 48) -> Benchmark:
    """The packaged benchmark with fewer examples; the sizes of splits and nothing else are changed."""
    text = (HOME / f"{name}.toml").read_text(encoding="utf-8")
    text = re.sub(r"size = (\d+)", lambda match: f"size = {min(int(match[1]), most)}", text)
    text = re.sub(r"counts = \[[^]]*\]", f"counts = {[3] * (most // 3)}", text)
    if extended := re.search(r'extends = "(.*)"', text):
        small(folder, extended[1], most)
        text = text.replace(extended[0], f'extends = "./{extended[1]}.toml"')
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return load_benchmark(path)


def some_values(task: Task, file: gluebench.benchmark.TestFile, seed: int) -> list[Any]:
    """Made-up answers; those to one column are the same for each test file that reads it."""
    rng = Random(f"{file.path} {file.column} {seed}")
    size = file.size()
    if task.form == "labels":
        return [*task.words[:size], *(rng.choice(task.words) for _ in range(size - len(task.words)))]
    if task.form == "numbers":
        return [round(rng.uniform(*task.score_range or (0, 1)), 2) for _ in range(size)]
    if task.form == "text":
        return [rng.choice(["Ada, Countess", 'the "engine"', "Ä b\tc", "new\nline"]) for _ in range(size)]
    lengths = Random(0)
    if task.form == "probabilities":
        return [[float(word == own) for word in task.vocabulary] for own in some_words(task, rng, size)]
    if task.form == "dependencies":
        sizes = [lengths.randint(1, 6) for _ in range(size)]
        return [[(rng.randint(0, n), rng.choice(task.vocabulary)) for _ in range(n)] for n in sizes]
    if not task.vocabulary:
        states = ["hotel-area-north", "taxi-type-dontcare", "a-b-c d"]
        return [rng.sample(states, rng.randint(0, 3)) for _ in range(size)]
    return [[rng.choice(task.vocabulary) for _ in range(lengths.randint(1, 6))] for _ in range(size)]


def some_words(task: Task, rng: Random, size: int) -> list[str]:
    return [*task.vocabulary[:size], *rng.choices(task.vocabulary, k=size - len(task.vocabulary[:size]))]


def gold_of(benchmark: Benchmark, answers: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The gold with which answers are right: the sure label in place of probabilities; groups of one."""
    tasks = {file.name: benchmark.task(file.task) for file in benchmark.files()}
    groups = {
        f"{metric.file}.groups": range(len(answers[metric.file]))
        for task in benchmark.tasks
        for metric in task.metrics
        if needs(metric.function, "groups")
    }
    return groups | {
        name: [tasks[name].vocabulary[row.index(1.0)] for row in values]
        if tasks[name].form == "probabilities" else values
        for name, values in answers.items()
    }  # fmt: skip


def answers(benchmark: Benchmark, seed: int) -> dict[str, list[Any]]:
    return {file.name: some_values(benchmark.task(file.task), file, seed) for file in benchmark.files()}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_and_graded(tmp_path: Path, name: str) -> None:
    benchmark = small(tmp_path, name)
    gold, other = answers(benchmark, 1), answers(benchmark, 2)
    reports = []
    for values in (gold, other):
        write_submission(tmp_path / "s.zip", values, benchmark)
        read = check(tmp_path / "s.zip", benchmark)
        assert read.verdict == "valid", read.problems
        write_submission(tmp_path / "again.zip", read.predictions, benchmark)
        assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "s.zip").read_bytes()
        assert check(tmp_path / "again.zip", benchmark).predictions == read.predictions
        reports.append(grade(read, gold_of(benchmark, gold), benchmark=benchmark, intervals=False))
    perfect, random = reports
    for task in perfect.tasks.values():
        assert {score.value for score in task.metrics.values()} == {1.0}
    assert perfect.score is not None
    assert random.score is not None
    assert perfect.score.value == 1.0
    assert random.score.value < 0.7
    diagnostics = [report for report in perfect.diagnostics.values() if report]
    assert {report.overall.value for report in diagnostics} <= {1.0}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_cut_off_is_invalid(tmp_path: Path, name: str) -> None:
    benchmark = small(tmp_path, name)
    write_submission(tmp_path / "s.zip", answers(benchmark, 1), benchmark)
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    assert {*members} == {file.path for file in benchmark.files()}
    for member, data in members.items():
        (tmp_path / member).write_bytes(data[: len(data) * 2 // 3])
        read = check(tmp_path / member, benchmark)
        assert read.verdict == "invalid"
        assert {problem.file for problem in read.errors} == {member}
        (tmp_path / member).unlink()


@pytest.mark.parametrize("name", NAMES)
def test_every_manifest_says_where_its_text_comes_from(name: str) -> None:
    benchmark = load_benchmark(name)
    assert benchmark.url.startswith("https://")
    assert benchmark.citation
    places = ("GitHub", "dataset_infos.json", "public dev sets", "were counted")
    parents = [note for parent in benchmark.extends for note in load_benchmark(parent).notes]
    assert any(place in note for note in (*benchmark.notes, *parents) for place in places)
    for task in benchmark.tasks:
        assert task.source.license
        assert task.source.citation
        assert task.source.url.startswith("https://")
        assert task.title != task.name or name == "plue"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


OFFICIAL = {
    "superglue": {
        "BoolQ": ("idx", {"true", "false"}),
        "WSC": ("idx", {"True", "False"}),
        "COPA": ("idx", {0, 1}),
    },
    "russian-superglue": {"PARus": ("idx", {0, 1}), "RWSD": ("idx", {"True", "False"})},
    "clue": {"AFQMC": ("id", {"0", "1"}), "C3": ("id", {0, 1, 2, 3})},
}
"""The ids' name and the labels in the lines that organizers take: jiant's and RussianSuperGLUE's writers of
predictions, and CLUE's rules for submissions and its baseline for C3."""


@pytest.mark.parametrize("name", OFFICIAL)
def test_lines_are_written_as_the_organizers_take_them(tmp_path: Path, name: str) -> None:
    benchmark = small(tmp_path, name)
    write_submission(tmp_path / "s.zip", answers(benchmark, 1), benchmark)
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        for task, (ids, labels) in OFFICIAL[name].items():
            rows = [json.loads(line) for line in archive.read(benchmark.file(task).path).splitlines()]
            assert [[*row] for row in rows] == [[ids, "label"]] * 48
            assert [row[ids] for row in rows] == [*range(48)]
            assert {row["label"] for row in rows} == labels


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("COPA.csv", "index,prediction\n1,1\n0,0\n2,0\n"),
        ("COPA.tsv", "prediction\tindex\n1\t1\n0\t0\n0\t2\n"),
        ("COPA.txt", "0\n1\n0\n"),
        ("COPA.json", '["0", 1, 0]'),
        (
            "COPA.jsonl",
            '{"index": 1, "prediction": 1}\n{"index": 0, "prediction": 0}\n{"index": 2, "prediction": 0}\n',
        ),
    ],
)
def test_plain_predictions_become_the_lines_of_a_task(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / name).write_text(content)
    fixed = fix_submission(tmp_path / "predictions", tmp_path / "s.zip", small(tmp_path, "superglue", 3))
    assert fixed.problems == []
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        rows = [json.loads(line) for line in archive.read("COPA.jsonl").splitlines()]
    assert rows == [{"idx": at, "label": label} for at, label in enumerate([0, 1, 0])]


def test_files_without_ids_may_be_written_from_indices(tmp_path: Path) -> None:
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / "PSC.csv").write_text("index,prediction\n1,1\n2,0\n0,0\n")
    fixed = fix_submission(tmp_path / "predictions", tmp_path / "s.zip", small(tmp_path, "klej", 3))
    assert fixed.problems == []
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        assert archive.read("test_pred_psc.tsv") == b"target\n0\n1\n0\n"


def test_advglue_is_written_with_codes(tmp_path: Path) -> None:
    benchmark = load_benchmark("advglue")
    columns = {file.name: [0, 1] * (file.size("dev") // 2 + 1) for file in benchmark.files("dev")}
    columns = {file.name: columns[file.name][: file.size("dev")] for file in benchmark.files("dev")}
    write_submission(tmp_path / "s.zip", columns, benchmark, role="dev")
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        written = json.loads(archive.read("predictions.json"))
    keys = {
        "SST-2": "sst2",
        "QQP": "qqp",
        "MNLI-m": "mnli",
        "MNLI-mm": "mnli-mm",
        "QNLI": "qnli",
        "RTE": "rte",
    }
    assert written == {keys[name]: codes for name, codes in columns.items()}


def test_multirc_is_written_as_its_own_file_nests_it(tmp_path: Path) -> None:
    """Two questions in each passage and four answers to each question; texts are left out."""
    benchmark, labels = small(tmp_path, "superglue", 24), [Random(1).randint(0, 1) for _ in range(24)]

    def passages(answer: Callable[[int], dict[str, Any]], **text: str) -> list[dict[str, Any]]:
        return [
            {"idx": passage, "passage": {**text, "questions": [
                {"idx": question, **text, "answers": [answer(4 * question + at) for at in range(4)]}
                for question in (2 * passage, 2 * passage + 1)
            ]}}
            for passage in range(3)
        ]  # fmt: skip

    own = tmp_path / "test.jsonl"
    own.write_text(lines(passages(lambda at: {"text": f"answer {at}", "idx": at}, text="t")))
    out, flat = tmp_path / "out.zip", tmp_path / "flat"
    write_submission(out, {"MultiRC": labels}, benchmark, like={"MultiRC": own})
    with zipfile.ZipFile(out) as archive:
        written = archive.read("MultiRC.jsonl").decode()
    expected = passages(lambda at: {"idx": at, "label": labels[at]})
    assert [json.loads(line) for line in written.splitlines()] == expected
    flat.mkdir()
    rows = [{"idx": {"paragraph": at // 8, "question": at // 4, "answer": at}, "label": label}
            for at, label in enumerate(labels)]  # fmt: skip
    (flat / "MultiRC.jsonl").write_text(lines(rows[::-1]))
    for path in (out, flat):
        assert [*check(path, benchmark).predictions["MultiRC"].codes] == labels
    for text, message in (
        (
            own.read_text().replace('"idx": 23', '"idx": 24'),
            ":3: there is no prediction for the example '24'",
        ),
        ("\n".join(own.read_text().splitlines()[:2]), "all examples of the predictions, and 16 is not there"),
        ("[1]", ":1: expected an object of JSON"),
    ):
        own.write_text(text)
        with pytest.raises(ValueError, match=message):
            write_submission(out, {"MultiRC": labels}, benchmark, like={"MultiRC": own})


def test_superglue_in_its_own_files(tmp_path: Path) -> None:
    """Nested answers, booleans, capitals, entities with several names, and pairs of a diagnostic set."""
    rng = Random(3)
    benchmark = small(tmp_path, "superglue", 24)
    size, folder, gold = 24, tmp_path / "submission", tmp_path / "gold"
    folder.mkdir()
    gold.mkdir()
    questions = [at // 4 for at in range(size)]
    judged = [[rng.random() < 0.5 for _ in range(size)] for _ in range(2)]
    judged[1][:8] = judged[0][:8]

    def nested(labels: list[bool]) -> list[dict[str, Any]]:
        """Two questions in each passage, and four answers to each question."""
        return [
            {"idx": passage, "passage": {"questions": [
                {"idx": question, "answers": [{"idx": at, "label": int(labels[at])} for at in range(size)
                                              if questions[at] == question]}
                for question in (2 * passage, 2 * passage + 1)
            ]}}
            for passage in range(3)
        ]  # fmt: skip

    (folder / "MultiRC.jsonl").write_text(lines(nested(judged[1])))
    (gold / "MultiRC.jsonl").write_text(lines(nested(judged[0])))
    (gold / "MultiRC.metadata.tsv").write_text(
        "index\tgroup\n" + "".join(f"{at}\tq{question}\n" for at, question in enumerate(questions))
    )
    truth = [[rng.random() < 0.5 for _ in range(size)] for _ in range(2)]
    for name, word in (("BoolQ", bool), ("WiC", lambda value: str(value).lower()), ("WSC", str)):
        for where, column in ((folder, truth[1]), (gold, truth[0])):
            rows = [{"idx": at, "label": word(value)} for at, value in enumerate(column)]
            (where / f"{name}.jsonl").write_text(lines(rows))
    cb = [[rng.choice(["entailment", "neutral"]) for _ in range(size)] for _ in range(2)]
    pairs = [["entailment" if value else "not_entailment" for value in column] for column in truth]
    for name, columns in (("CB", cb), ("AX-g", pairs), ("AX-b", pairs)):
        for where, column in ((folder, columns[1]), (gold, columns[0])):
            (where / f"{name}.jsonl").write_text(
                lines([{"idx": at, "label": label} for at, label in enumerate(column)])
            )
    (gold / "AX-g-parity.metadata.tsv").write_text(
        "index\tgroup\n" + "".join(f"{at}\t{at // 2}\n" for at in range(size))
    )
    entities = [{"idx": at, "label": ["The Hague", "the city of the Hague"]} for at in range(size)]
    said = [{"idx": at, "label": ["hague", "city", "Paris"][at % 3]} for at in range(size)]
    (gold / "ReCoRD.jsonl").write_text(lines(entities))
    (folder / "ReCoRD.jsonl").write_text(lines(said))

    report = grade(check(folder, benchmark), read_gold(gold, benchmark))
    scores = {
        task: {name: score.value for name, score in of.metrics.items()} for task, of in report.tasks.items()
    }
    whole = [judged[0][at : at + 4] == judged[1][at : at + 4] for at in range(0, size, 4)]
    assert scores["MultiRC"] == {
        "f1a": pytest.approx(f1_score(*judged)),
        "group_exact_match": pytest.approx(fmean(whole)),
    }
    assert 0 < fmean(whole) < 1
    assert scores["CB"] == {
        "accuracy": pytest.approx(accuracy_score(*cb)),
        "macro_f1": pytest.approx(2 / 3 * f1_score(*cb, average="macro")),
    }
    for name in ("BoolQ", "WiC", "WSC"):
        assert scores[name]["accuracy"] == pytest.approx(accuracy_score(*truth))
    assert scores["ReCoRD"] == {
        "token_f1": pytest.approx(fmean([1, 2 / 4, 0])),
        "exact_match": pytest.approx(1 / 3),
    }
    same = [pairs[1][at] == pairs[1][at + 1] for at in range(0, size, 2)]
    overall = {name: of.overall.value for name, of in report.diagnostics.items() if of}
    assert overall == {
        "AX-b": pytest.approx(matthews_corrcoef(*truth)),
        "AX-g": pytest.approx(accuracy_score(*truth)),
        "AX-g parity": pytest.approx(fmean(same)),
    }
    assert report.score is None, "COPA and RTE are missing"


@pytest.mark.parametrize("ratings", [(1, 2, 4, 5), (1, 2, 3, 4, 5)])
def test_klej_rates_reviews_by_the_mean_of_each_rating(tmp_path: Path, ratings: tuple[int, ...]) -> None:
    rng = Random(4)
    benchmark = small(tmp_path, "klej", 40)
    gold = [*ratings] * (40 // len(ratings))
    given = [round(rng.uniform(1, 5), 3) for _ in range(40)]
    member = tmp_path / "test_pred_ar.tsv"
    member.write_text("target\n" + "".join(f"{value}\n" for value in given))
    report = grade(check(member, benchmark), {"AR": gold}, benchmark=benchmark)
    errors = [
        fmean(abs(value - rating) for value, of in zip(given, gold, strict=True) if of == rating)
        for rating in ratings
    ]
    score = report.tasks["AR"].score
    assert score is not None
    assert score.value == pytest.approx(1 - fmean(errors) / 4)
    if 3 in ratings:
        assert 0 < score.low < score.value < score.high < 1
    else:
        assert score.withheld == "too few to say"


def test_a_diagnostic_set_counts_and_is_reported_by_phenomenon(tmp_path: Path) -> None:
    rng = Random(5)
    benchmark = small(tmp_path, "russian-superglue", 40)
    words = [[rng.choice(["entailment", "not_entailment"]) for _ in range(40)] for _ in range(2)]
    gold = tmp_path / "gold"
    gold.mkdir()
    for where, column in ((tmp_path, words[1]), (gold, words[0])):
        rows = [{"idx": at, "label": word} for at, word in enumerate(column)]
        (where / "LiDiRus.jsonl").write_text(lines(rows))
    (gold / "LiDiRus-phenomena.phenomena.tsv").write_text(
        "index\tcoarse\tfine\n" + "".join(f"{at}\tLogic\tNegation\n" for at in range(0, 40, 2))
    )
    report = grade(check(tmp_path / "LiDiRus.jsonl", benchmark), read_gold(gold, benchmark))
    whole = report.tasks["LiDiRus"].score
    parts = report.diagnostics["LiDiRus by phenomenon"]
    assert whole is not None
    assert parts is not None
    assert whole.value == parts.overall.value == pytest.approx(matthews_corrcoef(*words))
    assert parts.fine["Negation"].value == pytest.approx(matthews_corrcoef(words[0][::2], words[1][::2]))


def test_advglue_in_one_file_by_position(tmp_path: Path) -> None:
    """MNLI counts once; the gold is the released file, with objects where a submission has codes."""
    rng = Random(6)
    benchmark = load_benchmark("advglue")
    sizes = {"sst2": 148, "qqp": 78, "mnli": 121, "mnli-mm": 162, "qnli": 148, "rte": 81}
    columns = [
        {key: [rng.randrange(3 if "mnli" in key else 2) for _ in range(size)] for key, size in sizes.items()}
        for _ in range(2)
    ]
    (tmp_path / "predictions.json").write_text(json.dumps(columns[1]))
    gold = tmp_path / "gold"
    gold.mkdir()
    released = {
        key: [{"idx": at, "label": code, "sentence": "a text"} for at, code in enumerate(column)]
        for key, column in columns[0].items()
    }
    (gold / "dev.json").write_text(json.dumps(released))
    report = grade(check(tmp_path / "predictions.json", benchmark), read_gold(gold, benchmark))
    right = {key: accuracy_score(columns[0][key], columns[1][key]) for key in sizes}
    tasks = [
        right["sst2"],
        fmean([right["qqp"], f1_score(columns[0]["qqp"], columns[1]["qqp"])]),
        fmean([right["mnli"], right["mnli-mm"]]),
        right["qnli"],
        right["rte"],
    ]
    assert [task.score.value for task in report.tasks.values() if task.score] == pytest.approx(tasks)
    assert report.score is not None
    assert report.score.value == pytest.approx(fmean(tasks))
