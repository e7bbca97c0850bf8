"""Metrics of relations against cases worked by hand, and the rule of CASE 2022's scorer in plain loops."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scoring.columns import RESAMPLES, left_out, resampled, spread_error

from gluebench.benchmark import Metric
from gluebench.scoring import measure
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.metrics import point
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.metrics.relations import spans_of
from gluebench.scoring.paired import paired_tests
from gluebench.scoring.units import units_of

RNG = np.random.default_rng
LABELS = ("ARG0", "ARG1", "SIG")
FUNCTIONS = ("precision", "recall", "f1")


def scores(gold, predicted, positive=None, end: str = "") -> tuple[float, ...]:
    """Precision, recall and F1."""
    return tuple(
        measure(f"relation_{name}{end}", gold, predicted, positive=positive, labels=LABELS)
        for name in FUNCTIONS
    )


def of(precision: float, recall: float):
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return pytest.approx((precision, recall, f1), abs=1e-12)


RAIN = "<ARG0>Heavy rain</ARG0> <SIG0>caused</SIG0> <ARG1>floods and landslides</ARG1> ."


def test_relations_by_hand() -> None:
    """Each error counts once: an overlap is half a missed and half an extra span."""
    plain = "Heavy rain caused floods and landslides ."
    assert scores([[RAIN]], [[RAIN]]) == of(1, 1)
    shorter = "Heavy <ARG0>rain</ARG0> caused <ARG1>floods and landslides</ARG1> ."
    assert scores([[RAIN]], [[shorter]]) == of(1 / 1.5, 1 / 2.5), "one right, one near, one missed"
    swapped = RAIN.replace("ARG0", "X").replace("ARG1", "ARG0").replace("X", "ARG1")
    assert scores([[RAIN]], [[swapped]]) == of(1 / 2, 1 / 2), "the signal is right, two labels are wrong"
    assert scores([[RAIN]], [[swapped]], "ARG0") == of(0, 0)
    split = "Heavy rain caused <ARG1>floods</ARG1> and <ARG1>landslides</ARG1> ."
    assert scores([[RAIN]], [[split]], "ARG1") == of(0, 0)
    assert scores([[RAIN, split]], [[split, plain]], "ARG1") == of(2 / 2, 2 / 3)
    assert scores([[RAIN]], [[]]) == scores([[RAIN]], [[plain]]) == of(0, 0)
    assert scores([[RAIN], [], []], [[RAIN, RAIN, split], [], [RAIN]]) == of(1, 1), "others do not count"
    assert scores([[RAIN, split, plain]], [[plain, split, RAIN]]) == of(1, 1), "in the best order"


def test_spans_are_read_by_words() -> None:
    """A tag may stand inside a word; CASE's scorer does not see the end of an argument of one word."""
    sentence = "(<ARG0>rain</ARG0>) made <SIG0>a</SIG0> <SIG1>big</SIG1> <ARG1>flood</ARG1> today"
    signals = [(2, 3, "SIG"), (3, 4, "SIG")]
    assert spans_of(sentence, LABELS) == {"ARG": [(0, 1, "ARG0"), (4, 5, "ARG1")], "SIG": signals}
    of_case = {"ARG": [(0, 4, "ARG0"), (4, 6, "ARG1")], "SIG": signals}
    assert spans_of(sentence, LABELS, case=True) == of_case
    nested = "<ARG0>a <ARG1>b</ARG1> c</ARG0>"
    assert spans_of(nested, LABELS) == {"ARG": [(0, 1, "ARG0"), (1, 2, "ARG1")]}
    assert spans_of("<A1>a</A1><B>b</B>", ()) == {"A": [(0, 1, "A1")], "B": [(0, 1, "B")]}


def tags_of(sentence: str, opening: dict[str, str], *, one_word: bool) -> list[str]:
    """The tag of each word, B-, I- or O, as CASE's scorer gives it, for arguments or for signals."""
    tags, following = [], "O"
    for word in sentence.split(" "):
        tag = following
        for name, label in opening.items():
            if f"<{name}>" in word:
                tag, following = f"B-{label}", f"I-{label}"
                if one_word and f"</{name}>" in word:
                    following = "O"
                break
            if f"</{name}>" in word:
                tag, following = f"I-{label}", "O"
                break
        tags.append(tag)
    return tags


def entities(tags: list[str]) -> list[tuple[str, list[int]]]:
    """Label and words of each entity in strict IOB2."""
    entities = []
    for at, tag in enumerate(tags):
        if tag[0] == "B":
            entities.append((tag[2:], [at]))
        elif tag[0] == "I" and entities and entities[-1] == (tag[2:], [*range(entities[-1][1][0], at)]):
            entities[-1][1].append(at)
    return entities


def fair(gold, predicted) -> Counter:
    """FairEval's counts by label of gold, or of a predicted span that is matched with none."""
    counts, sides = Counter(), [[*gold], [*predicted]]
    for same in (True, False):
        for first in [*sides[0]]:
            second = next((s for s in sides[1] if s[1] == first[1] and (s[0] == first[0]) is same), None)
            if second:
                counts[first[0], "TP" if same else "LE"] += 1
                sides[0].remove(first)
                sides[1].remove(second)
    spans = [sorted(([*span, {*span[1]}] for span in side), key=lambda span: len(span[1])) for side in sides]
    done = [[], []]
    for same in (True, False):
        for turn, (mine, theirs) in enumerate([(0, 1), (0, 1), (1, 0)]):
            at = 0
            while at < len(spans[mine]):
                span, pool = spans[mine][at], (done if turn else spans)[theirs]
                common = [s for s in pool if (s[0] == span[0]) is same and s[2] & span[2]]
                if not common:
                    at += 1
                    continue
                common.sort(key=lambda s: (-len(s[2] & span[2]), len(span[2] - s[2]), len(s[2] - span[2]),
                                           len(s[1])))  # fmt: skip
                best = common[0]
                counts[(span, best)[mine][0], "BE" if same else "LBE"] += 1
                done[mine].append(spans[mine].pop(at))
                if not turn:
                    spans[theirs].remove(best)
                    done[theirs].append(best)
                shared = span[2] & best[2]
                span[2], best[2] = span[2] - shared, best[2] - shared
    counts.update((label, kind) for side, kind in zip(spans, ("FN", "FP"), strict=True) for label, *_ in side)
    return counts


def fractions(counts: Counter, labels) -> tuple[float, float, float]:
    total = Counter()
    for (label, kind), number in counts.items():
        total[kind] += number * (label in labels)
    half = (total["LE"] + total["BE"] + total["LBE"]) / 2
    precision, recall = (total["TP"] / max(total["TP"] + total[wrong] + half, 1e-9) for wrong in ("FP", "FN"))
    return precision, recall, 2 * (precision * recall) / (precision + recall) if precision + recall else 0.0


def plain_counts(gold: list[str], predicted: list[str], *, one_word: bool) -> Counter:
    def compared(first: str, second: str) -> Counter:
        counts = Counter()
        for opening, ends in (({"ARG0": "ARG0", "ARG1": "ARG1"}, one_word), ({"SIG0": "SIG"}, True)):
            counts += fair(*(entities(tags_of(each, opening, one_word=ends)) for each in (first, second)))
        return counts

    given = (predicted + [""] * len(gold))[: len(gold)]
    best, highest = Counter(), -1.0
    for order in permutations(gold):
        counts = sum(map(compared, order, given), Counter())
        if fractions(counts, LABELS)[2] > highest:
            best, highest = counts, fractions(counts, LABELS)[2]
    return best


def tagged(rng, words: list[str], names=("ARG0", "ARG1", "SIG0", "ARG0")) -> str:
    """The sentence with most of these tags, at words that have none of the same letters."""
    words, free = [*words], {"ARG": [True] * len(words), "SIG": [True] * len(words)}
    for name in names[: rng.integers(0, len(names) + 1)]:
        start = int(rng.integers(0, len(words)))
        end = min(start + int(rng.integers(1, 5)), len(words))
        if all(free[name[:3]][start:end]):
            free[name[:3]][start:end] = [False] * (end - start)
            words[start] = f"<{name}>{words[start]}"
            words[end - 1] += f"</{name}>"
    return " ".join(words)


def some_relations(rng, size: int, *shares: float):
    """Gold, and predictions with that share of other relations."""
    gold, answers = [], [[] for _ in shares]
    for _ in range(size):
        words = [f"w{at}" for at in range(rng.integers(3, 12))]
        gold.append([tagged(rng, words) for _ in range(rng.integers(0, 4))])
        for share, answer in zip(shares, answers, strict=True):
            kept = [tagged(rng, words) if rng.random() < share else each for each in gold[-1]]
            rng.shuffle(kept)
            more = [tagged(rng, words)] * int(rng.integers(0, 2))
            answer.append(kept[rng.integers(0, 2) : None if rng.random() < share else 9] + more)
    return gold, *answers


@pytest.mark.parametrize("end", ["", "_case"])
def test_relations_against_loops(end: str) -> None:
    for seed in range(60):
        gold, predicted = some_relations(RNG(seed), 12, 0.6)
        counts = sum(
            (plain_counts(*pair, one_word=not end) for pair in zip(gold, predicted, strict=True)), Counter()
        )
        assert scores(gold, predicted, end=end) == pytest.approx(fractions(counts, LABELS), abs=1e-12)
        for label in LABELS:
            of_label = fractions(counts, [label])
            assert scores(gold, predicted, label, end) == pytest.approx(of_label, abs=1e-12)


@pytest.mark.parametrize("resamples", RESAMPLES)
@pytest.mark.parametrize("label", [None, "ARG1"])
@pytest.mark.parametrize("name", [f"relation_{name}{end}" for name in FUNCTIONS for end in ("", "_case")])
def test_intervals_and_tests_follow(name: str, label: str | None, resamples: int) -> None:
    gold, *answers = some_relations(RNG(0), 200, 0.1, 0.8)
    systems = [pairs_of("relations", gold, answer) for answer in answers]
    metric = Metric(name, name, name, "F", label, LABELS)
    units = units_of([metric], systems)
    without = [at for at in range(200) if at != 17]
    values = [point(metric, pairs.subset(without)).value for pairs in systems]
    assert left_out(metric, systems)[:, 17] == pytest.approx(values, abs=1e-12)
    drawn = resampled(metric, systems, resamples)
    (bar,) = file_intervals([metric], systems[0], [point(metric, systems[0])])
    low, high = np.percentile(drawn[0], [2.5, 97.5])
    assert (bar.low, bar.high) == pytest.approx((low, high), abs=2 * spread_error(resamples) * (high - low))
    (test,) = paired_tests(units, resamples=999, rng=RNG(3))
    assert test.error == pytest.approx((drawn[0] - drawn[1]).std(), rel=spread_error(resamples))
    assert test.p < 0.05


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="gold has 7 values and predictions 2 at position 0"):
        scores([[RAIN]], [["Heavy <ARG0>rain</ARG0>"]])
    with pytest.raises(
        ValueError, match=r"at position 0 .*: 9 relations, at most 8 in gold; expected a JSON list"
    ):
        scores([[RAIN] * 9], [[RAIN]])
    assert scores([[RAIN] * 8], [[RAIN] * 9]) == of(1, 1)
    reason = point(
        Metric("relation_f1", "relation_f1", "", ""), pairs_of("relations", [[]], [[RAIN]])
    ).undefined
    assert reason == "neither gold nor predictions have any span that counts"
