"""Examples and single texts that stand in two splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gluebench.analysis.lint.duplicates import differ
from gluebench.analysis.lint.findings import Finding, Severity, counted, percent, shown
from gluebench.analysis.lint.split import Key, LintSplit
from gluebench.data import Example

WORTH_A_WARNING = 0.01
"""Share of a split's rows from which on texts shared with an earlier split are more than a note."""
_RANK = {None: 0, "dev": 1, "test": 2}


def leakage_findings(
    splits: Sequence[LintSplit], *, score_range: tuple[float, float] | None
) -> Iterator[Finding]:
    """What a later split (train, dev, test in this order) has in common with each earlier one."""
    for later in splits:
        for earlier in splits:
            if _RANK[earlier.role] < _RANK[later.role]:
                places = _places(earlier)
                yield from _same_examples(earlier, later, places, score_range)
                yield from _same_texts(earlier, later, places)


def _places(split: LintSplit) -> dict[Key, int]:
    """Position of the first example with each key."""
    places: dict[Key, int] = {}
    for position, key in enumerate(split.folded):
        places.setdefault(key, position)
    return places


def _same_examples(
    earlier: LintSplit, later: LintSplit, places: dict[Key, int], score_range: tuple[float, float] | None
) -> Iterator[Finding]:
    rows, exact, clashing = [], 0, 0
    known = set(earlier.exact)
    for position, key in enumerate(later.folded):
        place = places.get(key)
        if place is not None:
            one, other = earlier.examples[place], later.examples[position]
            rows.append(f"{earlier.name} {one.index} = {later.name} {other.index}")
            exact += later.exact[position] in known
            clashing += differ([one.label, other.label], score_range)
    if rows:
        of = f"{counted(len(rows), 'row')} of {later.name} ({percent(len(rows) / len(later.examples))})"
        text = f"{of} stand in {earlier.name} too, {exact:,} of them exactly"
        text += f", {clashing:,} with another label" if clashing else ""
        severity: Severity = "error" if later.role == "test" else "warning"
        advice = f"Remove them from {earlier.name}, or from {later.name}."
        where = f"{earlier.name}, {later.name}"
        yield Finding(severity, "leakage", where, len(rows), text, advice, shown(rows))


def _same_texts(earlier: LintSplit, later: LintSplit, places: dict[Key, int]) -> Iterator[Finding]:
    """Rows that share one text, and not the whole example."""
    names = list(later.examples[0].inputs) if later.examples else []
    for column, name in enumerate(names if len(names) > 1 else ()):
        known: dict[str, list[Example]] = {}
        for example, key in zip(earlier.examples, earlier.folded, strict=True):
            known.setdefault(key[column], []).append(example)
        shared = [
            (example, known[key[column]])
            for example, key in zip(later.examples, later.folded, strict=True)
            if key[column] in known and key not in places
        ]
        if shared:
            yield _shared(earlier, later, name, shared)


def _shared(
    earlier: LintSplit, later: LintSplit, name: str, shared: Sequence[tuple[Example, Sequence[Example]]]
) -> Finding:
    share = len(shared) / len(later.examples)
    text = (
        f"{counted(len(shared), 'row')} of {later.name} ({percent(share)}) share their {name} with "
        f"{earlier.name}, other text beside it{_opposed(shared)}"
    )
    severity: Severity = "warning" if share >= WORTH_A_WARNING else "note"
    advice = f"Keep all rows of one {name} in one split, or say in the notes that it is shared."
    rows = [f"{earlier.name} {others[0].index} = {later.name} {example.index}" for example, others in shared]
    where = f"{earlier.name}, {later.name}"
    return Finding(severity, f"shared {name}", where, len(shared), text, advice, shown(rows))


def _opposed(shared: Sequence[tuple[Example, Sequence[Example]]]) -> str:
    """How many of them have a label that none of the earlier rows has: who memorises those is misled."""
    known = [
        (example.label, {other.label for other in others})
        for example, others in shared
        if isinstance(example.label, str)
    ]
    opposed = sum(label not in labels for label, labels in known)
    if not opposed:
        return ""
    return f", {'all' if opposed == len(known) else f'{opposed:,} of them'} with another label"
