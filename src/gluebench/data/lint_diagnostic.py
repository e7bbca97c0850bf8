"""Reading a labeled diagnostic set, and its errors and warnings.

A file has a row for each pair, or, as in GLUE's release, a row for each direction.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
        return (self.forward, self.backward) if self.backward else (self.forward,)


def read_diagnostic(path: str | os.PathLike[str], task: Task) -> list[LabeledPair]:
    """The pairs of a tab-separated file of either form; quotation marks are text like any other.

    Raises DataError for a file that cannot be read, a header of neither form, and rows of another width.
    """
    header, *rest = text_lines(Path(path), Path(path).read_bytes())
    categories = header.split("\t")
    names = [fold(name) for name in categories]
    pairwise = set(PAIR_COLUMNS) <= set(names)
    if not pairwise and not set(RELEASED_COLUMNS) <= set(names):
        raise DataError(
            f"{path}:1: the header names neither the columns {', '.join(PAIR_COLUMNS)} (and set), a row for "
            "each pair, nor Domain, Premise, Hypothesis, Label and the categories "
            f"({', '.join(task.coarse())}), a row for each direction"
        )
    rows = [(number, line.split("\t")) for number, line in enumerate(rest, 2)]
    expected = f"expected {len(names)} as in the header; a row is one line, its columns parted by tabs"
    wrong = [
        f"{path}:{number}: {len(cells)} columns, {expected}"
        for number, cells in rows
        if len(cells) != len(names)
    ]
    if wrong or not rows:
        raise DataError(wrong or [f"{path}: no pairs: the file has a header alone"])
    if pairwise:
        return [_pair(line, dict(zip(names, cells, strict=True))) for line, cells in rows]
    return _paired([_reading(line, categories, names, cells) for line, cells in rows])


def _pair(line: int, cells: Mapping[str, str]) -> LabeledPair:
    shared = (cells["domain"].strip(), tuple(Tag(tag) for tag in _split(cells["phenomena"])))
    first, second = cells["sentence1"], cells["sentence2"]
    forward = Reading(line, first, second, cells["forward"], *shared)
    backward = Reading(line, second, first, cells["backward"], *shared) if cells["backward"] else None
    return LabeledPair(forward, backward, cells["set"].strip() if "set" in cells else None)


def _reading(line: int, header: Sequence[str], names: Sequence[str], cells: Sequence[str]) -> Reading:
    by_name = dict(zip(names, cells, strict=True))
    tags = tuple(
        Tag(tag, category)
        for category, name, cell in zip(header, names, cells, strict=True)
        if name not in RELEASED_COLUMNS
        for tag in _split(cell)
    )
    texts = (by_name["premise"], by_name["hypothesis"], by_name["label"])
    return Reading(line, *texts, by_name["domain"].strip(), tags)


def _split(cell: str) -> Iterator[str]:
    return filter(None, (tag.strip() for tag in cell.split(";")))


def _paired(readings: Sequence[Reading]) -> list[LabeledPair]:
    """Pair each row with the next one if that is its reverse."""
    pairs: list[LabeledPair] = []
    for reading in readings:
        last = pairs[-1] if pairs else None
        reverse = (reading.hypothesis, reading.premise)
        if last and not last.backward and (last.forward.premise, last.forward.hypothesis) == reverse:
            pairs[-1] = last._replace(backward=reading)
        else:
            pairs.append(LabeledPair(reading, None))
    return pairs


FEWEST_PAIRS = 10
"""Fewest pairs of a phenomenon without a warning."""
MEDIAN_OVERLAP, OVERLAP = 0.7, 0.4
"""Lowest word overlap of two sentences without a warning: the median of all pairs, and one pair."""
LABEL_SHARE = 0.8
"""Largest share of a phenomenon's examples that one label may have without a warning."""
WORD_SHARE, WORD_EXCESS, WORD_COUNT = 0.75, 0.2, 10
"""A word is a shortcut if one label has at least this share of the hypotheses with it, this much more than
its share of all examples, and at least this many hypotheses have the word."""


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
    known = {  # spelling, folded, to phenomenon
        fold(spelling): phenomenon.name
        for phenomenon in task.phenomena
        for spelling in (phenomenon.name, *phenomenon.aliases)
    }
    tagged: dict[str, list[LabeledPair]] = {phenomenon.name: [] for phenomenon in task.phenomena}
    for pair in pairs:
        tags = {known.get(fold(tag.text)) for reading in pair.readings for tag in reading.tags}
        for name in tags - {None}:
            tagged[str(name)].append(pair)
    figures = [_counts(name, members, task) for name, members in tagged.items()]
    total = _counts("all", pairs, task)
    middle = median(overlap(pair.forward.premise, pair.forward.hypothesis) for pair in pairs)
    findings = [
        *(finding for pair in pairs for finding in check_pair(pair, task, known, symmetric)),
        *_repeated(pairs),
        *_unbalanced(total, figures, fewest),
    ]
    if middle < MEDIAN_OVERLAP:
        findings.append(_finding("median-overlap", None, share=middle, least=MEDIAN_OVERLAP))
    findings += [*_shortcuts(pairs), *_sets(pairs)]
    findings.sort(key=lambda finding: (finding.severity, finding.line is None, finding.line or 0))
    sets = {pair.set for pair in pairs if pair.set}
    domains = Counter(pair.forward.domain for pair in pairs)
    return Lint(tuple(findings), total, tuple(figures), dict(domains), len(sets) or None, middle)


def symmetric_label(task: Task) -> str | None:
    """The label "contradiction" if there is one, else the last of three labels, else None."""
    if "contradiction" in task.words:
        return "contradiction"
    return task.words[-1] if len(task.words) == 3 else None


def _counts(name: str, pairs: Sequence[LabeledPair], task: Task) -> Counts:
    labels = Counter(reading.label for pair in pairs for reading in pair.readings)
    return Counts(name, len(pairs), {word: labels[word] for word in task.words})


def _repeated(pairs: Sequence[LabeledPair]) -> Iterator[Finding]:
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


def _unbalanced(total: Counts, figures: Sequence[Counts], fewest: int) -> Iterator[Finding]:
    """Phenomena with few pairs; phenomena, or the whole set, of almost only one label; unused labels."""
    for counts in figures:
        if counts.pairs < fewest:
            pairs = counted(counts.pairs, "pair")
            yield _finding("few-pairs", None, name=counts.name, pairs=pairs, fewest=fewest)
    for counts in (total, *figures):
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
    overall = Counter(reading.label for pair in pairs for reading in pair.readings)
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
        line, labels = members[0].forward.line, {one.label for pair in members for one in pair.readings}
        if len(members) == 1:
            yield _finding("lone-pair", line, name=name)
        elif len(labels) == 1:
            yield _finding("one-label", line, name=name, label=min(labels))


def check_pair(
    pair: LabeledPair, task: Task, known: Mapping[str, str], symmetric: str | None
) -> Iterator[Finding]:
    """Findings that concern one pair only."""
    yield from _directions(pair, symmetric)
    for reading in pair.readings:
        if reading.label not in task.words:
            hint, expected = _meant(reading.label, task.words), ", ".join(task.words)
            yield _finding("label", reading.line, label=reading.label, expected=expected, hint=hint)
    yield from _texts(pair)
    # a row with both directions has one set of tags: check it once
    rows = {reading.line: reading for reading in pair.readings}.values()
    for reading in rows:
        yield from _tags(reading, task, known)
        if not reading.domain:
            yield _finding("no-domain", reading.line)


def _directions(pair: LabeledPair, symmetric: str | None) -> Iterator[Finding]:
    ahead, back = pair.forward, pair.backward
    if back is None:
        yield _finding("one-direction", ahead.line)
        return
    if (ahead.label == symmetric) != (back.label == symmetric):
        yield _finding("asymmetric", back.line, ahead=ahead.label, back=back.label, symmetric=symmetric)
    if {tag.text for tag in ahead.tags} != {tag.text for tag in back.tags} or ahead.domain != back.domain:
        yield _finding("directions-differ", back.line, earlier=ahead.line)


def _meant(name: str, valid: Sequence[str]) -> str:
    close = closest(name, valid, most=1)
    return f". Did you mean {close[0]}?" if close else ""


def _texts(pair: LabeledPair) -> Iterator[Finding]:
    first, second = pair.forward.premise, pair.forward.hypothesis
    if not first.strip() or not second.strip():
        yield _finding("empty", pair.forward.line)
        return
    if first == second:
        yield _finding("identical", pair.forward.line)
        return
    for reading in {reading.line: reading for reading in pair.readings}.values():
        sides = [side for side in (reading.premise, reading.hypothesis) if side != side.strip()]
        if sides:
            yield _finding("edge-space", reading.line, text=sides[0])
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
            hint = _meant(tag.text, list(coarse))
            yield _finding("phenomenon", reading.line, task=task.name, tag=tag.text, hint=hint)
        elif tag.category is not None and fold(tag.category) != fold(coarse[name]):
            place = {"tag": tag.text, "category": tag.category, "coarse": coarse[name]}
            yield _finding("category", reading.line, **place)
    for name, count in Counter(filter(None, names)).items():
        if count > 1:
            yield _finding("tag-twice", reading.line, name=name, count=count)
