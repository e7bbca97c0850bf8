"""Each page works with the install that its first lines name, in an environment that has nothing else.

README.md installs for itself, in an empty environment.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from docs.blocks import FOLLOWED, Block, blocks
from docs.tutorial_walks import follow_organizer, follow_student, follow_submitter
from docs.walking import ROOT, Walk
from fresh import OUTSIDE, installed, pip

INSTALL = re.compile(r'^Install: `pip install "?\.(?:\[([\w,]+)\])?"?((?: [\w-]+)*)`', re.MULTILINE)
NONE = "Install: none; a browser does."
FIRST_LINES = 8
TUTORIALS: dict[str, Callable[[Path, Path], None]] = {
    "docs/tutorials/student.md": follow_student,
    "docs/tutorials/organize.md": follow_organizer,
    "docs/tutorials/submit.md": follow_submitter,
}
HOW_TO = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs/how-to").glob("*.md"))]
NOTEBOOKS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb"))]
PAGES = [*TUTORIALS, *HOW_TO, *NOTEBOOKS]


class Install(NamedTuple):
    """What an install line names."""

    extras: str = ""
    """Names, with commas; empty for the light install."""
    others: tuple[str, ...] = ()
    """Other packages."""

    def __str__(self) -> str:
        return " ".join([f"[{self.extras}]", *self.others])


def first_lines(name: str) -> str:
    """The beginning of a page, or of the first cell of a notebook."""
    text = (ROOT / name).read_text("utf-8")
    if name.endswith(".ipynb"):
        text = "".join(json.loads(text)["cells"][0]["source"])
    return "\n".join(text.splitlines()[:FIRST_LINES])


def install_of(name: str) -> Install | None:
    """The install that a page names; None if it is about a browser alone. Fails if it names none."""
    if NONE in first_lines(name).splitlines():
        return None
    found = INSTALL.findall(first_lines(name))
    assert len(found) == 1, f'{name}: its first {FIRST_LINES} lines do not say: Install: `pip install ".[…]"`'
    extras, others = found[0]
    return Install(extras, tuple(others.split()))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_its_install_in_the_first_lines(name: str) -> None:
    install = install_of(name)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert install is None or {*install.extras.split(",")} <= {"", *known}


@pytest.fixture(scope="session")
def environments(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Install], Path]:
    """The bin folder of the environment of an install; each is made once."""
    made: dict[Install, Path] = {}
    home = tmp_path_factory.mktemp("environments")

    def environment(install: Install) -> Path:
        if install not in made:
            start = time.monotonic()
            folder = home / str(len(made))
            extra = f"[{install.extras}]" if install.extras else ""
            made[install] = installed(wheel, folder, *install.others, extra=extra)
            count = len(pip(folder, "freeze").splitlines())
            print(f"{install}: {count} packages, {time.monotonic() - start:.0f} s")
        return made[install]

    return environment


@pytest.mark.slow
def test_the_readme_runs_with_the_installs_that_it_names(tmp_path: Path) -> None:
    """In a copy of the tree and an environment with nothing but pip."""
    home = tmp_path / "gluebench"
    shutil.copytree(ROOT / "src", home / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, home / name)
    venv.create(tmp_path / "empty", with_pip=True)
    Walk(ROOT / "README.md", home, programs=tmp_path / "empty/bin").rest()
    assert (home / "submission.zip").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs_with_its_install(
    name: str, environments: Callable[[Install], Path], home: Path
) -> None:
    install = install_of(name)
    assert install is not None
    TUTORIALS[name](home, environments(install))


@pytest.mark.slow
@pytest.mark.parametrize("name", HOW_TO)
def test_a_how_to_page_runs_with_its_install(
    name: str, environments: Callable[[Install], Path], template: Path, tmp_path: Path
) -> None:
    install = install_of(name)
    if FOLLOWED.search((ROOT / name).read_text("utf-8")):
        pytest.skip("a test of its own follows the page")
    if not any(is_run(block) for block in blocks(ROOT / name)):
        pytest.skip("none of the page's blocks can be run by a test")
    assert install is not None, f"{name} says that a browser does, and has commands"
    python = environments(install) / "python"
    page = [(str(block.page), *block[1:]) for block in blocks(ROOT / name)]
    run(python, ["-m", "docs.sandbox", template, tmp_path / "home"], json.dumps(page))


def is_run(block: Block) -> bool:
    """Whether at least some of a block's commands are run."""
    return block.kind in ("sh", "python") and not (block.not_run and not block.word)


CELLS = """
import json, sys
names = {"__name__": "notebook"}
for cell in json.load(sys.stdin):
    exec(compile(cell, "cell", "exec"), names)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_cells_of_a_notebook_run_with_its_install(
    name: str, environments: Callable[[Install], Path], home: Path
) -> None:
    install = install_of(name)
    assert install is not None
    python = environments(install) / "python"
    cells = json.loads((ROOT / name).read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    run(python, ["-c", CELLS], json.dumps(code), cwd=home)


def run(python: Path, words: list[Any], given: str, **options: Any) -> None:
    """Run that Python, which can import the tests' helpers but not this tree's gluebench."""
    variables = {**OUTSIDE, "PYTHONPATH": str(ROOT / "tests"), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [python, *words],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=variables,
        **options,
    )
    assert done.returncode == 0, done.stdout[-3000:]
