"""The folder of a site by this version, for the tests of later upgrades: `python older_site.py FILE.tar.gz`.

It has the four submissions of the sites in `older/`, read from the oldest export there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPORT = HERE / "older/export-4764144e.tar.gz"
SOURCE = HERE.parents[1] / "src"


def make(archive: Path) -> None:
    """Write the archive."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("GLUEBENCH", "DJANGO"))}
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        command = [
            sys.executable,
            "-m",
            "gluebench",
            "leaderboard",
            "import",
            str(EXPORT),
            "--site",
            str(site),
        ]
        subprocess.run(command, check=True, env={**mine, "PYTHONPATH": str(SOURCE)})
        with tarfile.open(archive, "w:gz") as tar:
            for path in sorted(site.iterdir()):
                if path.name != "static":  # made anew by each start
                    tar.add(path, path.name)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
