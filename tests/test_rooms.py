"""The plan of the house holds: each room imports only those before it, and the light paths stay light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from source import GROUP, SOURCE, syntax_tree

pytestmark = pytest.mark.xdist_group(GROUP)
ROOMS = ["benchmark", "reading", "submission", "scoring", "data", "systems", "analysis", "leaderboard", "cli"]
HEAVY = ["scipy", "sklearn", "pandas", "pyarrow", "torch", "django"]


@cache
def imported(path: Path) -> set[str]:
    """Every module of gluebench that a file imports, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.startswith("gluebench.")}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_the_rooms_before_it(room: str) -> None:
    allowed = {"gluebench.version", *(f"gluebench.{each}" for each in ROOMS[: ROOMS.index(room) + 1])}
    for path in (SOURCE / room).rglob("*.py"):
        for name in imported(path):
            assert ".".join(name.split(".")[:2]) in allowed, f"{path.relative_to(SOURCE)} imports {name}"


APPS = ["common", "audit", "accounts", "benchmarks", "phases", "submissions", "similarity", "limits"]
APPS += ["annotation", "ranks", "boards", "results", "ledger", "news", "participants", "webhooks", "uploads"]
APPS += ["organizing", "api"]


@pytest.mark.parametrize("app", APPS)
def test_an_app_of_the_leaderboard_imports_only_those_before_it(app: str) -> None:
    """The rest of a website is `common`, which imports no app; an app calls those above it by signals."""
    apps = SOURCE / "leaderboard" / "apps"
    later = {f"gluebench.leaderboard.apps.{name}" for name in APPS[APPS.index(app) + 1 :]}
    for path in (apps / app).rglob("*.py"):
        for name in set() if path.parent.name == "migrations" else imported(path):
            assert ".".join(name.split(".")[:4]) not in later, f"{path.relative_to(apps)} imports {name}"


def test_every_app_of_the_leaderboard_has_its_place() -> None:
    assert {path.parent.name for path in (SOURCE / "leaderboard" / "apps").glob("*/__init__.py")} == set(APPS)


def test_the_front_hall_of_the_leaderboard_is_three_folders() -> None:
    """Beside them: the Django project itself, what the command line calls, and the demo."""
    site = SOURCE / "leaderboard"
    assert {path.parent.name for path in site.glob("*/__init__.py")} == {"apps", "serving", "keeping"}
    assert {path.stem for path in site.glob("*.py")} == {
        "__init__",
        "admin",
        "commands",
        "demo",
        "settings",
        "urls",
    }


WRITES = {"save", "delete", "create", "bulk_create", "bulk_update", "get_or_create", "update_or_create"}


def writes_in(path: Path) -> list[str]:
    """The calls of a file that change rows of the database, as lines of code."""
    lines = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        line = ast.unparse(node)
        is_update = node.func.attr == "update" and ".objects" in line
        if is_update or (node.func.attr in WRITES and "commit=False" not in line):
            lines.append(f"{path.parent.name}/{path.name}: {line}")
    return lines


def test_pages_of_the_leaderboard_leave_what_changes_anything_to_acts() -> None:
    apps = SOURCE / "leaderboard" / "apps"
    pages = [*apps.glob("*/views.py"), *apps.glob("*/pages.py")]
    assert not [line for path in pages for line in writes_in(path)]
    assert writes_in(apps / "webhooks" / "acts.py")


def test_no_files_import_each_other_in_a_circle() -> None:
    """At any depth of the code: an import inside a function is an import. `__init__` may import its own."""
    paths = [path for path in SOURCE.rglob("*.py") if path.parent.name != "migrations"]
    names = {".".join(("gluebench", *path.relative_to(SOURCE).with_suffix("").parts)): path for path in paths}
    imports = {name: imported(path) & set(names) - {name} for name, path in names.items()}
    while free := {name for name, those in imports.items() if not those & set(imports)}:
        imports = {name: those for name, those in imports.items() if name not in free}
    assert not imports


def test_no_source_file_is_over_500_lines() -> None:
    long = {
        path.name: count
        for path in SOURCE.rglob("*.py")
        if (count := len(path.read_text().splitlines())) > 500
    }
    assert not long


def modules_after(code: str) -> set[str]:
    """The top-level modules loaded once the code has run, in a process of its own."""
    loaded = "sorted({name.partition('.')[0] for name in sys.modules})"
    probe = f"import sys, json\n{code}\nprint(json.dumps({loaded}))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "module", ["gluebench", "gluebench.benchmark", "gluebench.submission", "gluebench.scoring"]
)
def test_importing_what_scores_and_checks_loads_nothing_heavy_nor_numpy(module: str) -> None:
    assert not modules_after(f"import {module}") & {*HEAVY, "numpy"}


def test_the_public_names_are_those_it_can_give() -> None:
    import gluebench

    for name in gluebench.__all__:
        assert getattr(gluebench, name) is not None
    assert not modules_after("import gluebench; dir(gluebench)") & {*HEAVY, "numpy"}


def test_an_order_by_scores_alone_loads_no_numpy() -> None:
    modules = ("rules",)
    code = "; ".join(f"import gluebench.analysis.rank.{name}" for name in modules)
    assert not modules_after(code) & {*HEAVY, "numpy"}


def test_the_pages_of_a_site_load_no_numpy(tmp_path: Path) -> None:
    code = f"""
import os
os.environ.update(GLUEBENCH_SITE={str(tmp_path)!r}, DJANGO_SETTINGS_MODULE="gluebench.leaderboard.settings")
import django
django.setup()
from django.urls import get_resolver
assert get_resolver().url_patterns
"""
    assert not modules_after(code) & {*HEAVY, "numpy"} - {"django"}
