"""MRPC and RTE of the sample: the events are read back from the finished sentences."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from data.sample_rows import rows_of

from gluebench.benchmark import Benchmark
from gluebench.data.tokens import words
from sample.events import EVENTS, OPENINGS

FIELD = {
    "person": r"\S+ \S+?",
    "house": r"[a-z]+(?: [a-z]+)?",
    "number": r"[\w-]+",
    "day": r"\w+",
    "month": r"\w+",
}
Event = tuple[str, dict[str, str]]
"""Name of an event, and what fills its roles."""


@cache
def readers(part: str) -> list[tuple[str, re.Pattern[str]]]:
    """An expression for every wording, with its event."""
    known = []
    for name, event in EVENTS.items():
        for form in event[part]:
            fields = re.split(r"\{(\w+)\}", form.replace("{a_kind}", "an? {kind}"))
            for at in range(1, len(fields), 2):
                fields[at] = f"(?P<{fields[at]}>{FIELD.get(event['roles'][fields[at]], r'[a-zà-ÿ -]+?')})"
            known.append((name, re.compile("".join(fields))))
    return known


@cache
def openings() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, OPENINGS)))


def read(text: str, part: str = "wordings") -> list[Event]:
    """What a sentence may tell."""
    plain = openings().sub("", text.lower().rstrip("."), count=1) if part == "wordings" else text.lower()[:-1]
    return [(name, match.groupdict()) for name, form in readers(part) if (match := form.fullmatch(plain))]


def test_paraphrases_tell_the_same_facts_and_the_others_do_not(
    sample: Benchmark, sample_folder: Path
) -> None:
    for rows in rows_of(sample_folder, sample, "MRPC").values():
        for row in rows:
            first, second = map(read, row.inputs)
            assert first, row
            assert second, row
            assert any(event in second for event in first) == (row.label == "1"), row


def test_a_statement_follows_if_the_news_tell_it(sample: Benchmark, sample_folder: Path) -> None:
    seen: Counter[str] = Counter()
    for rows in rows_of(sample_folder, sample, "RTE").values():
        for row in rows:
            told = [event for text in re.split(r"(?<=[.]) ", row.inputs[0]) for event in read(text)]
            claims = read(row.inputs[1], "directed") + read(row.inputs[1], "facts")
            assert claims, row
            follows = any(
                name == other and claim.items() <= facts.items()
                for name, claim in claims
                for other, facts in told
            )
            assert follows == (row.label == "entailment"), row
            seen[claims[0][0]] += 1
    assert set(seen) == set(EVENTS)


@pytest.mark.parametrize("task", ["MRPC", "RTE"])
def test_names_and_things_of_test_are_new(sample: Benchmark, sample_folder: Path, task: str) -> None:
    splits = rows_of(sample_folder, sample, task)
    used = {
        split: {word for row in rows for text in row.inputs for word in words(text)}
        for split, rows in splits.items()
    }
    assert len(used["test"] - used["train"]) > 300


def test_premises_of_rte_have_two_sentences(sample: Benchmark, sample_folder: Path) -> None:
    lengths = sorted(len(words(row.inputs[0])) for row in rows_of(sample_folder, sample, "RTE")["test"])
    assert lengths[len(lengths) // 20] >= 24
    assert lengths[-len(lengths) // 20] <= 60
