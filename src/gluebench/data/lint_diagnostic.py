"""What is wrong with a diagnostic set, or worth a second look, before anybody is measured by it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.data.diagnostic_files import LabelledPair
from gluebench.data.diagnostic_findings import (
    DEFAULT_LIMITS,
    Counts,
    Finding,
    Limits,
    Lint,
    error,
    warning,
)
from gluebench.data.diagnostic_rows import check_pair
from gluebench.data.tokens import overlap, words


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
    found: dict[str, list[LabelledPair]] = {phenomenon.name: [] for phenomenon in task.phenomena}
    for pair in pairs:
        names = {known.get(fold(tag.text)) for reading in pair.readings for tag in reading.tags}
        for name in names - {None}:
            found[str(name)].append(pair)
    return found


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
    for each in figures:
        if each.pairs < limits.pairs:
            message = f"{each.name}: {_plural(each.pairs, 'pair')}, fewer than {limits.pairs}"
            yield warning("few-pairs", None, message + "; a score on so few says little")


def _one_sided(figures: Sequence[Counts], limits: Limits) -> Iterator[Finding]:
    for each in figures:
        total = sum(each.labels.values())
        label, count = max(each.labels.items(), key=lambda item: item[1])
        if total and count > limits.label_share * total:
            message = f'{each.name}: "{label}" is the label of {count} of {_plural(total, "example")}'
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
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for reading in pair.readings:
            for word in set(words(reading.hypothesis)):
                found[word][reading.label] += 1
    overall = Counter(reading.label for pair in pairs for reading in pair.readings)
    for word in sorted(found):
        total = found[word].total()
        label, count = found[word].most_common(1)[0]
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
