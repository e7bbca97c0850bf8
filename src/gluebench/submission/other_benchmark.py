"""Recognize files that were made for another benchmark than the one that they are read for."""

from __future__ import annotations

from collections.abc import Mapping

from gluebench.benchmark import Benchmark, Role, installed, load_benchmark
from gluebench.benchmark.records import ROLES
from gluebench.reading.nested import find_records, is_json
from gluebench.reading.records import ReadingError
from gluebench.submission.names import FileNames
from gluebench.submission.problems import Problem, problem_maker

_LOOKED_AT = 100
"""Bytes that show whether a file is JSON."""
COMMENT = "gluebench submission for "
"""Beginning of the comment of a zip that gluebench wrote; the rest is the benchmark's name."""

_problem = problem_maker(__file__)


def count_rows(data: bytes) -> int:
    """Number of records of JSON; of any other file, of lines, the header included."""
    if is_json(data[:_LOOKED_AT].decode("utf-8-sig", "replace")):
        try:
            return len(find_records(data.decode("utf-8-sig", "replace")).values)
        except ReadingError:
            pass  # lines of which one is no JSON
    return data.count(b"\n") + (not data.endswith(b"\n"))


def of_other_benchmark(
    rows: Mapping[str, int], benchmark: Benchmark, role: Role, *, comment: str = ""
) -> Problem | None:
    """The problem that files are those of another benchmark; None if that is not known.

    `rows` has the number of rows of each test file by its path, and `comment` is that of their zip. Files
    that fit a split of `benchmark` are its own. Others are those of the benchmark that the comment names, or
    of an installed one whose numbers of rows all of them have.
    """
    if any(_fit(rows, benchmark, split) for split in ROLES):
        return None
    named = ""
    if comment.startswith(COMMENT):
        named = comment.removeprefix(COMMENT)
    if named and named != benchmark.name:
        manifest = named if named in installed() else f"{named}.toml"
        return _problem("other-benchmark, comment", name=benchmark.name, meant=named, manifest=manifest)
    others = [name for name in installed() if name != benchmark.name]
    fitting = [name for name in others if _fit(rows, load_benchmark(name), role)]
    if not fitting:
        return None
    names = " or ".join(fitting)
    return _problem("other-benchmark", name=benchmark.name, meant=fitting[0], names=names, count=len(rows))


def _fit(rows: Mapping[str, int], benchmark: Benchmark, role: Role) -> bool:
    """Whether every file is named as a test file and has its number of rows, with a header or without."""
    names = FileNames(benchmark, role)
    for path, count in rows.items():
        sizes = {file.size(role) for file in names.named(path) if role in file.splits}
        if sizes.isdisjoint((count, count - 1)):
            return False
    return bool(rows)
