"""Every regular expression of the package takes linear time on any text, by whatever method it is used."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import pytest
from growth import SEARCHING, superlinear
from source import GROUP, SOURCE, syntax_tree

pytestmark = pytest.mark.xdist_group(GROUP)
METHODS = SEARCHING | {"match", "fullmatch"}
ANY = {"search", "fullmatch"}
EXAMPLES: dict[str, Any] = {
    "_owner": lambda language: "(?P<name>.+)'s",
    "boundaries": [r"[,;:]\s+", r"\s(?:because|so)\s+", r"\s(?:and)\s+(?=(?:he|she)\s)"],
    "language": "en",
    "leads": "because|so|and",
    "name": "Ann",
    "names": ["Ann", "Ben"],
    "pattern": r"yes|no(?!\s+\w)",
    "printed": "393k",
    "pronoun": "she",
    "root": "/leaderboard/",
    "word": "because",
    "words": "a|an|the",
}
"""A value for each local name within an expression."""
METHODS_OF = {"gluebench/benchmark/locate.py": {"match"}}
"""How a file uses its expressions, where a function of its own calls the method."""
OWN = {("gluebench/cli/common/option.py", "pattern"): "the user's own expression, for the user's own data"}
"""Expressions that are not the package's."""
SHORT = {
    ("gluebench/data/recipes/rte.py", "NAME"): "reads the name of a file, which has at most 255 letters",
    ("gluebench/data/recipes/sentences.py", "_END"): "reads a paragraph of the user's own corpus",
    ("gluebench/data/recipes/sentences.py", "_BEFORE"): "searches the 30 letters before a full stop",
    ("gluebench/data/sources/http.py", "_PAGE"): "reads the first 4,096 bytes of a download",
    ("gluebench/data/sources/http.py", "_TITLE"): "reads the first 4,096 bytes of a download",
    ("gluebench/data/sources/http.py", "_NO_TEXT"): "reads the first 4,096 bytes of a download",
    (
        "gluebench/leaderboard/keeping/freeze.py",
        "_BOARD_FORM",
    ): "reads pages of the site, which have one such form",
    (
        "gluebench/leaderboard/keeping/freeze.py",
        "_WAITING",
    ): "reads pages of the site, where people's text is escaped",
    (
        "gluebench/leaderboard/keeping/freeze.py",
        "acts",
    ): "reads pages of the site, where people's text is escaped",
    (
        "gluebench/leaderboard/keeping/freeze.py",
        "text",
    ): "reads pages of the site, where people's text is escaped",
    ("gluebench/systems/adapters/answers.py", "_REASONING"): "reads a reply, limited by --max-tokens",
    ("gluebench/systems/adapters/answers.py", "_FENCE"): "reads a reply, limited by --max-tokens",
    ("gluebench/systems/adapters/answers.py", "_ANSWER"): "reads a reply, limited by --max-tokens",
    ("gluebench/systems/adapters/answers.py", "_OUT_OF"): "reads a reply, limited by --max-tokens",
}
"""Expressions that may take quadratic time, and why no text is long enough for it to matter."""


class Use(NamedTuple):
    """An expression, and a method that the code calls on it."""

    file: str
    name: str
    """What the expression is assigned to; else the function that it stands in."""
    method: str
    call: ast.Call


@cache
def trees() -> dict[str, ast.Module]:
    """Each file of the package."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {path.relative_to(SOURCE.parent).as_posix(): syntax_tree(path) for path in paths}


@cache
def methods_by_name() -> dict[tuple[str, str], set[str]]:
    """For each name in the package, the methods of an expression that are called on it."""
    found = defaultdict(set)
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                name = ast.unparse(node.value).rpartition(".")[2]
                found[_scope(file, name)].add(node.attr)
    return found


def _scope(file: str, name: str) -> tuple[str, str]:
    """A name is that of its file alone, unless it is a public constant."""
    is_public = name.isupper() and not name.startswith("_")
    return ("" if is_public else file, name)


@cache
def uses() -> dict[tuple[str, str], list[Use]]:
    """By file and name, each expression with each method that is called on it."""
    found = defaultdict(list)
    for use in _uses():
        found[use.file, use.name].append(use)
    return found


def _uses() -> Iterator[Use]:
    for file, tree in trees().items():
        names = _names(tree)
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            method = node.func.attr
            if ast.unparse(node.func.value) != "re" or method not in METHODS | {"compile"}:
                continue
            name = names.get(node, "")
            methods = {method}
            if method == "compile":
                # What has no name of its own may be used in any way.
                methods = METHODS_OF.get(file) or methods_by_name().get(_scope(file, name)) or ANY
            for called in sorted(methods):
                yield Use(file, name, called, node)


def _names(tree: ast.Module) -> dict[ast.AST, str]:
    """For each node, the name that it is assigned to, else the function that it stands in."""
    names: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names |= dict.fromkeys(ast.walk(node), node.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names[node.value] = _name(node)
    return names


def _name(assignment: ast.Assign) -> str:
    return ast.unparse(assignment.targets[0])


def value(file: str, expression: ast.expr) -> Any:
    """What an expression of this file evaluates to; only the constants that it names are evaluated."""
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    namespace: dict[str, Any] = dict(EXAMPLES)
    for name in names - set(dir(builtins)):
        if name not in EXAMPLES:
            with suppress(AttributeError):  # a name within the expression itself
                namespace[name] = constant(file, name)
    return eval(compile(ast.Expression(expression), file, "eval"), namespace)


def constant(file: str, name: str) -> Any:
    """What a name of this file stands for. Raises AttributeError if it is local to a function."""
    tree = trees()[file]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and name in imported(node):
            return importlib.import_module(name)
        if isinstance(node, ast.ImportFrom) and node.module and name in imported(node):
            module = importlib.import_module(node.module)
            own = imported(node)[name]
            if not hasattr(module, own):  # a module of a package
                importlib.import_module(f"{node.module}.{own}")
            return getattr(module, own)
    for node in tree.body:
        if isinstance(node, ast.Assign) and _name(node) == name:
            return value(file, node.value)
    return getattr(importlib.import_module(file.removesuffix(".py").replace("/", ".")), name)


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that a statement brings, each with its name there."""
    return {alias.asname or alias.name: alias.name for alias in node.names}


def expression_and_flags(use: Use) -> tuple[str | bytes, int]:
    """The expression of a call, and its flags."""
    pattern = value(use.file, use.call.args[0])
    flags = 0
    position = 2
    if use.call.func.attr == "compile":
        position = 1
    for number, argument in enumerate(use.call.args):
        if number >= position and "re." in ast.unparse(argument):
            flags |= value(use.file, argument)
    for keyword in use.call.keywords:
        if keyword.arg == "flags":
            flags |= value(use.file, keyword.value)
    if isinstance(pattern, re.Pattern):
        return pattern.pattern, pattern.flags
    return pattern, int(flags)


def slowness(use: Use) -> str:
    """Why an expression is slow in this use; nothing if it takes linear time."""
    pattern, flags = expression_and_flags(use)
    why = superlinear(pattern, flags, use.method)
    if why is None:
        return ""
    return f"{use.method} of {pattern!r} is slow on {why.word!r}, repeated"


def slow_places(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """The expressions that are slow in one of their uses, and why."""
    slow = {}
    for place in places:
        reasons = [slowness(use) for use in uses()[place]]
        if any(reasons):
            slow[place] = reasons
    return slow


def test_every_expression_takes_linear_time_unless_its_text_is_short() -> None:
    # One test: to name its expressions as parameters, collection would have to read the whole package.
    assert slow_places(uses().keys() - {*OWN, *SHORT}) == {}


@pytest.mark.slow
def test_every_exempt_expression_is_slow() -> None:
    assert slow_places(SHORT).keys() == SHORT.keys(), "the others are linear: take them out of SHORT"


def test_expressions_that_are_exempt_exist() -> None:
    assert {*OWN, *SHORT} <= uses().keys()


@pytest.mark.parametrize(
    ("method", "pattern"),
    [
        ("match", r"a*a*b"),
        ("match", r"(a+)+b"),
        ("match", r"(?:a|a)*b"),
        ("match", r"(?:a?b?)*c"),
        ("match", r"(?:a*)*b"),
        ("search", r"\s+$"),
        ("search", r"a+b"),
        ("sub", r"x(?=x*)"),
        ("fullmatch", r"[^)]*[)\]]+"),
        ("fullmatch", r"[0-9]+[ ,]+[0-9, ]+x"),
    ],
)
def test_a_slow_expression_is_found(method: str, pattern: str) -> None:
    assert superlinear(pattern, 0, method) is not None


@pytest.mark.parametrize(
    ("method", "pattern"),
    [
        ("match", r"\s+$"),
        ("sub", r"\w+"),
        ("match", r"a++b"),
        ("search", r"(?<!a)a+b"),
        ("search", r"(?m)^[ \t]*x"),
        ("match", r"[a-z]*[0-9]*x"),
        ("match", r"(?:ab|a)*c"),
        ("fullmatch", r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?"),
    ],
)
def test_a_linear_expression_is_not_found(method: str, pattern: str) -> None:
    assert superlinear(pattern, 0, method) is None
