"""Examples that stand in a split twice, and those that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gluebench.analysis.lint.findings import Finding, counted, repeat, shown
from gluebench.analysis.lint.split import Key, LintSplit

FAR = 0.2
"""Two scores of one text contradict each other beyond this share of the task's range."""


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
        text = f"{counted(len(clashes), 'text')} stand there with different labels"
        yield Finding(
            "warning" if split.role is None else "error",
            "contradictions",
            split.name,
            len(clashes),
            text,
            "Decide which label is right, and keep one row.",
            shown(clashes),
        )


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
    if len(set(split.folded)) == len(split.folded):
        return []
    rows: dict[Key, list[int]] = {}
    for position, key in enumerate(split.folded):
        rows.setdefault(key, []).append(position)
    return [
        ", ".join(str(split.examples[position].index) for position in positions)
        for positions in rows.values()
        if len(positions) > 1
        and differ([split.examples[position].label for position in positions], score_range)
    ]


def differ(labels: Sequence[str | float | None], score_range: tuple[float, float] | None) -> bool:
    """Whether labels of one text contradict each other; hidden ones are passed over."""
    numbers = [label for label in labels if isinstance(label, float | int)]
    if numbers and score_range:
        return max(numbers) - min(numbers) > FAR * (score_range[1] - score_range[0])
    return len({label for label in labels if label is not None}) > 1
