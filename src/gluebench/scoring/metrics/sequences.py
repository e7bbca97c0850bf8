"""Metrics of tokens, spans and rankings, as sums over the examples.

A label of a token has a prefix and a type, as B-PER; an entity is (start, end, type), the end exclusive.
Strict entities are those of a scheme, as in seqeval's strict mode: of IOB2, B starts one, I with the same
type continues it, any other I is ignored. Lenient ones are those of the CoNLL script and of seqeval's
default: any change of type starts one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain, count, groupby, repeat
from math import log2
from operator import itemgetter, truediv
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.benchmark.metrics import OUTSIDE, SCHEMES, TagScheme
from gluebench.scoring.metrics.cells import (
    Cells,
    ClassRows,
    Counts,
    class_rows,
    counted_metric,
    mean_metric,
    of_pairs,
    once,
)
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.sums import SumMetric, f1_from, mean_of, means, pooled_f1
from gluebench.scoring.numeric import Flags, Floats, Ints, NDArray, np
from gluebench.scoring.pairs import Pairs

Span = tuple[int, int, str]
"""Start, end (exclusive) and label."""
Tags = tuple[str, ...]
REMEMBERED = 1 << 14
"""Gold rankings whose best possible sum is kept, since it is compared with every system."""
LARGEST = 1 << 20
"""Positions for which sums of products of ranks fit into 64 bits."""
OVERLAP = 0.5
"""Share of both spans that a match overlaps."""


class Scheme(NamedTuple):
    """How entities are read from tags."""

    type_of: Callable[[str], str]
    """The type of a tag."""
    edges: Callable[[Sequence[str], Ints, Ints, Flags], tuple[Flags, Flags]]
    """Whether an entity ends before each token, and whether one starts there, each of shape (tokens,).

    From the tags by code, the codes of the tokens and of those before them, and whether their types agree.
    """


def _scheme_edges(
    scheme: TagScheme, tags: Sequence[str], now: Ints, before: Ints, same: Flags
) -> tuple[Flags, Flags]:
    prefixes = [tag.partition("-")[0] for tag in tags]
    first, inner, unfinished, last = (np.array([tag in {*kind} for tag in prefixes]) for kind in scheme)
    continued = inner[now] & same & unfinished[before]
    origin = np.maximum.accumulate(np.where(continued, 0, np.arange(len(now))))
    inside = np.append(False, first[now[origin]][:-1])
    return inside & ~continued & last[before], first[now] & ~continued


def _lenient_edges(tags: Sequence[str], now: Ints, before: Ints, same: Flags) -> tuple[Flags, Flags]:
    """By the CoNLL script, for the prefixes B, I, E, S, O and for bare tags."""

    def one_of(prefixes: str, codes: Ints) -> Flags:
        return np.array([tag[:1] in prefixes for tag in tags])[codes]

    ends = one_of("ES", before) | (one_of("BI", before) & one_of("BSO", now)) | ~(one_of("O.", before) | same)
    starts = one_of("BS", now) | (one_of("ESO", before) & one_of("EI", now)) | ~(one_of("O.", now) | same)
    return ends, starts


STRICT = {
    name: Scheme(lambda tag: tag.partition("-")[2], partial(_scheme_edges, scheme))
    for name, scheme in SCHEMES.items()
}
"""The schemes that a manifest may declare."""
LENIENT = Scheme(lambda tag: tag.split("-", 1)[-1] or "_", _lenient_edges)


def entities(scheme: Scheme, sentences: Iterable[Tags], types: dict[str, int]) -> Ints:
    """Number of the sentence, start, end (exclusive) and number of the type of each, shape (4, entities).

    New types are numbered in `types`, which has numbers for missing keys.
    """
    codes = defaultdict[str | None, int](count(1).__next__, {None: 0})  # None stands after each sentence
    tokens = chain.from_iterable(chain.from_iterable(zip(sentences, repeat((None,)))))
    now = np.fromiter(map(codes.__getitem__, tokens), np.intp)
    before = np.append(0, now[:-1])
    tags = [OUTSIDE if tag is None else tag for tag in codes]
    numbers, first = np.array([types[scheme.type_of(tag)] for tag in tags], np.intp), before == 0
    ends, starts = scheme.edges(tags, now, before, (numbers[now] == numbers[before]) & ~first)
    opened = np.maximum.accumulate(np.where(starts | first, np.arange(len(now)), 0))
    at = np.flatnonzero(ends)
    sentence = (np.cumsum(first) - 1)[at]
    begin = np.flatnonzero(first)[sentence]
    return np.stack([sentence, opened[at - 1] - begin, at - begin, numbers[before[at]]])


def _entity_rows(scheme: Scheme, cells: Cells, labels: Iterable[str] | None) -> ClassRows:
    types = defaultdict[str, int](count().__next__)
    gold, predicted = (entities(scheme, [pair[side] for pair in cells], types) for side in range(2))
    shape = np.concatenate([gold, predicted], axis=1).max(axis=1, initial=0) + 1
    of_gold, of_predicted = (np.ravel_multi_index(tuple(side), tuple(shape)) for side in (gold, predicted))
    both = gold[:, np.isin(of_gold, of_predicted, assume_unique=True)]
    sides = [(rows, of_types) for rows, _, _, of_types in (both, gold, predicted)]
    return class_rows(sides, types, labels, size=len(cells))


def _strict_rows(cells: Cells, labels: Iterable[str] | None, metric: Metric) -> ClassRows:
    return _entity_rows(STRICT[metric.scheme], cells, labels)


def _lenient_rows(cells: Cells, labels: Iterable[str] | None, _: Metric) -> ClassRows:
    return _entity_rows(LENIENT, cells, labels)


class Overlaps(NamedTuple):
    """How the predicted entities of a sentence overlap with those of gold, as nervaluate counts it.

    A predicted entity is compared with the one of gold that has its ends or, without one, with each that it
    overlaps and that none before it did. So `predicted` counts an entity that overlaps two of gold twice.
    """

    same_type: float
    """Comparisons with the same type."""
    partial: float
    """Those with the same ends, of whatever type, and half of the others."""
    predicted: int
    """Comparisons, and predicted entities without one."""


def entity_overlaps(gold: Iterable[Span], predicted: Iterable[Span]) -> Overlaps:
    """Compare the entities of a sentence, which do not overlap on one side."""
    left, same_type, partial_sum, total = [*gold], 0.0, 0.0, 0
    for start, end, of_type in predicted:
        matches = [span for span in left if span[0] < end and start < span[1]]
        # Entities of one side do not overlap, so one with the same ends is the only match.
        same_ends = any(span[:2] == (start, end) for span in matches)
        same_type += sum(span[2] == of_type for span in matches)
        partial_sum += len(matches) if same_ends else len(matches) / 2
        total += max(len(matches), 1)
        left = [span for span in left if span not in matches]
    return Overlaps(same_type, partial_sum, total)


def _overlap_metric(name: str, credit: Callable[[Overlaps], float]) -> SumMetric:
    """F1 of the credit for overlapping entities."""

    @once
    def rows(cells: Cells, metric: Metric) -> Floats:
        gold_spans, predicted_spans = (
            _spans_of(metric.scheme, [pair[side] for pair in cells]) for side in (0, 1)
        )
        table = []
        for gold, predicted in zip(gold_spans, predicted_spans, strict=True):
            overlaps = entity_overlaps(gold, predicted)
            table.append((credit(overlaps), overlaps.predicted, len(gold)))
        return np.array(table, np.float64)

    return SumMetric(name, rows, pooled_f1, _no_entity)


def _no_entity(sums: Any) -> str | None:
    return None if sums.any() else "neither gold nor predictions have any entity"


def _spans_of(scheme: str, sentences: Sequence[Tags]) -> list[list[Span]]:
    """The entities of each sentence, in their order."""
    types = defaultdict[str, int](count().__next__)
    table = entities(STRICT[scheme], sentences, types)
    names = [*types]
    spans: list[list[Span]] = [[] for _ in sentences]
    for sentence, start, end, of_type in table.T.tolist():
        spans[sentence].append((start, end, names[of_type]))
    return spans


def _span_counts(gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts by label; a match has the same start, end and label."""
    first, second = {*gold}, {*predicted}
    both, of_gold, of_predicted = ([span[2] for span in spans] for spans in (first & second, first, second))
    return both, of_gold, of_predicted


def type_of(tag: str, scheme: str) -> str:
    """The type of a tag: without the prefix of a scheme, if there is one."""
    prefix, hyphen, of_type = tag.partition("-")
    return of_type if hyphen and scheme and prefix in SCHEMES[scheme].prefixes else tag


def right_tokens(of: Callable[[str], str] = str) -> Callable[[Pairs, Metric], Floats]:
    """The right tokens, and tokens, of each sentence; a token is right if `of` it is that of gold."""

    def rows(cells: Cells, _: Metric) -> Floats:
        pairs = ([[*map(of, side)] for side in pair] for pair in cells)
        return np.array([(sum(map(str.__eq__, *pair)), len(pair[0])) for pair in pairs], np.float64)

    return once(rows)


def class_rows_of_tokens(
    cells: Cells,
    labels: Iterable[str] | None,
    _: Metric | None = None,
    *,
    class_of: Callable[[str], str] = str,
    outside: str | None = None,
) -> ClassRows:
    """Counts of tokens by the class of their label; one of the class `outside` counts for neither side."""
    tags, classes = (defaultdict[str, int](count().__next__) for _ in range(2))
    tokens = (chain.from_iterable(pair[side] for pair in cells) for side in range(2))
    codes = [np.fromiter(map(tags.__getitem__, side), np.intp) for side in tokens]
    gold, predicted = (np.array([classes[class_of(tag)] for tag in tags], np.intp)[side] for side in codes)
    rows = np.repeat(np.arange(len(cells)), [len(pair[0]) for pair in cells])
    left_out = -1 if outside is None else classes[outside]
    chosen = [(gold == predicted) & (gold != left_out), gold != left_out, predicted != left_out]
    sides = [(rows[some], of[some]) for some, of in zip(chosen, (gold, gold, predicted), strict=True)]
    return class_rows(sides, classes, labels, size=len(cells))


def _type_rows(cells: Cells, labels: Iterable[str] | None, metric: Metric) -> ClassRows:
    own_type = partial(type_of, scheme=metric.scheme)
    return class_rows_of_tokens(cells, labels, class_of=own_type, outside=OUTSIDE)


def _types(metric: Metric) -> list[str]:
    types = (type_of(label, metric.scheme) for label in metric.labels if label != OUTSIDE)
    return [*dict.fromkeys(types)]


def _overlap_counts(gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts by label; a match overlaps at least half of both spans, best matches first, each span once."""
    sides, both = ({*gold}, {*predicted}), list[str]()
    first, second = ([label for *_, label in spans] for spans in sides)
    for label in {*first} & {*second}:
        of_label = ([span for span in spans if span[2] == label] for spans in sides)
        both += [label] * _matches(*of_label)
    return both, first, second


def _matches(gold: Sequence[Span], predicted: Sequence[Span]) -> int:
    """The number of matches."""
    overlaps = ((_overlap(g, p), g, p) for g in gold for p in predicted)
    gold_left, predicted_left = {*gold}, {*predicted}
    for _, *match in sorted((each for each in overlaps if each[0][0] >= OVERLAP), reverse=True):
        if match[0] in gold_left and match[1] in predicted_left:
            gold_left.remove(match[0])
            predicted_left.remove(match[1])
    return len(gold) - len(gold_left)


def _overlap(gold: Span, predicted: Span) -> tuple[float, float]:
    """The smaller and the larger share of the two spans that they have in common."""
    common = max(min(gold[1], predicted[1]) - max(gold[0], predicted[0]), 0)
    first, second = (common / max(end - start, 1) for start, end, _ in (gold, predicted))
    return min(first, second), max(first, second)


def covered(spans: Iterable[Span]) -> int:
    """The number of positions, of each label, that the spans cover."""
    total = 0
    for _, of_label in groupby(sorted(spans, key=itemgetter(2, 0)), key=itemgetter(2)):
        reached = None
        for start, end, _ in of_label:
            begin = start if reached is None else max(start, reached)
            total += max(end - begin, 0)
            reached = max(end, begin)
    return total


def intersection_over_union(gold: Sequence[Span], predicted: Sequence[Span]) -> float:
    """Positions in both over those in either; 1.0 if neither has any."""
    either = covered([*gold, *predicted])
    return (covered(gold) + covered(predicted) - either) / either if either else 1.0


@once
def _partial_rows(cells: Cells, _: Metric) -> Floats:
    """Shares of the predicted and gold spans that spans of the other side cover, and their numbers."""
    rows = [
        (_shares(predicted, gold), len(predicted), _shares(gold, predicted), len(gold))
        for gold, predicted in cells
    ]
    return np.array(rows, np.float64)


def _shares(spans: Sequence[Span], others: Sequence[Span]) -> float:
    """Sum over the spans of the share of each that spans of its label cover."""
    return sum(
        covered(
            (max(start, first), min(end, last), label)
            for first, last, other in others
            if other == label and first < end and start < last
        )
        / max(end - start, 1)
        for start, end, label in spans
    )


def _partial_f1(sums: Any) -> Any:
    return f1_from(ratio(sums[0], sums[1]), ratio(sums[2], sums[3]))


@once
def _weight_rows(cells: Cells, _: Metric) -> Floats:
    """Spearman's rho of the weights of the positions up to gold's last end; spans have weights as labels.

    Where one side has equal weights, 1.0 if the other has too, else 0.0. Raises ValueError for other labels.
    """
    sizes = [max((end for _, end, _ in gold), default=0) for gold, _ in cells]
    spans = [  # row, side, start and end up to the size of the text, weight
        (row, side, min(start, size), min(end, size), float(label or 1))
        for row, (pair, size) in enumerate(zip(cells, sizes, strict=True))
        for side, of_side in enumerate(pair)
        for start, end, label in of_side
    ]
    rho, constant = _rank_correlations(*_segments(spans, len(cells)), len(cells))
    one_sided = np.where(sizes, constant.all(axis=0), [not predicted for _, predicted in cells])
    return means(np.where(constant.any(axis=0), one_sided, rho))


def _segments(spans: Sequence[tuple[float, ...]], size: int) -> tuple[Ints, Ints, Floats]:
    """Row and length of each stretch without an edge of a span, and its highest weight on both sides."""
    columns = np.array(sorted(spans, key=itemgetter(4)), object).reshape(-1, 5).T
    row, side, start, end = columns[:4].astype(int)
    rows, edges = (
        np.concatenate([np.arange(size), row, row]),
        np.concatenate([np.zeros(size, int), start, end]),
    )
    order = np.lexsort((edges, rows))
    changed, number_of = _changed(rows[order], edges[order]), np.empty_like(order)
    number_of[order] = np.cumsum(changed) - 1
    rows, lengths = rows[order][changed], np.diff(edges[order][changed], append=0)
    first, last = np.split(number_of[size:], 2)
    covers = np.maximum(last - first, 0)
    covered_segments = np.repeat(first - np.cumsum(covers) + covers, covers) + np.arange(covers.sum())
    highest = np.zeros((2, len(rows)))
    highest[np.repeat(side, covers), covered_segments] = np.repeat(columns[4], covers)  # the last one stays
    inside = np.append(rows[1:] == rows[:-1], False)  # no segment begins at the last edge of a row
    return rows[inside], lengths[inside], highest[:, inside]


def _changed(*keys: NDArray[Any]) -> Flags:
    """Whether each item differs from the one before in a key."""
    return np.append(True, np.any([key[1:] != key[:-1] for key in keys], axis=0))[: len(keys[0])]


def _rank_correlations(rows: Ints, lengths: Ints, columns: Floats, size: int) -> tuple[Floats, Flags]:
    """Spearman's rho of each row between two columns of values that repeat; whether a column has one value.

    `rows` ascend. Doubled ranks have the mean n + 1, so that all sums are exact.
    """
    bounds = np.searchsorted(rows, np.arange(size + 1))

    def totals(values: Any, bounds: Ints = bounds) -> Any:
        return np.diff(np.append(0, np.cumsum(values))[bounds])

    lengths = lengths.astype(object if totals(lengths).max(initial=0) > LARGEST else int)
    n, ranks, constant = totals(lengths), [], []
    before = np.cumsum(n) - n
    for column in columns:
        order = np.lexsort((column, rows))
        ties = np.append(np.flatnonzero(_changed(rows[order], column[order])), len(order))
        tied, row = totals(lengths[order], ties), rows[order[ties[:-1]]]
        doubled = np.empty_like(lengths)
        doubled[order] = np.repeat(2 * (np.cumsum(tied) - before[row]) - tied + 1, np.diff(ties))
        ranks.append(doubled)
        constant.append(np.bincount(row, minlength=size) <= 1)
    x, y = ranks
    cross, x_spread, y_spread = (
        (totals(first * second * lengths) - n * (n + 1) ** 2).astype(float)
        for first, second in ((x, y), (x, x), (y, y))
    )
    return np.clip(ratio(cross, np.sqrt(x_spread * y_spread)), -1.0, 1.0), np.array(constant)


Gains = Sequence[tuple[str, float]]
"""Id and gain of the items; those with a gain above 0 are relevant."""


def _ranked(gold: Gains, predicted: Sequence[str]) -> list[float]:
    """The gain of each predicted item, best first; a repeated one counts once."""
    return [*map(dict(gold).get, dict.fromkeys(predicted), repeat(0.0))]


def _places(gold: Gains, predicted: Sequence[str]) -> list[int]:
    """The places of the relevant items, from 1."""
    return [place for place, gain in enumerate(_ranked(gold, predicted), 1) if gain > 0]


def average_precision(gold: Gains, predicted: Sequence[str]) -> float:
    """Mean over the relevant items of the precision down to each; 0.0 without any."""
    places = _places(gold, predicted)
    relevant = sum(gain > 0 for _, gain in gold)
    return sum(at / place for at, place in enumerate(places, 1)) / relevant if relevant else 0.0


def reciprocal_rank(gold: Gains, predicted: Sequence[str]) -> float:
    """1 over the place of the first relevant item; 0.0 without any."""
    places = _places(gold, predicted)
    return 1 / places[0] if places else 0.0


def discounted_gain(gold: Gains, predicted: Sequence[str], places: int | None = None) -> float:
    """Sum of the gains over log2(place + 1), divided by the highest possible; 0.0 without any gain.

    Both sums are over the first `places`, if given.
    """
    ideal = _highest(gold, places)
    return _discounted(_ranked(gold, predicted)[:places]) / ideal if ideal > 0 else 0.0


@lru_cache(maxsize=REMEMBERED)
def _highest(gold: Gains, places: int | None) -> float:
    return _discounted(sorted((gain for _, gain in gold), reverse=True)[:places])


def _discounted(gains: Sequence[float]) -> float:
    return float(sum(map(truediv, gains, _discounts(len(gains)))))


@lru_cache
def _discounts(places: int) -> list[float]:
    return [log2(place + 1) for place in range(1, places + 1)]


def precision_at(gold: Gains, predicted: Sequence[str], places: int) -> float:
    """Share of relevant items among the first places, of which some may be empty."""
    return len(_places(gold, predicted[:places])) / places


def recall_at(gold: Gains, predicted: Sequence[str], places: int) -> float:
    """Share of the relevant items that are among the first places; 0.0 without any."""
    relevant = sum(gain > 0 for _, gain in gold)
    return len(_places(gold, predicted[:places])) / relevant if relevant else 0.0


def _at_places(name: str, score: Callable[[Gains, Sequence[str], int], float]) -> SumMetric:
    """The mean of a score of the first items, as many as the manifest names under `positive`."""

    def rows(cells: Cells, metric: Metric) -> Floats:
        places = max(int(float(metric.positive or 1)), 1)
        return means([score(gold, predicted, places) for gold, predicted in cells])

    return SumMetric(name, once(rows), mean_of)


SEQUENCE_METRICS = (
    SumMetric("token_accuracy", right_tokens(), mean_of),
    counted_metric("entity_f1", _strict_rows, None, "any entity", _types),
    counted_metric("entity_f1_lenient", _lenient_rows, None, "any entity", lambda metric: ()),
    counted_metric("entity_macro_f1", _strict_rows, "present", "any entity", _types),
    _overlap_metric("entity_type_f1", lambda overlaps: overlaps.same_type),
    _overlap_metric("entity_partial_f1", lambda overlaps: overlaps.partial),
    counted_metric("token_macro_f1", _type_rows, "all", "any label but O", _types),
    counted_metric("token_label_macro_f1", class_rows_of_tokens, "all_one", "any token"),
    counted_metric("span_f1", of_pairs(_span_counts), None, "any span"),
    counted_metric("span_overlap_f1", of_pairs(_overlap_counts), "all", "any span"),
    mean_metric("span_iou", intersection_over_union),
    SumMetric("span_partial_f1", _partial_rows, _partial_f1),
    SumMetric("span_spearman", _weight_rows, mean_of),
    mean_metric("map", average_precision),
    mean_metric("mrr", reciprocal_rank),
    mean_metric("ndcg", discounted_gain),
    _at_places("precision_at", precision_at),
    _at_places("recall_at", recall_at),
    _at_places("ndcg_at", discounted_gain),
    _at_places("mrr_at", lambda gold, predicted, places: reciprocal_rank(gold, predicted[:places])),
    _at_places("map_at", lambda gold, predicted, places: average_precision(gold, predicted[:places])),
)
"""Metrics of tokens, spans and rankings."""
