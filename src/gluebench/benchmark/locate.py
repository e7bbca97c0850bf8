"""Line numbers of the keys of a TOML document, which `tomllib` does not give."""

from __future__ import annotations

import re
import tomllib

from gluebench.benchmark.reader import KeyPath

_BLANK = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_SPACES = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_SCALAR = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^,\]}\n#]+''', re.DOTALL
)


def lines(text: str) -> dict[KeyPath, int]:
    """The 1-based line of every key, table and array element of a document that `tomllib` accepts."""
    return _Scanner(text).document()


def line_of(path: KeyPath, known: dict[KeyPath, int]) -> int:
    """The line of a path, or of the innermost enclosing table with a known line; else 1."""
    while path and path not in known:
        path = path[:-1]
    return known.get(path, 1)


class _Scanner:
    """Scans the text once; it is valid TOML, so only the ends of keys and values matter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.last: dict[KeyPath, int] = {}
        """Position of the latest table of each array of tables."""
        self._line = 1
        self._counted = 0

    def document(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self.next():
            if self.next() == "[":
                table = self.header()
            else:
                self.pair(table)
        return self.lines

    def next(self) -> str:
        """Skip blanks, comments and commas; returns the next character, "" at the end."""
        self.skip(_BLANK)
        return self.text[self.at : self.at + 1]

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"not valid TOML at character {self.at}")
        self.at = match.end()
        return match.group()

    def mark(self, path: KeyPath) -> None:
        """Record the line of a path; a table keeps the line of its first mention."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        self.lines.setdefault(path, self._line)

    def header(self) -> KeyPath:
        """Read `[table]` or `[[array of tables]]`; returns the path of the table."""
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        path: KeyPath = ()
        keys = self.keys()
        for number, key in enumerate(keys, start=1):
            path = (*path, key)
            self.mark(path)
            if brackets == 2 and number == len(keys):
                self.last[path] = self.last.get(path, -1) + 1
            if path in self.last:
                path = (*path, self.last[path])
                self.mark(path)
        self.at += brackets
        return path

    def pair(self, table: KeyPath) -> None:
        """Read `key = value`; the key may be dotted."""
        path = table
        for key in self.keys():
            path = (*path, key)
            self.mark(path)
        self.at += len("=")
        self.value(path)

    def keys(self) -> list[str]:
        """Read a dotted key; returns its parts."""
        keys = [self.key()]
        while self.text.startswith(".", self.at):
            self.at += 1
            keys.append(self.key())
        return keys

    def key(self) -> str:
        self.skip(_SPACES)
        written = self.skip(_KEY)
        self.skip(_SPACES)
        if written[0] in "\"'":
            (written,) = tomllib.loads(f"{written} = 0")
        return written

    def value(self, path: KeyPath) -> None:
        opening = self.next()
        if opening not in "[{":
            self.skip(_SCALAR)
            return
        self.at += 1
        position = 0
        while self.next() not in "]}":
            if opening == "{":
                self.pair(path)
                continue
            self.mark((*path, position))
            self.value((*path, position))
            position += 1
        self.at += 1
