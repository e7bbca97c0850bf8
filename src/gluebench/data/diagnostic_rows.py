"""What the rows of one pair of a diagnostic set show by themselves: directions, labels, texts, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import closest, fold
from gluebench.data.diagnostic_files import LabelledPair, Reading
from gluebench.data.diagnostic_findings import Finding, Limits, error, warning
from gluebench.data.tokens import overlap


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
            message = f'the label is "{reading.label}", expected {_one_of(task.words)}'
            yield error("label", reading.line, message + _meant(reading.label, task.words))


def _one_of(names: Sequence[str]) -> str:
    return f"one of {', '.join(names)}"


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
