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
[[tasks.Discourse.files]]
member = "submission.csv"
column = "predictionstring"
parts = "class"
gold = {{ file = "train.csv", columns = {{ class = "discourse_type" }} }}
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

    released = rows(gold).replace("class", "discourse_type", 1).splitlines()
    more = ["discourse_id,discourse_start,discourse_end,discourse_text,discourse_type_num"]
    more += [f'{number + 1.6e12},0.0,9.0,"a ""b"", c",Lead 1' for number in range(len(released) - 1)]
    train = "".join(f"{row},{others}\n" for row, others in zip(released, more, strict=True))
    report = host(tmp_path, manifest, {"submission.csv": rows(given)}, {"train.csv": train})
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
[[tasks.{task}.files]]
name = "{task}"
member = "en.jsonl"
column = "{column}"
gold = {{ file = "mushroom.en-tst.v1.jsonl"{text} }}
"""
        for task, metric, column, text in (
            ("hard", "span_iou", "hard_labels", ""),
            ("soft", "span_spearman", "soft_labels", ', text = "model_output_text"'),
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
    soft[0][1] = [(0, length, "0.5")]  # all of the text
    facts = {"lang": "EN", "model_input": "Q?", "model_output_text": "a" * length, "model_id": "m"}
    labeled = map(json.loads, lines(hard[0], soft[0]).splitlines())
    gold = "".join(json.dumps(facts | labels) + "\n" for labels in labeled)
    report = host(tmp_path, files, {"en.jsonl": lines(hard[1], soft[1])}, {"mushroom.en-tst.v1.jsonl": gold})
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
    """EVALITA 2026 FadeIT: sets against two golds, and overlapping spans with partial matches.

    dhfbk/fadeit-evalita2026 @ 02b3a15926b9bec5cc89d4e9baece25fe2a397b5, README.md: of subtask A, a submission
    is the file of the texts with its last two columns filled. The spans of subtask B stand in a table here,
    and not, as there, in tags of tokens.
    """
    size, words = 25, [f"fallacy {letter}" for letter in "abcdefghijklmnopqrst"]
    head = f"splits.test = {{ size = {size}, ids = '{{}}', first_id = 57 }}"
    gold = 'gold.file = "test.tsv"'
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
  {{ name = "annotator-1", member = "TEAM.A.1.tsv", column = "labels_a1", test = "test", {gold} }},
  {{ name = "annotator-2", member = "TEAM.A.1.tsv", column = "labels_a2", test = "test", {gold} }},
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
    sets = [[RANDOM.sample(words, RANDOM.randint(0, 3)) for _ in ids] for _ in range(4)]

    def posts(first: list[list[str]], second: list[list[str]]) -> str:
        lines = ["post_id\tpost_date\tpost_topic_keywords\tpost_text\tlabels_a1\tlabels_a2"]
        for key, one, other in zip(ids, first, second, strict=True):
            cells = (str(key), "2021-06", "public health", 'Un "testo', "|".join(one), "|".join(other))
            lines.append("\t".join(cells))
        return "\n".join(lines) + "\n"

    spans = [[drawn_spans(words[:4], 2) for _ in ids] for _ in range(4)]
    report = host(
        tmp_path,
        manifest,
        {
            "TEAM.A.1.tsv": posts(sets[2], sets[3]),
            "subtask_b.tsv": table(
                ["post_id", "spans_a1", "spans_a2"],
                *(ids, map(written, spans[2]), map(written, spans[3])),
                separator="\t",
            ),
        },
        {
            "test.tsv": posts(sets[0], sets[1]),
            "spans-1.tsv": table(["id", "label"], ids, map(written, spans[0]), separator="\t"),
            "spans-2.tsv": table(["id", "label"], ids, map(written, spans[1]), separator="\t"),
        },
    )
    indicators = [[[word in each for word in words] for each in column] for column in sets]
    pairs = [(indicators[0], indicators[2]), (indicators[1], indicators[3])]
    f1 = [f1_score(*pair, average="micro") for pair in pairs]
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
[[tasks.{language}.files]]
name = "{language}"
member = "subtask_1A_{language}.tsv"
column = "tweet_id"
parts = "score"
gold = {{ file = "dataset_test_{language}.tsv", columns = {{ score = "check_worthiness" }} }}
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
        header = ["topic_id", "tweet_id", "tweet_url", "tweet_text", "claim", "check_worthiness"]
        facts = [[url] * 80 for url in ("https://t.co/a", 'he said "no"', "1")]
        gold[f"dataset_test_{language}.tsv"] = table(
            header, topics, tweets, *facts, map(int, worthy), separator="\t"
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
labels = ["false", "true"]
metrics = [
  {{ name = "auc", function = "roc_auc", positive = "true" }},
  {{ name = "c_at_1" }},
  {{ name = "f05_u", positive = "true" }},
  {{ name = "f1", function = "f1_answered", positive = "true" }},
  {{ name = "brier", function = "neg_brier", scale = [-1.0, 0.0] }},
]
splits.test = {{ size = {size}, ids = "pair-{{}}" }}
[[tasks.Verification.files]]
member = "answers.jsonl"
column = "value"
gold = {{ file = "truth.jsonl", columns = {{ value = "same" }} }}
"""
    truth = [RANDOM.random() < 0.6 for _ in range(size)]
    given = [RANDOM.choice([0.5, round(RANDOM.random(), 3)]) for _ in range(size)]
    lines = [json.dumps({"id": f"pair-{at}", "value": value}) + "\n" for at, value in enumerate(given)]
    rows = [{"id": f"pair-{at}", "same": same, "authors": ["1", "2"]} for at, same in enumerate(truth)]
    gold = "".join(json.dumps(row) + "\n" for row in rows)
    report = host(tmp_path, manifest, {"answers.jsonl": "".join(lines)}, {"truth.jsonl": gold})
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
