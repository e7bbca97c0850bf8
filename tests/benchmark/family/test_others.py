"""Shared tasks outside the sample of twenty, hosted from the public pages alone: SemEval, Kaggle."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from benchmark.family.hosting import host, table, values
from sklearn.metrics import (  # noqa: TID251 the oracle
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    roc_auc_score,
    root_mean_squared_error,
)

N = 80
RANDOM = Random(11)
HEX = [f"{RANDOM.getrandbits(64):016x}" for _ in range(N)]
LISTED = ", ".join(f'"{name}"' for name in HEX)
KINDS = ["sarcasm", "irony", "satire", "understatement", "overstatement", "rhetorical_question"]


def drawn(values: list[int]) -> list[int]:
    return [RANDOM.choice(values) for _ in range(N)]


def test_sarcasm_its_kinds_and_pairs_by_order(tmp_path: Path) -> None:
    """SemEval-2022 task 6, iSarcasmEval: three subtasks, each a file whose rows have no ids."""
    splits = f'splits.test = {{ size = {N}, ids = "order" }}'
    kinds = ", ".join(f'{{ name = "{k}", function = "f1", positive = "1", file = "B-{k}" }}' for k in KINDS)
    files = ", ".join(
        f'{{ name = "B-{k}", member = "task_b.csv", column = "{k}", test = "test" }}' for k in KINDS
    )
    manifest = f"""
[tasks.A]
labels = {{ 0 = "not sarcastic", 1 = "sarcastic" }}
metrics = [{{ name = "f1", positive = "1" }}]
{splits}
files = [{{ name = "A", member = "task_a_en.txt", column = "task_a_en" }}]
[tasks.B]
labels = {{ 0 = "no", 1 = "yes" }}
metrics = [{kinds}]
{splits}
files = [{files}]
[tasks.C]
labels = {{ 0 = "the first", 1 = "the second" }}
metrics = [{{ name = "accuracy" }}]
{splits}
files = [{{ name = "C", member = "task_c_en.txt", column = "task_c_en" }}]
"""
    sides = [([drawn([0, 1])], [drawn([0, 1]) for _ in KINDS], [drawn([0, 1])]) for _ in range(2)]
    written = [
        {
            "task_a_en.txt": table(["task_a_en"], *a),
            "task_b.csv": table(KINDS, *b),
            "task_c_en.txt": table(["task_c_en"], *c),
        }
        for a, b, c in sides
    ]
    report = host(tmp_path, manifest, *written)
    (given_a, given_b, given_c), (gold_a, gold_b, gold_c) = sides
    scores = {name: task.score.value for name, task in report.tasks.items() if task.score}
    assert scores == {
        "A": pytest.approx(f1_score(gold_a[0], given_a[0])),
        "B": pytest.approx(f1_score(np.transpose(gold_b), np.transpose(given_b), average="macro")),
        "C": pytest.approx(accuracy_score(gold_c[0], given_c[0])),
    }


def test_funniness_and_the_funnier_headline(tmp_path: Path) -> None:
    """SemEval-2020 task 7: RMSE; and accuracy on the pairs that are not tied, whose ids have two parts."""
    pairs = [f"{at}-{at + 5000}" for at in range(N)]
    listed = ", ".join(f'"{pair}"' for pair in pairs)
    manifest = f"""
[tasks.Grade]
score_range = [0.0, 3.0]
metrics = [{{ name = "neg_rmse", scale = [-3.0, 0.0] }}]
splits.test.size = {N}
files = [{{ name = "grade", member = "task-1-output.csv", column = "pred" }}]
[tasks.Pair]
labels = {{ 1 = "the first", 2 = "the second" }}
metrics = [{{ name = "accuracy" }}]
splits.test = {{ size = {N}, ids = [{listed}] }}
files = [{{ name = "pair", member = "task-2-output.csv", column = "pred", gaps = true }}]
"""
    grades = [[round(RANDOM.uniform(0, 3), 2) for _ in range(N)] for _ in range(2)]
    gold, given = drawn([0, 1, 2]), drawn([1, 2])
    report = host(
        tmp_path,
        manifest,
        {
            "task-1-output.csv": table(["id", "pred"], range(N), grades[0]),
            "task-2-output.csv": table(["id", "pred"], pairs, given),
        },
        {
            "task-1-output.csv": table(["id", "pred"], range(N), grades[1]),
            "task-2-output.csv": table(["id", "pred"], pairs, [label or "" for label in gold]),
        },
    )
    right = [a == b for a, b in zip(gold, given, strict=True) if a]
    assert values(report) == {
        "Grade": {"neg_rmse": pytest.approx(1 - root_mean_squared_error(*grades) / 3)},
        "Pair": {"accuracy": pytest.approx(sum(right) / len(right))},
    }


def test_column_mean_of_auc(tmp_path: Path) -> None:
    """Kaggle's toxic comments: six columns of probabilities under hexadecimal ids."""
    columns = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]
    files = ", ".join(
        f'{{ name = "{c}", member = "submission.csv", column = "{c}", test = "test" }}' for c in columns
    )
    metrics = ", ".join(
        f'{{ name = "{c}", function = "roc_auc", positive = "1", file = "{c}" }}' for c in columns
    )
    manifest = f"""
[tasks.Toxic]
form = "probabilities"
labels = ["0", "1"]
metrics = [{metrics}]
splits.test = {{ size = {N}, ids = [{LISTED}] }}
files = [{files}]
"""
    gold = [drawn([0, 0, 1]) for _ in columns]
    given = [[round(RANDOM.random(), 6) for _ in range(N)] for _ in columns]
    report = host(
        tmp_path,
        manifest,
        {"submission.csv": table(["id", *columns], HEX, *given)},
        {"submission.csv": table(["id", *columns], HEX, *gold)},
    )
    score = report.tasks["Toxic"].score
    assert score is not None
    assert score.value == pytest.approx(
        np.mean([roc_auc_score(*pair) for pair in zip(gold, given, strict=True)])
    )


KAGGLE = {
    "readability": ('score_range = [-9.0, 9.0]\nmetrics = [{ name = "neg_rmse" }]', "target"),
    "insincere": ('labels = ["0", "1"]\nmetrics = [{ name = "f1", positive = "1" }]', "prediction"),
    "essays": (
        'labels = ["1", "2", "3", "4", "5", "6"]\nmetrics = [{ name = "quadratic_kappa" }]',
        "score",
    ),
}
"""The CommonLit Readability Prize, Quora's insincere questions, automated essay scoring 2.0."""


@pytest.mark.parametrize("name", KAGGLE)
def test_one_column_of_kaggle(tmp_path: Path, name: str) -> None:
    fields, column = KAGGLE[name]
    manifest = f"""
[tasks.T]
{fields}
splits.test = {{ size = {N}, ids = [{LISTED}] }}
files = [{{ name = "T", member = "submission.csv", column = "{column}" }}]
"""
    if name == "readability":
        sides = [[round(RANDOM.uniform(-4, 2), 4) for _ in range(N)] for _ in range(2)]
        expected = -root_mean_squared_error(*sides)
    elif name == "insincere":
        sides = [drawn([0, 0, 1]) for _ in range(2)]
        expected = f1_score(*sides)
    else:
        sides = [drawn([1, 2, 3, 4, 5, 6]) for _ in range(2)]
        expected = cohen_kappa_score(*sides, weights="quadratic")
    gold, given = (
        {"submission.csv": table(["essay_id" if name == "essays" else "id", column], HEX, side)}
        for side in sides
    )
    [metric] = values(host(tmp_path, manifest, given, gold))["T"].values()
    assert metric == pytest.approx(expected)
