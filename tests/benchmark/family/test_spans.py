"""Shared tasks with spans, rankings, several golds and answers left open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from benchmark.family.hosting import host, table, values
from scipy.stats import spearmanr
from sklearn.metrics import (  # noqa: TID251 the oracles
    average_precision_score,
    brier_score_loss,
    f1_score,
    roc_auc_score,
)

RANDOM = Random(23)
Spans = Sequence[tuple[int, int, str]]


def drawn_spans(labels: Sequence[str], most: int, length: int = 40) -> list[tuple[int, int, str]]:
    """Spans that do not overlap those of the same label."""
    spans = []
    for label in labels:
        ends = sorted(RANDOM.sample(range(length), 2 * RANDOM.randint(0, most)))
        spans += [(start, end, label) for start, end in zip(ends[::2], ends[1::2], strict=True)]
    return sorted(spans)


def written(spans: Spans) -> str:
    return "; ".join(f"{start}-{end}:{label}" for start, end, label in spans)


def test_discourse_elements_in_rows(tmp_path: Path) -> None:
    """Kaggle Feedback Prize 2021: several rows for each essay, with the indices of words."""
    classes = ["Lead", "Position", "Evidence", "Claim", "Concluding Statement", "Counterclaim", "Rebuttal"]
    ids = [f"{RANDOM.getrandbits(48):012X}" for _ in range(15)]
    manifest = f"""
[tasks.Discourse]
form = "spans"
labels = {classes}
metrics = [{{ name = "span_overlap_f1" }}]
splits.test = {{ size = 15, ids = {ids} }}
files = [{{ name = "discourse", member = "submission.csv", column = "predictionstring", parts = "class" }}]
"""
    gold, given = ([drawn_spans(classes[:6], 2) for _ in ids] for _ in range(2))
    given[0], given[1] = gold[0], []

    def rows(essays: list[list[tuple[int, int, str]]]) -> str:
        parts = [(key, *span) for key, spans in zip(ids, essays, strict=True) for span in spans]
        return table(
            ["id", "class", "predictionstring"],
            [key for key, *_ in parts],
            [label for *_, label in parts],
            [" ".join(map(str, range(start, end))) for _, start, end, _ in parts],
        )

    report = host(tmp_path, manifest, {"submission.csv": rows(given)}, {"submission.csv": rows(gold)})
    scores = []
    for name in classes:
        hits = total = 0
        for one, other in zip(gold, given, strict=True):
            first, second = (
                [{*range(s, e)} for s, e, label in spans if label == name] for spans in (one, other)
            )
            total += len(first) + len(second)
            pairs = [
                (at, number)
                for at, g in enumerate(first)
                for number, p in enumerate(second)
                if min(len(g & p) / len(g), len(g & p) / len(p)) >= 0.5
            ]
            hits += min(len({at for at, _ in pairs}), len({number for _, number in pairs}))
        scores.append(2 * hits / total if total else 0.0)
    assert values(report)["Discourse"]["span_overlap_f1"] == pytest.approx(fmean(scores))


def correlation(gold: list[float], given: list[float]) -> float:
    if len({*gold}) == 1 or len({*given}) == 1:
        return float(len({*gold}) == len({*given}))
    return float(spearmanr(gold, given)[0])


def test_hallucinated_spans_with_probabilities(tmp_path: Path) -> None:
    """SemEval-2025 task 3, Mu-SHROOM: hard spans and spans with probabilities in JSON lines."""
    size, length = 20, 40
    files = "".join(
        f"""
[tasks.{task}]
form = "spans"
metrics = [{{ name = "{metric}" }}]
splits.test = {{ size = {size}, ids = "tst-en-{{}}", first_id = 1 }}
files = [{{ name = "{task}", member = "en.jsonl", column = "{column}", test = "test" }}]
"""
        for task, metric, column in (
            ("hard", "span_iou", "hard_labels"),
            ("soft", "span_spearman", "soft_labels"),
        )
    )

    def lines(hard: list[Any], soft: list[Any]) -> str:
        rows = [
            {
                "id": f"tst-en-{at}",
                "hard_labels": [[start, end] for start, end, _ in hard[at - 1]],
                "soft_labels": [{"start": s, "end": e, "prob": float(p)} for s, e, p in soft[at - 1]],
            }
            for at in range(1, size + 1)
        ]
        return "".join(f"{json.dumps(row)}\n" for row in rows)

    hard = [[drawn_spans([""], 3) for _ in range(size)] for _ in range(2)]
    soft = [
        [[(s, e, RANDOM.choice(["1", "0.5", "0.2"])) for s, e, _ in spans] for spans in side] for side in hard
    ]
    hard[0][0] = hard[1][0] = soft[0][0] = soft[1][0] = []
    whole = [[*spans, (0, length, "0")] for spans in soft[0]]
    gold = {
        "hard.tsv": table(["id", "label"], [f"tst-en-{at + 1}" for at in range(size)],
                          ["; ".join(f"{s}-{e}" for s, e, _ in spans) for spans in hard[0]], separator="\t"),
        "soft.tsv": table(["id", "label"], [f"tst-en-{at + 1}" for at in range(size)],
                          [written(spans) for spans in whole], separator="\t"),
    }  # fmt: skip
    report = host(tmp_path, files, {"en.jsonl": lines(hard[1], soft[1])}, gold)
    unions, correlations = [], []
    for at in range(size):
        first, second = ({c for s, e, _ in side[at] for c in range(s, e)} for side in hard)
        unions.append(len(first & second) / len(first | second) if first | second else 1.0)
        weights = np.zeros((2, length))
        for side in (0, 1):
            for start, end, probability in soft[side][at]:
                weights[side, start:end] = float(probability)
        correlations.append(correlation(*weights.tolist()))
    assert values(report) == {
        "hard": {"span_iou": pytest.approx(fmean(unions))},
        "soft": {"span_spearman": pytest.approx(fmean(correlations))},
    }


def test_fallacies_with_two_annotators(tmp_path: Path) -> None:
    """EVALITA 2026 FadeIT: sets against two golds, and overlapping spans with partial matches."""
    size, words = 25, [f"fallacy {letter}" for letter in "abcdefghijklmnopqrst"]
    head = f"splits.test = {{ size = {size}, ids = '{{}}', first_id = 57 }}"
    manifest = f"""
[tasks.Posts]
form = "sets"
labels = {words}
metrics = [
  {{ name = "a1", function = "sets_micro_f1", file = "annotator-1" }},
  {{ name = "a2", function = "sets_micro_f1", file = "annotator-2" }},
]
{head}
files = [
  {{ name = "annotator-1", member = "subtask_a.tsv", column = "labels", test = "test" }},
  {{ name = "annotator-2", member = "subtask_a.tsv", column = "labels", test = "test" }},
]
[tasks.Spans]
form = "spans"
labels = {words}
metrics = [
  {{ name = "s1", function = "span_partial_f1", file = "spans-1" }},
  {{ name = "s2", function = "span_partial_f1", file = "spans-2" }},
]
{head}
files = [
  {{ name = "spans-1", member = "subtask_b.tsv", column = "spans_a1", test = "test" }},
  {{ name = "spans-2", member = "subtask_b.tsv", column = "spans_a2", test = "test" }},
]
"""
    ids = range(57, 57 + size)
    sets = [[RANDOM.sample(words, RANDOM.randint(0, 3)) for _ in ids] for _ in range(3)]
    spans = [[drawn_spans(words[:4], 2) for _ in ids] for _ in range(4)]
    report = host(
        tmp_path,
        manifest,
        {
            "subtask_a.tsv": table(["post_id", "labels"], ids, map("|".join, sets[2]), separator="\t"),
            "subtask_b.tsv": table(
                ["post_id", "spans_a1", "spans_a2"],
                *(ids, map(written, spans[2]), map(written, spans[3])),
                separator="\t",
            ),
        },
        {
            f"{name}.tsv": table(["id", "label"], ids, cells, separator="\t")
            for name, cells in (
                ("annotator-1", map("|".join, sets[0])),
                ("annotator-2", map("|".join, sets[1])),
                ("spans-1", map(written, spans[0])),
                ("spans-2", map(written, spans[1])),
            )
        },
    )
    indicators = [[[word in each for word in words] for each in column] for column in sets]
    f1 = [f1_score(gold, indicators[2], average="micro") for gold in indicators[:2]]
    partial = [partial_f1(spans[0], spans[2]), partial_f1(spans[1], spans[3])]
    assert values(report)["Posts"] == {"a1": pytest.approx(f1[0]), "a2": pytest.approx(f1[1])}
    assert values(report)["Spans"] == {"s1": pytest.approx(partial[0]), "s2": pytest.approx(partial[1])}
    assert report.score is not None
    assert report.score.value == pytest.approx(fmean([fmean(f1), fmean(partial)]))


def partial_f1(gold: list[Spans], given: list[Spans]) -> float:
    """Da San Martino et al. 2019, equations 1 to 3, over all texts."""
    shares: list[list[float]] = [[], []]
    for one, other in zip(gold, given, strict=True):
        for side, first, second in ((0, other, one), (1, one, other)):
            for start, end, label in first:
                common = [
                    len({*range(start, end)} & {*range(s, e)}) for s, e, word in second if word == label
                ]
                shares[side].append(sum(common) / (end - start))
    precision, recall = map(fmean, shares)
    return 2 * precision * recall / (precision + recall)


def test_check_worthiness_ranked_by_score(tmp_path: Path) -> None:
    """CheckThat! 2021 task 1: a row for each tweet with its score; 64-bit ids; five languages."""
    languages = ["arabic", "bulgarian", "english", "spanish", "turkish"]
    metrics = ", ".join(
        ['{ name = "map" }', '{ name = "mrr" }']
        + [f'{{ name = "p{k}", function = "precision_at", positive = "{k}" }}' for k in (1, 3, 5, 10, 20, 30)]
    )
    manifest = "".join(
        f"""
[tasks.{language}]
form = "ranking"
metrics = [{metrics}]
splits.test = {{ size = 2, ids = ["CT21_{language}_1", "CT21_{language}_2"] }}
files = [
  {{ name = "{language}", member = "subtask_1A_{language}.tsv", column = "tweet_id", parts = "score" }},
]
"""
        for language in languages
    )
    submission, gold, expected = {}, {}, {}
    for language in languages:
        topics = [f"CT21_{language}_{at}" for at in (1, 2) for _ in range(40)]
        tweets = [str(1_380_000_000_000_000_000 + RANDOM.getrandbits(58)) for _ in topics]
        worthy, scores = [RANDOM.random() < 0.3 for _ in topics], [RANDOM.gauss(0, 1) for _ in topics]
        submission[f"subtask_1A_{language}.tsv"] = table(
            ["topic_id", "tweet_id", "score", "run_id"], topics, tweets, scores, ["r1"] * 80, separator="\t"
        )
        gold[f"subtask_1A_{language}.tsv"] = table(
            ["topic_id", "tweet_id", "score"], topics, tweets, map(int, worthy), separator="\t"
        )
        halves = [(worthy[at : at + 40], scores[at : at + 40]) for at in (0, 40)]
        ranked = [[worth for _, worth in sorted(zip(s, w, strict=True), reverse=True)] for w, s in halves]
        expected[language] = {
            "map": fmean(average_precision_score(w, s) for w, s in halves),
            "mrr": fmean(1 / (1 + order.index(True)) for order in ranked),
        } | {f"p{k}": fmean(sum(order[:k]) / k for order in ranked) for k in (1, 3, 5, 10, 20, 30)}
    report = host(tmp_path, manifest, submission, gold)
    for language in languages:
        assert values(report)[language] == pytest.approx(expected[language])


def test_authorship_with_answers_left_open(tmp_path: Path) -> None:
    """PAN 2021: the probability of one label in JSON lines; .5 is no answer; five measures."""
    size = 80
    manifest = f"""
[tasks.Verification]
form = "probabilities"
labels = ["different", "same"]
metrics = [
  {{ name = "auc", function = "roc_auc", positive = "same" }},
  {{ name = "c_at_1" }},
  {{ name = "f05_u", positive = "same" }},
  {{ name = "f1", function = "f1_answered", positive = "same" }},
  {{ name = "brier", function = "neg_brier", scale = [-1.0, 0.0] }},
]
splits.test = {{ size = {size}, ids = "pair-{{}}" }}
files = [{{ name = "verification", member = "answers.jsonl", column = "value", test = "test" }}]
"""
    truth = [RANDOM.random() < 0.6 for _ in range(size)]
    given = [RANDOM.choice([0.5, round(RANDOM.random(), 3)]) for _ in range(size)]
    lines = [json.dumps({"id": f"pair-{at}", "value": value}) + "\n" for at, value in enumerate(given)]
    gold = table(["id", "label"], [f"pair-{at}" for at in range(size)],
                 ["same" if same else "different" for same in truth], separator="\t")  # fmt: skip
    report = host(tmp_path, manifest, {"answers.jsonl": "".join(lines)}, {"verification.tsv": gold})
    answered = [(same, value > 0.5) for same, value in zip(truth, given, strict=True) if value != 0.5]
    right, left_open = sum(same == said for same, said in answered), size - len(answered)
    tp, fp, fn = (answered.count(case) for case in ((True, True), (False, True), (True, False)))
    expected = {
        "auc": roc_auc_score(truth, given),
        "c_at_1": (right + left_open * right / size) / size,
        "f05_u": 1.25 * tp / (1.25 * tp + 0.25 * (fn + left_open) + fp),
        "f1": f1_score(*zip(*answered, strict=True)),
        "brier": 1 - brier_score_loss(truth, given),
    }
    assert values(report)["Verification"] == pytest.approx(expected)
    assert report.score is not None
    assert report.score.value == pytest.approx(fmean(expected.values()))
