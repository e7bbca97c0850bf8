"""Terms and privacy: Markdown in the site's folder, which the organiser fills in. Knows no Django."""

from __future__ import annotations

from pathlib import Path

from gluebench.leaderboard.folder import write_private

FOLDER = "pages"
NAMES = ("terms", "privacy")


def write_missing(root: Path) -> None:
    """Put a page to fill in where there is none; what is there stays."""
    folder = root / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in NAMES:
        if not (folder / f"{name}.md").exists():
            write_private(folder / f"{name}.md", _start(name).encode())


def read(root: Path, name: str) -> str:
    """A page's Markdown, its title in the first line: the site's own, or what one starts with."""
    own = root / FOLDER / f"{name}.md"
    return own.read_text(encoding="utf-8") if own.is_file() else _start(name)


def _start(name: str) -> str:
    return (Path(__file__).parent / "texts" / f"{name}.md").read_text(encoding="utf-8")
