"""The XML of the Winograd Schema Collection, read with expat: no entity is declared, resolved or fetched."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from gluebench.data.recipes.winograd import Candidate, Problems, Schema, spaced

_FIELDS = {
    "text/txt1": "before",
    "text/pron": "pronoun",
    "text/txt2": "after",
    "quote/quote1": "quote",
    "quote/pron": "quoted",
    "correctAnswer": "correct",
}
_LETTERS = "ABCDEFGHIJ"


def read_xml(path: Path, data: bytes, problems: Problems) -> list[Schema]:
    """The schemas of `<collection><schema>...`, white space normalised; what is wrong goes to `problems`."""
    collection = _Collection(path, problems)
    try:
        collection.parser.Parse(data, True)
    except expat.ExpatError as error:
        problems.append(f"{path}:{error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}")
    except _RefusedError as error:
        problems.append(f"{path}:{collection.parser.CurrentLineNumber}: {error}")
    else:
        if not collection.number:
            problems.append(f"{path}: no <schema> in it; expected the XML of a Winograd schema collection")
    return collection.schemas


class _RefusedError(Exception):
    """What a data file has no need of and may do harm."""


class _Collection:
    """Gathers the text of the elements of each schema, and the line where it began."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self.path = path
        self.problems = problems
        self.schemas: list[Schema] = []
        self.number = 0
        self.line = 0
        self.inside: list[str] | None = None
        self.fields: dict[str, str] = {}
        self.answers: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._declared
        self.parser.SkippedEntityHandler = self._skipped

    def _declared(self, name: str, *_: object) -> None:
        raise _RefusedError(
            f'the file declares the entity "{name}"; entities are refused, write the text out'
        )

    def _skipped(self, name: str, *_: object) -> None:
        raise _RefusedError(f'the entity "{name}" is not known; write the text out')

    def _start(self, name: str, _: dict[str, str]) -> None:
        if name == "schema":
            self.number += 1
            self.line = self.parser.CurrentLineNumber
            self.inside, self.fields, self.answers = [], {}, []
        elif self.inside is not None:
            self.inside.append(name)
            if name == "answer":
                self.answers.append("")

    def _text(self, text: str) -> None:
        if not self.inside:
            return
        where = "/".join(self.inside)
        if where in _FIELDS:
            self.fields[_FIELDS[where]] = self.fields.get(_FIELDS[where], "") + text
        elif where == "answers/answer":
            self.answers[-1] += text

    def _end(self, name: str) -> None:
        if name == "schema":
            self._finish()
            self.inside = None
        elif self.inside:
            self.inside.pop()

    def _finish(self) -> None:
        fields = {name: spaced(text) for name, text in self.fields.items()}
        answers = [spaced(answer) for answer in self.answers]
        right = _LETTERS.find(fields.get("correct", "").rstrip(".").strip().upper() or "?")
        wrong = list(_missing(fields, answers, right))
        if wrong:
            self.problems += [f"{self.path}:{self.line}: schema {self.number} {what}" for what in wrong]
            return
        self.schemas.append(
            Schema(
                f"{self.path.name}:{self.number}",
                fields.get("before", ""),
                fields["pronoun"],
                fields.get("after", ""),
                tuple(Candidate(answer, number == right) for number, answer in enumerate(answers)),
                begins=not fields.get("quote") if fields.get("quoted") else None,
            )
        )


def _missing(fields: dict[str, str], answers: list[str], right: int) -> list[str]:
    """What a schema lacks, each as the end of a sentence."""
    wrong = []
    if not fields.get("pronoun"):
        wrong.append("has no pronoun; expected <text><txt1>...</txt1><pron>...</pron><txt2>...</txt2></text>")
    elif not (fields.get("before") or fields.get("after")):
        wrong.append("has no text around its pronoun; expected <txt1> or <txt2>")
    if len(answers) < 2 or not all(answers):
        wrong.append(f"has {sum(map(bool, answers))} answers; expected two or more <answer>, none empty")
    elif not 0 <= right < len(answers):
        given = fields.get("correct", "")
        wrong.append(
            f'has "{given}" as its correctAnswer; expected one of {", ".join(_LETTERS[: len(answers)])}'
        )
    return wrong
