"""Checks for duplicates, overlap between splits, texts that occur once per label, and broken texts."""

import re
from collections.abc import Iterator, Sequence

from gluebench.analysis.lint.findings import Finding, Key, LintSplit, Severity, finding, percent
from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.scoring.tags import places_of

FAR = 0.2
"""Scores of the same text contradict each other if they differ by more than this share of the range."""
WORTH_A_WARNING = 0.01
"""Share of a split's rows: texts shared with an earlier split are a warning from here on, else a note."""
NEARLY_ALL = 0.8
"""Share of a split's rows from which on twins are the split's design, not chance."""
_RANK = {None: 0, "dev": 1, "test": 2}


def duplicate_findings(split: LintSplit, *, score_range: tuple[float, float] | None) -> Iterator[Finding]:
    """Exact duplicates, duplicates up to case and spacing, and duplicates with different labels."""
    exact = _repeats(split, split.exact)
    folded = _repeats(split, split.folded)
    if exact:
        yield finding("duplicates", split.name, len(exact), exact)
    if len(folded) > len(exact):
        known = set(exact)
        rows = [row for row in folded if row not in known]
        yield finding("near duplicates", split.name, len(folded) - len(exact), rows)
    clashes = []
    for positions in split.places.values():
        examples = [split.examples[position] for position in positions]
        if len(examples) > 1 and differ([example.label for example in examples], score_range):
            clashes.append(", ".join(str(example.index) for example in examples))
    if clashes:
        severity: Severity = "warning" if split.role is None else "error"
        yield finding("contradictions", split.name, len(clashes), clashes, severity=severity)


def _repeats(split: LintSplit, keys: Sequence[Key]) -> list[str]:
    """The rows whose key an earlier row has, by index: "3 = 0"."""
    first: dict[Key, int] = {}
    rows = []
    for example, key in zip(split.examples, keys, strict=True):
        earlier = first.setdefault(key, example.index)
        if earlier != example.index:
            rows.append(f"{example.index} = {earlier}")
    return rows


def differ(labels: Sequence[str | float | None], score_range: tuple[float, float] | None) -> bool:
    """Whether labels of one text contradict each other; hidden labels are ignored."""
    numbers = [label for label in labels if isinstance(label, float | int)]
    if numbers and score_range:
        return max(numbers) - min(numbers) > FAR * (score_range[1] - score_range[0])
    return len({label for label in labels if label is not None}) > 1


def leakage_findings(
    splits: Sequence[LintSplit], *, score_range: tuple[float, float] | None
) -> Iterator[Finding]:
    """Overlap of each split with every earlier one, in the order train, dev, test."""
    for later in splits:
        for earlier in splits:
            if _RANK[earlier.role] < _RANK[later.role]:
                yield from _same_examples(earlier, later, score_range)
                yield from _same_words(earlier, later)
                yield from _same_texts(earlier, later)


def _same_examples(
    earlier: LintSplit, later: LintSplit, score_range: tuple[float, float] | None
) -> Iterator[Finding]:
    """Rows that an earlier split has, up to case and spacing."""
    rows = []
    exact = 0
    clashing = 0
    known = set(earlier.exact)
    for position, key in enumerate(later.folded):
        if key in earlier.places:
            one = earlier.examples[earlier.places[key][0]]
            other = later.examples[position]
            rows.append(f"{earlier.name} {one.index} = {later.name} {other.index}")
            exact += later.exact[position] in known
            clashing += differ([one.label, other.label], score_range)
    if rows:
        clashes = f", {clashing:,} with another label" if clashing else ""
        severity: Severity = "error" if later.role == "test" else "warning"
        yield _overlap_finding(
            "leakage", earlier, later, rows, severity=severity, exact=exact, clashing=clashes
        )


def _same_words(earlier: LintSplit, later: LintSplit) -> Iterator[Finding]:
    """Rows that an earlier split has with different punctuation."""
    known = dict(zip(earlier.spoken, earlier.examples, strict=True))
    rows = []
    for example, spoken, folded in zip(later.examples, later.spoken, later.folded, strict=True):
        if spoken in known and folded not in earlier.places:
            rows.append(f"{earlier.name} {known[spoken].index} = {later.name} {example.index}")
    if rows:
        yield _overlap_finding("near leakage", earlier, later, rows)


def _same_texts(earlier: LintSplit, later: LintSplit) -> Iterator[Finding]:
    """Rows that share one text, but not the whole example."""
    if not later.examples or len(later.examples[0].inputs) < 2:
        return
    for column, name in enumerate(later.examples[0].inputs):
        places = places_of(key[column] for key in earlier.folded)
        rows = []
        shared: list[tuple[Example, list[Example]]] = []
        for example, key in zip(later.examples, later.folded, strict=True):
            if key[column] in places and key not in earlier.places:
                others = [earlier.examples[position] for position in places[key[column]]]
                rows.append(f"{earlier.name} {others[0].index} = {later.name} {example.index}")
                shared.append((example, others))
        if shared:
            severity: Severity = "note"
            if len(shared) / len(later.examples) >= WORTH_A_WARNING:
                severity = "warning"
            opposed = _opposed_words(shared)
            overlap = _overlap_finding(
                "shared", earlier, later, rows, severity=severity, column=name, opposed=opposed
            )
            yield overlap._replace(check=f"shared {name}")


def _overlap_finding(
    check: str,
    earlier: LintSplit,
    later: LintSplit,
    rows: Sequence[str],
    *,
    severity: Severity | None = None,
    **words: object,
) -> Finding:
    share = percent(len(rows) / len(later.examples))
    names = {"earlier": earlier.name, "later": later.name, "share": share}
    where = f"{earlier.name}, {later.name}"
    return finding(check, where, len(rows), rows, severity=severity, **names, **words)


def _opposed_words(shared: Sequence[tuple[Example, Sequence[Example]]]) -> str:
    """Say how many rows have a label that no earlier row has, which misleads a system that memorizes."""
    labeled = 0
    opposed = 0
    for example, others in shared:
        if isinstance(example.label, str):
            labeled += 1
            opposed += all(other.label != example.label for other in others)
    if not opposed:
        return ""
    number = "all" if opposed == labeled else f"{opposed:,} of them"
    return f", {number} with another label"


def twin_findings(task: Task, split: LintSplit) -> Iterator[Finding]:
    """A finding if nearly every text of a column occurs exactly once with each label.

    The first release of QNLI has this form: a question comes with two sentences, one of them with the answer,
    and choosing between them is easier than the task that the paper describes (footnote 3).
    """
    if not split.labeled or len(task.words) < 2 or len(task.columns) < 2:
        return
    for column, name in enumerate(task.columns):
        size = 0
        rows = []
        for positions in places_of(key[column] for key in split.exact).values():
            examples = [split.examples[position] for position in positions]
            if sorted(str(example.label) for example in examples) == sorted(task.words):
                size += len(examples)
                rows.append(" / ".join(str(example.index) for example in examples))
        share = size / len(split.examples)
        if share >= NEARLY_ALL:
            release = _other_releases(task, split)
            yield finding(
                "twins", split.name, share, rows, column=name, share=percent(share), release=release
            )


def _other_releases(task: Task, split: LintSplit) -> str:
    """The other releases of the split, which twins identify even if sizes do not."""
    releases = ""
    for file in task.files:
        if any(entry.name == split.name for entry in file.splits.values()):
            for version in file.other_versions:
                releases += f", as in {version.name}, {version.note}"
    return releases


SUSPICIONS = {
    "empty text": re.compile(r"\A\s*\Z"),
    "replacement character": re.compile("\ufffd"),
    "wrong encoding": re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2(?:\u20ac|\u0080)"),
    "control character": re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    "byte-order mark": re.compile("\ufeff"),
}
"""Patterns that no text of a benchmark should contain."""


def text_findings(split: LintSplit) -> Iterator[Finding]:
    """Texts that are empty, or that look wrongly decoded."""
    for check, pattern in SUSPICIONS.items():
        rows = []
        for example in split.examples:
            for name, text in example.inputs.items():
                if pattern.search(text):
                    rows.append(f"{example.index} {name}")
        if rows:
            yield finding(check, split.name, len(rows), rows)
