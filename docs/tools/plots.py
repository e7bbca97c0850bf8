"""Draw the plots of the manual, by the commands that their pages show: `python -m docs.tools.plots`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parents[1] / "img"
SYSTEMS = {
    "ours": "bag-of-words",
    "theirs": "natural-logic",
    "overlap": "overlap",
    "majority": "majority",
    "hypothesis": "hypothesis-only",
}
"""Name of a submission to the simple system that makes it."""
COMMANDS = {
    "grade": "grade ours.zip",
    "compare": "compare ours.zip theirs.zip",
    "rank": "rank " + " ".join(f"{name}.zip" for name in SYSTEMS),
    "diagnose": "diagnose ours.zip theirs.zip",
}
COLORS = 48


def main() -> None:
    """Make submissions to the sample benchmark, and draw each plot into docs/img."""
    with tempfile.TemporaryDirectory() as folder:
        _run(folder, "data get sample --to data")
        for name, system in SYSTEMS.items():
            _run(folder, f"run system:{system} --benchmark sample --data data --out {name}.zip")
        for name, command in COMMANDS.items():
            _run(folder, f"{command} --benchmark sample --gold data/sample/gold --plot {name}.png")
            target = IMAGES / f"plot-{name}.png"
            with Image.open(Path(folder, f"{name}.png")) as picture:
                picture.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(target, optimize=True)
            print(target, target.stat().st_size, "bytes")


def _run(folder: str, command: str) -> None:
    source = str(Path(__file__).parents[2] / "src")
    paths = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-m", "gluebench", *command.split()],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        check=True,
    )


if __name__ == "__main__":
    main()
