"""Reading a labeled diagnostic set, and its errors and warnings.

A file has a row for each pair, or, as in GLUE's release, a row for each direction.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple, cast

from gluebench.benchmark import Task
from gluebench.benchmark.figures import counted
from gluebench.benchmark.lookup import closest, fold, table_beside
from gluebench.data.errors import DataError
from gluebench.data.tokens import overlap, words
from gluebench.data.tsv import text_lines

PAIR_COLUMNS = ("domain", "phenomena", "sentence1", "sentence2", "forward", "backward")
"""Columns of the form with a row for each pair; `set` may follow."""
RELEASED_COLUMNS = ("domain", "premise", "hypothesis", "label")
"""Columns of the released form, in any letter case; each other column has the tags of a coarse category."""
Severity = Literal["error", "warning"]


class Tag(NamedTuple):
    """A phenomenon as the file spells it."""

    text: str
    category: str | None = None
    """The coarse category of its column; None if the file has no such columns."""


class Reading(NamedTuple):
    """One direction of a pair."""

    line: int
    premise: str
    hypothesis: str
    label: str
    domain: str
    tags: tuple[Tag, ...]


class LabeledPair(NamedTuple):
    """Two sentences, labeled in both directions, or in one if the other is missing."""

    forward: Reading
    backward: Reading | None
    set: str | None = None
    """Name of its minimal set, "" if the cell is empty; None if the file has no such column."""

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The directions that there are."""
        if self.backward is None:
            return (self.forward,)
        return self.forward, self.backward


def read_diagnostic(path: str | os.PathLike[str], task: Task) -> list[LabeledPair]:
    """The pairs of a tab-separated file of either form; quotation marks are text like any other.

    Raises DataError for a file that cannot be read, a header of neither form, and rows of another width.
    """
    header, *lines = text_lines(Path(path), Path(path).read_bytes())
    columns = header.split("\t")
    names = [fold(name) for name in columns]
    pairwise = set(PAIR_COLUMNS) <= set(names)
    if not pairwise and not set(RELEASED_COLUMNS) <= set(names):
        raise DataError(
            f"{path}:1: the header names neither the columns {', '.join(PAIR_COLUMNS)} (and set), a row for "
            "each pair, nor Domain, Premise, Hypothesis, Label and the categories "
            f"({', '.join(task.coarse())}), a row for each direction"
        )
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 2)]
    if not rows:
        raise DataError([f"{path}: no pairs: the file has a header alone"])
    problems = []
    for number, cells in rows:
        if len(cells) != len(names):
            expected = (
                f"expected {len(names)} as in the header; a row is one line, its columns parted by tabs"
            )
            problems.append(f"{path}:{number}: {len(cells)} columns, {expected}")
    if problems:
        raise DataError(problems)
    if pairwise:
        return [_pair(number, dict(zip(names, cells, strict=True))) for number, cells in rows]
    return _join_directions([_direction(number, columns, cells) for number, cells in rows])


def _pair(line: int, cells: Mapping[str, str]) -> LabeledPair:
    """The pair of a row, by the names of its columns."""
    domain = cells["domain"].strip()
    tags = tuple(Tag(tag) for tag in _tag_names(cells["phenomena"]))
    first = cells["sentence1"]
    second = cells["sentence2"]
    forward = Reading(line, first, second, cells["forward"], domain, tags)
    backward = None
    if cells["backward"]:
        backward = Reading(line, second, first, cells["backward"], domain, tags)
    minimal_set = cells["set"].strip() if "set" in cells else None
    return LabeledPair(forward, backward, minimal_set)


def _direction(line: int, columns: Sequence[str], cells: Sequence[str]) -> Reading:
    """The direction of a row in the released form, where other columns are coarse categories."""
    released = {}
    tags = []
    for column, cell in zip(columns, cells, strict=True):
        name = fold(column)
        if name in RELEASED_COLUMNS:
            released[name] = cell
        else:
            tags += [Tag(tag, column) for tag in _tag_names(cell)]
    return Reading(
        line,
        released["premise"],
        released["hypothesis"],
        released["label"],
        released["domain"].strip(),
        tuple(tags),
    )


def _tag_names(cell: str) -> list[str]:
    """The tags of a cell, which semicolons part."""
    tags = [tag.strip() for tag in cell.split(";")]
    return [tag for tag in tags if tag]


def _join_directions(readings: Sequence[Reading]) -> list[LabeledPair]:
    """Pair each row with the next one if that is its reverse."""
    pairs: list[LabeledPair] = []
    for reading in readings:
        if pairs and pairs[-1].backward is None:
            forward = pairs[-1].forward
            if (forward.premise, forward.hypothesis) == (reading.hypothesis, reading.premise):
                pairs[-1] = pairs[-1]._replace(backward=reading)
                continue
        pairs.append(LabeledPair(reading, None))
    return pairs


FEWEST_PAIRS = 10
"""Fewest pairs of a phenomenon without a warning."""
MEDIAN_OVERLAP = 0.7
"""Lowest median word overlap of the sentences of all pairs without a warning."""
OVERLAP = 0.4
"""Lowest word overlap of the sentences of one pair without a warning."""
LABEL_SHARE = 0.8
"""Largest share of a phenomenon's examples that one label may have without a warning."""
# A word is a shortcut if a label has at least this share of the hypotheses with it, this much more than the
# label's share of all examples, and at least so many hypotheses have the word.
WORD_SHARE = 0.75
WORD_EXCESS = 0.2
WORD_COUNT = 10


class Finding(NamedTuple):
    """One problem of the file: an error, or a warning."""

    severity: Severity
    code: str
    line: int | None
    """Line of the file (the header is line 1); None for a problem of the whole set."""
    message: str


class Counts(NamedTuple):
    """A phenomenon, or the whole set: pairs, and examples by label."""

    name: str
    pairs: int
    labels: Mapping[str, int]


class Lint(NamedTuple):
    """All findings, and the counts of the set."""

    findings: tuple[Finding, ...]
    total: Counts
    phenomena: tuple[Counts, ...]
    """In the manifest's order."""
    domains: Mapping[str, int]
    """Pairs of each domain."""
    sets: int | None
    """Number of minimal sets; None if the file does not name them."""
    median_overlap: float


_MESSAGES = table_beside(__file__)


def _finding(code: str, line: int | None, **values: object) -> Finding:
    """A finding with its severity and message from lint_diagnostic.tsv; a comma ends the code there."""
    severity, message = _MESSAGES[code]
    return Finding(cast(Severity, severity), code.partition(",")[0], line, message.format(**values))


def lint(
    pairs: Sequence[LabeledPair], task: Task, *, symmetric: str | None, fewest: int = FEWEST_PAIRS
) -> Lint:
    """Check a set: errors before warnings, both by line, those of the whole set last; with its counts.

    `symmetric` is a label that must hold in both directions or in neither (contradiction), or None. A
    phenomenon with fewer pairs than `fewest` gets a warning.
    """
    known: dict[str, str] = {}  # folded spelling to phenomenon
    for phenomenon in task.phenomena:
        known[fold(phenomenon.name)] = phenomenon.name
        for alias in phenomenon.aliases:
            known[fold(alias)] = phenomenon.name
    pairs_by_phenomenon: dict[str, list[LabeledPair]] = {phenomenon.name: [] for phenomenon in task.phenomena}
    findings: list[Finding] = []
    for pair in pairs:
        findings += check_pair(pair, task, known, symmetric)
        names: set[str | None] = set()
        for reading in pair.readings:
            names.update(known.get(fold(tag.text)) for tag in reading.tags)
        for name in names:
            if name is not None:
                pairs_by_phenomenon[name].append(pair)
    phenomena = [_counts(name, members, task) for name, members in pairs_by_phenomenon.items()]
    total = _counts("all", pairs, task)
    findings += _repetitions(pairs)
    findings += _imbalances(total, phenomena, fewest)
    median_overlap = median(overlap(pair.forward.premise, pair.forward.hypothesis) for pair in pairs)
    if median_overlap < MEDIAN_OVERLAP:
        findings.append(_finding("median-overlap", None, share=median_overlap, least=MEDIAN_OVERLAP))
    findings += _shortcuts(pairs)
    findings += _sets(pairs)
    findings.sort(key=lambda finding: (finding.severity, finding.line is None, finding.line or 0))
    sets = {pair.set for pair in pairs if pair.set}
    domains = Counter(pair.forward.domain for pair in pairs)
    return Lint(tuple(findings), total, tuple(phenomena), dict(domains), len(sets) or None, median_overlap)


def symmetric_label(task: Task) -> str | None:
    """The label "contradiction" if there is one, else the last of three labels, else None."""
    if "contradiction" in task.words:
        return "contradiction"
    if len(task.words) == 3:
        return task.words[-1]
    return None


def _count_labels(pairs: Sequence[LabeledPair]) -> Counter[str]:
    labels: Counter[str] = Counter()
    for pair in pairs:
        labels.update(reading.label for reading in pair.readings)
    return labels


def _counts(name: str, pairs: Sequence[LabeledPair], task: Task) -> Counts:
    labels = _count_labels(pairs)
    return Counts(name, len(pairs), {word: labels[word] for word in task.words})


def _repetitions(pairs: Sequence[LabeledPair]) -> Iterator[Finding]:
    """Pairs that repeat an earlier pair, in either order: with the same labels, or with others."""
    seen: dict[frozenset[str], tuple[int, dict[str, str]]] = {}
    for pair in pairs:
        key = frozenset((pair.forward.premise, pair.forward.hypothesis))
        labels = {reading.premise: reading.label for reading in pair.readings}
        line = pair.forward.line
        if key not in seen:
            seen[key] = (line, labels)
            continue
        earlier, earlier_labels = seen[key]
        yield _finding("duplicate" if labels == earlier_labels else "conflict", line, earlier=earlier)


def _imbalances(total: Counts, phenomena: Sequence[Counts], fewest: int) -> Iterator[Finding]:
    """Phenomena with few pairs; phenomena, or the whole set, of almost only one label; unused labels."""
    for counts in phenomena:
        if counts.pairs < fewest:
            pairs = counted(counts.pairs, "pair")
            yield _finding("few-pairs", None, name=counts.name, pairs=pairs, fewest=fewest)
    for counts in chain([total], phenomena):
        total_examples = sum(counts.labels.values())
        label, count = max(counts.labels.items(), key=lambda item: item[1])
        if count > LABEL_SHARE * total_examples:
            examples = counted(total_examples, "example")
            yield _finding("one-sided", None, name=counts.name, label=label, count=count, examples=examples)
    for label, count in total.labels.items():
        if not count:
            yield _finding("one-sided, unused", None, label=label)


def _shortcuts(pairs: Sequence[LabeledPair]) -> Iterator[Finding]:
    """Words of the hypothesis that give its label away."""
    labels: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for reading in pair.readings:
            for word in set(words(reading.hypothesis)):
                labels[word][reading.label] += 1
    overall = _count_labels(pairs)
    for word in sorted(labels):
        total = labels[word].total()
        label, count = labels[word].most_common(1)[0]
        threshold = max(WORD_SHARE, overall[label] / overall.total() + WORD_EXCESS)
        if total >= WORD_COUNT and count >= threshold * total:
            yield _finding("shortcut", None, label=label, count=count, total=total, word=word)


def _sets(pairs: Sequence[LabeledPair]) -> Iterator[Finding]:
    """Minimal sets of one pair or of one label, and pairs without a set."""
    sets: defaultdict[str, list[LabeledPair]] = defaultdict(list)
    for pair in pairs:
        if pair.set:
            sets[pair.set].append(pair)
        elif pair.set == "":
            yield _finding("no-set", pair.forward.line)
    for name, members in sets.items():
        line = members[0].forward.line
        labels = list(_count_labels(members))
        if len(members) == 1:
            yield _finding("lone-pair", line, name=name)
        elif len(labels) == 1:
            yield _finding("one-label", line, name=name, label=labels[0])


def check_pair(
    pair: LabeledPair, task: Task, known: Mapping[str, str], symmetric: str | None
) -> Iterator[Finding]:
    """Findings that concern one pair only."""
    yield from _directions(pair, symmetric)
    for reading in pair.readings:
        if reading.label not in task.words:
            hint = _suggestion(reading.label, task.words)
            expected = ", ".join(task.words)
            yield _finding("label", reading.line, label=reading.label, expected=expected, hint=hint)
    yield from _text_findings(pair)
    for reading in _row_directions(pair):
        yield from _tags(reading, task, known)
        if not reading.domain:
            yield _finding("no-domain", reading.line)


def _row_directions(pair: LabeledPair) -> list[Reading]:
    """A direction for each row of the file: a row with both has one set of tags, and is checked once."""
    by_line = {reading.line: reading for reading in pair.readings}
    return list(by_line.values())


def _directions(pair: LabeledPair, symmetric: str | None) -> Iterator[Finding]:
    forward = pair.forward
    backward = pair.backward
    if backward is None:
        yield _finding("one-direction", forward.line)
        return
    if (forward.label == symmetric) != (backward.label == symmetric):
        labels = {"ahead": forward.label, "back": backward.label}
        yield _finding("asymmetric", backward.line, **labels, symmetric=symmetric)
    forward_tags = {tag.text for tag in forward.tags}
    backward_tags = {tag.text for tag in backward.tags}
    if forward_tags != backward_tags or forward.domain != backward.domain:
        yield _finding("directions-differ", backward.line, earlier=forward.line)


def _suggestion(name: str, valid: Sequence[str]) -> str:
    close = closest(name, valid, most=1)
    if not close:
        return ""
    return f". Did you mean {close[0]}?"


def _text_findings(pair: LabeledPair) -> Iterator[Finding]:
    first = pair.forward.premise
    second = pair.forward.hypothesis
    if not first.strip() or not second.strip():
        yield _finding("empty", pair.forward.line)
        return
    if first == second:
        yield _finding("identical", pair.forward.line)
        return
    for reading in _row_directions(pair):
        for text in (reading.premise, reading.hypothesis):
            if text != text.strip():
                yield _finding("edge-space", reading.line, text=text)
                break
    share = overlap(first, second)
    if share < OVERLAP:
        yield _finding("low-overlap", pair.forward.line, share=share, least=OVERLAP)


def _tags(reading: Reading, task: Task, known: Mapping[str, str]) -> Iterator[Finding]:
    if not reading.tags:
        yield _finding("no-phenomenon", reading.line)
    names = [known.get(fold(tag.text)) for tag in reading.tags]
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    for tag, name in zip(reading.tags, names, strict=True):
        if name is None:
            hint = _suggestion(tag.text, list(coarse))
            yield _finding("phenomenon", reading.line, task=task.name, tag=tag.text, hint=hint)
        elif tag.category is not None and fold(tag.category) != fold(coarse[name]):
            details = {"tag": tag.text, "category": tag.category, "coarse": coarse[name]}
            yield _finding("category", reading.line, **details)
    for name, count in Counter(names).items():
        if name is not None and count > 1:
            yield _finding("tag-twice", reading.line, name=name, count=count)
