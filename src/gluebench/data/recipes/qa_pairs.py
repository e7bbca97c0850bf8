"""Files in SQuAD's format, their question-sentence pairs, and the questions that distractors mislead.

Texts are similar by the cosine of their mean word vectors (continuous bag of words).
"""

import json
import random
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark.extras import optional
from gluebench.data.errors import DataError
from gluebench.data.recipes.sentences import Splitter
from gluebench.data.tsv import decode_text
from gluebench.data.vectors import Vectors

Rows: TypeAlias = "array[int]"
"""The words of a text as rows of the vectors' matrix; words that have no vector are left out."""

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
    paragraphs = list(reader.paragraphs(_parse_json(path)))
    if reader.problems:
        raise DataError(reader.problems)
    if not any(paragraph.questions for paragraph in paragraphs):
        raise DataError(f"{path}: holds no questions; expected {SHAPE}")
    return paragraphs


def _parse_json(path: Path) -> Any:
    try:
        return json.loads(decode_text(path, path.read_bytes()))
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
            fields = _fields(article)
            title = fields.get("title")
            paragraphs = fields.get("paragraphs")
            where = f"article {title!r}" if isinstance(title, str) else f"article {number}"
            if not isinstance(paragraphs, list):
                self._reject(where, f'no list "paragraphs"; expected {SHAPE}')
                continue
            for at, paragraph in enumerate(paragraphs, 1):
                yield from self._paragraph(str(title or number), f"{where}, paragraph {at}", paragraph)

    def _paragraph(self, article: str, where: str, paragraph: Any) -> Iterator[Paragraph]:
        fields = _fields(paragraph)
        context = fields.get("context")
        entries = fields.get("qas")
        if not isinstance(context, str) or not isinstance(entries, list):
            self._reject(where, f'no text "context" or no list "qas"; expected {SHAPE}')
            return
        questions = []
        for number, entry in enumerate(entries, 1):
            question = self._question(where, context, number, entry)
            if question is not None:
                questions.append(question)
        yield Paragraph(article, context, tuple(questions))

    def _question(self, where: str, context: str, number: int, question: Any) -> Question | None:
        fields = _fields(question)
        name = fields.get("id")
        text = fields.get("question")
        answers = fields.get("answers", [])
        here = f"{where}, question {number if name is None else name}"
        if not isinstance(text, str) or not isinstance(answers, list) or not isinstance(name, str | int):
            self._reject(here, f"not of SQuAD's shape; expected {QUESTION}")
            return None
        if fields.get("is_impossible"):
            answers = []
        return Question(str(name), text, tuple(self._answers(here, context, answers)))

    def _answers(self, where: str, context: str, answers: list[Any]) -> Iterator[str]:
        for answer in answers:
            fields = _fields(answer)
            text = fields.get("text")
            start = fields.get("answer_start")
            if not isinstance(text, str) or not text.strip() or not isinstance(start, int):
                self._reject(where, f"an answer is {answer!r}; expected {QUESTION}")
            elif start >= 0 and context.startswith(text, start):
                yield text
            elif text not in context:
                self._reject(where, f'the answer "{text}" does not stand in the paragraph')
            else:
                there = context[start : start + len(text)] if start >= 0 else ""
                first = context.find(text)
                self._reject(
                    where,
                    f'answer_start {start} is "{there}", expected "{text}", which first stands at {first}',
                )

    def _reject(self, where: str, problem: str) -> None:
        if where:
            problem = f"{where}: {problem}"
        self.problems.append(f"{self.path}: {problem}")


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a JSON object; none of anything else, whose lack is then a problem."""
    return value if isinstance(value, dict) else {}


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
        return tuple(question.text for question in self.questions) + self.sentences


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
    for question in paragraph.questions:
        if not question.answers:
            continue
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
    similarities = cosines(_rows_of_passages(passages, vectors), vectors.matrix)
    for passage_, similar in zip(passages, similarities, strict=True):
        for question, row in zip(passage_.questions, similar.tolist(), strict=True):
            if sum(question.holds) == 1 and any(row):
                yield from _contest(passage_, question, row, min_overlap)


def _rows_of_passages(
    passages: Sequence[Passage], vectors: Vectors
) -> Iterator[tuple[list[Rows], list[Rows]]]:
    """The words of each passage's questions and of its sentences, as rows of the vectors."""
    texts = chain.from_iterable(passage_.texts for passage_ in passages)
    rows = lookup(map(words, texts), vectors)
    for passage_ in passages:
        questions = list(islice(rows, len(passage_.questions)))
        sentences = list(islice(rows, len(passage_.sentences)))
        yield questions, sentences


def _contest(
    passage_: Passage, question: AnsweredQuestion, similar: list[float], min_overlap: float
) -> Iterator[Contest]:
    """The contest of a question, by its similarity to each sentence; none without a distractor."""
    sentences = passage_.sentences
    right = question.holds.index(True)
    candidates = range(len(sentences))
    if min_overlap > 0:
        near = [at for at in candidates if overlap(question.text, sentences[at]) >= min_overlap]
        if right not in near:
            return
        others = [at for at in near if at != right]
    else:
        others = [at for at in candidates if at != right]
    if not others:
        return
    wrong = max(others, key=similar.__getitem__)
    yield Contest(
        article=passage_.article,
        id=question.id,
        question=question.text,
        answer=sentences[right],
        distractor=sentences[wrong],
        lead=similar[right] - similar[wrong],
    )


def balance_labels(
    candidates: Iterable[Contest], *, margin: float | None, second: str, rng: random.Random
) -> tuple[list[Contest], list[Contest]]:
    """The contests won by the distractor, and as many of those won by the answer.

    Won contests are taken by smallest lead, or by largest if `second` is "far"; leads above `margin` are left
    out. If there are fewer won than lost contests, that many lost ones are drawn.
    """
    lost = []
    won = []
    for contest in candidates:
        if contest.lead < 0:
            lost.append(contest)
        elif contest.lead >= 0 and (margin is None or contest.lead <= margin):
            won.append(contest)
    won.sort(key=lambda contest: contest.lead if second == "close" else -contest.lead)
    if len(won) < len(lost):
        lost = rng.sample(lost, len(won))
    return lost, won[: len(lost)]


BLOCK = 256
"""Groups processed at a time."""


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
        texts: list[Rows] = []
        for first, second in block:
            texts += first
            texts += second
        means = _directions(texts, matrix)
        for first, second in block:
            of_first, of_second, means = np.split(means, [len(first), len(first) + len(second)])
            with np.errstate(invalid="ignore"):  # a BLAS may leave the flag set without an invalid value
                yield of_first @ of_second.T


def _directions(texts: Sequence[Rows], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean vector of each text at length 1, shape (texts, dimensions)."""
    sparse = optional("scipy.sparse", "Similarity by word vectors", "'gluebench[recipes]'")
    starts = np.zeros(len(texts) + 1, np.intc)
    starts[1:] = np.cumsum([len(text) for text in texts], dtype=np.intc)
    rows = np.frombuffer(b"".join(texts), np.intc)
    ones = np.ones(len(rows), np.float32)
    word_counts = sparse.csr_matrix((ones, rows, starts), shape=(len(texts), len(matrix)))
    sums: NDArray[np.float32] = word_counts @ matrix
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
        stem = word if clitic is None else word[: clitic.start()]
        parts += [part for part in re.split("['’]", stem) if part]
        if clitic is not None:
            parts.append(clitic[0])
    return parts


def overlap(first: str, second: str) -> float:
    """Jaccard similarity of two texts' sets of words, ignoring case; 0 to 1."""
    first_words = set(words(first.lower()))
    second_words = set(words(second.lower()))
    either = first_words | second_words
    if not either:
        return 0.0
    return len(first_words & second_words) / len(either)
