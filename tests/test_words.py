"""Names say what they hold (docs/explanation/words.md)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from source import GROUP, SOURCE, syntax_tree

pytestmark = pytest.mark.xdist_group(GROUP)
EVENTS = {"asked", "found", "said", "told", "wanted"}
"""They name what happened to a value, not the value."""
LEFT = 4
"""Names of this kind that are still there. Lower this number when some go; it never rises."""


def bound(path: Path) -> Counter[str]:
    """The variables and parameters that a file binds."""
    tree = ast.walk(syntax_tree(path))
    return Counter(
        node.arg if isinstance(node, ast.arg) else node.id
        for node in tree
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )


def test_no_variable_is_named_after_an_event() -> None:
    named = {
        f"{path.relative_to(SOURCE)}: {name}": count
        for path in SOURCE.rglob("*.py")
        for name, count in bound(path).items()
        if name in EVENTS
    }
    assert sum(named.values()) <= LEFT, sorted(named)


RETIRED = {
    "Bar": "Interval",
    "Point": "MetricValue",
    "Alone": "DiscordantCounts",
    "Different": "UniquePairs",
    "Null": "NullDistribution",
    "Unread": "LazyCells",
    "Places": "SparseBinaryMatrix",
    "Drawn": "TaskBatch",
    "Carries": "StatefulModule",
    "Getter": "Downloader",
    "Meter": "DownloadProgress",
    "Shaper": "BatchConverter",
    "Watcher": "RunObserver",
    "Answered": "FileAnswers",
    "CannotBeHadError": "MissingFilesError",
    "Held": "PendingUpload",
    "Worded": "RelabeledForm",
    "Sent": "RankedSubmission",
    "Live": "BenchmarkVersion",
    "Slot": "SubmissionSlot",
    "Late": "LatePolicy",
    "Shown": "PhaseVisibility",
    "Counting": "CountingRule",
    "Fact": "FactColumn",
    "Scheme": "BoardScheme",
    "Tally": "LimitCount",
    "Shipped": "PackagedSystem",
}
"""Names of classes that said nothing to a reader, and what these are called."""
PARTICIPLES = re.compile(
    r"[a-z]+ed|drawn|held|shown|kept|taken|given|known|found|begun|sent|made|done|told|led|chosen"
)
NO_PARTICIPLES = {"feed", "need", "seed", "embed", "speed"}
VAGUE = {
    "of", "at", "by", "take", "ask", "hold", "look", "end", "tell", "say", "put", "keep", "one", "all",
    "line", "lines", "place", "places", "text", "texts", "part", "parts", "cell", "cells", "row", "rows",
    "value", "values", "word", "words", "name", "names",
}  # fmt: skip
LEFT_IN_ROOMS = {"leaderboard": 17, "analysis": 30, "cli": 16, "data": 25, "systems": 37}
"""Functions whose name is a participle or one vague word. Lower these when some go; they never rise."""


def defined(room: Path, kinds: tuple[type[ast.AST], ...]) -> list[str]:
    """The names of the classes or functions that the files of a room define."""
    names = []
    for path in room.rglob("*.py"):
        for node in ast.walk(syntax_tree(path)):
            if isinstance(node, kinds):
                names.append(str(getattr(node, "name", "")))
    return names


def is_vague(name: str) -> bool:
    """Whether a function's name neither begins with a verb nor says what it returns."""
    bare = name.strip("_")
    first = bare.partition("_")[0]
    is_participle = PARTICIPLES.fullmatch(first) is not None and first not in NO_PARTICIPLES
    return not name.startswith("__") and (is_participle or bare in VAGUE)


def test_no_class_has_a_retired_name() -> None:
    classes = set(defined(SOURCE, (ast.ClassDef,)))
    assert {name: RETIRED[name] for name in classes & RETIRED.keys()} == {}


@pytest.mark.parametrize("room", sorted(LEFT_IN_ROOMS))
def test_functions_begin_with_a_verb_or_are_what_they_return(room: str) -> None:
    functions = defined(SOURCE / room, (ast.FunctionDef, ast.AsyncFunctionDef))
    vague = sorted(name for name in functions if is_vague(name))
    assert len(vague) <= LEFT_IN_ROOMS[room], vague


BRITISH = re.compile(
    r"organis(e|ing|ation)|licence|tokenis|optimis(e|ing|ation)|neighbour|(?<!water)colour|behaviour"
    r"|judgement|artefact|labell(ed(?!by)|ing)|modelling|recognis(?!ing Textual)"
    r"|normalis|summaris(?!e\b|e\")",
    re.IGNORECASE,
)
EXEMPT = ("migrations", "data/sample", "tests/", ".ipynb", "CHANGELOG", "sample/")


def test_spelling_is_american() -> None:
    root = SOURCE.parents[1]
    files = [path for folder in ("src", "docs") for path in (root / folder).rglob("*.*")]
    texts = (path for path in [*files, *root.glob("*.md")] if path.suffix in {".py", ".md", ".toml", ".html"})
    assert [
        f"{path.relative_to(root)}: {match[0]}"
        for path in texts
        if not any(part in str(path.relative_to(root)) for part in EXEMPT)
        for match in BRITISH.finditer(path.read_text())
    ] == []
