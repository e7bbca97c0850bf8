"""Reading question answering in the shape of SQuAD: articles, paragraphs, questions, answers in the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.data.errors import DataError

SHAPE = '{"data": [{"title": ..., "paragraphs": [{"context": ..., "qas": [...]}]}]}'
QUESTION = '{"id": ..., "question": ..., "answers": [{"text": ..., "answer_start": ...}]}'


class Question(NamedTuple):
    """One question on a paragraph."""

    id: str
    text: str
    answers: tuple[str, ...]
    """The answers as they stand in the paragraph; none where it holds no answer (SQuAD 2)."""


class Paragraph(NamedTuple):
    """One paragraph of an article and the questions on it."""

    article: str
    context: str
    questions: tuple[Question, ...]


def read_squad(path: Path) -> list[Paragraph]:
    """The paragraphs of one file, in its order.

    Raises DataError naming the article and question of whatever is not of SQuAD's shape, and of every answer
    that does not stand in its paragraph at the place it gives.
    """
    reader = _Reader(path)
    paragraphs = list(reader.paragraphs(_parsed(path)))
    if reader.problems:
        raise DataError(reader.problems)
    if not any(paragraph.questions for paragraph in paragraphs):
        raise DataError(f"{path}: holds no questions; expected {SHAPE}")
    return paragraphs


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise DataError(
            f"{path}: {error.strerror or 'cannot be read'}; expected a file like SQuAD's"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except RecursionError:
        raise DataError(f"{path}: nested too deeply for SQuAD's shape; expected {SHAPE}") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: not JSON ({error.msg}, column {error.colno})") from None


class _Reader:
    """Walks one parsed file and keeps every problem it meets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []

    def paragraphs(self, parsed: Any) -> Iterator[Paragraph]:
        articles = parsed.get("data") if isinstance(parsed, dict) else None
        if not isinstance(articles, list):
            self._reject("", f'no list "data" at the top; expected {SHAPE}')
            return
        for number, article in enumerate(articles, 1):
            title = article.get("title") if isinstance(article, dict) else None
            where = f"article {title!r}" if isinstance(title, str) else f"article {number}"
            if not isinstance(article, dict) or not isinstance(article.get("paragraphs"), list):
                self._reject(where, f'no list "paragraphs"; expected {SHAPE}')
                continue
            for at, paragraph in enumerate(article["paragraphs"], 1):
                yield from self._paragraph(str(title or number), f"{where}, paragraph {at}", paragraph)

    def _paragraph(self, article: str, where: str, paragraph: Any) -> Iterator[Paragraph]:
        context = paragraph.get("context") if isinstance(paragraph, dict) else None
        questions = paragraph.get("qas") if isinstance(paragraph, dict) else None
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
            text = answer.get("text") if isinstance(answer, dict) else None
            start = answer.get("answer_start") if isinstance(answer, dict) else None
            if not isinstance(text, str) or not text.strip() or not isinstance(start, int):
                self._reject(where, f"an answer is {answer!r}; expected {QUESTION}")
            elif start < 0 or not context.startswith(text, start):
                self._reject(where, _misplaced(context, text, start))
            else:
                yield text

    def _reject(self, where: str, problem: str) -> None:
        self.problems.append(": ".join(part for part in (str(self.path), where, problem) if part))


def _misplaced(context: str, text: str, start: int) -> str:
    at = context.find(text)
    if at < 0:
        return f'the answer "{text}" does not stand in the paragraph'
    there = context[start : start + len(text)] if start >= 0 else ""
    return f'answer_start {start} is "{there}", expected "{text}", which first stands at {at}'
