"""Reading the records of an XML corpus, with their lines; nothing outside the file is ever opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from gluebench.data.errors import DataError


class Record(NamedTuple):
    """One element of a corpus, as `<pair id="1"><t>...</t><h>...</h></pair>`."""

    line: int
    attributes: Mapping[str, str]
    texts: Mapping[str, str]
    """Tag of each child to all the text within it."""


def records(path: Path, data: bytes, tag: str) -> list[Record]:
    """Every element of that tag, in file order.

    A document type that names a file is passed over; one that defines entities is refused, since their
    expansion has no bound. Raises DataError if the file is not well-formed.
    """
    collector = _Collector(path, tag)
    try:
        collector.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise DataError([f"{path}:{error.lineno}: not well-formed XML: {what}"]) from None
    return collector.found


class _Collector:
    """Takes the parser's events and keeps the records."""

    def __init__(self, path: Path, tag: str) -> None:
        self.path = path
        self.tag = tag
        self.found: list[Record] = []
        self.depth = 0
        """0 outside a record, 1 in it, 2 in a child, and more below that."""
        self.child: str = ""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._skipped

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self.depth:
            self.depth += 1
        elif name == self.tag:
            self.depth = 1
            self.found.append(Record(self.parser.CurrentLineNumber, attributes, {}))
        if self.depth == 2:
            self.child = name
            self._text("")

    def _end(self, name: str) -> None:
        self.depth -= bool(self.depth)

    def _text(self, text: str) -> None:
        if self.depth > 1:
            texts: dict[str, str] = self.found[-1].texts  # type: ignore[assignment]
            texts[self.child] = texts.get(self.child, "") + text

    def _entity(self, name: str, *_: Any) -> None:
        raise self._refusal(f"defines the entity {name}, which corpora do not; refused")

    def _skipped(self, name: str, _: bool) -> None:
        raise self._refusal(f"&{name}; is defined in another file, which is not read; write the character")

    def _refusal(self, problem: str) -> DataError:
        return DataError([f"{self.path}:{self.parser.CurrentLineNumber}: {problem}"])
