"""Texts that are empty, or that look as if they were read in the wrong encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gluebench.analysis.lint.findings import Finding, LintSplit, Severity, counted, shown


class Suspicion(NamedTuple):
    """Something that no text of a benchmark should hold."""

    severity: Severity
    check: str
    pattern: re.Pattern[str]
    what: str
    """Follows "3 texts"."""
    advice: str


_AGAIN = "Read the source in its own encoding, and write it again as UTF-8."
SUSPICIONS = (
    Suspicion(
        "error",
        "empty text",
        re.compile(r"\s*\Z"),
        "hold nothing but white space",
        "Remove the rows, or mend them.",
    ),
    Suspicion(
        "warning", "replacement character", re.compile("\ufffd"), "hold U+FFFD: letters were lost", _AGAIN
    ),
    Suspicion(
        "warning",
        "wrong encoding",
        re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2(?:\u20ac|\u0080)"),
        "look like UTF-8 read as Latin-1 or Windows-1252",
        _AGAIN,
    ),
    Suspicion(
        "warning",
        "control character",
        re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
        "hold a control character",
        "Remove it, or put what was meant in its place.",
    ),
    Suspicion("warning", "byte-order mark", re.compile("\ufeff"), "hold U+FEFF", "Remove it."),
)


def text_findings(split: LintSplit) -> Iterator[Finding]:
    """The suspicions that a split gives rise to."""
    for suspicion in SUSPICIONS:
        begins = suspicion.check == "empty text"
        search = suspicion.pattern.match if begins else suspicion.pattern.search
        rows = [
            f"{example.index} {name}"
            for example in split.examples
            for name, text in example.inputs.items()
            if search(text)
        ]
        if rows:
            text = f"{counted(len(rows), 'text')} {suspicion.what}"
            yield Finding(
                suspicion.severity,
                suspicion.check,
                split.name,
                len(rows),
                text,
                suspicion.advice,
                shown(rows),
            )
