"""Shared tasks whose answers are columns of one file: labels, scores and sets, with gaps in the gold."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from benchmark.family.hosting import host, table, values
from scipy.stats import pearsonr
from sklearn.metrics import f1_score, root_mean_squared_error  # noqa: TID251 the oracle

N = 60
RANDOM = Random(5)


def bits(count: int = N) -> list[int]:
    return [RANDOM.randrange(2) for _ in range(count)]


def ratings(low: float, high: float) -> list[float]:
    return [round(RANDOM.uniform(low, high), 2) for _ in range(N)]


def test_humor_with_ratings_that_only_some_texts_have(tmp_path: Path) -> None:
    """SemEval-2021 task 7: four columns, of which two count where the gold text is humorous."""
    manifest = """
[tasks.Humor]
labels = { 0 = "not humorous", 1 = "humorous" }
metrics = [{ name = "f1", positive = "1" }]
splits.test.size = 60
files = [{ name = "humor", member = "answers.csv", column = "is_humor", gold.file = "gold.csv" }]
[tasks.Rating]
score_range = [0.0, 5.0]
metrics = [{ name = "neg_rmse", scale = [-5.0, 0.0] }]
splits.test.size = 60
files = [{ member = "answers.csv", column = "humor_rating", gaps = true, gold.file = "gold.csv" }]
[tasks.Controversy]
labels = { 0 = "not controversial", 1 = "controversial" }
metrics = [{ name = "f1", positive = "1" }]
splits.test.size = 60
files = [{ member = "answers.csv", column = "humor_controversy", gaps = true, gold.file = "gold.csv" }]
[tasks.Offense]
score_range = [0.0, 5.0]
metrics = [{ name = "neg_rmse", scale = [-5.0, 0.0] }]
splits.test.size = 60
files = [{ name = "offense", member = "answers.csv", column = "offense_rating", gold.file = "gold.csv" }]
"""
    header = ["id", "is_humor", "humor_rating", "humor_controversy", "offense_rating"]
    released = ["id", "text", *header[1:]]
    gold = [bits(), ratings(0, 5), bits(), ratings(0, 5)]
    given = [bits(), ratings(0, 5), bits(), ratings(0, 5)]
    humorous = [at for at in range(N) if gold[0][at]]
    masked = [[value if at in humorous else "" for at, value in enumerate(column)] for column in gold[1:3]]
    report = host(
        tmp_path,
        manifest,
        {"answers.csv": table(header, range(N), *given)},
        {"gold.csv": table(released, range(N), ['A "b", c'] * N, gold[0], *masked, gold[3])},
    )
    parts = [[[column[at] for at in humorous] for column in columns] for columns in (gold, given)]
    assert values(report) == {
        "Humor": {"f1": pytest.approx(f1_score(gold[0], given[0]))},
        "Rating": {"neg_rmse": pytest.approx(1 - root_mean_squared_error(parts[0][1], parts[1][1]) / 5)},
        "Controversy": {"f1": pytest.approx(f1_score(parts[0][2], parts[1][2]))},
        "Offense": {"neg_rmse": pytest.approx(1 - root_mean_squared_error(gold[3], given[3]) / 5)},
    }


EMOTIONS = [
    "Anger",
    "Anticipation",
    "Disgust",
    "Fear",
    "Joy",
    "Love",
    "Neutral",
    "Sadness",
    "Surprise",
    "Trust",
]
TARGETS = ["Direction", "Topic"]


def columns_task(
    name: str, columns: list[str], member: str, gold: str, *, ids: list[str] | None = None
) -> str:
    """A task whose score is the mean F1 of the label 1 over its columns, all of one file of labels."""
    metrics = ", ".join(
        f'{{ name = "{c}", function = "f1", positive = "1", file = "{name}-{c}" }}' for c in columns
    )
    more = f'member = "{member}", test = "test", gold.file = "{gold}"'
    files = ", ".join(f'{{ name = "{name}-{c}", column = "{c}", {more} }}' for c in columns)
    split = f"{{ size = {N}, ids = {ids} }}" if ids else f"{{ size = {N} }}"
    return f"""
[tasks.{name}]
labels = {{ 0 = "no", 1 = "yes" }}
metrics = [{metrics}]
splits.test = {split}
files = [{files}]
"""


def test_emotions_as_columns_of_two_domains(tmp_path: Path) -> None:
    """EVALITA 2023 EMit: 0/1 columns; two subtasks, each on texts of its own domain and of another.

    oaraque/emit @ ace9b430805c135b2585fc00cdda9a7d996569d6, evaluate.py: one file of labels has the columns
    of both subtasks.
    """
    ids = [f"{RANDOM.getrandbits(128):032x}" for _ in range(N)]
    domains = {"in": "emit_test.csv", "ood": "emit_test_ood.csv"}
    manifest, submission, labels = "", {}, {}
    sides: dict[str, tuple[list[list[int]], list[list[int]]]] = {}
    for domain, file in domains.items():
        for subtask, columns in (("A", EMOTIONS), ("B", TARGETS)):
            name = f"{subtask}-{domain}"
            sides[name] = ([bits() for _ in columns], [bits() for _ in columns])
            manifest += columns_task(name, columns, f"preds_{name}.csv", file, ids=ids)
            submission[f"preds_{name}.csv"] = table(["id", *columns], ids, *sides[name][1])
        header = ["id", "text", *EMOTIONS, *TARGETS]
        texts = ['a "b", c'] * N
        labels[file] = table(header, ids, texts, *sides[f"A-{domain}"][0], *sides[f"B-{domain}"][0])
    report = host(tmp_path, manifest, submission, labels)
    for name, (gold, given) in sides.items():
        expected = f1_score(np.transpose(gold), np.transpose(given), average="macro")
        assert report.tasks[name].score is not None
        assert report.tasks[name].score.value == pytest.approx(expected)


def test_hurtful_humor_in_three_subtasks(tmp_path: Path) -> None:
    """IberLEF 2023 HUHU: a label, four columns of prejudices and a score, in one CSV."""
    prejudices = ["prejudice_woman", "prejudice_lgbtiq", "prejudice_inmigrant_race", "gordofobia"]
    manifest = f"""
[tasks.Humor]
labels = {{ 0 = "no", 1 = "yes" }}
metrics = [{{ name = "f1", positive = "1" }}]
splits.test.size = {N}
files = [{{ name = "humor", member = "run1.csv", column = "humor", gold.file = "gold.csv" }}]
{columns_task("Prejudice", prejudices, "run1.csv", "gold.csv")}
[tasks.Degree]
score_range = [1.0, 5.0]
metrics = [{{ name = "neg_rmse", scale = [-5.0, 0.0] }}]
splits.test.size = {N}
files = [{{ name = "degree", member = "run1.csv", column = "mean_prejudice", gold.file = "gold.csv" }}]
"""
    header = ["index", "humor", *prejudices, "mean_prejudice"]
    gold = [bits(), *(bits() for _ in prejudices), ratings(1, 5)]
    given = [bits(), *(bits() for _ in prejudices), ratings(1, 5)]
    report = host(
        tmp_path,
        manifest,
        {"run1.csv": table(header, range(N), *given)},
        {"gold.csv": table(["index", "tweet", *header[1:]], range(N), ['\u00bfQu\u00e9, "no"?'] * N, *gold)},
    )
    macro = f1_score(np.transpose(gold[1:5]), np.transpose(given[1:5]), average="macro")
    scores = {name: task.score.value for name, task in report.tasks.items() if task.score}
    assert scores == {
        "Humor": pytest.approx(f1_score(gold[0], given[0])),
        "Prejudice": pytest.approx(macro),
        "Degree": pytest.approx(1 - root_mean_squared_error(gold[5], given[5]) / 5),
    }


def test_empathy_in_files_without_ids_and_header(tmp_path: Path) -> None:
    """WASSA 2023: 2 to 5 columns of numbers, and emotions as "Hope/Sadness", in TSV files without ids.

    The names and columns are those that the organizers' script reads: ref/goldstandard_EMP.tsv and so on.
    """
    tracks = {"CONV": 3, "EMP": 2, "PER": 5, "IRI": 4}
    words = ["Anger", "Disgust", "Fear", "Hope", "Joy", "Neutral", "Sadness", "Surprise"]
    manifest = ""
    for track, number in tracks.items():
        files = ", ".join(
            f'{{ name = "{track}-{at}", member = "predictions_{track}.tsv", column = "{at}", test = "test",'
            f' gold.file = "goldstandard_{track}.tsv" }}'
            for at in range(1, number + 1)
        )
        metrics = ", ".join(
            f'{{ name = "r{at}", function = "pearson", file = "{track}-{at}" }}'
            for at in range(1, number + 1)
        )
        manifest += f"""
[tasks.{track}]
score_range = [0.0, 7.0]
metrics = [{metrics}]
splits.test = {{ size = {N}, ids = "order" }}
files = [{files}]
"""
    manifest += f"""
[tasks.EMO]
form = "sets"
separator = "/"
labels = {words}
metrics = [{{ name = "sets_macro_f1_gold" }}]
splits.test = {{ size = {N}, ids = "order" }}
files = [{{ member = "predictions_EMO.tsv", gold.file = "goldstandard_EMO.tsv" }}]
"""
    gold = {track: [ratings(0, 7) for _ in range(number)] for track, number in tracks.items()}
    given = {track: [ratings(0, 7) for _ in range(number)] for track, number in tracks.items()}
    given["EMP"][1] = [3.5] * N
    emotions = [[RANDOM.sample(words[:-1], RANDOM.randint(1, 2)) for _ in range(N)], []]
    emotions[1] = [RANDOM.sample(words, RANDOM.randint(1, 2)) for _ in range(N)]

    def files(kind: str, numbers: dict[str, list[list[float]]], sets: list[list[str]]) -> dict[str, str]:
        named = {
            f"{kind}_{track}.tsv": table([], *columns, separator="\t") for track, columns in numbers.items()
        }
        return named | {f"{kind}_EMO.tsv": table([], map("/".join, sets), separator="\t")}

    answers = files("predictions", given, emotions[1])
    report = host(tmp_path, manifest, answers, files("goldstandard", gold, emotions[0]))
    for track, number in tracks.items():
        correlations = [
            pearsonr(gold[track][at], given[track][at])[0] if len({*given[track][at]}) > 1 else 0.0
            for at in range(number)
        ]
        assert report.tasks[track].score is not None
        assert report.tasks[track].score.value == pytest.approx(np.mean(correlations))
    f1 = [
        f1_score([word in each for each in emotions[0]], [word in each for each in emotions[1]])
        for word in words[:-1]
    ]
    assert values(report)["EMO"] == {"sets_macro_f1_gold": pytest.approx(np.mean(f1))}
