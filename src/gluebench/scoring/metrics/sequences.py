"""Metrics of tokens and spans, as sums over the examples.

A label of a token has a prefix and a type, as B-PER; an entity is (start, end, type), the end exclusive.
Strict entities are those of a scheme, as in seqeval's strict mode: of IOB2, B starts one, I with the same
type continues it, any other I is ignored. Lenient ones are those of the CoNLL script and of seqeval's
default: any change of type starts one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, count, groupby, product, repeat
from operator import eq, itemgetter
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.benchmark.metrics import OUTSIDE, SCHEMES, TagScheme
from gluebench.scoring.metrics.cells import (
    Cells,
    ClassRows,
    Counts,
    class_metric,
    class_rows,
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


class EntityScheme(NamedTuple):
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

    def has_prefix_of(letters: str) -> Flags:
        return np.array([prefix in set(letters) for prefix in prefixes])

    first = has_prefix_of(scheme.first)
    inner = has_prefix_of(scheme.inner)
    unfinished = has_prefix_of(scheme.unfinished)
    last = has_prefix_of(scheme.last)
    continued = inner[now] & same & unfinished[before]
    origin = np.maximum.accumulate(np.where(continued, 0, np.arange(len(now))))
    inside = np.append(False, first[now[origin]][:-1])
    return inside & ~continued & last[before], first[now] & ~continued


def _lenient_edges(tags: Sequence[str], now: Ints, before: Ints, same: Flags) -> tuple[Flags, Flags]:
    """By the CoNLL script, for the prefixes B, I, E, S, O and for bare tags."""

    def one_of(prefixes: str, codes: Ints) -> Flags:
        return np.array([tag[:1] in prefixes for tag in tags])[codes]

    other_type_follows = ~(one_of("O.", before) | same)
    ends = one_of("ES", before) | (one_of("BI", before) & one_of("BSO", now)) | other_type_follows
    other_type_before = ~(one_of("O.", now) | same)
    starts = one_of("BS", now) | (one_of("ESO", before) & one_of("EI", now)) | other_type_before
    return ends, starts


def _type_after_prefix(tag: str) -> str:
    return tag.partition("-")[2]


STRICT = {
    name: EntityScheme(_type_after_prefix, partial(_scheme_edges, scheme)) for name, scheme in SCHEMES.items()
}
"""The schemes that a manifest may declare."""
LENIENT = EntityScheme(lambda tag: tag.split("-", 1)[-1] or "_", _lenient_edges)


def entities(scheme: EntityScheme, sentences: Iterable[Tags], types: dict[str, int]) -> Ints:
    """Number of the sentence, start, end (exclusive) and number of the type of each, shape (4, entities).

    New types are numbered in `types`, which has numbers for missing keys.
    """
    # All sentences in one array of codes; the code 0 of None stands after each of them.
    codes = defaultdict[str | None, int](count(1).__next__, {None: 0})
    tokens = chain.from_iterable(chain.from_iterable(zip(sentences, repeat((None,)))))
    now = np.fromiter(map(codes.__getitem__, tokens), np.intp)
    before = np.append(0, now[:-1])
    first = before == 0  # the first tokens of the sentences
    tags = [OUTSIDE if tag is None else tag for tag in codes]
    type_numbers = np.array([types[scheme.type_of(tag)] for tag in tags], np.intp)
    same_type = (type_numbers[now] == type_numbers[before]) & ~first
    ends, starts = scheme.edges(tags, now, before, same_type)
    last_start = np.maximum.accumulate(np.where(starts | first, np.arange(len(now)), 0))
    end = np.flatnonzero(ends)
    sentence = (np.cumsum(first) - 1)[end]
    sentence_start = np.flatnonzero(first)[sentence]
    entity_start = last_start[end - 1] - sentence_start
    return np.stack([sentence, entity_start, end - sentence_start, type_numbers[before[end]]])


def _entity_rows(scheme: EntityScheme, cells: Cells, labels: Iterable[str] | None) -> ClassRows:
    types = defaultdict[str, int](count().__next__)
    gold = entities(scheme, [sentence for sentence, _ in cells], types)
    predicted = entities(scheme, [sentence for _, sentence in cells], types)
    # One number for each possible entity, to find those of both sides.
    shape = np.concatenate([gold, predicted], axis=1).max(axis=1, initial=0) + 1
    gold_numbers = np.ravel_multi_index(tuple(gold), tuple(shape))
    predicted_numbers = np.ravel_multi_index(tuple(predicted), tuple(shape))
    both = gold[:, np.isin(gold_numbers, predicted_numbers, assume_unique=True)]
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
    left = list(gold)
    same_type = 0.0
    partial_sum = 0.0
    total = 0
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
        gold_spans = _spans_of(metric.scheme, [sentence for sentence, _ in cells])
        predicted_spans = _spans_of(metric.scheme, [sentence for _, sentence in cells])
        table = []
        for gold, predicted in zip(gold_spans, predicted_spans, strict=True):
            overlaps = entity_overlaps(gold, predicted)
            table.append((credit(overlaps), overlaps.predicted, len(gold)))
        return np.array(table, np.float64)

    return SumMetric(name, rows, pooled_f1, _no_entity)


def _no_entity(sums: Any) -> str | None:
    if sums.any():
        return None
    return "neither gold nor predictions have any entity"


def _spans_of(scheme: str, sentences: Sequence[Tags]) -> list[list[Span]]:
    """The entities of each sentence, in their order."""
    types = defaultdict[str, int](count().__next__)
    table = entities(STRICT[scheme], sentences, types)
    names = list(types)
    spans: list[list[Span]] = [[] for _ in sentences]
    for sentence, start, end, of_type in table.T.tolist():
        spans[sentence].append((start, end, names[of_type]))
    return spans


def _span_counts(gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts by label; a match has the same start, end and label."""
    gold_set = set(gold)
    predicted_set = set(predicted)
    return _labels(gold_set & predicted_set), _labels(gold_set), _labels(predicted_set)


def _labels(spans: Iterable[Span]) -> list[str]:
    return [label for _, _, label in spans]


def type_of(tag: str, scheme: str) -> str:
    """The type of a tag: without the prefix of a scheme, if there is one."""
    prefix, hyphen, of_type = tag.partition("-")
    if hyphen and scheme and prefix in SCHEMES[scheme].prefixes:
        return of_type
    return tag


def right_tokens(of: Callable[[str], str] = str) -> Callable[[Pairs, Metric], Floats]:
    """The right tokens, and tokens, of each sentence; a token is right if `of` it is that of gold."""

    def rows(cells: Cells, _: Metric) -> Floats:
        counts = []
        for gold, predicted in cells:
            right = sum(map(eq, map(of, gold), map(of, predicted)))
            counts.append((right, len(gold)))
        return np.array(counts, np.float64)

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
    tags = defaultdict[str, int](count().__next__)
    gold_tokens = chain.from_iterable(gold for gold, _ in cells)
    gold_codes = np.fromiter(map(tags.__getitem__, gold_tokens), np.intp)
    predicted_tokens = chain.from_iterable(predicted for _, predicted in cells)
    predicted_codes = np.fromiter(map(tags.__getitem__, predicted_tokens), np.intp)
    classes = defaultdict[str, int](count().__next__)
    class_of_code = np.array([classes[class_of(tag)] for tag in tags], np.intp)
    gold = class_of_code[gold_codes]
    predicted = class_of_code[predicted_codes]
    left_out = -1 if outside is None else classes[outside]
    gold_counts = gold != left_out
    predicted_counts = predicted != left_out
    right = (gold == predicted) & gold_counts
    rows = np.repeat(np.arange(len(cells)), [len(sentence) for sentence, _ in cells])
    sides = [
        (rows[right], gold[right]),
        (rows[gold_counts], gold[gold_counts]),
        (rows[predicted_counts], predicted[predicted_counts]),
    ]
    return class_rows(sides, classes, labels, size=len(cells))


def _type_rows(cells: Cells, labels: Iterable[str] | None, metric: Metric) -> ClassRows:
    own_type = partial(type_of, scheme=metric.scheme)
    return class_rows_of_tokens(cells, labels, class_of=own_type, outside=OUTSIDE)


def _types(metric: Metric) -> list[str]:
    """The different types of the labels, in their order."""
    types = (type_of(label, metric.scheme) for label in metric.labels if label != OUTSIDE)
    return list(dict.fromkeys(types))


def _overlap_counts(gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts by label; a match overlaps at least half of both spans, best matches first, each span once."""
    gold_set = set(gold)
    predicted_set = set(predicted)
    gold_labels = _labels(gold_set)
    predicted_labels = _labels(predicted_set)
    both: list[str] = []
    for label in set(gold_labels) & set(predicted_labels):
        gold_spans = [span for span in gold_set if span[2] == label]
        predicted_spans = [span for span in predicted_set if span[2] == label]
        both += [label] * _matches(gold_spans, predicted_spans)
    return both, gold_labels, predicted_labels


def _matches(gold: Sequence[Span], predicted: Sequence[Span]) -> int:
    """The number of matches."""
    candidates = []
    for gold_span, predicted_span in product(gold, predicted):
        shares = _overlap(gold_span, predicted_span)
        if shares[0] >= OVERLAP:
            candidates.append((shares, gold_span, predicted_span))
    gold_left = set(gold)
    predicted_left = set(predicted)
    for _, gold_span, predicted_span in sorted(candidates, reverse=True):
        if gold_span in gold_left and predicted_span in predicted_left:
            gold_left.remove(gold_span)
            predicted_left.remove(predicted_span)
    return len(gold) - len(gold_left)


def _overlap(gold: Span, predicted: Span) -> tuple[float, float]:
    """The smaller and the larger share of the two spans that they have in common."""
    common = max(min(gold[1], predicted[1]) - max(gold[0], predicted[0]), 0)
    of_gold = common / _length(gold)
    of_predicted = common / _length(predicted)
    return min(of_gold, of_predicted), max(of_gold, of_predicted)


def _length(span: Span) -> int:
    """The number of positions; 1 for an empty span, by which a share can be divided."""
    start, end, _ = span
    return max(end - start, 1)


def positions_covered(spans: Iterable[Span]) -> int:
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
    either = positions_covered(chain(gold, predicted))
    if not either:
        return 1.0
    return (positions_covered(gold) + positions_covered(predicted) - either) / either


@once
def _partial_rows(cells: Cells, _: Metric) -> Floats:
    """Shares of the predicted and gold spans that spans of the other side cover, and their numbers."""
    rows = []
    for gold, predicted in cells:
        of_predicted = _shares(predicted, gold)
        of_gold = _shares(gold, predicted)
        rows.append((of_predicted, len(predicted), of_gold, len(gold)))
    return np.array(rows, np.float64)


def _shares(spans: Sequence[Span], others: Sequence[Span]) -> float:
    """Sum over the spans of the share of each that spans of its label cover."""
    shares = []
    for span in spans:
        start, end, label = span
        common = []
        for other_start, other_end, other_label in others:
            if other_label == label and other_start < end and start < other_end:
                common.append((max(start, other_start), min(end, other_end), label))
        shares.append(positions_covered(common) / _length(span))
    return sum(shares)


def _partial_f1(sums: Any) -> Any:
    return f1_from(ratio(sums[0], sums[1]), ratio(sums[2], sums[3]))


@once
def _weight_rows(cells: Cells, _: Metric) -> Floats:
    """Spearman's rho of the weights of the positions up to gold's last end; spans have weights as labels.

    Where one side has equal weights, 1.0 if the other has too, else 0.0. Raises ValueError for other labels.
    """
    sizes = []
    spans: list[tuple[float, ...]] = []
    for row, (gold, predicted) in enumerate(cells):
        size = max((end for _, end, _ in gold), default=0)
        sizes.append(size)
        for side, spans_of_side in enumerate((gold, predicted)):
            for start, end, label in spans_of_side:
                spans.append((row, side, min(start, size), min(end, size), float(label or 1)))
    rows, lengths, weights = _segments(spans, len(cells))
    rho, constant = _rank_correlations(rows, lengths, weights, len(cells))
    nothing_predicted = [not predicted for _, predicted in cells]
    if_constant = np.where(sizes, constant.all(axis=0), nothing_predicted)
    return means(np.where(constant.any(axis=0), if_constant, rho))


def _segments(spans: Sequence[tuple[float, ...]], size: int) -> tuple[Ints, Ints, Floats]:
    """Row and length of each stretch without an edge of a span, and its highest weight on both sides.

    A span is its row, side, start, end and weight.
    """
    by_weight = np.array(sorted(spans, key=itemgetter(4)), object).reshape(-1, 5).T
    row, side, start, end = by_weight[:4].astype(int)
    weight = by_weight[4]
    rows = np.concatenate([np.arange(size), row, row])
    edges = np.concatenate([np.zeros(size, int), start, end])
    # Number the different edges of all rows in their order: each begins a stretch.
    order = np.lexsort((edges, rows))
    is_new = _differs_from_before(rows[order], edges[order])
    stretch_of_edge = np.empty_like(order)
    stretch_of_edge[order] = np.cumsum(is_new) - 1
    rows = rows[order][is_new]
    lengths = np.diff(edges[order][is_new], append=0)
    # Write the weight of each span at the stretches from its start to its end, the highest weight last.
    first, last = np.split(stretch_of_edge[size:], 2)
    number = np.maximum(last - first, 0)
    stretches = np.repeat(first - np.cumsum(number) + number, number) + np.arange(number.sum())
    highest = np.zeros((2, len(rows)))
    highest[np.repeat(side, number), stretches] = np.repeat(weight, number)  # the last one stays
    inside = np.append(rows[1:] == rows[:-1], False)  # no stretch begins at the last edge of a row
    return rows[inside], lengths[inside], highest[:, inside]


def _differs_from_before(*keys: NDArray[Any]) -> Flags:
    """Whether each item differs from the one before in a key."""
    differs = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.append(True, differs)[: len(keys[0])]


def _rank_correlations(rows: Ints, lengths: Ints, columns: Floats, size: int) -> tuple[Floats, Flags]:
    """Spearman's rho of each row between two columns of values that repeat; whether a column has one value.

    `rows` ascend. Doubled ranks have the mean n + 1, so that all sums are exact.
    """
    bounds = np.searchsorted(rows, np.arange(size + 1))

    def totals(values: Any, bounds: Ints = bounds) -> Any:
        return np.diff(np.append(0, np.cumsum(values))[bounds])

    exact = object if totals(lengths).max(initial=0) > LARGEST else int
    lengths = lengths.astype(exact)
    n = totals(lengths)
    before = np.cumsum(n) - n
    ranks = []
    constant = []
    for column in columns:
        order = np.lexsort((column, rows))
        starts_tie = _differs_from_before(rows[order], column[order])
        ties = np.append(np.flatnonzero(starts_tie), len(order))
        tied = totals(lengths[order], ties)
        row = rows[order[ties[:-1]]]
        doubled_ranks = np.empty_like(lengths)
        doubled_ranks[order] = np.repeat(2 * (np.cumsum(tied) - before[row]) - tied + 1, np.diff(ties))
        ranks.append(doubled_ranks)
        constant.append(np.bincount(row, minlength=size) <= 1)
    x, y = ranks

    def covariation(first: Ints, second: Ints) -> Floats:
        products: Floats = (totals(first * second * lengths) - n * (n + 1) ** 2).astype(float)
        return products

    spread = np.sqrt(covariation(x, x) * covariation(y, y))
    return np.clip(ratio(covariation(x, y), spread), -1.0, 1.0), np.array(constant)


SEQUENCE_METRICS = (
    SumMetric("token_accuracy", right_tokens(), mean_of),
    class_metric("entity_f1", _strict_rows, None, "any entity", _types),
    class_metric("entity_f1_lenient", _lenient_rows, None, "any entity", lambda metric: ()),
    class_metric("entity_macro_f1", _strict_rows, "present", "any entity", _types),
    _overlap_metric("entity_type_f1", lambda overlaps: overlaps.same_type),
    _overlap_metric("entity_partial_f1", lambda overlaps: overlaps.partial),
    class_metric("token_macro_f1", _type_rows, "all", "any label but O", _types),
    class_metric("token_label_macro_f1", class_rows_of_tokens, "all_one", "any token"),
    class_metric("span_f1", of_pairs(_span_counts), None, "any span"),
    class_metric("span_overlap_f1", of_pairs(_overlap_counts), "all", "any span"),
    mean_metric("span_iou", intersection_over_union),
    SumMetric("span_partial_f1", _partial_rows, _partial_f1),
    SumMetric("span_spearman", _weight_rows, mean_of),
)
"""Metrics of tokens and spans."""
