"""A download under way: `<file>.part`, and beside it what the server said of the file it began with."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO


class Part:
    """The bytes that are there of a file, across cuts and runs."""

    def __init__(self, target: Path, address: str, *, checked: bool) -> None:
        self.path = target.with_name(f"{target.name}.part")
        self._target = target
        self._note = target.with_name(f"{target.name}.part.json")
        self._address = address
        self._checked = checked
        """Whether a checksum tells afterwards that the pieces belong together."""

    @property
    def size(self) -> int:
        """Bytes that are there."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def headers(self) -> dict[str, str]:
        """What asks the server for the rest; empty where the file must be begun anew."""
        if not self.size:
            return {}
        validator = self._validator()
        if not validator and not self._checked:
            return {}
        return {"Range": f"bytes={self.size}-"} | ({"If-Range": validator} if validator else {})

    def begin(self, headers: Mapping[str, str]) -> IO[bytes]:
        """Open it empty, and note by what the server knows this version of the file."""
        validator = headers.get("ETag", "")
        if not validator or validator.startswith("W/"):  # a weak one does not promise the same bytes
            validator = headers.get("Last-Modified", "")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._note.write_text(json.dumps({"address": self._address, "validator": validator}))
        return open(self.path, "wb")

    def go_on(self) -> IO[bytes]:
        """Open it at its end."""
        return open(self.path, "ab")

    def finish(self) -> None:
        """Give the file its name; it is complete and checked."""
        with open(self.path, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(self.path, self._target)
        self._note.unlink(missing_ok=True)

    def drop(self) -> None:
        """Throw it away."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _validator(self) -> str:
        """What the server called the version that was begun; empty where it is not known, or another's."""
        try:
            note = json.loads(self._note.read_text())
            return str(note["validator"]) if note["address"] == self._address else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""
