"""The ids of a split's examples: listed in the manifest, or numbered by a pattern."""

from collections.abc import Iterator

from gluebench.benchmark.reader import Section

ORDER = "order"
"""In place of ids: the order of the rows counts."""


def ids_of(split: Section) -> tuple[str, ...]:
    """The ids of a split: listed, or numbered by a pattern such as "ts_test_{:05}" or "P_{}_Q_{}"."""
    pattern = split.values.get("ids")
    if isinstance(pattern, list) and all(type(name) is int for name in pattern):
        return tuple(map(str, pattern))
    if not isinstance(pattern, str):
        return split.texts("ids")
    if pattern == ORDER:
        return ()
    try:
        if pattern.format(0, 0) != pattern:
            return tuple(pattern.format(*numbers) for numbers in _numbers(split))
    except (ValueError, LookupError, AttributeError):
        pass
    split.reject("ids", f'"{pattern}" is not a pattern; expected a list, "{ORDER}" or as "test_{{:05}}"')
    return ()


def _numbers(split: Section) -> Iterator[tuple[int, ...]]:
    """The numbers in each id: one, or those of a group of examples and of an example in its group."""
    first, counts = split.values.get("first_id", 0), split.values.get("counts")
    if not isinstance(first, int):
        return
    if counts is None:
        yield from zip(range(first, first + split.count("size")))
    elif isinstance(counts, list) and all(isinstance(count, int) and count >= 0 for count in counts):
        yield from ((group, at) for group, count in enumerate(counts, first) for at in range(count))
    else:
        split.reject("counts", "expected the number of examples of each group: [2, 0, 3]")
