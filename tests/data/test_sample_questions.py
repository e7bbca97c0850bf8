"""QQP and QNLI of the sample: what is asked and told is read back from the finished sentences."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

from data.sample_rows import rows_of

from gluebench.benchmark import Benchmark
from sample.answering import ARTICLES, FIELDS
from sample.questions import COMPARISONS, DOMAINS

Meaning = tuple[str, int, tuple[str, ...]]
"""Domain, what is asked, and of which topics."""


def pattern(form: str, topics: str) -> re.Pattern[str]:
    """A wording as an expression with a group for each topic, after "a" or "an"."""
    text = re.escape(form).replace(r"a\ \{x\}", r"an?\ \{x\}")
    return re.compile(re.sub(r"\\\{(\w)\\\}", lambda field: f"(?P<{field[1]}>{topics})", text))


@cache
def patterns() -> list[tuple[str, int, re.Pattern[str], bool]]:
    """Every wording of questions, with domain, intent and whether it turns its topics round."""
    known = []
    for domain, entry in DOMAINS.items():
        topics = "|".join(entry["topics"].split())
        for number, forms in enumerate(entry["intents"]):
            known += [(domain, number, pattern(form, topics), False) for form in forms]
        for number, comparison in enumerate(COMPARISONS, 100):
            if comparison["domain"] == domain:
                known += [(domain, number, pattern(form, topics), False) for form in comparison["same"]]
                known += [(domain, number, pattern(form, topics), True) for form in comparison["turned"]]
    return known


@cache
def asked(question: str) -> frozenset[Meaning]:
    """What a question may ask for."""
    found = set()
    for domain, number, form, turned in patterns():
        if match := form.fullmatch(question):
            topics = tuple(match.groupdict().values())
            found.add((domain, number, topics[::-1] if turned else topics))
    assert found, question
    return frozenset(found)


def test_duplicates_ask_for_the_same_and_the_others_do_not(sample: Benchmark, sample_folder: Path) -> None:
    seen: Counter[str] = Counter()
    for rows in rows_of(sample_folder, sample, "QQP").values():
        for row in rows:
            first, second = map(asked, row.inputs)
            assert bool(first & second) == (row.label == "1"), row
            seen[next(iter(first))[0]] += 1
    assert set(seen) == set(DOMAINS)
    assert min(seen.values()) > 300


def test_no_two_wordings_of_a_question_are_the_same() -> None:
    for entry in DOMAINS.values():
        forms = [form for forms in entry["intents"] for form in forms]
        assert len(set(forms)) == len(forms)


# ---------------------------------------------------------------- which sentence answers

NAME = r"[A-Z]\w+(?: [A-Z]\w+)?"
ANY = r"[\w' -]+?"


def field(name: str) -> str:
    """What may stand in a field."""
    if name in ("name", "the", "The", "last", "partner", "person"):
        return rf"(?:[Tt]he )?{NAME}(?: {NAME})?"
    return "|".join(map(re.escape, FIELDS[name])) if name in FIELDS else r"\w+"


def readers(forms: list[str]) -> list[tuple[str, re.Pattern[str]]]:
    """Each wording with an expression for it."""
    known = []
    for form in forms:
        text = form.replace("a {trade}", "{an}{trade}")
        parts = re.split(r"\{(\w+)\}", text)
        for at in range(1, len(parts), 2):
            parts[at] = "an? " if parts[at] == "an" else f"(?:{field(parts[at])})"
        for at in range(0, len(parts), 2):
            parts[at] = re.escape(parts[at])
        known.append((form, re.compile("".join(parts), re.IGNORECASE)))
    return known


@cache
def told(kind: str, sentence: str) -> frozenset[tuple[str, str]]:
    """The facts of an article that a sentence tells, each with a field."""
    found = set()
    for fact, form, expression in sentences(kind):
        if expression.fullmatch(sentence):
            found |= {(fact, name) for name in re.findall(r"\{(\w+)\}", form)}
            found.add((fact, ""))
    return frozenset(found)


@cache
def sentences(kind: str) -> list[tuple[str, str, re.Pattern[str]]]:
    """Every wording of the facts of an article."""
    return [(fact, *read) for fact, entry in ARTICLES[kind].items() for read in readers(entry["sentences"])]


@cache
def questions() -> list[tuple[str, str, str, re.Pattern[str]]]:
    known = []
    for kind, facts in ARTICLES.items():
        for fact, entry in facts.items():
            for name, forms in entry["questions"].items():
                known += [(kind, fact, name, expression) for _, expression in readers(forms)]
    return known


def test_a_sentence_answers_if_it_tells_what_is_asked_for(sample: Benchmark, sample_folder: Path) -> None:
    seen: Counter[str] = Counter()
    for rows in rows_of(sample_folder, sample, "QNLI").values():
        for row in rows[::12]:
            question, sentence = row.inputs
            readings = [
                (kind, fact, name)
                for kind, fact, name, expression in questions()
                if expression.fullmatch(question) and told(kind, sentence)
            ]
            assert readings, row
            answers = any((fact, name) in told(kind, sentence) for kind, fact, name in readings)
            assert answers == (row.label == "entailment"), row
            seen[readings[0][0]] += 1
    assert set(seen) == set(ARTICLES)
