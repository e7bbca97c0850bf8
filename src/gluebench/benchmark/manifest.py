"""Load a benchmark from its TOML manifest, packaged or a user's own (docs/reference/manifest.md).

What reads a manifest is imported when one is read, since `--help` needs none of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from gluebench.benchmark.lookup import UnknownNameError, fold
from gluebench.benchmark.records import Benchmark

if TYPE_CHECKING:
    from gluebench.benchmark.reader import Finding, KeyPath, Section

_HOME = os.path.dirname(__file__)


class ManifestError(ValueError):
    """A manifest that cannot be used; the message has a line for each problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)
        """Each names the file, the line and the key, and says what was expected."""


def installed() -> tuple[str, ...]:
    """Names of the manifests that come with the package."""
    files = os.listdir(_HOME)
    return tuple(sorted(file.removesuffix(".toml") for file in files if file.endswith(".toml")))


def load_benchmark(name_or_path: Benchmark | str | os.PathLike[str]) -> Benchmark:
    """The packaged benchmark of that name, or the manifest at a path (with a slash, or ending in .toml).

    A loaded benchmark is returned unchanged. Raises UnknownNameError for a name that is not packaged,
    ManifestError for a manifest that is wrong.
    """
    if isinstance(name_or_path, Benchmark):
        return name_or_path
    if isinstance(name_or_path, str) and not _is_path(name_or_path):
        return _packaged(name_or_path)
    return _load(os.fspath(name_or_path), ())


def _is_path(name: str) -> bool:
    return "/" in name or os.sep in name or name.endswith(".toml")


def _packaged(name: str) -> Benchmark:
    for packaged in installed():
        if fold(packaged) == fold(name):
            return _load_once(os.path.join(_HOME, f"{packaged}.toml"), ())
    raise UnknownNameError(name, installed(), what="benchmark")


def _load(path: str, children: tuple[str, ...]) -> Benchmark:
    """The benchmark at a path; `children` are the real paths of the manifests that extend it."""
    from gluebench.benchmark.build import KEYS, benchmark_record
    from gluebench.benchmark.checks import check
    from gluebench.benchmark.part import part_record
    from gluebench.benchmark.reader import Section

    text, values = _parse(path)
    findings: list[Finding] = []
    root = Section(values, (), findings=findings, keys=KEYS["manifest"])
    head = values.get("benchmark")
    problems: list[str] = []
    if isinstance(head, dict) and "extends" in head:
        parent, problems = _parent(path, root, children)
        benchmark = part_record(root, parent)
    else:
        benchmark = benchmark_record(root)
        findings += check(benchmark, list(findings))
    if benchmark is None or findings or problems:
        raise ManifestError(_finding_texts(path, text, findings) + problems)
    return benchmark


_load_once = cache(_load)


def _parent(path: str, root: Section, children: tuple[str, ...]) -> tuple[Benchmark | None, list[str]]:
    """The benchmark that a manifest extends; or None, with the problems of the parent's manifest."""
    head = root.inner("benchmark")
    name = head.text("extends")
    if not name:
        return None, []
    chain = children + (os.path.realpath(path),)
    try:
        if not _is_path(name):
            return _packaged(name), []
        target = os.path.join(os.path.dirname(path), name)
        if os.path.realpath(target) in chain:
            expected = "expected a manifest that does not extend this one"
            head.reject("extends", f'"{name}" leads back to itself; {expected}')
            return None, []
        return _load(target, chain), []
    except UnknownNameError as error:
        head.reject("extends", f'"{name}": {error} A manifest of your own is named by its path')
    except ManifestError as error:
        return None, error.problems
    return None, []


def extended_by(name_or_path: str | os.PathLike[str]) -> str:
    """The name or the path of the benchmark that a manifest extends; empty if it extends none.

    Raises UnknownNameError, ManifestError.
    """
    path = os.fspath(name_or_path)
    if not _is_path(path):
        path = os.path.join(_HOME, f"{load_benchmark(path).name}.toml")
    _, values = _parse(path)
    head = values.get("benchmark")
    if not isinstance(head, dict):
        return ""
    parent: str = head.get("extends", "")
    if _is_path(parent):
        return os.path.join(os.path.dirname(path), parent)
    return parent


def _parse(path: str) -> tuple[str, Mapping[str, object]]:
    """The text of a manifest, and its values."""
    import tomllib

    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ManifestError([f"{path}: cannot be read ({reason}); expected a manifest in TOML"]) from None
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError([f"{path}:{line}: is not UTF-8; expected a manifest in TOML"]) from None
    except (ValueError, RecursionError) as error:
        raise ManifestError([_syntax_problem(path, text, str(error))]) from None


def _syntax_problem(path: str, text: str, message: str) -> str:
    """tomllib's message, with file and line in front."""
    location = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if location is None:
        return f"{path}: is not valid TOML: {message}"
    reason = message[: location.start()]
    line, column = location.groups()
    if line is None:
        last_line = text.count("\n") + 1
        return f"{path}:{last_line}: is not valid TOML: {reason}"
    return f"{path}:{line}: is not valid TOML: {reason}, column {column}"


def _finding_texts(path: str, text: str, findings: Iterable[Finding]) -> list[str]:
    """The findings with file, line and key, in the order of the lines."""
    distinct = list(dict.fromkeys(findings))
    if not distinct:
        return []
    from gluebench.benchmark.locate import line_of, lines  # only when something is wrong

    line_numbers = lines(text)
    distinct.sort(key=lambda finding: line_of(finding.path, line_numbers))
    texts = []
    for finding in distinct:
        line = line_of(finding.path, line_numbers)
        texts.append(f"{path}:{line}: {path_text(finding.path)}: {finding.text}")
    return texts


def path_text(path: KeyPath) -> str:
    """A path of keys as in TOML, with positions in brackets: tasks.MRPC.metrics[1].positive."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif re.fullmatch(r"[\w-]+", key, re.ASCII):
            text += f".{key}"
        else:  # as any other key is written in TOML
            text += f'."{key}"'
    return text.removeprefix(".")
