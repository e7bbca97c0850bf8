"""Line numbers of the keys of a TOML document, which `tomllib` does not give."""

from __future__ import annotations

import re
import tomllib

from gluebench.benchmark.reader import KeyPath, key_path

_BLANK = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')[ \t]*""")
_SCALAR = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^,\]}\n#]+''', re.DOTALL
)


def lines(text: str) -> dict[KeyPath, int]:
    """The 1-based line of every key, table and array element of a document that `tomllib` accepts."""
    return _Scanner(text).lines


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
        table: KeyPath = ()
        while opening := self.next():
            if opening == "[":
                table = self.header()
            else:
                self.pair(table)

    def next(self) -> str:
        """Skip blanks, comments and commas; returns the next character, "" at the end."""
        self.skip(_BLANK)
        return self.text[self.at : self.at + 1]

    def skip(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        assert match is not None  # since tomllib accepts the text
        self.at = match.end()
        return match

    def mark(self, path: KeyPath) -> KeyPath:
        """Record the line of a path, and return it; a table keeps the line of its first mention."""
        self.lines.setdefault(path, self.text.count("\n", 0, self.at) + 1)
        return path

    def header(self) -> KeyPath:
        """Read `[table]` or `[[array of tables]]`; returns the path of the table."""
        of_array = self.text.startswith("[[", self.at)
        brackets = 2 if of_array else 1
        self.at += brackets
        path: KeyPath = ()
        keys = self.keys()
        for number, key in enumerate(keys, start=1):
            path = self.mark(key_path(path, key))
            if of_array and number == len(keys):
                self.last[path] = self.last.get(path, -1) + 1
            if path in self.last:  # keys below an array of tables mean its latest table
                path = self.mark(key_path(path, self.last[path]))
        self.at += brackets
        return path

    def pair(self, path: KeyPath) -> None:
        """Read `key = value` in the table of that path; the key may be dotted."""
        for key in self.keys():
            path = self.mark(key_path(path, key))
        self.at += len("=")
        self.value(path)

    def keys(self) -> list[str]:
        """Read a dotted key; returns its parts."""
        keys = [self.key()]
        while self.text.startswith(".", self.at):
            self.at += len(".")
            keys.append(self.key())
        return keys

    def key(self) -> str:
        """Read one key, as tomllib does: it may be in quotes, with escapes."""
        written = self.skip(_KEY)[1]
        [key] = tomllib.loads(f"{written} = 0")
        return key

    def value(self, path: KeyPath) -> None:
        """Read a value, and mark what is inside it."""
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
            self.value(self.mark(key_path(path, position)))
            position += 1
        self.at += 1
