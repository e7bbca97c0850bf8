"""Rows that repeat within a split, that splits share, and texts that stand once under every label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gluebench.analysis.lint.findings import (
    Finding,
    Key,
    LintSplit,
    Severity,
    counted,
    percent,
    places_of,
    repeat,
    shown,
)
from gluebench.benchmark import Task
from gluebench.data import Example

FAR = 0.2
"""Two scores of one text contradict each other beyond this share of the task's range."""
WORTH_A_WARNING = 0.01
"""Share of a split's rows from which on texts shared with an earlier split are more than a note."""
NEARLY_ALL = 0.8
"""Share of a split's rows from which on this is the split's design and no chance."""
_RANK = {None: 0, "dev": 1, "test": 2}


def duplicate_findings(split: LintSplit, *, score_range: tuple[float, float] | None) -> Iterator[Finding]:
    """Exact duplicates, those equal but for case and spacing, and those with different labels."""
    exact = _repeats(split, split.exact)
    folded = _repeats(split, split.folded)
    advice = "Remove the later ones."
    if exact:
        text = f"{repeat(len(exact))} an earlier row exactly"
        yield Finding("warning", "duplicates", split.name, len(exact), text, advice, shown(exact))
    if len(folded) > len(exact):
        more = len(folded) - len(exact)
        rows = [row for row in folded if row not in set(exact)]
        text = f"{repeat(more)} an earlier row but for letter case, white space or Unicode form"
        yield Finding("warning", "near duplicates", split.name, more, text, advice, shown(rows))
    clashes = _clashes(split, score_range)
    if clashes:
        severity: Severity = "warning" if split.role is None else "error"
        text = f"{counted(len(clashes), 'text')} stand there with different labels"
        advice = "Decide which label is right, and keep one row."
        yield Finding(severity, "contradictions", split.name, len(clashes), text, advice, shown(clashes))


def _repeats(split: LintSplit, keys: Sequence[Key]) -> list[str]:
    """Each row whose key an earlier one has: "3 = 0", by index."""
    first: dict[Key, int] = {}
    return [
        f"{example.index} = {earlier}"
        for example, key in zip(split.examples, keys, strict=True)
        if (earlier := first.setdefault(key, example.index)) != example.index
    ]


def _clashes(split: LintSplit, score_range: tuple[float, float] | None) -> list[str]:
    """The rows of each text that has labels which contradict each other: "0, 3"."""
    return [
        ", ".join(str(split.examples[position].index) for position in positions)
        for positions in split.places.values()
        if len(positions) > 1
        and differ([split.examples[position].label for position in positions], score_range)
    ]


def differ(labels: Sequence[str | float | None], score_range: tuple[float, float] | None) -> bool:
    """Whether labels of one text contradict each other; hidden ones are passed over."""
    numbers = [label for label in labels if isinstance(label, float | int)]
    if numbers and score_range:
        return max(numbers) - min(numbers) > FAR * (score_range[1] - score_range[0])
    return len({label for label in labels if label is not None}) > 1


def leakage_findings(
    splits: Sequence[LintSplit], *, score_range: tuple[float, float] | None
) -> Iterator[Finding]:
    """What a later split (train, dev, test in this order) has in common with each earlier one."""
    for later in splits:
        for earlier in splits:
            if _RANK[earlier.role] < _RANK[later.role]:
                yield from _same_examples(earlier, later, score_range)
                yield from _same_words(earlier, later)
                yield from _same_texts(earlier, later)


def _same_examples(
    earlier: LintSplit, later: LintSplit, score_range: tuple[float, float] | None
) -> Iterator[Finding]:
    rows, exact, clashing = [], 0, 0
    known = set(earlier.exact)
    for position, key in enumerate(later.folded):
        if key in earlier.places:
            one, other = earlier.examples[earlier.places[key][0]], later.examples[position]
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


def _same_words(earlier: LintSplit, later: LintSplit) -> Iterator[Finding]:
    """Rows that an earlier split has with other punctuation."""
    known = dict(zip(earlier.spoken, earlier.examples, strict=True))
    rows = [
        f"{earlier.name} {known[spoken].index} = {later.name} {example.index}"
        for example, spoken, folded in zip(later.examples, later.spoken, later.folded, strict=True)
        if spoken in known and folded not in earlier.places
    ]
    if rows:
        text = f"{counted(len(rows), 'row')} of {later.name} ({percent(len(rows) / len(later.examples))})"
        text += f" stand in {earlier.name} too but for punctuation"
        advice = f"Remove them from {earlier.name}, or from {later.name}."
        where = f"{earlier.name}, {later.name}"
        yield Finding("warning", "near leakage", where, len(rows), text, advice, shown(rows))


def _same_texts(earlier: LintSplit, later: LintSplit) -> Iterator[Finding]:
    """Rows that share one text, and not the whole example."""
    names = list(later.examples[0].inputs) if later.examples else []
    for column, name in enumerate(names if len(names) > 1 else ()):
        places = places_of(key[column] for key in earlier.folded)
        known = {text: [earlier.examples[position] for position in rows] for text, rows in places.items()}
        shared = [
            (example, known[key[column]])
            for example, key in zip(later.examples, later.folded, strict=True)
            if key[column] in known and key not in earlier.places
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


def twin_findings(task: Task, split: LintSplit) -> Iterator[Finding]:
    """Whether nearly every text of a column stands exactly once with each label.

    It is how the first release of QNLI was made: of the two sentences that stand beside a question one has
    the answer, and choosing between them is easier than the task as the paper describes it (footnote 3).
    """
    if not split.labelled or len(task.words) < 2 or len(task.columns) < 2:
        return
    for column, name in enumerate(task.columns):
        twins = [
            positions
            for positions in places_of(key[column] for key in split.exact).values()
            if sorted(str(split.examples[position].label) for position in positions) == sorted(task.words)
        ]
        share = sum(map(len, twins)) / len(split.examples)
        if share >= NEARLY_ALL:
            text = f"nearly every {name} stands exactly once with each label ({percent(share)} of the rows)"
            advice = (
                f"A model that compares the rows of one {name} answers an easier question; draw them apart."
            )
            examples = [
                " / ".join(str(split.examples[position].index) for position in positions)
                for positions in twins
            ]
            text += _release(task, split)
            yield Finding("warning", "twins", split.name, share, text, advice, shown(examples))


def _release(task: Task, split: LintSplit) -> str:
    """What other release the manifest knows of; structure tells them apart where sizes need not."""
    names = (
        f"{version.name}, {version.note}"
        for file in task.files
        if split.name in {each.name for each in file.splits.values()}
        for version in file.other_versions
    )
    return "".join(f", as in {name}" for name in names)


class Suspicion(NamedTuple):
    """Something that no text of a benchmark should hold."""

    severity: Severity
    check: str
    pattern: re.Pattern[str]
    what: str
    """Follows "3 texts"."""
    advice: str


_AGAIN = "Read the source in its own encoding, and write it again as UTF-8."
SUSPICIONS = (
    Suspicion(
        "error",
        "empty text",
        re.compile(r"\s*\Z"),
        "hold nothing but white space",
        "Remove the rows, or mend them.",
    ),
    Suspicion(
        "warning", "replacement character", re.compile("\ufffd"), "hold U+FFFD: letters were lost", _AGAIN
    ),
    Suspicion(
        "warning",
        "wrong encoding",
        re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2(?:\u20ac|\u0080)"),
        "look like UTF-8 read as Latin-1 or Windows-1252",
        _AGAIN,
    ),
    Suspicion(
        "warning",
        "control character",
        re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
        "hold a control character",
        "Remove it, or put what was meant in its place.",
    ),
    Suspicion("warning", "byte-order mark", re.compile("\ufeff"), "hold U+FEFF", "Remove it."),
)


def text_findings(split: LintSplit) -> Iterator[Finding]:
    """The suspicions that a split gives rise to."""
    for suspicion in SUSPICIONS:
        begins = suspicion.check == "empty text"
        search = suspicion.pattern.match if begins else suspicion.pattern.search
        rows = [
            f"{example.index} {name}"
            for example in split.examples
            for name, text in example.inputs.items()
            if search(text)
        ]
        if rows:
            text = f"{counted(len(rows), 'text')} {suspicion.what}"
            yield Finding(
                suspicion.severity,
                suspicion.check,
                split.name,
                len(rows),
                text,
                suspicion.advice,
                shown(rows),
            )
