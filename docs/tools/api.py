"""The reference of the Python interface, from the docstrings of every public name."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

MARK = re.compile(r"^<!-- api: (\S+) -->$", re.MULTILINE)
"""The line of a page that the names of a module take the place of."""
WIDTH = 88


def expand(text: str) -> str:
    """The page with a section for every public name of each module that it marks, once for a name."""
    explained: set[str] = set()
    return MARK.sub(lambda mark: "\n".join(_module(import_module(mark[1]), explained)).strip(), text)


def _module(module: ModuleType, explained: set[str]) -> Iterator[str]:
    """A section for every name of `__all__` that is not a module: functions, then classes, then constants."""
    members = {name: getattr(module, name) for name in module.__all__ if name not in explained}
    names = [name for name, member in members.items() if not inspect.ismodule(member) and name[:2] != "__"]
    explained |= {*names}
    for name in sorted(names, key=lambda name: (_rank(members[name]), name)):
        member = members[name]
        yield f"### `{name}`\n"
        if getattr(member, "__name__", name) != name and inspect.isfunction(member):
            yield f"The same as `{member.__module__}.{member.__name__}`.\n"
        if inspect.isclass(member):
            yield from _class(member)
        elif inspect.isroutine(member):
            yield from _function(name, member)
        else:
            yield f"{_constant_docs(module).get(name, '')}\n"
            yield f"```python\n{name} = {_short(member)}\n```\n"


def _rank(member: object) -> int:
    return 1 if inspect.isclass(member) else 0 if inspect.isroutine(member) else 2


def _function(name: str, function: Any) -> Iterator[str]:
    yield f"```python\n{_signature(name, function)}\n```\n"
    yield f"{inspect.getdoc(function) or ''}\n"


def _class(cls: type) -> Iterator[str]:
    fields = _fields(cls)
    special = issubclass(cls, Enum | Exception) or getattr(cls, "_is_protocol", False)
    if not fields and not special and "__init__" in vars(cls):
        yield f"```python\n{_signature(cls.__name__, cls)}\n```\n"
    kind = "A protocol. " if getattr(cls, "_is_protocol", False) else ""
    if issubclass(cls, Exception):
        kind = f"An exception: {', '.join(base.__name__ for base in cls.__bases__)}. "
    yield f"{kind}{inspect.cleandoc(cls.__doc__ or '')}\n"
    for name, (annotation, text) in fields.items():
        yield f"- `{name}: {annotation}`" + (f"  \n  {_one_line(text)}" if text else "")
    if fields:
        yield ""
    for name, member in vars(cls).items():
        if name[0] != "_" and name not in fields and (docs := inspect.getdoc(member)):
            yield from _member(cls, name, member, docs)


def _member(cls: type, name: str, member: Any, text: str) -> Iterator[str]:
    if isinstance(member, property | cached_property):
        function = member.fget if isinstance(member, property) else member.func
        annotation = inspect.signature(function).return_annotation if function else "Any"
        yield f"#### `{cls.__name__}.{name}`\n"
        yield f"```python\n{name}: {annotation}\n```\n\n{text}\n"
    elif isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
        yield f"#### `{cls.__name__}.{name}()`\n"
        yield from _function(name, getattr(cls, name))


def _fields(cls: type) -> dict[str, tuple[str, str]]:
    """Each annotated field of a class, or member of an enumeration: its type or value, and its docstring."""
    body = _tree(cls)
    fields: dict[str, tuple[str, str]] = {}
    for place, node in enumerate(body):
        text = _text(body[place + 1]) if place + 1 < len(body) else ""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            fields[node.target.id] = (ast.unparse(node.annotation), text)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and issubclass(cls, Enum):
            fields[node.targets[0].id] = (ast.unparse(node.value), text)
    return {name: field for name, field in fields.items() if name[0] != "_"}


def _tree(cls: type) -> list[ast.stmt]:
    node = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    return node.body if isinstance(node, ast.ClassDef) else []


@cache
def _constant_docs(module: ModuleType) -> dict[str, str]:
    """The docstring below each constant, where the module or the one it comes from has it."""
    texts: dict[str, str] = {}
    body = ast.parse(inspect.getsource(module)).body
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {name.name for name in node.names}
            other = import_module(node.module)
            if other.__name__.startswith("gluebench") and any(name.isupper() for name in names):
                texts |= {name: text for name, text in _constant_docs(other).items() if name in names}
    for node, below in pairwise(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and (text := _text(below)):
            texts[target.id] = text
    return texts


def _text(node: ast.stmt) -> str:
    """The docstring that a statement is, or nothing."""
    value = node.value if isinstance(node, ast.Expr) else None
    found = value.value if isinstance(value, ast.Constant) else None
    return inspect.cleandoc(found) if isinstance(found, str) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _short(value: object) -> str:
    """A constant's value, or what it holds."""
    if isinstance(value, dict | tuple | frozenset) and len(repr(value)) > WIDTH:
        keys = [key if isinstance(key, str) else repr(key) for key in value]
        return f"...  # {', '.join(keys)}"
    return _repr(value)


def _repr(value: object) -> str:
    """A value as code, without addresses in memory: the name of a function, the type of what holds some."""
    if inspect.isroutine(value) or inspect.isclass(value):
        return value.__name__
    text = repr(value)
    return f"{type(value).__name__}(...)" if " at 0x" in text else text


def _signature(name: str, function: Any) -> str:
    """The call with its types, on one line or a line for each argument."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    parts, starred = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        parts.append(_parameter(parameter))
    result = signature.return_annotation
    end = "" if result is signature.empty else f" -> {_name(result)}"
    line = f"{name}({', '.join(parts)}){end}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"


def _parameter(parameter: inspect.Parameter) -> str:
    text = str(parameter).partition(":")[0].partition("=")[0].strip()  # with its stars
    if parameter.annotation is not parameter.empty:
        text += f": {_name(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {_repr(parameter.default)}"
    return text


def _name(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else str(inspect.formatannotation(annotation))
