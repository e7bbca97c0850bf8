"""A folder that appears whole or not at all, and is replaced only while nobody has changed it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gluebench.data.errors import DataError

MARK = "organise.json"
"""The file that lists what was written, by which the folder is known as unchanged."""
KEY = Path("gold", ".label-key")
"""What grading adds to the gold folder, and a replacement keeps."""


@contextmanager
def fresh_folder(target: Path) -> Iterator[Path]:
    """A folder to write into; once the block ends without an error, it stands at `target`.

    Raises DataError if something else stands there, or what was written before has been changed since.
    """
    target = target.absolute()
    refuse_changed(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
        made = Path(scratch, "new")
        made.mkdir()
        yield made
        mark = {"files": _digests(made)}
        (made / MARK).touch(mode=0o600)  # a digest of few labels can be guessed from
        (made / MARK).write_text(json.dumps(mark, indent=1) + "\n", encoding="utf-8")
        if target.exists():
            for key in (KEY, Path("gold-dev", KEY.name)):
                if (target / key).is_file() and (made / key.parent).is_dir():
                    shutil.copy2(target / key, made / key)
            target.rename(Path(scratch, "old"))
        made.rename(target)


def refuse_changed(target: Path) -> None:
    """Raise DataError unless `target` is absent, empty, or as `fresh_folder` left it."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    written = _written(target)
    if written is None:
        raise DataError([f"{target}: is there already, and was not made by this command; name a new folder"])
    now = _digests(target)
    changed = sorted(name for name in {*written, *now} if written.get(name) != now.get(name))
    if changed:
        listed = ", ".join(changed[:5]) + (", ..." if len(changed) > 5 else "")
        raise DataError(
            [f"{target}: was changed by hand since ({listed}); name a new folder, or move this one away"]
        )


def _written(folder: Path) -> dict[str, str] | None:
    """What the mark lists, or None where there is no mark to go by."""
    try:
        mark = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    files = mark.get("files") if isinstance(mark, dict) else None
    return files if isinstance(files, dict) else None


def _digests(folder: Path) -> dict[str, str]:
    """Every file by its path below the folder, with its SHA-256; the mark and the label keys aside."""
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if name not in (MARK, KEY.name):
                found[path.relative_to(folder).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
