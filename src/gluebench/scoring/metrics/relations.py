"""Metrics of relations, which are spans that tags mark in a sentence, in a copy of it for each relation.

Gold and predicted relations are matched so that their F1 is highest; predicted ones beyond the number of gold
relations do not count. Spans are compared as by FairEval (Ortmann 2022), which counts each error once: two
spans that overlap, with other ends or another label, are half a missed and half an extra span. Tags of the
same letters, as ARG0 and ARG1, are compared with each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import groupby, permutations, product
from operator import itemgetter
from typing import Any

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import Cells, once
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.sequences import Span
from gluebench.scoring.metrics.sums import SumMetric, f1_from
from gluebench.scoring.numeric import Floats, Ints, np
from gluebench.submission.relations import TAG, Relations

Tag = tuple[int, str, str, bool]
"""Word, letters, label, and whether it closes a span."""
RIGHT, NEAR, MISSED, EXTRA = range(4)
"""A span of both sides; two that overlap; one of gold and one of the predictions without such another."""
SpanCount = tuple[str, int]
"""A label, and that it is RIGHT, NEAR, MISSED or EXTRA."""
ARGUMENT = "ARG"
"""Letters of the tags that CASE's scorer does not see closed in the word in which they open."""
REMEMBERED = 1 << 16
"""Sentences and pairs of cells of which the results are kept: metrics and systems have many in common."""


@lru_cache(maxsize=REMEMBERED)
def spans_of(sentence: str, labels: Sequence[str], *, case: bool = False) -> Mapping[str, Sequence[Span]]:
    """The spans of a sentence by the letters of their tags; each ends at the next tag of these letters.

    With `case`, only those tags count that CASE's scorer sees where a word has several.
    """
    spans = defaultdict[str, list[Span]](list)
    opened: dict[str, tuple[int, str]] = {}  # letters to the first word and the label of their open span
    words = sentence.split(" ")
    tags: Iterable[Tag] = _tags(words, labels)
    if case:
        tags = _tags_seen_by_case(tags)
    for word, letters, label, closing in tags:
        if letters in opened:
            start, open_label = opened.pop(letters)
            end = word
            if closing and label == open_label:  # the word of a closing tag belongs to the span
                end = word + 1
            if start < end:
                spans[letters].append((start, end, open_label))
        if not closing:
            opened[letters] = word, label
    for letters, (start, label) in opened.items():
        spans[letters].append((start, len(words), label))
    return spans


def _tags(words: Sequence[str], labels: Sequence[str]) -> Iterator[Tag]:
    for position, word in enumerate(words):
        if "<" not in word:  # most words, for which the search would take long
            continue
        for closing, letters, digits in TAG.findall(word):
            label = letters + digits
            if label not in labels and letters in labels:  # the label is of any number
                label = letters
            yield position, letters, label, bool(closing)


def _tags_seen_by_case(tags: Iterable[Tag]) -> Iterator[Tag]:
    """The first tag of the arguments in each word, and the first two of others."""
    for (_, letters), of_word in groupby(sorted(set(tags)), itemgetter(0, 1)):
        seen = 1 if letters == ARGUMENT else 2
        yield from list(of_word)[:seen]


class _UnmatchedSpan:
    """A span that the other side does not have.

    Two that overlap are matched by the words that they have in common. A span that is longer may be matched
    again by its other words, the free ones.
    """

    __slots__ = ("free", "label", "length")

    def __init__(self, span: Span) -> None:
        start, end, self.label = span
        self.length = end - start
        self.free = (1 << end) - (1 << start)
        """The free words as bits: that of word i is 1 << i."""

    def nearest(self, others: Sequence[_UnmatchedSpan], *, same_label: bool) -> _UnmatchedSpan | None:
        """The one with most free words in common, of this label or of any other; None if none has any."""
        near = []
        for other in others:
            if other.free & self.free and (other.label == self.label) is same_label:
                near.append(other)
        return min(near, key=self._distance, default=None)

    def _distance(self, other: _UnmatchedSpan) -> tuple[int, int, int]:
        common = other.free & self.free
        return -common.bit_count(), other.free.bit_count(), other.length


def _compare_spans(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[SpanCount]:
    """The label, gold's if there is one, and the kind of everything that counts once."""
    if gold == predicted:
        for _, _, label in gold:
            yield label, RIGHT
        return
    if len(gold) == len(predicted) == 1:  # the common case, in short
        start, end, label = gold[0]
        other_start, other_end, other_label = predicted[0]
        if max(start, other_start) < min(end, other_end):
            yield label, NEAR
        else:
            yield label, MISSED
            yield other_label, EXTRA
        return
    predicted_labels = {(start, end): label for start, end, label in predicted}
    ends_of_both = predicted_labels.keys() & {(start, end) for start, end, _ in gold}
    for start, end, label in gold:
        if (start, end) in ends_of_both:
            yield label, RIGHT if predicted_labels[start, end] == label else NEAR
    gold_left = _find_unmatched(gold, ends_of_both)
    predicted_left = _find_unmatched(predicted, ends_of_both)
    for label in _match_overlapping(gold_left, predicted_left):
        yield label, NEAR
    for span in gold_left:
        yield span.label, MISSED
    for span in predicted_left:
        yield span.label, EXTRA


def _find_unmatched(spans: Sequence[Span], ends_of_both: Collection[tuple[int, int]]) -> list[_UnmatchedSpan]:
    """The spans whose ends only their side has, the shortest first."""
    unmatched = [_UnmatchedSpan(span) for span in spans if span[:2] not in ends_of_both]
    return sorted(unmatched, key=lambda span: span.length)


def _match_overlapping(gold: list[_UnmatchedSpan], predicted: list[_UnmatchedSpan]) -> Iterator[str]:
    """Yield the gold label of each two spans that are matched, and remove matched spans from their lists.

    Spans of one label are matched before those of different labels. Spans that are left when each has been
    matched at most once are matched with one that has another partner already.
    """
    gold_matched: list[_UnmatchedSpan] = []
    predicted_matched: list[_UnmatchedSpan] = []

    def match(gold_span: _UnmatchedSpan, predicted_span: _UnmatchedSpan) -> None:
        if gold_span in gold:
            gold.remove(gold_span)
            gold_matched.append(gold_span)
        if predicted_span in predicted:
            predicted.remove(predicted_span)
            predicted_matched.append(predicted_span)
        common = gold_span.free & predicted_span.free
        gold_span.free &= ~common
        predicted_span.free &= ~common

    for same_label in (True, False):
        # Spans of gold that are left, first with predicted spans that are left, then with matched ones.
        for candidates in (predicted, predicted_matched):
            for gold_span in list(gold):  # a copy, as matched spans leave the list
                nearest = gold_span.nearest(candidates, same_label=same_label)
                if nearest is not None:
                    match(gold_span, nearest)
                    yield gold_span.label
        # Predicted spans that are left, with matched spans of gold.
        for predicted_span in list(predicted):
            nearest = predicted_span.nearest(gold_matched, same_label=same_label)
            if nearest is not None:
                match(nearest, predicted_span)
                yield nearest.label


@lru_cache(maxsize=REMEMBERED)
def _counts(gold: Relations, predicted: Relations, labels: Sequence[str], case: bool) -> Sequence[SpanCount]:
    """What counts of the relations of an example, matched in the first order that has the highest F1."""
    size = len(gold)
    predicted_spans = [spans_of(sentence, labels, case=case) for sentence in predicted[:size]]
    predicted_spans += [{}] * (size - len(predicted))
    table = []  # of each gold and each predicted relation, what counts if they are matched
    for sentence in gold:
        gold_spans = spans_of(sentence, labels, case=case)
        table.append([_compare_relations(gold_spans, spans) for spans in predicted_spans])
    if size == 1:
        return table[0][0]
    sums = np.zeros((size, size, 4), np.intp)
    for row, column in product(range(size), range(size)):
        sums[row, column] = _kinds(table[row][column])
    orders = _orders(size)
    of_orders = sums[orders, range(size)].sum(axis=1)
    best = orders[_f1(of_orders.T).argmax()]
    counts: list[SpanCount] = []
    for column, row in enumerate(best):
        counts += table[row][column]
    return counts


def _compare_relations(
    gold: Mapping[str, Sequence[Span]], predicted: Mapping[str, Sequence[Span]]
) -> Sequence[SpanCount]:
    counts: list[SpanCount] = []
    for letters in gold.keys() | predicted.keys():
        counts += _compare_spans(gold.get(letters, ()), predicted.get(letters, ()))
    return counts


def _kinds(counts: Sequence[SpanCount], label: str | None = None) -> list[int]:
    """How often each kind is there, of a label or of all."""
    kinds = [0] * 4
    for label_of_span, kind in counts:
        if label is None or label_of_span == label:
            kinds[kind] += 1
    return kinds


@lru_cache
def _orders(size: int) -> Ints:
    """The gold relation for each predicted one in every order, shape (orders, size)."""
    return np.array(list(permutations(range(size))), np.intp)


def _span_rows(cells: Cells, metric: Metric, *, case: bool) -> Floats:
    """How often each kind is there in each example, shape (n, 4)."""
    rows = []
    for gold, predicted in cells:
        counts = _counts(gold, predicted, metric.labels, case)
        rows.append(_kinds(counts, metric.positive))
    return np.array(rows, np.float64)


def _right_share(sums: Any, *, wrong: int) -> Any:
    return ratio(sums[RIGHT], sums[RIGHT] + sums[wrong] + sums[NEAR] / 2)


_precision = partial(_right_share, wrong=EXTRA)
_recall = partial(_right_share, wrong=MISSED)


def _f1(sums: Any) -> Any:
    return f1_from(_precision(sums), _recall(sums))


def _nothing(sums: Any) -> str | None:
    if sums.any():
        return None
    return "neither gold nor predictions have any span that counts"


_ROWS = once(partial(_span_rows, case=False))
_CASE_ROWS = once(partial(_span_rows, case=True))
RELATION_METRICS = (
    SumMetric("relation_f1", _ROWS, _f1, _nothing),
    SumMetric("relation_precision", _ROWS, _precision, _nothing),
    SumMetric("relation_recall", _ROWS, _recall, _nothing),
    SumMetric("relation_f1_case", _CASE_ROWS, _f1, _nothing),
    SumMetric("relation_precision_case", _CASE_ROWS, _precision, _nothing),
    SumMetric("relation_recall_case", _CASE_ROWS, _recall, _nothing),
)
"""Metrics of relations."""
