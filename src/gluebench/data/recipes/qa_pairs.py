"""Files in SQuAD's format, their question-sentence pairs, and the questions that distractors mislead.

Texts are similar by the cosine of their mean word vectors (continuous bag of words).
"""

import json
import random
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gluebench.data.errors import DataError
from gluebench.data.recipes.sentences import Splitter
from gluebench.data.tsv import decoded
from gluebench.data.vectors import Vectors
from gluebench.scoring.notebook import optional

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
SHAPE = '{"data": [{"title": ..., "paragraphs": [{"context": ..., "qas": [...]}]}]}'
QUESTION = '{"id": ..., "question": ..., "answers": [{"text": ..., "answer_start": ...}]}'


class Question(NamedTuple):
    """One question on a paragraph."""

    id: str
    text: str
    answers: tuple[str, ...]
    """Exact strings of the paragraph; empty if it has no answer (SQuAD 2)."""


class Paragraph(NamedTuple):
    """One paragraph of an article and the questions on it."""

    article: str
    context: str
    questions: tuple[Question, ...]


def read_squad(path: Path) -> list[Paragraph]:
    """The paragraphs of one file, in its order.

    Raises DataError listing, by article and question, every part that is not in SQuAD's format and every
    answer that is not in the paragraph at its `answer_start`.
    """
    reader = _Squad(path)
    paragraphs = list(reader.paragraphs(_parsed(path)))
    if reader.problems:
        raise DataError(reader.problems)
    if not any(paragraph.questions for paragraph in paragraphs):
        raise DataError(f"{path}: holds no questions; expected {SHAPE}")
    return paragraphs


def _parsed(path: Path) -> Any:
    try:
        return json.loads(decoded(path, path.read_bytes()))
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise DataError(f"{path}: {reason}; expected a file like SQuAD's") from None
    except RecursionError:
        raise DataError(f"{path}: nested too deeply for SQuAD's shape; expected {SHAPE}") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: not JSON ({error.msg}, column {error.colno})") from None


class _Squad:
    """Reads one parsed file and collects its problems."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []

    def paragraphs(self, parsed: Any) -> Iterator[Paragraph]:
        articles = parsed.get("data") if isinstance(parsed, dict) else None
        if not isinstance(articles, list):
            self._reject("", f'no list "data" at the top; expected {SHAPE}')
            return
        for number, article in enumerate(articles, 1):
            fields = article if isinstance(article, dict) else {}
            title, paragraphs = fields.get("title"), fields.get("paragraphs")
            where = f"article {title!r}" if isinstance(title, str) else f"article {number}"
            if not isinstance(paragraphs, list):
                self._reject(where, f'no list "paragraphs"; expected {SHAPE}')
                continue
            for at, paragraph in enumerate(paragraphs, 1):
                yield from self._paragraph(str(title or number), f"{where}, paragraph {at}", paragraph)

    def _paragraph(self, article: str, where: str, paragraph: Any) -> Iterator[Paragraph]:
        fields = paragraph if isinstance(paragraph, dict) else {}
        context, questions = fields.get("context"), fields.get("qas")
        if not isinstance(context, str) or not isinstance(questions, list):
            self._reject(where, f'no text "context" or no list "qas"; expected {SHAPE}')
            return
        read = [self._question(where, context, at, question) for at, question in enumerate(questions, 1)]
        yield Paragraph(article, context, tuple(question for question in read if question))

    def _question(self, where: str, context: str, at: int, question: Any) -> Question | None:
        fields = question if isinstance(question, dict) else {}
        name, text, answers = fields.get("id"), fields.get("question"), fields.get("answers", [])
        here = f"{where}, question {at if name is None else name}"
        if not isinstance(text, str) or not isinstance(answers, list) or not isinstance(name, str | int):
            self._reject(here, f"not of SQuAD's shape; expected {QUESTION}")
            return None
        if fields.get("is_impossible"):
            answers = []
        return Question(str(name), text, tuple(self._answers(here, context, answers)))

    def _answers(self, where: str, context: str, answers: list[Any]) -> Iterator[str]:
        for answer in answers:
            fields = answer if isinstance(answer, dict) else {}
            text, start = fields.get("text"), fields.get("answer_start")
            if not isinstance(text, str) or not text.strip() or not isinstance(start, int):
                self._reject(where, f"an answer is {answer!r}; expected {QUESTION}")
            elif start < 0 or not context.startswith(text, start):
                actual, at = context[start : start + len(text)] if start >= 0 else "", context.find(text)
                problem = f'answer_start {start} is "{actual}", expected "{text}", which first stands at {at}'
                missing = f'the answer "{text}" does not stand in the paragraph'
                self._reject(where, problem if at >= 0 else missing)
            else:
                yield text

    def _reject(self, where: str, problem: str) -> None:
        self.problems.append(": ".join(part for part in (str(self.path), where, problem) if part))


class AnsweredQuestion(NamedTuple):
    """A question with answers."""

    id: str
    text: str
    holds: tuple[bool, ...]
    """For each sentence of the passage, whether it contains an answer."""


class Passage(NamedTuple):
    """A paragraph split into sentences; each question with each sentence is a candidate pair."""

    article: str
    sentences: tuple[str, ...]
    questions: tuple[AnsweredQuestion, ...]
    unanswered: int
    """Number of questions without an answer in the paragraph (SQuAD 2); they give no pairs."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The questions, then the sentences."""
        return (*(question.text for question in self.questions), *self.sentences)


class Contest(NamedTuple):
    """A question, the sentence that answers it, and the most similar of the others."""

    article: str
    id: str
    question: str
    answer: str
    distractor: str
    lead: float
    """Cosine of question and answer's sentence minus cosine of question and distractor; below 0, the
    distractor wins."""


def passage(paragraph: Paragraph, splitter: Splitter, *, line_break: str) -> Passage:
    """Split one paragraph into sentences; `line_break` replaces line breaks within a sentence."""
    context = paragraph.context
    spans = [context[start:end] for start, end in splitter.spans(context)]
    questions = []
    for question in filter(lambda question: question.answers, paragraph.questions):
        holds = tuple(any(answer in span for answer in question.answers) for span in spans)
        questions.append(AnsweredQuestion(question.id, _one_line(question.text, " "), holds))
    unanswered = len(paragraph.questions) - len(questions)
    sentences = tuple(_one_line(span, line_break) for span in spans)
    return Passage(paragraph.article, sentences, tuple(questions), unanswered)


def _one_line(text: str, line_break: str) -> str:
    return _LINE_BREAK.sub(lambda _: line_break, text.strip())


def contests(passages: Sequence[Passage], vectors: Vectors, *, min_overlap: float) -> Iterator[Contest]:
    """A contest for each question with exactly one answering sentence and at least one other.

    Sentences with less word overlap with the question than `min_overlap` are left out, and so are questions
    without any word vector.
    """
    rows = lookup((words(text) for one in passages for text in one.texts), vectors)
    groups = (
        (list(islice(rows, len(one.questions))), list(islice(rows, len(one.sentences)))) for one in passages
    )
    similarities = cosines(groups, vectors.matrix)
    for one, similar in zip(passages, similarities, strict=True):
        for question, row in zip(one.questions, similar.tolist(), strict=True):
            if sum(question.holds) == 1 and any(row):
                yield from _contest(one, question, row, min_overlap)


def _contest(
    one: Passage, question: AnsweredQuestion, similar: list[float], min_overlap: float
) -> Iterator[Contest]:
    right = question.holds.index(True)
    others = [at for at in range(len(similar)) if at != right]
    if min_overlap > 0:
        near = {at for at in range(len(similar)) if overlap(question.text, one.sentences[at]) >= min_overlap}
        others = [at for at in others if at in near] if right in near else []
    if others:
        wrong = max(others, key=similar.__getitem__)
        pair, lead = (one.sentences[right], one.sentences[wrong]), similar[right] - similar[wrong]
        yield Contest(one.article, question.id, question.text, *pair, lead)


def balanced(
    candidates: Iterable[Contest], *, margin: float | None, second: str, rng: random.Random
) -> tuple[list[Contest], list[Contest]]:
    """The contests won by the distractor, and as many of those won by the answer.

    Won contests are taken by smallest lead, or by largest if `second` is "far"; leads above `margin` are left
    out. If there are fewer won than lost contests, that many lost ones are drawn.
    """
    all_contests = list(candidates)
    lost = [contest for contest in all_contests if contest.lead < 0]
    won = [one for one in all_contests if one.lead >= 0 and (margin is None or one.lead <= margin)]
    won.sort(key=lambda contest: contest.lead if second == "close" else -contest.lead)
    count = min(len(lost), len(won))
    return (lost if count == len(lost) else rng.sample(lost, count)), won[:count]


BLOCK = 256
"""Groups processed at a time."""


Rows: TypeAlias = "array[int]"
"""The words of a text as rows of the vectors' matrix; words that have no vector are left out."""


def lookup(texts: Iterable[Sequence[str]], vectors: Vectors) -> Iterator[Rows]:
    """Look up the rows of each text's words; every distinct word is looked up once."""
    known: dict[str, int | None] = {}
    for text in texts:
        for word in text:
            if word not in known:
                known[word] = vectors.row(word)
        yield array("i", (row for word in text if (row := known[word]) is not None))


def cosines(
    groups: Iterable[tuple[Sequence[Rows], Sequence[Rows]]], matrix: NDArray[np.float32]
) -> Iterator[NDArray[np.float32]]:
    """Cosines between the two lists of each group, shape (first texts, second texts).

    A text without word vectors gives 0. Needs scipy: a sparse matrix of texts sums the vectors without
    intermediate arrays. Only BLOCK groups are processed at a time, so that they and the words that a
    paragraph's questions share with its sentences stay in the CPU cache.
    """
    queue = iter(groups)
    while block := list(islice(queue, BLOCK)):
        means = _directions([text for group in block for part in group for text in part], matrix)
        for first, second in block:
            one, other, means = np.split(means, [len(first), len(first) + len(second)])
            with np.errstate(invalid="ignore"):  # a BLAS may leave the flag set without an invalid value
                yield one @ other.T


def _directions(texts: Sequence[Rows], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean vector of each text at length 1, shape (texts, dimensions)."""
    sparse = optional("scipy.sparse", "Similarity by word vectors", "'gluebench[recipes]'")
    starts = np.cumsum([0, *map(len, texts)], dtype=np.intc)
    rows = np.frombuffer(b"".join(texts), np.intc)
    shape = (len(texts), len(matrix))
    sums: NDArray[np.float32] = (
        sparse.csr_matrix((np.ones(len(rows), np.float32), rows, starts), shape=shape) @ matrix
    )
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    lengths[lengths == 0] = 1
    sums /= lengths[:, None]
    return sums


UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese kana, Chinese characters: each character counts as a word."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
r"""Combining marks and the Indic blocks, whose vowel signs `\w` leaves out."""

_RUN = rf"[^\W{UNSPACED}]+(?:[{MARKS}]+[^\W{UNSPACED}]*)*"
_WORD = re.compile(rf"{_RUN}(?:['’]{_RUN})*|[{UNSPACED}]")
_PART = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))\Z", re.IGNORECASE)


def words(text: str) -> list[str]:
    """The words of a text in any script, tokenized as for GloVe and word2vec: case kept, clitics separated.

    "Ann's dog didn't" gives Ann, 's, dog, did, n't; punctuation is left out.
    """
    runs = _WORD.findall(text)
    if "'" not in text and "’" not in text:
        return runs
    parts: list[str] = []
    for word in runs:
        clitic = _PART.search(word)
        parts += filter(None, re.split("['’]", word[: clitic.start()] if clitic else word))
        if clitic:
            parts.append(clitic[0])
    return parts


def overlap(first: str, second: str) -> float:
    """Jaccard similarity of two texts' sets of words, ignoring case; 0 to 1."""
    one, two = set(words(first.lower())), set(words(second.lower()))
    return len(one & two) / len(one | two) if one or two else 0.0
