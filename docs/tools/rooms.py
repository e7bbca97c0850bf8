"""The picture of the rooms in ARCHITECTURE.md, counted from the code: `python -m docs.tools.rooms`."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "gluebench"
PICTURE = ROOT / "docs" / "img" / "rooms.svg"
ROOMS = (
    "benchmark",
    "reading",
    "submission",
    "scoring",
    "data",
    "systems",
    "analysis",
    "leaderboard",
    "cli",
)
"""In the order of the imports: each room imports only those before it."""
_ROW, _LEFT, _NAME, _WIDTH = 44, 10, 110, 720


def sizes() -> dict[str, tuple[int, int]]:
    """The number of files and of statements of each room."""
    by_room = {}
    for room in ROOMS:
        files = sorted((PACKAGE / room).rglob("*.py"))
        statements = 0
        for file in files:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            statements += sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
        by_room[room] = (len(files), statements)
    return by_room


def imports() -> Counter[tuple[str, str]]:
    """How many files of a room import from another one, by the pair (importing, imported)."""
    counts: Counter[tuple[str, str]] = Counter()
    for room in ROOMS:
        for file in (PACKAGE / room).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            used = set()
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gluebench."):
                    used.add(str(node.module).split(".")[1])
            counts.update((room, other) for other in used if other in ROOMS and other != room)
    return counts


def picture() -> str:
    """The rooms as rows of a table, from the first to the last: its size, and the rooms that it imports."""
    by_room, arrows = sizes(), imports()
    most = max(statements for _, statements in by_room.values())
    height = _ROW * (len(ROOMS) + 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>The nine rooms of the code, their sizes and imports</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="24" fill="#555">room</text>',
        f'<text x="{_LEFT + _NAME}" y="24" fill="#555">statements (files)</text>',
        '<text x="340" y="24" fill="#555">imports, and in how many of its files</text>',
    ]
    for at, room in enumerate(ROOMS):
        top = _ROW * (at + 1)
        files, statements = by_room[room]
        width = round(200 * statements / most)
        used = [(other, arrows[room, other]) for other in ROOMS if arrows[room, other]]
        half = (len(used) + 1) // 2
        lines += [
            f'<text x="{_LEFT}" y="{top + 20}" font-weight="bold">{room}</text>',
            f'<rect x="{_LEFT + _NAME}" y="{top + 4}" width="{width}" height="9" fill="#2a7f62"/>',
            f'<text x="{_LEFT + _NAME}" y="{top + 28}" fill="#333">{statements:,} ({files})</text>',
        ]
        for line, part in enumerate([used[:half], used[half:]]):
            words = ", ".join(f"{other} {count}" for other, count in part)
            lines.append(f'<text x="340" y="{top + 12 + 16 * line}" fill="#333">{words}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
