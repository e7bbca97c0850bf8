"""The labels of MNLI in the sample, worked out again from the finished sentences alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import permutations, product
from pathlib import Path

from data.sample_rows import rows_of

from gluebench.benchmark import Benchmark
from sample.scenes import SCENES, TIMES
from sample.statements import HELD_OUT, ORDERS
from sample.world import CATEGORIES, NUMBERS, verb

NAME = r"(?:[Tt]he [\w'’-]+|[A-Z]\w+)"
THING = r"an? [\w'’-]+"


def verdict(models: Iterable[bool]) -> str:
    """The label, from what the hypothesis is in every state of affairs that the premise leaves open."""
    found = set(models)
    assert found, "a premise that cannot be true"
    return "neutral" if len(found) == 2 else "entailment" if True in found else "contradiction"


def sentences(text: str) -> list[str]:
    return text[:-1].split(". ")


PAIRS = [pair for parts in ORDERS.values() for part in parts for pair in part]


def orders(text: str, pair: tuple[str, str]) -> list[tuple[str, str]]:
    """What comes after what, the other way round in the words of the second of a pair."""
    way = rf"({'|'.join(pair)})"
    match = re.fullmatch(rf"({NAME}) {way} (?:both )?({NAME})(?: (?:and|but {way}) ({NAME}))?", text)
    if not match:
        return []
    one, verb, two, other, three = match.groups()
    facts = [(one, two, verb)] + ([(one, three, other or verb)] if three else [])
    return [(a.lower(), b.lower()) if each == pair[0] else (b.lower(), a.lower()) for a, b, each in facts]


def compared(premise: str, hypothesis: str) -> str | None:
    """Every order of what is named."""
    texts = [*sentences(premise), hypothesis[:-1]]
    readings = ([orders(text, pair) for text in texts] for pair in PAIRS)
    read = next((each for each in readings if all(each)), None)
    if read is None:
        return None
    *told, [(first, second)] = read
    facts = [fact for each in told for fact in each]
    names = sorted({name for fact in [*facts, (first, second)] for name in fact})
    ranks = [{name: place for place, name in enumerate(order)} for order in permutations(names)]
    return verdict(
        rank[first] < rank[second] for rank in ranks if all(rank[one] < rank[two] for one, two in facts)
    )


BOUND = re.compile(
    rf"({NAME}) \w+ (at least|no fewer than|more than|over|at most|no more than|a maximum of|fewer than|"
    rf"under|exactly|precisely)? ?({'|'.join(NUMBERS)})( or more)? [\w'’-]+"
)


def amounts(text: str) -> tuple[str, set[int]] | None:
    """Whose number it is, and which numbers it may be."""
    match = BOUND.fullmatch(text)
    if not match:
        return None
    who, bound, low, tail = match.groups()
    number = NUMBERS.index(low)
    few, many = {
        "at least": (number, 99),
        "no fewer than": (number, 99),
        " or more": (number, 99),
        "more than": (number + 1, 99),
        "over": (number + 1, 99),
        "at most": (0, number),
        "no more than": (0, number),
        "a maximum of": (0, number),
        "fewer than": (0, number - 1),
        "under": (0, number - 1),
        "exactly": (number, number),
        "precisely": (number, number),
    }[bound or tail]
    return who.lower(), set(range(few, many + 1))


def counted(premise: str, hypothesis: str) -> str | None:
    """Every number that the bound leaves open."""
    claim, fact = amounts(hypothesis[:-1]), amounts(premise[:-1])
    if claim is None or fact is None:
        return None
    assert claim[0] == fact[0]
    return verdict(number in claim[1] for number in fact[1])


GAVE = "gave|given|lent|sold|sent"
TOOK = "borrowed|bought|got|received"
PASSED = (
    (rf"({NAME}) (?:never )?(?:{GAVE}) ({NAME}) {THING}", False),
    (rf"({NAME}) (?:never )?(?:{GAVE}) {THING} to ({NAME})", False),
    (rf"({NAME}) (?:never )?(?:{TOOK}) {THING} from ({NAME})", True),
    (rf"({NAME}) was (?:never )?(?:{GAVE}) {THING} by ({NAME})", True),
    (rf"[Aa]n? [\w'’-]+ was (?:never )?(?:{GAVE}) to ({NAME}) by ({NAME})", True),
)


def passing(text: str) -> tuple[tuple[str, str], bool] | None:
    """Giver and taker, and whether it is said to be so."""
    for pattern, turned in PASSED:
        match = re.fullmatch(pattern, text)
        if match:
            one, two = (name.lower() for name in match.groups())
            return ((two, one) if turned else (one, two)), not re.search(r"\bnever\b", text)
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


# ---------------------------------------------------------------- everyday scenes

KIND = {kind.name: each.name for each in CATEGORIES.values() for kind in each.kinds}
KIND |= {each.name: each.name for each in CATEGORIES.values()}
QUALITIES = "|".join(sorted({quality for each in CATEGORIES.values() for quality in each.qualities}))
KINDS = "|".join(sorted(KIND, key=len, reverse=True))
PLACES = "|".join(sorted({place for scene in SCENES.values() for place in scene["places"]}))
WHEN = "|".join(TIMES)
DEED = re.compile(
    rf"(?:({WHEN}) )?(\w+) (did not )?(\w+) an? (?:({QUALITIES}) )?({KINDS})(?: ({PLACES}))?(?: ({WHEN}))?",
    re.IGNORECASE,
)
CLEFT = re.compile(rf"It was ({WHEN}|{PLACES}) that (\w+) (\w+) the ({KINDS})")


@cache
def detail_texts(act: str) -> dict[str, tuple[int, bool]]:
    """What may be said of the details of a scene, with "it" for the thing, to detail and whether it is so."""
    known = {}
    (scene,) = (each for each in SCENES.values() if verb(each["act"]).past == act)
    for number, text in enumerate(scene["details"]):
        for form in text.split(" | "):
            word, _, rest = form.removeprefix("!").partition(" ")
            rest = rest.format(it="it")
            so = not form.startswith("!")
            known[f"{verb(word).past} {rest}".strip()] = (number, so)
            known[f"did not {verb(word).base} {rest}".strip()] = (number, not so)
    return known


def details(act: str, text: str) -> dict[int, bool] | None:
    """The details of a scene that a list tells; None if it is no list of details."""
    known = detail_texts(act)
    found = {}
    while text:
        text = re.sub(r"^(?:, and |, | and )", "", text)
        told = [each for each in known if text == each or text.startswith((f"{each},", f"{each} and "))]
        if not told:
            return None
        longest = max(told, key=len)
        number, so = known[longest]
        found[number] = so
        text = text[len(longest) :]
    return found


def scene(premise: str, hypothesis: str) -> str | None:
    """What is told of a deed and its details, compared with the claim."""
    texts = sentences(premise)
    deed = DEED.fullmatch(texts[0])
    if len(texts) != 2 or deed is None or not texts[1].startswith(("He ", "She ")):
        return None
    early, who, _, act, quality, kind, place, late = deed.groups()
    told = details(act, texts[1].partition(" ")[2])
    assert told, premise
    time = (early or late or "").lower()
    claim = hypothesis[:-1]
    if match := CLEFT.fullmatch(claim):
        where, other, acted, thing = match.groups()
        assert (other, acted, thing) == (who, act, kind)
        known = time if where in TIMES else place
        return "neutral" if not known else "entailment" if where.lower() == known else "contradiction"
    said = details(act, re.sub(rf"\bthe {kind}\b", "it", claim.removeprefix(f"{who} ")))
    if said is not None:
        if any(told.get(key, so) != so for key, so in said.items()):
            return "contradiction"
        return "entailment" if said.keys() <= told.keys() else "neutral"
    match = DEED.fullmatch(claim)
    assert match, claim
    early, other, denied, _, quality_2, kind_2, place_2, late = match.groups()
    assert other == who
    time_2 = (early or late or "").lower()
    for one, two in ((quality, quality_2), (place, place_2), (time, time_2)):
        assert not one or not two or one == two, (premise, hypothesis)
    more = (quality_2 and not quality) or (place_2 and not place) or (time_2 and not time)
    if more or kind_2 not in (kind, KIND[kind]):
        return "neutral"
    return "contradiction" if denied else "entailment"


READERS = (compared, counted, passed, scene)


def test_inference_labels_follow_from_what_the_sentences_say(sample: Benchmark, sample_folder: Path) -> None:
    """Of scenes and three families of statements; test_sample_generator.py has the others."""
    seen: Counter[str] = Counter()
    for rows in rows_of(sample_folder, sample, "MNLI").values():
        for row in rows[::2]:
            for reader in READERS:
                label = reader(*row.inputs)
                if label is not None:
                    assert label == row.label, row
                    seen[reader.__name__] += 1
                    break
    assert len(seen) == len(READERS)
    assert min(seen.values()) > 150
    assert seen["scene"] > 1500


def test_the_mismatched_sections_speak_of_other_things(sample: Benchmark, sample_folder: Path) -> None:
    splits = rows_of(sample_folder, sample, "MNLI")
    kinds = {kind.name for name in HELD_OUT for kind in CATEGORIES[name].kinds}
    words = {
        split: {word for row in rows for text in row.inputs for word in re.findall(r"[\w-]+", text)}
        for split, rows in splits.items()
    }
    assert len(words["test_mismatched"] & kinds) > 50
    assert len(words["train"] & kinds) < 10  # "watch" is a verb, too
