"""What is wrong with a diagnostic set, or worth a second look, before anybody is measured by it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import closest, fold
from gluebench.data.diagnostic_files import LabelledPair, Reading
from gluebench.data.tokens import overlap, words

Severity = Literal["error", "warning"]


class Limits(NamedTuple):
    """Below or above what something is worth a warning."""

    pairs: int = 10
    """Fewest pairs of a phenomenon."""
    median_overlap: float = 0.7
    """Of the words of two sentences, the share that stands in both: the median of all pairs."""
    overlap: float = 0.4
    """The same of one pair."""
    label_share: float = 0.8
    """Most of a phenomenon's examples that one label may have."""
    word_share: float = 0.75
    """Most of the hypotheses with a word that one label may have."""
    word_excess: float = 0.2
    """How far that share has to lie above the label's share of all examples."""
    word_count: int = 10
    """Hypotheses that a word has to stand in to count."""


DEFAULT_LIMITS = Limits()


class Finding(NamedTuple):
    """One thing that is wrong (error) or worth a look (warning)."""

    severity: Severity
    code: str
    line: int | None
    """Line of the file, the header being line 1; None where it is the whole set that is meant."""
    message: str


class Counts(NamedTuple):
    """A phenomenon, or the whole set: pairs, and examples by label."""

    name: str
    pairs: int
    labels: Mapping[str, int]


class Lint(NamedTuple):
    """All findings, and the figures of the set."""

    findings: tuple[Finding, ...]
    total: Counts
    phenomena: tuple[Counts, ...]
    """In the manifest's order."""
    domains: Mapping[str, int]
    """Pairs of each domain."""
    sets: int | None
    """Number of minimal sets; None if the file does not name them."""
    median_overlap: float


def error(code: str, line: int | None, message: str) -> Finding:
    """Something that has to be repaired."""
    return Finding("error", code, line, message)


def warning(code: str, line: int | None, message: str) -> Finding:
    """Something to look at."""
    return Finding("warning", code, line, message)


def lint(
    pairs: Sequence[LabelledPair], task: Task, *, symmetric: str | None, limits: Limits = DEFAULT_LIMITS
) -> Lint:
    """Every finding, those of single rows first, with the set's figures.

    `symmetric` is the label that holds in both directions or in none, as a contradiction; None for no such
    label.
    """
    known = _canonical(task)
    figures = [_counts(name, tagged, task) for name, tagged in _by_phenomenon(pairs, task, known).items()]
    total = _counts("all", pairs, task)
    findings = [
        *(finding for pair in pairs for finding in check_pair(pair, task, known, symmetric, limits)),
        *_repeated(pairs),
        *_thin(figures, limits),
        *_one_sided([total, *figures], limits),
        *_spread(pairs, limits),
        *_shortcuts(pairs, limits),
        *_sets(pairs),
    ]
    findings.sort(key=lambda finding: (finding.severity, finding.line is None, finding.line or 0))
    names = {pair.set for pair in pairs if pair.set}
    domains = Counter(pair.forward.domain for pair in pairs)
    return Lint(
        tuple(findings), total, tuple(figures), dict(domains), len(names) or None, _median_overlap(pairs)
    )


def symmetric_label(task: Task) -> str | None:
    """The label of a contradiction: the one called so, or else the last of three labels."""
    if "contradiction" in task.words:
        return "contradiction"
    return task.words[-1] if len(task.words) == 3 else None


def _canonical(task: Task) -> dict[str, str]:
    """Every spelling of a phenomenon, folded, to its name."""
    return {
        fold(spelling): phenomenon.name
        for phenomenon in task.phenomena
        for spelling in (phenomenon.name, *phenomenon.aliases)
    }


def _by_phenomenon(
    pairs: Sequence[LabelledPair], task: Task, known: Mapping[str, str]
) -> dict[str, list[LabelledPair]]:
    tagged: dict[str, list[LabelledPair]] = {phenomenon.name: [] for phenomenon in task.phenomena}
    for pair in pairs:
        names = {known.get(fold(tag.text)) for reading in pair.readings for tag in reading.tags}
        for name in names - {None}:
            tagged[str(name)].append(pair)
    return tagged


def _counts(name: str, pairs: Sequence[LabelledPair], task: Task) -> Counts:
    labels = Counter(reading.label for pair in pairs for reading in pair.readings)
    return Counts(name, len(pairs), {word: labels[word] for word in task.words})


def _repeated(pairs: Sequence[LabelledPair]) -> Iterator[Finding]:
    """Pairs that stand there before in either order, whether under the same labels or others."""
    seen: dict[frozenset[str], tuple[int, dict[str, str]]] = {}
    for pair in pairs:
        key = frozenset((pair.forward.premise, pair.forward.hypothesis))
        labels = {reading.premise: reading.label for reading in pair.readings}
        line = pair.forward.line
        if key not in seen:
            seen[key] = (line, labels)
            continue
        before, others = seen[key]
        if labels == others:
            yield error("duplicate", line, f"the pair of line {before} again; delete one of them")
        else:
            message = f"the pair of line {before} under other labels; decide for one and delete the other"
            yield error("conflict", line, message)


def _plural(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _thin(figures: Iterable[Counts], limits: Limits) -> Iterator[Finding]:
    for counts in figures:
        if counts.pairs < limits.pairs:
            message = f"{counts.name}: {_plural(counts.pairs, 'pair')}, fewer than {limits.pairs}"
            yield warning("few-pairs", None, message + "; a score on so few says little")


def _one_sided(figures: Sequence[Counts], limits: Limits) -> Iterator[Finding]:
    for counts in figures:
        total = sum(counts.labels.values())
        label, count = max(counts.labels.items(), key=lambda item: item[1])
        if total and count > limits.label_share * total:
            message = f'{counts.name}: "{label}" is the label of {count} of {_plural(total, "example")}'
            yield warning("one-sided", None, f"{message}; add pairs that have another")
    for label, count in figures[0].labels.items():
        if not count:
            yield warning("one-sided", None, f'no example at all has the label "{label}"')


def _spread(pairs: Sequence[LabelledPair], limits: Limits) -> Iterator[Finding]:
    middle = _median_overlap(pairs)
    if middle < limits.median_overlap:
        message = f"the median pair shares {middle:.2f} of its words, less than {limits.median_overlap}"
        yield warning("median-overlap", None, message)


def _median_overlap(pairs: Sequence[LabelledPair]) -> float:
    return median(overlap(pair.forward.premise, pair.forward.hypothesis) for pair in pairs)


def _shortcuts(pairs: Sequence[LabelledPair], limits: Limits) -> Iterator[Finding]:
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
        enough = max(limits.word_share, overall[label] / overall.total() + limits.word_excess)
        if total >= limits.word_count and count >= enough * total:
            message = f'"{label}" is the label of {count} of {total} hypotheses with "{word}"'
            yield warning("shortcut", None, f"{message}; add pairs that have it under other labels")


def _sets(pairs: Sequence[LabelledPair]) -> Iterator[Finding]:
    """Minimal sets of one pair, of one label, and pairs that belong to none."""
    sets: defaultdict[str, list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        if pair.set:
            sets[pair.set].append(pair)
        elif pair.set == "":
            yield warning(
                "no-set", pair.forward.line, "no minimal set; give those made from it a common name"
            )
    for name, members in sets.items():
        labels = {reading.label for pair in members for reading in pair.readings}
        if len(members) == 1:
            message = f'the set "{name}" has this pair alone; edit its source sentence once more'
            yield warning("lone-pair", members[0].forward.line, message)
        elif len(labels) == 1:
            message = (
                f'all pairs of the set "{name}" have one label, "{min(labels)}"; add one that has another'
            )
            yield warning("one-label", members[0].forward.line, message)


def check_pair(
    pair: LabelledPair, task: Task, known: Mapping[str, str], symmetric: str | None, limits: Limits
) -> Iterator[Finding]:
    """What the rows of one pair show by themselves."""
    yield from _directions(pair, symmetric)
    yield from _labels(pair, task)
    yield from _texts(pair, limits)
    # where a row holds both directions, they have their tags in common
    rows = {reading.line: reading for reading in pair.readings}.values()
    for reading in rows:
        yield from _tags(reading, task, known)
        if not reading.domain:
            yield warning(
                "no-domain", reading.line, "no domain; say what kind of text it is, as news or forum"
            )


def _directions(pair: LabelledPair, symmetric: str | None) -> Iterator[Finding]:
    ahead, back = pair.forward, pair.backward
    if back is None:
        advice = (
            "label the pair with the second sentence as the premise too, in the same row or in the next one"
        )
        yield error("one-direction", ahead.line, f"no label for the other direction; {advice}")
        return
    if (ahead.label == symmetric) != (back.label == symmetric):
        message = (
            f'"{ahead.label}" one way and "{back.label}" the other: '
            f'what holds of "{symmetric}" in one direction holds in both'
        )
        yield error("asymmetric", back.line, message)
    if {tag.text for tag in ahead.tags} != {tag.text for tag in back.tags} or ahead.domain != back.domain:
        message = f"the tags or the domain differ from those of the same pair in line {ahead.line}"
        yield warning("directions-differ", back.line, message)


def _labels(pair: LabelledPair, task: Task) -> Iterator[Finding]:
    for reading in pair.readings:
        if reading.label not in task.words:
            message = f'the label is "{reading.label}", expected one of {", ".join(task.words)}'
            yield error("label", reading.line, message + _meant(reading.label, task.words))


def _meant(name: str, valid: Sequence[str]) -> str:
    close = closest(name, valid, most=1)
    return f". Did you mean {close[0]}?" if close else ""


def _texts(pair: LabelledPair, limits: Limits) -> Iterator[Finding]:
    first, second = pair.forward.premise, pair.forward.hypothesis
    if not first.strip() or not second.strip():
        yield error("empty", pair.forward.line, "a sentence is missing")
        return
    if first == second:
        yield error("identical", pair.forward.line, "both sentences are the same; change one of them")
        return
    for reading in {reading.line: reading for reading in pair.readings}.values():
        sides = [side for side in (reading.premise, reading.hypothesis) if side != side.strip()]
        if sides:
            message = f'a space at the edge of "{sides[0]}"; systems that strip it see another text'
            yield warning("edge-space", reading.line, message)
    share = overlap(first, second)
    if share < limits.overlap:
        message = f"the sentences share {share:.2f} of their words, less than {limits.overlap}; edit less"
        yield warning("low-overlap", pair.forward.line, message)


def _tags(reading: Reading, task: Task, known: Mapping[str, str]) -> Iterator[Finding]:
    if not reading.tags:
        yield error("no-phenomenon", reading.line, "no phenomenon; say which of them the pair shows")
    names = [known.get(fold(tag.text)) for tag in reading.tags]
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    for tag, name in zip(reading.tags, names, strict=True):
        if name is None:
            message = f'no phenomenon of {task.name} is called "{tag.text}"'
            yield error("phenomenon", reading.line, message + _meant(tag.text, list(coarse)))
        elif tag.category is not None and fold(tag.category) != fold(coarse[name]):
            message = f'"{tag.text}" stands under {tag.category}; it belongs to {coarse[name]}'
            yield warning("category", reading.line, message)
    for name, count in Counter(filter(None, names)).items():
        if count > 1:
            yield warning("tag-twice", reading.line, f'"{name}" is named {count} times')
