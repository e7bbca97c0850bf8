"""Shared tasks scored by the information of labels in a hierarchy, with hard and soft labels."""

from __future__ import annotations

import json
from math import log, log2
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean
from typing import Any

import pytest
from benchmark.family.hosting import host, values
from sklearn.metrics import f1_score  # noqa: TID251 the oracle

N = 60
RANDOM = Random(23)
Weights = dict[str, float]
Parents = dict[str, str]


def closed(weights: Weights, parents: Parents) -> Weights:
    """With the ancestors of the labels, at the largest weight below each."""
    whole = dict(weights)
    for label, weight in weights.items():
        while label in parents:
            label = parents[label]
            whole[label] = max(whole.get(label, 0.0), weight)
    return whole


def icm(gold: list[Weights], given: list[Weights], parents: Parents, *, soft: bool) -> tuple[float, float]:
    """ICM and its norm of labels in a tree of two levels; hard labels have the weight 1."""
    of_gold = [closed(cell, parents) for cell in gold]
    known = sorted({label for cell in (*gold, *given) for label in closed(cell, parents)})
    columns = {label: [cell.get(label, 0.0) for cell in of_gold] for label in known}

    def bits(label: str, weight: float) -> float:
        column = columns[label]
        if not soft:
            return weight * log2(len(gold) / max(sum(column), 1))
        deviation = fmean(abs(each - fmean(column)) for each in column)
        return -log2((1 - NormalDist(fmean(column), deviation).cdf(weight)) or 1 / len(gold)) * (weight > 0)

    def information(cell: Weights) -> float:
        whole = closed(cell, parents)
        above = sum(bits(parents[label], weight) for label, weight in whole.items() if label in parents)
        return sum(bits(label, weight) for label, weight in whole.items()) - above

    contrasts = []
    for first, second in zip(gold, given, strict=True):
        both = {label: max(first.get(label, 0.0), second.get(label, 0.0)) for label in first | second}
        contrasts.append(2 * information(first) + 2 * information(second) - 3 * information(both))
    best = fmean(map(information, gold))
    return fmean(contrasts), max((fmean(contrasts) + best) / (2 * best), 0.0)


def one(labels: list[str]) -> list[Weights]:
    return [{label: 1.0} for label in labels]


def drawn(labels: list[str]) -> list[str]:
    return [RANDOM.choice(labels) for _ in range(N)]


def shares(labels: list[str]) -> list[Weights]:
    """The shares of six annotators."""
    votes = [RANDOM.choices(labels, k=6) for _ in range(N)]
    return [{label: each.count(label) / 6 for label in labels} for each in votes]


def cross_entropy(gold: list[Weights], given: list[Weights]) -> float:
    def limited(share: float) -> float:
        return min(max(share, 2.0**-52), 1 - 2.0**-52)

    return -fmean(
        sum(share * log(limited(second[label])) for label, share in first.items())
        for first, second in zip(gold, given, strict=True)
    )


def records(values: list[Any], first: int) -> str:
    return json.dumps(
        [{"test_case": "T", "id": str(first + at), "value": each} for at, each in enumerate(values)]
    )


def files_of(side: dict[str, list[Any]], end: str) -> dict[str, str]:
    """The files of PyEvALL, which have one shape for answers and for labels."""
    return {f"{name}{end}": records(cells, 300) for name, cells in side.items()}


def task(
    name: str, form: str, labels: list[str], metrics: list[str], *, more: str = "", file: str = ""
) -> str:
    positive = ', positive = "YES"' if metrics == ["f1"] else ""
    listed = ", ".join(f'{{ name = "{each}"{positive} }}' for each in metrics)
    return f"""
[tasks.{name}]
form = "{form}"
labels = {labels}
metrics = [{listed}]
splits.test = {{ size = {N}, ids = "{{}}", first_id = 300 }}
{more}
[[tasks.{name}.files]]
name = "{name}"
member = "{file or name}.json"
column = "value"
gold.file = "{file or name}_gold.json"
"""


def test_sexism_in_three_subtasks(tmp_path: Path) -> None:
    """CLEF EXIST 2023: a label, a label in a hierarchy, and several; as labels, and as probabilities."""
    intentions, categories = ["DIRECT", "REPORTED", "JUDGMENTAL"], ["OBJECTS", "VIOLENCE", "MISOGYNY"]
    labels = {"task1": ["YES", "NO"], "task2": [*intentions, "NO"], "task3": [*categories, "NO"]}
    manifest, truth, given = "", dict[str, list[Any]](), dict[str, list[Any]]()
    expected: dict[str, dict[str, Any]] = {}
    for name, words in labels.items():
        parents = dict.fromkeys(words[:-1], "YES") if len(words) > 2 else {}
        more = "".join(f'parents.{word} = "YES"\n' for word in parents)
        hard, soft, several = f"{name}-hard", f"{name}-soft", name == "task3"
        for side in (truth, given):
            if several:
                side[hard] = [RANDOM.sample(words[:-1], RANDOM.randint(1, 2)) for _ in range(N - 20)] + [
                    ["NO"]
                ] * 20
                side[soft] = [{word: RANDOM.randint(0, 6) / 6 for word in words} for _ in range(N)]
            else:
                side[hard], side[soft] = drawn(words), shares(words)
        kind, f1 = ("sets_icm", "sets_macro_f1") if several else ("icm", "macro_f1")
        manifest += task(hard, "sets" if several else "labels", words, [kind, f"{kind}_norm", f1], more=more)
        independent = "exclusive = false\n" if several else ""
        soft_metrics = ["icm_soft", "icm_soft_norm"]
        manifest += task(soft, "distributions", words, soft_metrics, more=independent + more)
        sides = [
            [dict.fromkeys(cell if several else [cell], 1.0) for cell in side[hard]]
            for side in (truth, given)
        ]
        indicators = [[[word in cell for word in words] for cell in side] for side in sides]
        of_f1 = (
            f1_score(*indicators, average="macro")
            if several
            else f1_score(truth[hard], given[hard], average="macro")
        )
        of_icm = icm(sides[0], sides[1], parents, soft=False)
        expected[hard] = dict(zip((kind, f"{kind}_norm", f1), (*of_icm, of_f1), strict=True))
        of_soft = icm(truth[soft], given[soft], parents, soft=True)
        expected[soft] = dict(zip(soft_metrics, of_soft, strict=True))
        if not several:
            entropy = f"{name}-ce"
            manifest += task(
                entropy, "distributions", words, ["neg_cross_entropy"], more="weight = 0", file=soft
            )
            expected[entropy] = {"neg_cross_entropy": -cross_entropy(truth[soft], given[soft])}
    report = host(tmp_path, manifest, files_of(given, ".json"), files_of(truth, "_gold.json"))
    assert values(report) == {name: pytest.approx(scores) for name, scores in expected.items()}


def test_stereotypes_with_disagreement(tmp_path: Path) -> None:
    """IberLEF 2024 DETESTS-Dis: a stereotype or none, and whether it is implicit, hard and soft."""
    words, parents = ["NO", "Explicit", "Implicit"], {"Explicit": "Stereotype", "Implicit": "Stereotype"}
    tree = "".join(f'parents.{word} = "{above}"\n' for word, above in parents.items())
    columns = {
        "task1-hard": ("labels", ["NO", "YES"], ["f1"], ""),
        "task1-soft": ("distributions", ["NO", "YES"], ["neg_cross_entropy"], "weight = 0\n"),
        "task2-hard": ("labels", words, ["icm", "icm_norm"], tree),
        "task2-soft": ("distributions", words, ["icm_soft", "icm_soft_norm"], tree),
    }
    manifest = "".join(task(name, *each, more=more) for name, (*each, more) in columns.items())
    truth, given = (
        {
            name: (drawn if form == "labels" else shares)(labels)
            for name, (form, labels, *_) in columns.items()
        }
        for _ in range(2)
    )  # type: tuple[dict[str, Any], dict[str, Any]]
    report = host(tmp_path, manifest, files_of(given, ".json"), files_of(truth, "_gold.json"))
    hard = icm(one(truth["task2-hard"]), one(given["task2-hard"]), parents, soft=False)
    soft = icm(truth["task2-soft"], given["task2-soft"], parents, soft=True)
    assert values(report) == {
        "task1-hard": {
            "f1": pytest.approx(f1_score(truth["task1-hard"], given["task1-hard"], pos_label="YES"))
        },
        "task1-soft": {
            "neg_cross_entropy": pytest.approx(-cross_entropy(truth["task1-soft"], given["task1-soft"]))
        },
        "task2-hard": {"icm": pytest.approx(hard[0]), "icm_norm": pytest.approx(hard[1])},
        "task2-soft": {"icm_soft": pytest.approx(soft[0]), "icm_soft_norm": pytest.approx(soft[1])},
    }
