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
    texts: dict[str, list[str]]
    """Path of tags within the element, as "answers/answer", to all the text within each such element."""

    def text(self, path: str) -> str:
        """The text at a path; empty if there is no such element."""
        return "".join(self.texts.get(path, ()))


def records(path: Path, data: bytes, tag: str) -> list[Record]:
    """Every element of that tag, in file order.

    A document type that names a file is ignored; one that defines entities is refused, since their
    expansion has no bound. Raises DataError if the file is not well-formed.
    """
    collector = _Collector(path, tag)
    try:
        collector.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise DataError(f"{path}:{error.lineno}: not well-formed XML: {what}") from None
    return collector.records


class _Collector:
    """Takes the parser's events and keeps the records."""

    def __init__(self, path: Path, tag: str) -> None:
        self.path = path
        self.tag = tag
        self.records: list[Record] = []
        self.inside: list[str] | None = None
        """The tags between a record and where the parser is; None outside records."""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._skipped

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self.inside is not None:
            self.inside.append(name)
            self.records[-1].texts.setdefault("/".join(self.inside), []).append("")
        elif name == self.tag:
            self.inside = []
            self.records.append(Record(self.parser.CurrentLineNumber, attributes, {}))

    def _end(self, name: str) -> None:
        if self.inside:
            self.inside.pop()
        else:
            self.inside = None

    def _text(self, text: str) -> None:
        tags = self.inside or []
        for depth in range(1, len(tags) + 1):
            self.records[-1].texts["/".join(tags[:depth])][-1] += text

    def _entity(self, name: str, *_: Any) -> None:
        raise self._refusal(f"defines the entity {name}, which corpora do not; refused")

    def _skipped(self, name: str, _: bool) -> None:
        raise self._refusal(f"&{name}; is defined in another file, which is not read; write the character")

    def _refusal(self, problem: str) -> DataError:
        return DataError(f"{self.path}:{self.parser.CurrentLineNumber}: {problem}")
