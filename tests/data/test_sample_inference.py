"""The labels of the sample's inference tasks, worked out again from the finished sentences alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import permutations, product
from pathlib import Path

import pytest
from data.sample_rows import Labeled, rows_of

from gluebench.benchmark import Benchmark
from gluebench.data.tokens import words
from sample.relations import _EVENT_ORDERS, _ORDERS, _THING_ORDERS
from sample.world import CATEGORIES, DAYS, MONTHS, NUMBERS

NAME = r"(?:(?:[Tt]he|[Mm]y|[Yy]our|[Hh]er|[Hh]is|[Oo]ur|[Tt]heir) [\w'’-]+|[A-Z]\w+(?: [A-Z]\w+)?)"
THING = r"an? [\w'’-]+"


def verdict(models: Iterable[bool]) -> str:
    """The label, from what the hypothesis is in every state of affairs that the premise leaves open."""
    found = set(models)
    assert found, "a premise that cannot be true"
    return "neutral" if len(found) == 2 else "entailment" if True in found else "contradiction"


def sentences(text: str) -> list[str]:
    return text[:-1].split(". ")


PAIRS = [pair for table in (_ORDERS, _EVENT_ORDERS, _THING_ORDERS) for part in table for pair in part]


def compared(premise: str, hypothesis: str) -> str | None:
    """Every order of what is named."""
    texts = [*sentences(premise), hypothesis]
    found = (each for each in PAIRS if all(any(f" {way} " in text for way in each) for text in texts))
    pair = next(found, None)
    if pair is None:
        return None
    way = rf"({'|'.join(pair)})"

    def orders(text: str) -> list[tuple[str, str]]:
        text = re.sub("^[Ii]t is (?:true|certain) that ", "", text)
        match = re.fullmatch(rf"({NAME}) {way} (?:both )?({NAME})(?: (?:and|but {way}) ({NAME}))?", text)
        if not match:
            return []
        one, verb, two, other, three = match.groups()
        facts = [(one, two, verb)] + ([(one, three, other or verb)] if three else [])
        return [(a.lower(), b.lower()) if each == pair[0] else (b.lower(), a.lower()) for a, b, each in facts]

    read = [orders(text.rstrip(".")) for text in texts]
    if not all(read):
        return None
    *_, [(first, second)] = read
    facts = [fact for each in read[:-1] for fact in each]
    names = sorted({name for fact in [*facts, (first, second)] for name in fact})
    ranks = [{name: place for place, name in enumerate(order)} for order in permutations(names)]
    return verdict(
        rank[first] < rank[second] for rank in ranks if all(rank[one] < rank[two] for one, two in facts)
    )


BOUND = re.compile(
    rf"({NAME}) \w+ (at least|no fewer than|a minimum of|more than|over|at most|no more than|a maximum of|"
    r"fewer than|under|exactly|precisely|between|from|as many as)? ?"
    rf"({'|'.join(NUMBERS)})(?: (?:and|to) ({'|'.join(NUMBERS)}))?( or more| or fewer)? [\w'’-]+"
)


def amounts(text: str) -> tuple[str, set[int]] | None:
    """Whose number it is, and which numbers it may be."""
    match = BOUND.fullmatch(text)
    if not match:
        return None
    who, bound, low, high, tail = match.groups()
    number = NUMBERS.index(low)
    few, many = {
        "at least": (number, 99),
        "no fewer than": (number, 99),
        "a minimum of": (number, 99),
        " or more": (number, 99),
        "more than": (number + 1, 99),
        "over": (number + 1, 99),
        "at most": (0, number),
        "no more than": (0, number),
        "a maximum of": (0, number),
        " or fewer": (0, number),
        "fewer than": (0, number - 1),
        "under": (0, number - 1),
        "exactly": (number, number),
        "precisely": (number, number),
    }.get(bound or tail or "", (number, NUMBERS.index(high) if high else -1))
    return who.lower(), set(range(few, many + 1))


def counted(premise: str, hypothesis: str) -> str | None:
    """Every number that the bounds on it leave open."""
    claim = amounts(hypothesis[:-1])
    if claim is None:
        return None
    possible = set(range(100))
    for text in sentences(premise):
        fact = amounts(text)
        assert fact, text
        if fact[0] == claim[0]:
            possible &= fact[1]
    return verdict(number in claim[1] for number in possible)


GAVE = "gave|given|give|lent|lend|sold|sell|sent|send|handed|hand|rented|rent"
TOOK = "borrowed|borrow|bought|buy|got|get|received|receive|hired|hire"
PASSED = (
    (rf"({NAME}) (?:did not |never )?(?:{GAVE}) ({NAME}) {THING}", False),
    (rf"({NAME}) (?:did not |never )?(?:{GAVE}) {THING} to ({NAME})", False),
    (rf"({NAME}) (?:did not |never )?(?:{TOOK}) {THING} from ({NAME})", True),
    (rf"({NAME}) was (?:not |never )?(?:{GAVE}) {THING} by ({NAME})", True),
    (rf"[Aa]n? [\w'’-]+ was (?:never )?(?:{GAVE}) to ({NAME}) by ({NAME})", True),
    (rf"[Ww]hat ({NAME}) (?:{GAVE}) ({NAME}) was {THING}", False),
)


def passing(text: str) -> tuple[tuple[str, str], bool] | None:
    """Giver and taker, and whether it is said to be so."""
    for pattern, turned in PASSED:
        match = re.fullmatch(pattern, text)
        if match:
            one, two = (name.lower() for name in match.groups())
            return ((two, one) if turned else (one, two)), not re.search(r"\b(not|never)\b", text)
    return None


def passed(premise: str, hypothesis: str) -> str | None:
    """Everything that may have gone from one to the other."""
    claim = passing(hypothesis[:-1])
    if claim is None:
        return None
    facts = [passing(text) for text in sentences(premise)]
    if None in facts:
        return None
    pairs = sorted({fact[0] for fact in [*facts, claim] if fact})
    worlds = [dict(zip(pairs, truth, strict=True)) for truth in product((False, True), repeat=len(pairs))]
    return verdict(
        world[claim[0]] == claim[1] for world in worlds if all(world[f[0]] == f[1] for f in facts if f)
    )


def test_inference_labels_follow_from_all_models_of_the_premise(
    sample: Benchmark, sample_folder: Path
) -> None:
    """Of three families of meanings; those of the others are tried in test_sample_generator.py."""
    seen: Counter[str] = Counter()
    for rows in rows_of(sample_folder, sample, "MNLI").values():
        for row in rows:
            for reader in (compared, counted, passed):
                label = reader(*row.inputs)
                if label is not None:
                    assert label == row.label, row
                    seen[reader.__name__] += 1
                    break
    assert len(seen) == 3
    assert min(seen.values()) > 600


def test_inference_blocks_have_the_same_hypothesis_under_every_label(
    sample: Benchmark, sample_folder: Path
) -> None:
    for split, rows in rows_of(sample_folder, sample, "MNLI").items():
        blocks: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            blocks[row.inputs[1]][row.label] += 1
        assert all(len(set(count.values())) == 1 and len(count) == 3 for count in blocks.values()), split


@pytest.mark.parametrize(("task", "column"), [("RTE", 1), ("QNLI", 0), ("QNLI", 1), ("QQP", 0), ("QQP", 1)])
def test_each_text_of_test_stands_under_both_labels(
    sample: Benchmark, sample_folder: Path, task: str, column: int
) -> None:
    held: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows_of(sample_folder, sample, task)["test"]:
        held[row.inputs[column]][row.label] += 1
    assert all(len(count) == 2 and len(set(count.values())) == 1 for count in held.values())


def test_premises_of_test_are_longer_than_those_of_training_and_premises_of_rte_long(
    sample: Benchmark, sample_folder: Path
) -> None:
    splits = rows_of(sample_folder, sample, "MNLI")
    counts = {name: [len(sentences(row.inputs[0])) for row in rows] for name, rows in splits.items()}
    assert set(counts["train"]) == {1, 3}
    assert set(counts["test_matched"]) == {3, 4}
    lengths = sorted(len(words(row.inputs[0])) for row in rows_of(sample_folder, sample, "RTE")["test"])
    assert lengths[len(lengths) // 20] >= 30
    assert lengths[-len(lengths) // 20] <= 75


# ---------------------------------------------------------------- which sentence answers

ANSWERS = (
    (r"[Ww]hose help|[Ww]ho |[Bb]y whom", r"with help from an? "),
    (r"[Ww]hen|[Ww]hich day|[Hh]ow long", rf"on a (?:{'|'.join(DAYS)}) in (?:{'|'.join(MONTHS)})"),
    (r"[Ww]here", r"\S+ \S+ \S+ near [A-Z]"),
    (r"[Ww]hy|[Ff]or what reason", r"(?:because|to|for|out of|in order)\b"),
    (r"[Hh]ow|[Ii]n what", r"more \S+ than ever before"),
)


def test_a_sentence_answers_if_it_has_of_the_same_event_what_is_asked_for(
    sample: Benchmark, sample_folder: Path
) -> None:
    for rows in rows_of(sample_folder, sample, "QNLI").values():
        for row in rows:
            question, sentence = row.inputs
            slot = next(slot for cue, slot in ANSWERS if re.match(cue, question))
            events = re.findall(r"([A-Z]\w+ [A-Z]\w+), an? [^,]*, ([^,.;]*)", sentence)
            (told,) = [rest for person, rest in events if person in question]
            named = re.findall(r"\bthe [\w'’-]+ [\w'’-]+", question)
            rest = next(told.partition(thing)[2] for thing in named if thing in told)
            rest = re.sub(r" (?:whereas|but|and|while)\b.*", "", rest)
            assert bool(re.match(rf" {slot}", rest)) == (row.label == "entailment"), row


# ---------------------------------------------------------------- what follows from two sentences

KINDS = {kind.name: category.name for category in CATEGORIES.values() for kind in category.kinds}
NAMES = r"(?!In |It )[A-Z]\w+ [A-Z]\w+"


def group(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, (pattern, text)
    return next(each for each in found.groups() if each)


def told_of(premise: str, named: str) -> str:
    """The first sentence behind the opening that names this."""
    return next(text for text in sentences(premise)[1:] if re.search(rf"\b{re.escape(named)}\b", text))


def carried(premise: str, hypothesis: str) -> bool:
    box = group(r"left the (\w+ \w+)", premise)
    goods = group(
        r"left the (\S+) |[Tt]he (\S+) were left|left the (\S+)\.|take the (\S+) home", hypothesis
    ).rstrip(".")
    return f"{box}" in told_of(premise, goods)


def owned(premise: str, hypothesis: str) -> bool:
    seller = group(
        rf"({NAMES}) sold {NAMES} the whole|whole inheritance of ({NAMES}) in|all that ({NAMES}) had", premise
    )
    assert seller in hypothesis
    return not re.search(r"\bno\b", told_of(premise, seller), re.I)


def worked(premise: str, hypothesis: str) -> bool:
    trade = group(r"every (\S+) (?:in the town )?was|[Ee]ach (\S+) in the town", premise)
    person = group(rf"({NAMES})", re.sub(rf"\b[Ii]n ({'|'.join(MONTHS)})\b", "", hypothesis))
    return bool(re.search(rf"\b{trade}\b", told_of(premise, person)))


def stored(premise: str, hypothesis: str) -> bool:
    owner = group(
        rf"what ({NAMES}) owns has been|everything of ({NAMES}) is (?!kept)|property of ({NAMES}) has",
        premise.replace("What", "what"),
    )
    (category,) = {KINDS[word] for word in re.findall(r"[\w'’-]+", told_of(premise, owner)) if word in KINDS}
    assert owner in hypothesis
    return bool(re.search(rf"\b{category}\b", hypothesis, re.I))


def traveled(premise: str, hypothesis: str) -> bool:
    month = group(
        r"[Ii]n (\w+) [A-Z]\w+ [A-Z]\w+ lent an? |was in town in (\w+), and|but in (\w+) an? ", premise
    )
    lent = group(rf"({NAMES}) lent |from ({NAMES})|by ({NAMES})", hypothesis)
    (guest,) = [name for name in re.findall(NAMES, hypothesis) if name != lent]
    return month in told_of(premise, guest)


def taught(premise: str, _: str) -> bool:
    teacher = group(
        rf"({NAMES}) taught {NAMES} everything|by ({NAMES}) everything|from ({NAMES}) all", premise
    )
    return not re.search(r"could not|not able|never|no idea", told_of(premise, teacher))


READERS = (
    (r"took the|went home with", carried),
    (r"inherit(?:ed|ance)", owned),
    (r"was given anything|but not one", worked),
    (r"kept elsewhere|never was", stored),
    (r"in town", traveled),
    (r"taught|learnt nothing", taught),
)


def test_a_conclusion_follows_if_the_two_facts_say_so(sample: Benchmark, sample_folder: Path) -> None:
    seen: Counter[str] = Counter()
    rows: list[Labeled] = [row for part in rows_of(sample_folder, sample, "RTE").values() for row in part]
    for row in rows:
        reader = next(each for cue, each in READERS if re.search(cue, row.inputs[0]))
        assert reader(*row.inputs) == (row.label == "entailment"), row
        seen[reader.__name__] += 1
    assert len(seen) == len(READERS)
    assert min(seen.values()) > 40
