"""Metrics of tokens, spans and rankings against scikit-learn, plain loops and what seqeval gives."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import count

import numpy as np
import pytest
from scipy.stats import spearmanr
from scoring.columns import RESAMPLES, left_out, resampled, spread_error
from scoring.every_metric import metric_of
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric, UnknownNameError
from gluebench.benchmark.metrics import BUILT_IN, SCHEMES
from gluebench.scoring import measure
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.metrics import point
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.metrics.sequences import LENIENT, STRICT, entities, positions_covered
from gluebench.scoring.paired import paired_tests
from gluebench.scoring.pairs import share_cells
from gluebench.scoring.units import units_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
RNG = np.random.default_rng
TAGS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


def sentences(rng, size: int, tags=TAGS):
    return [list(map(str, rng.choice(tags, rng.integers(1, 9)))) for _ in range(size)]


def garbled(rng, gold, share: float, tags=TAGS):
    return [[str(rng.choice(tags)) if rng.random() < share else tag for tag in row] for row in gold]


def strict_entities(tags):
    """The entities of a sentence in IOB2, by a loop."""
    entities = []
    open_type = ""
    for at, tag in enumerate(tags):
        prefix, _, of_type = tag.partition("-")
        if prefix == "I" and entities and of_type == open_type:
            entities[-1] = (entities[-1][0], at + 1, of_type)
            continue
        open_type = of_type if prefix == "B" else "\0"
        if prefix == "B":
            entities.append((at, at + 1, of_type))
    return entities


def lenient_entities(tags):
    """The entities of a sentence by the CoNLL script, by a loop."""
    entities, start = [], 0
    before, of_before = "O", ""
    for at, tag in enumerate([*tags, "O"]):
        prefix, of_type = tag[:1], tag.split("-", 1)[-1] or "_"
        changed = of_type != of_before
        if before in "ES" or (before in "BI" and prefix in "BSO") or (before not in "O." and changed):
            entities.append((start, at, of_before))
        if prefix in "BS" or (before in "ESO" and prefix in "EI") or (prefix not in "O." and changed):
            start = at
        before, of_before = prefix, of_type
    return entities


def entities_of(scheme, rows):
    """The entities of each sentence, in their order."""
    types = defaultdict(count().__next__)
    spans = entities(scheme, rows, types)
    return [
        [(a, b, [*types][of]) for at, a, b, of in spans.T.tolist() if at == row] for row in range(len(rows))
    ]


# Each line of entities is what seqeval 1.2.2 gives for these tags: by default, and with scheme=IOB2.
SEQEVAL = [
    ("B-PER I-PER O B-LOC", [(0, 2, "PER"), (3, 4, "LOC")], [(0, 2, "PER"), (3, 4, "LOC")]),
    ("O I-PER I-PER", [(1, 3, "PER")], []),
    ("B-PER I-LOC", [(0, 1, "PER"), (1, 2, "LOC")], [(0, 1, "PER")]),
    ("B-PER B-PER I-PER", [(0, 1, "PER"), (1, 3, "PER")], [(0, 1, "PER"), (1, 3, "PER")]),
    ("B-PER O I-PER", [(0, 1, "PER"), (2, 3, "PER")], [(0, 1, "PER")]),
    ("B-PER I-LOC I-PER", [(0, 1, "PER"), (1, 2, "LOC"), (2, 3, "PER")], [(0, 1, "PER")]),
    ("O", [], []),
    ("I-LOC B-LOC I-LOC I-PER", [(0, 1, "LOC"), (1, 3, "LOC"), (3, 4, "PER")], [(1, 3, "LOC")]),
]


@pytest.mark.parametrize(("tags", "lenient", "strict"), SEQEVAL)
def test_entities_are_seqevals(tags: str, lenient, strict) -> None:
    assert entities_of(LENIENT, [tags.split()]) == [lenient]
    assert entities_of(STRICT["IOB2"], [tags.split()]) == [strict]


def test_lenient_entities_of_other_schemes_and_of_bare_tags_are_seqevals() -> None:
    """Of bare tags those with which XTREME scored parts of speech (test_family.py)."""
    tags = ["B-X I-X E-X S-X E-X", "NOUN NOUN VERB SYM", "ADJ INTJ . O-Y"]
    assert entities_of(LENIENT, [row.split() for row in tags]) == [
        [(0, 3, "X"), (3, 4, "X"), (4, 5, "X")],
        [(0, 2, "NOUN"), (2, 3, "VERB"), (3, 4, "SYM")],
        [(0, 1, "ADJ"), (1, 2, "INTJ")],
    ]


def test_entities_of_any_tags_are_those_of_a_loop() -> None:
    tags = [
        *TAGS,
        "E-PER",
        "S-LOC",
        ".",
        ".-LOC",
        "X-O",
        "NOUN",
        "I-O",
        "-",
        "B",
        "I",
        "BX",
        "I-LOC-PER",
        "O-LOC",
    ]
    rows = sentences(RNG(0), 400, tags)
    assert entities_of(STRICT["IOB2"], rows) == [*map(strict_entities, rows)]
    assert entities_of(LENIENT, rows) == [*map(lenient_entities, rows)]


PATTERNS = {"IO": "I+", "IOB2": "BI*", "IOBES": "S|BI*E", "BILOU": "U|BI*L", "BMES": "S|BM*E"}
"""The prefixes of an entity; those of all other types are dots."""
SCHEME_TAGS = {name: ["O", *(f"{p}-{t}" for p in SCHEMES[name].prefixes for t in "xy")] for name in SCHEMES}


def entities_by_pattern(tags, scheme: str):
    """The entities of a sentence, found for each type by a regular expression."""
    found = []
    for of_type in {tag[2:] for tag in tags if tag != "O"}:
        prefixes = "".join(tag[0] if tag[2:] == of_type else "." for tag in tags)
        found += [(*match.span(), of_type) for match in re.finditer(PATTERNS[scheme], prefixes)]
    return sorted(found)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_of_each_scheme_are_those_of_a_pattern(scheme: str) -> None:
    rows = sentences(RNG(0), 400, SCHEME_TAGS[scheme])
    assert entities_of(STRICT[scheme], rows) == [entities_by_pattern(row, scheme) for row in rows]
    predicted = garbled(RNG(1), rows, 0.2, SCHEME_TAGS[scheme])
    sides = [
        {(at, *each) for at, row in enumerate(side) for each in entities_by_pattern(row, scheme)}
        for side in (rows, predicted)
    ]
    expected = 2 * len(sides[0] & sides[1]) / (len(sides[0]) + len(sides[1]))
    assert measure("entity_f1", rows, predicted, scheme=scheme) == pytest.approx(expected, abs=1e-12)
    assert measure("entity_f1", rows, predicted) == measure("entity_f1", rows, predicted, scheme=scheme)


# The expected F1 is what seqeval 1.2.2 gives in strict mode.
@pytest.mark.parametrize(
    ("scheme", "gold", "predicted", "f1"),
    [
        ("IOBES", "B-PER E-PER S-PER", "B-PER I-PER S-PER", 2 / 3),
        ("IOBES", "B-PER E-PER S-PER", "B-PER E-PER O", 2 / 3),
        ("IOBES", "B-PER E-PER O", "B-PER O O", 0.0),
        ("IOBES", "S-PER O O", "S-PER O O", 1.0),
        ("IOBES", "B-PER I-LOC E-PER", "B-PER I-PER E-PER", 0.0),
        ("BILOU", "U-PER O B-LOC L-LOC", "U-PER O B-LOC I-LOC", 2 / 3),
        ("IOB2", "B-PER I-LOC", "B-PER O", 1.0),
    ],
)
def test_entities_of_other_schemes_are_seqevals(scheme: str, gold: str, predicted: str, f1: float) -> None:
    assert measure("entity_f1", [gold.split()], [predicted.split()], scheme=scheme) == pytest.approx(f1)


def test_tags_that_fit_no_scheme_are_refused() -> None:
    for tags in (["B-PER", "E-PER"], ["PER-B", "O"], ["B-PER", "M-PER", "I-PER"]):
        with pytest.raises(
            ValueError, match="fit several schemes of entities or none; give theirs with scheme="
        ):
            measure("entity_f1", [tags], [tags])
    with pytest.raises(ValueError, match="has E-PER; expected O and tags that begin with B- and I- in IOB2"):
        measure("entity_f1", [["B-PER", "E-PER"]], [["B-PER", "O"]], scheme="IOB2")
    with pytest.raises(UnknownNameError, match="scheme of entities"):
        measure("entity_f1", [["B-PER"]], [["O"]], scheme="BIO")
    assert measure("token_macro_f1", [["S-x", "O"]], [["B-x", "O"]], scheme="IOBES") == 1.0


# The expected F1 by type and of partial matches is what nervaluate 0.2.0 gives.
@pytest.mark.parametrize(
    ("gold", "predicted", "by_type", "partial"),
    [
        ("B-x I-x O", "B-x I-x O", 1.0, 1.0),
        ("B-x I-x O", "B-y I-y O", 0.0, 1.0),
        ("B-x I-x O", "O B-x I-x", 1.0, 0.5),
        ("B-x I-x O", "O B-y I-y", 0.0, 0.5),
        ("B-x B-y O", "B-x I-x I-x", 2 * 1 / 4, 2 * 1 / 4),
        ("B-x I-x I-x", "B-x B-x O", 2 * 1 / 3, 2 * 0.5 / 3),
        ("B-x O O", "O O B-x", 0.0, 0.0),
    ],
)
def test_overlapping_entities_are_nervaluates(gold, predicted, by_type: float, partial: float) -> None:
    rows = [gold.split()], [predicted.split()]
    assert measure("entity_type_f1", *rows, scheme="IOB2") == pytest.approx(by_type)
    assert measure("entity_partial_f1", *rows, scheme="IOB2") == pytest.approx(partial)


def entity_f1(gold, predicted, entities, macro: bool) -> float:
    """Precision and recall of the sets of (sentence, entity)."""
    sets = [
        {(row, *each) for row, tags in enumerate(rows) for each in entities(tags)}
        for rows in (gold, predicted)
    ]
    types = sorted({each[-1] for each in sets[0] | sets[1]})
    parts = (
        [[{each for each in side if each[-1] == name} for side in sets] for name in types]
        if macro
        else [sets]
    )
    scores = []
    for first, second in parts:
        right = len(first & second)
        precision, recall = right / (len(second) or 1), right / (len(first) or 1)
        scores.append(2 * precision * recall / (precision + recall) if right else 0.0)
    return sum(scores) / len(scores) if scores else 0.0


def test_scores_of_entities_against_a_loop() -> None:
    for seed in range(40):
        rng = RNG(seed)
        gold = sentences(rng, int(rng.integers(1, 12)))
        predicted = garbled(rng, gold, rng.choice([0, 0.2, 1]))
        for name, loop, macro in (
            ("entity_f1", strict_entities, False),
            ("entity_f1_lenient", lenient_entities, False),
            ("entity_macro_f1", strict_entities, True),
        ):
            value = entity_f1(gold, predicted, loop, macro)
            assert measure(name, gold, predicted) == pytest.approx(value, abs=1e-12)
            assert measure(name, gold, predicted, labels=TAGS) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "name", ["entity_macro_f1", "token_macro_f1", "token_label_macro_f1", "entity_f1", "token_accuracy"]
)
def test_systems_that_share_cells_have_their_own_scores(name: str) -> None:
    """A class that another system predicts does not count for one that has none of it."""
    gold, known = sentences(RNG(0), 30), Metric(name, name, "", "", scheme="IOB2")
    answers = [garbled(RNG(seed), gold, 0.4, tags=[*TAGS, f"B-{seed}", "B-LOC"]) for seed in range(4)]
    systems = [pairs_of("tokens", gold, each) for each in answers]
    share_cells(systems)
    scores = [point(known, pairs).value for pairs in systems]
    assert scores == [measure(name, gold, each) for each in answers]
    assert len(set(scores)) == 4


def test_scores_of_tokens_are_scikit_learns() -> None:
    for seed in range(40):
        rng = RNG(seed)
        gold = sentences(rng, int(rng.integers(1, 12)), tags=TAGS[: rng.integers(2, 6)])
        predicted = garbled(rng, gold, 0.4)
        flat = [[tag for row in rows for tag in row] for rows in (gold, predicted)]
        assert measure("token_accuracy", gold, predicted) == pytest.approx(sk.accuracy_score(*flat))
        types = [[tag.split("-")[-1] for tag in side] for side in flat]
        expected = sk.f1_score(*types, labels=["LOC", "PER", "ORG"], average="macro", zero_division=0)
        value = measure("token_macro_f1", gold, predicted, labels=[*TAGS, "B-ORG", "I-ORG"])
        assert value == pytest.approx(expected, abs=1e-12)
        expected = sk.f1_score(*flat, labels=[*TAGS, "B-ORG"], average="macro", zero_division=1)
        value = measure("token_label_macro_f1", gold, predicted, labels=[*TAGS, "B-ORG"])
        assert value == pytest.approx(expected, abs=1e-12)


def some_trees(rng, size: int, share: float):
    """Heads and relations of sentences, and the same with a share of each replaced."""

    def label() -> str:
        return f"{rng.integers(0, 5)}:{rng.choice(['subj', 'obj', 'mod', 'rare', 'odd', 'nsubj:pass'])}"

    gold = [[label() for _ in range(rng.integers(4, 9))] for _ in range(size)]

    def changed(own: str) -> str:
        (head, relation), (other, another) = own.split(":", 1), label().split(":", 1)
        return f"{other if rng.random() < share else head}:{another if rng.random() < share else relation}"

    return gold, [[changed(own) for own in row] for row in gold]


def klue_las(gold, predicted, rare) -> float:
    """The rule of KLUE's published code, word by word: rare relations are one, wrong heads another class."""
    truth, answers = [], []
    for own, said in zip(gold, predicted, strict=True):
        (head, relation), (other, another) = own.split(":", 1), said.split(":", 1)
        truth.append("others" if relation in rare else relation)
        answers.append("wrong" if head != other else "others" if another in rare else another)
    return float(sk.f1_score(truth, answers, average="macro"))


def test_dependencies_by_klues_rule() -> None:
    rare = ("rare", "odd")
    for seed in range(40):
        rng = RNG(seed)
        gold, predicted = some_trees(rng, int(rng.integers(1, 12)), rng.choice([0, 0.2, 1]))
        words = [[label for row in side for label in row] for side in (gold, predicted)]
        heads = [[label.split(":")[0] for label in side] for side in words]
        for name, value in (
            ("uas", sk.accuracy_score(*heads)),
            ("las", sk.accuracy_score(*words)),
            ("uas_macro_f1", sk.f1_score(*heads, average="macro")),
            ("las_macro_f1", klue_las(*words, ())),
        ):
            assert measure(name, gold, predicted) == pytest.approx(value, abs=1e-12)
        value = measure("las_macro_f1", gold, predicted, parents=dict.fromkeys(rare, "others"))
        assert value == pytest.approx(klue_las(*words, rare), abs=1e-12)


def test_dependencies_by_hand() -> None:
    gold, predicted = [["2:subj", "0:root", "2:obj"]], [["2:obj", "0:root", "1:obj"]]
    assert measure("uas", gold, predicted) == pytest.approx(2 / 3)
    assert measure("las", gold, predicted) == pytest.approx(1 / 3)
    assert measure("uas_macro_f1", gold, predicted) == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert measure("las_macro_f1", gold, predicted) == pytest.approx((0 + 1 + 0 + 0) / 4)
    with pytest.raises(ValueError, match="gold has 3 values and predictions 1 at position 0"):
        measure("uas", gold, [["0:root"]])


@pytest.mark.parametrize("resamples", RESAMPLES)
@pytest.mark.parametrize("name", ["uas", "las", "uas_macro_f1", "las_macro_f1"])
def test_intervals_and_tests_of_dependencies(name: str, resamples: int) -> None:
    gold, better = some_trees(RNG(1), 250, 0.1)
    systems = [pairs_of("dependencies", gold, each) for each in (better, some_trees(RNG(1), 250, 0.3)[1])]
    metric = Metric(name, name, name, "F")
    units = units_of([metric], systems)
    without = [at for at in range(250) if at != 17]
    values = [point(metric, pairs.subset(without)).value for pairs in systems]
    assert left_out(metric, systems)[:, 17] == pytest.approx(values, abs=1e-12)
    drawn = resampled(metric, systems, resamples)
    (bar,) = file_intervals([metric], systems[0], [point(metric, systems[0])])
    low, high = np.percentile(drawn[0], [2.5, 97.5])
    assert (bar.low, bar.high) == pytest.approx((low, high), abs=2 * spread_error(resamples) * (high - low))
    (test,) = paired_tests(units, resamples=999, rng=RNG(3))
    assert test.error == pytest.approx((drawn[0] - drawn[1]).std(), rel=1.5 * spread_error(resamples))
    assert test.p < 0.01 < test.difference


def valid(spans):
    """The spans that a file may have: each once, with a start before the end."""
    return [(start, end, label) for start, end, label in dict.fromkeys(spans) if 0 <= start < end]


def some_spans(rng, size: int):
    def spans():
        starts = rng.integers(0, 30, rng.integers(0, 4))
        return valid((int(at), int(at + rng.integers(1, 9)), str(rng.choice(["x", "y"]))) for at in starts)

    return [spans() for _ in range(size)]


def moved(rng, rows):
    return [
        valid(
            (start + int(rng.integers(-2, 3)) * (rng.random() < 0.5), end, label)
            for start, end, label in row
            if rng.random() < 0.8
        )
        for row in rows
    ]


def positions(row):
    return {(label, at) for start, end, label in row for at in range(start, end)}


def test_spans_against_sets_of_positions() -> None:
    for seed in range(60):
        rng = RNG(seed)
        gold = some_spans(rng, 12)
        predicted = moved(rng, gold) if seed % 3 else some_spans(rng, 12)
        assert [positions_covered(row) for row in predicted] == [len(positions(row)) for row in predicted]
        sides = [(positions(g), positions(p)) for g, p in zip(gold, predicted, strict=True)]
        shares = [len(g & p) / len(g | p) if g | p else 1.0 for g, p in sides]
        assert measure("span_iou", gold, predicted) == pytest.approx(np.mean(shares), abs=1e-12)
        exact = [
            {(row, *each) for row, spans in enumerate(side) for each in spans} for side in (gold, predicted)
        ]
        right = len(exact[0] & exact[1])
        expected = 2 * right / max(len(exact[0]) + len(exact[1]), 1)
        assert measure("span_f1", gold, predicted) == pytest.approx(expected, abs=1e-12)


def overlap_f1(gold, predicted) -> float:
    """Match each pair by sets of positions, largest overlap first."""
    scores = []
    for label in ("x", "y"):
        counts = np.zeros(3)
        for row in zip(gold, predicted, strict=True):
            first, second = ([*dict.fromkeys(span for span in side if span[2] == label)] for side in row)
            shares = {}
            for g in first:
                for p in second:
                    common = len(positions([g]) & positions([p]))
                    shares[g, p] = common / len(positions([g])), common / max(len(positions([p])), 1)
            taken: set = set()
            for (g, p), of in sorted(
                shares.items(), key=lambda item: (min(item[1]), max(item[1])), reverse=True
            ):
                if min(of) >= 0.5 and not {("g", g), ("p", p)} & taken:
                    taken |= {("g", g), ("p", p)}
                    counts[0] += 1
            counts[1:] += len(first), len(second)
        scores.append(2 * counts[0] / counts[1:].sum() if counts[0] else 0.0)
    return float(np.mean(scores))


def test_overlapping_spans_against_a_loop() -> None:
    for seed in range(60):
        rng = RNG(seed)
        gold = some_spans(rng, 15)
        predicted = moved(rng, gold)
        value = measure("span_overlap_f1", gold, predicted, labels=["x", "y"])
        assert value == pytest.approx(overlap_f1(gold, predicted), abs=1e-12)


def test_spans_by_hand() -> None:
    gold, predicted = [[(0, 10, "x"), (20, 30, "x")]], [[(0, 5, "x"), (5, 10, "x"), (24, 30, "y")]]
    assert measure("span_overlap_f1", gold, predicted) == pytest.approx((2 / 4 + 0) / 2)
    assert measure("span_iou", [[(0, 4)], []], [[(2, 6), (3, 5)], []]) == pytest.approx((2 / 6 + 1) / 2)
    assert measure("span_iou", [[(0, 10**12)]], [[(0, 10**11)]]) == pytest.approx(0.1), "at any length"
    with pytest.raises(ValueError, match="expected spans as"):
        measure("span_f1", [[(0, 4), (0, 4)]], [[(0, 4)]])


def some_weights(rng, size: int, noise: float):
    """Spans of one position each, in texts of 10; the same gold for each share of noise."""
    gold = RNG(7).random((size, 10))
    changed = np.where(rng.random((size, 10)) < noise, rng.random((size, 10)), gold)
    return [
        [tuple((at, at + 1, str(weight)) for at, weight in enumerate(row)) for row in side]
        for side in (gold, changed)
    ]


def test_weights_of_spans_by_hand() -> None:
    def rho(gold, predicted) -> float:
        return measure("span_spearman", [gold], [predicted])

    gold = [(0, 6, "0"), (0, 2, "0.5"), (4, 5, "1")]
    expected = spearmanr([0.5, 0.5, 0, 0, 1, 0], [0, 1, 1, 0, 0.2, 0])[0]
    assert rho(gold, [(1, 3, "1"), (4, 5, "0.2")]) == pytest.approx(expected)
    assert rho(gold, [(1, 3, "1"), (4, 5, "0.2"), (6, 10**12, "1")]) == pytest.approx(expected)
    assert [rho(gold, []), rho([(0, 6, "0")], []), rho([], []), rho([], [(0, 1, "")])] == [0, 1, 1, 0]


def test_weights_in_long_texts_have_exact_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums beyond 64 bits are Python's integers, which give short texts the same values to the last bit."""
    gold, predicted = [(0, 10**7, "0"), (10**6, 3 * 10**6, "1")], [(10**6, 2 * 10**6, "1")]
    assert (
        measure("span_spearman", [gold], [predicted]) == 2 / 3
    )  # the phi coefficient of 1, 1, 0, 8 millions
    sides = some_weights(RNG(0), 50, 0.5)
    value = measure("span_spearman", *sides)
    monkeypatch.setattr("gluebench.scoring.metrics.sequences.LARGEST", 0)
    assert measure("span_spearman", *sides) == value


def test_weights_of_spans_that_overlap_are_scipys_by_position() -> None:
    """A position has the highest weight of its spans; those beyond gold's last end do not count."""
    rng, defined = RNG(0), 0
    for _ in range(200):
        sides = []
        for _ in range(2):
            starts = rng.integers(0, 20, rng.integers(1, 5)).tolist()
            ends = {at: at + int(rng.integers(1, 15)) for at in starts}
            sides.append([(at, end, str(rng.integers(0, 4) / 4)) for at, end in ends.items()])
        size = max(end for _, end, _ in sides[0])
        columns = np.zeros((2, size))
        for column, spans in zip(columns, sides, strict=True):
            for start, end, weight in spans:
                column[start:end] = np.maximum(column[start:end], float(weight))
        if np.ptp(columns, axis=1).all():
            expected = spearmanr(*columns)[0]
            assert measure("span_spearman", *([side] for side in sides)) == pytest.approx(expected, abs=1e-12)
            defined += 1
    assert defined > 100


def test_places_of_precision() -> None:
    gold, predicted = [["a", "b"], ["c"]], [["x", "a", "b"], []]
    for places, hits in ((1, 0), (2, 1 / 2), (3, 2 / 3), (4, 2 / 4)):
        assert measure("precision_at", gold, predicted, positive=places) == pytest.approx(hits / 2)


def some_rankings(rng, size: int):
    items = [f"d{at}" for at in range(8)]
    gold = [
        {item: float(gain) for item, gain in zip(items, rng.integers(0, 4, 8), strict=True)}
        for _ in range(size)
    ]
    return gold, [list(map(str, rng.permutation(items))) for _ in range(size)]


def test_rankings_are_scikit_learns() -> None:
    for seed in range(40):
        gold, predicted = some_rankings(RNG(seed), 12)
        precision, ranks, gains = [], [], []
        for truth, order in zip(gold, predicted, strict=True):
            scores, relevance = np.arange(8, 0, -1), np.array([truth[item] for item in order])
            precision.append(sk.average_precision_score(relevance > 0, scores) if relevance.any() else 0.0)
            ranks.append(1 / (1 + np.argmax(relevance > 0)) if relevance.any() else 0.0)
            gains.append(sk.ndcg_score([relevance], [scores]))
        for name, expected in (("map", precision), ("mrr", ranks), ("ndcg", gains)):
            assert measure(name, gold, predicted) == pytest.approx(np.mean(expected), abs=1e-12)


def test_first_places_by_a_loop() -> None:
    """As trec_eval's ndcg_cut, recall and map_cut: the ideal is cut too, the relevant items are not."""
    gold, predicted = some_rankings(RNG(3), 30)
    for places in (1, 3, 8, 20):
        expected = {name: [] for name in ("ndcg_at", "recall_at", "map_at", "mrr_at", "precision_at")}
        for truth, order in zip(gold, predicted, strict=True):
            gains = [truth[item] for item in order[:places]]
            ideal = sorted(truth.values(), reverse=True)[:places]
            discounts = 1 / np.log2(np.arange(2, len(gains) + 2))
            relevant = [at for at, gain in enumerate(gains, 1) if gain]
            total = sum(gain > 0 for gain in truth.values()) or 1
            expected["ndcg_at"].append(np.dot(gains, discounts) / (np.dot(ideal, discounts) or 1))
            expected["recall_at"].append(len(relevant) / total)
            expected["map_at"].append(sum(n / at for n, at in enumerate(relevant, 1)) / total)
            expected["mrr_at"].append(1 / relevant[0] if relevant else 0)
            expected["precision_at"].append(len(relevant) / places)
        for name, scores in expected.items():
            value = measure(name, gold, predicted, positive=places)
            assert value == pytest.approx(np.mean(scores), abs=1e-12), name


def test_rankings_by_hand() -> None:
    """An item that is not ranked counts as never; one that is ranked twice is refused."""
    gold, predicted = [["a", "b"], ["c"]], [["x", "a"], []]
    assert measure("map", gold, predicted) == pytest.approx((1 / 2 / 2 + 0) / 2)
    assert measure("mrr", gold, predicted) == pytest.approx(1 / 4)
    ideal = 1 + 1 / np.log2(3)
    assert measure("ndcg", gold, predicted) == pytest.approx(1 / np.log2(3) / ideal / 2)
    assert measure("map", [{"a": 0.0}], [["a"]]) == 0.0
    with pytest.raises(ValueError, match="expected ids with blanks between them"):
        measure("map", gold, [["x", "a", "x"], []])
    columns = pairs_of("ranking", [{"a": 1.0, "b": 2.0}], [["b", "a"]])
    assert measure("ndcg", columns.gold, columns.predicted) == 1.0, "columns as they are read"


def systems_of(name: str, size: int):
    rng = RNG(0)
    if BUILT_IN[name].form == "ranking":
        gold, predicted = some_rankings(rng, size)
        best = [sorted(row, key=lambda item, row=row: -row[item] + 3 * rng.normal()) for row in gold]
        return [pairs_of("ranking", gold, each) for each in (best, predicted)]
    if name == "span_spearman":
        return [pairs_of("spans", *some_weights(rng, size, share)) for share in (0.1, 0.5)]
    if "span" in name:
        gold = some_spans(rng, size)
        return [pairs_of("spans", gold, each) for each in (moved(rng, gold), moved(rng, moved(rng, gold)))]
    gold = sentences(rng, size)
    return [pairs_of("tokens", gold, garbled(rng, gold, share)) for share in (0.2, 0.4)]


@pytest.mark.parametrize(
    "name",
    ["token_accuracy", "entity_f1", "entity_f1_lenient", "entity_macro_f1", "token_macro_f1", "span_f1",
     "span_overlap_f1", "span_iou", "span_partial_f1", "span_spearman", "map", "mrr", "ndcg",
     "precision_at", "recall_at", "ndcg_at", "mrr_at", "map_at", "entity_type_f1", "entity_partial_f1"],
)  # fmt: skip
@pytest.mark.parametrize("resamples", RESAMPLES)
def test_intervals_and_tests_follow(name: str, resamples: int) -> None:
    systems, metric = systems_of(name, 200), metric_of(name)._replace(labels=())
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


def test_a_value_of_zero_has_a_reason() -> None:
    def reason(name: str, gold, predicted, form: str):
        return point(metric_of(name), pairs_of(form, gold, predicted)).undefined

    assert reason("entity_f1", [["O"]], [["O"]], "tokens") == "neither gold nor predictions have any entity"
    assert reason("span_f1", [[]], [[]], "spans") == "neither gold nor predictions have any span"
    assert reason("span_f1", [[(0, 1)]], [[]], "spans") is None
