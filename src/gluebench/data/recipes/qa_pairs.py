"""Pairs from question answering: which sentences hold an answer, and which questions mislead."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gluebench.data.recipes.sentences import Splitter
from gluebench.data.recipes.similarity import Group, bags, cosines
from gluebench.data.recipes.squad import Paragraph, Question
from gluebench.data.recipes.words import overlap, words

if TYPE_CHECKING:
    from gluebench.data.vectors import Vectors

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Asked(NamedTuple):
    """A question with answers."""

    id: str
    text: str
    holds: tuple[bool, ...]
    """For each sentence of the passage, whether an answer stands in it."""


class Passage(NamedTuple):
    """A paragraph in sentences; its candidate pairs are each question with each sentence."""

    article: str
    sentences: tuple[str, ...]
    questions: tuple[Asked, ...]
    unanswered: int
    """Questions that the paragraph does not answer (SQuAD 2), which give no pairs."""


class Contest(NamedTuple):
    """A question, the sentence that answers it, and the most similar of the others."""

    article: str
    id: str
    question: str
    answer: str
    distractor: str
    lead: float
    """How much more similar the answer's sentence is than the distractor, in cosines; the question misleads
    where it is below 0."""


def passage(paragraph: Paragraph, splitter: Splitter, *, line_break: str) -> Passage:
    """One paragraph in sentences; a line break within a sentence is written as `line_break`."""
    context = paragraph.context
    spans = [context[start:end] for start, end in splitter.spans(context)]
    asked = (
        Asked(each.id, _one_line(each.text, " "), tuple(_holds(each, span) for span in spans))
        for each in paragraph.questions
        if each.answers
    )
    unanswered = sum(not each.answers for each in paragraph.questions)
    sentences = tuple(_one_line(span, line_break) for span in spans)
    return Passage(paragraph.article, sentences, tuple(asked), unanswered)


def _holds(question: Question, sentence: str) -> bool:
    return any(answer in sentence for answer in question.answers)


def _one_line(text: str, line_break: str) -> str:
    return _LINE_BREAK.sub(lambda _: line_break, text.strip())


def contests(passages: Sequence[Passage], vectors: Vectors, *, min_overlap: float) -> Iterator[Contest]:
    """One for each question that a single sentence answers and that has another sentence to compete with.

    Sentences that share too little with the question do not compete. A question of which no word has a
    vector is left out.
    """
    found = bags(map(words, _texts(passages)), vectors)
    similarities = cosines(found, _groups(passages), vectors.matrix)
    for each, similar in zip(passages, similarities, strict=True):
        for asked, row in zip(each.questions, similar.tolist(), strict=True):
            if sum(asked.holds) == 1 and any(row):
                yield from _contest(each, asked, row, min_overlap)


def _texts(passages: Iterable[Passage]) -> Iterator[str]:
    """Of each passage the questions, then the sentences."""
    for each in passages:
        yield from (asked.text for asked in each.questions)
        yield from each.sentences


def _groups(passages: Iterable[Passage]) -> Iterator[Group]:
    start = 0
    for each in passages:
        between = start + len(each.questions)
        end = between + len(each.sentences)
        yield Group(slice(start, between), slice(between, end))
        start = end


def _contest(found: Passage, asked: Asked, similar: list[float], min_overlap: float) -> Iterator[Contest]:
    right = asked.holds.index(True)
    others = [at for at in range(len(similar)) if at != right]
    if min_overlap > 0:
        near = {at for at in range(len(similar)) if overlap(asked.text, found.sentences[at]) >= min_overlap}
        others = [at for at in others if at in near] if right in near else []
    if others:
        wrong = max(others, key=similar.__getitem__)
        answer, distractor = found.sentences[right], found.sentences[wrong]
        lead = similar[right] - similar[wrong]
        yield Contest(found.article, asked.id, asked.text, answer, distractor, lead)


def balanced(
    found: Iterable[Contest], *, margin: float | None, second: str, rng: random.Random
) -> tuple[list[Contest], list[Contest]]:
    """The contests won by the distractor, and as many of those won by the answer.

    Of the latter those with the closest second are taken, or with `second="far"` the most distant; none leads
    by more than `margin`. Where they are too few, as many of the former are drawn.
    """
    lost: list[Contest] = []
    won: list[Contest] = []
    for each in found:
        (lost if each.lead < 0 else won).append(each)
    won = [each for each in won if margin is None or each.lead <= margin]
    won.sort(key=lambda each: each.lead if second == "close" else -each.lead)
    count = min(len(lost), len(won))
    return (lost if count == len(lost) else rng.sample(lost, count)), won[:count]
