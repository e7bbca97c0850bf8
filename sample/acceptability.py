"""CoLA's shape: blocks in which every word stands as often in acceptable sentences as in others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from sample.frame import Row, Shelf, Splits, shares
from sample.grammar import WORDS, Writer
from sample.world import MEN, PEOPLE, WOMEN, a, sentence, verb

GOOD, BAD = "1", "0"


class Crossed(NamedTuple):
    """Two acceptable sentences and two others, of the same words."""

    good: Sequence[str]
    bad: Sequence[str]


Family = Callable[[Writer], Crossed]
"""Writes a block of one construction."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Write train and dev with at most one modifier, test with one to three and new words; 70 % acceptable."""
    shelf = Shelf(rng)
    depths = {"train": (0, 0, 1), "dev": (0, 0, 1), "test": (1, 1, 2, 3)}
    return {
        split: shelf.thin(
            partial(_block, Writer(rng, split == "test", depths[split])), shares(size, GOOD, 0.7, other=BAD)
        )
        for split, size in sizes.items()
    }


def _block(writer: Writer) -> list[Row]:
    family = writer.rng.choice(FAMILIES)
    good, bad = family(writer)
    opening = "" if "?" in good[0] + good[1] else writer.some(WORDS["openings"])
    return [
        Row((sentence(opening + text),), label)
        for texts, label in ((good, GOOD), (bad, BAD))
        for text in texts
    ]


def _cross(frame: str, one: tuple[str, str], two: tuple[str, str]) -> Crossed:
    """Fill a frame {0} {1} with two pairs that belong together, and with the pairs torn apart."""
    return Crossed(
        [frame.format(*one), frame.format(*two)],
        [frame.format(one[0], two[1]), frame.format(two[0], one[1])],
    )


def agreement(writer: Writer) -> Crossed:
    """Agree a copula with its subject over distracting nouns."""
    subject, state = writer.subject(), writer.word("gradable")
    one, many = writer.rng.choice((("is", "are"), ("was", "were"), ("looks", "look"), ("seems", "seem")))
    manner = writer.rng.choice(("", "very ", "rather ", "quite "))
    return _cross(f"{{0}} {{1}} {manner}{state}", (subject.one, one), (subject.many, many))


def lexical_agreement(writer: Writer) -> Crossed:
    """Agree a full verb with its subject."""
    subject, act = writer.subject(), writer.habit()
    often = writer.word("frequency")
    return _cross(
        f"{{0}} {often} {{1}} {act.rest}", (subject.one, act.verb.third), (subject.many, act.verb.base)
    )


def perfect_agreement(writer: Writer) -> Crossed:
    """Agree an auxiliary with its subject."""
    subject, verb = writer.subject(), writer.intransitive()
    return _cross(
        f"{{0}} {{1}} {writer.word('manner')} {verb.participle}", (subject.one, "has"), (subject.many, "have")
    )


def reflexive(writer: Writer) -> Crossed:
    """Refer back to the subject, not to a noun between."""
    first, second = writer.people()
    verb, between = writer.word("reflexive"), writer.modifier()
    if writer.rng.random() < 0.4:
        other = writer.word(writer.rng.choice(("masculine", "feminine"))).partition("/")[0]
        between = f" who {writer.word('relations')} the {other}{between}"
    return _cross(
        f"the {{0}}{between} {verb} {{1}}", (first.name, first.reflexive), (second.name, second.reflexive)
    )


def possessor(writer: Writer) -> Crossed:
    """Refer back to the head of the subject, not to its possessor."""
    he, she = writer.word("masculine").partition("/")[0], writer.word("feminine").partition("/")[0]
    man, woman = writer.some(MEN), writer.some(WOMEN)
    end = f"{writer.word('reflexive')} {{1}} {writer.word('past')}"
    return _cross(f"{{0}} {end}", (f"{woman}'s {he}", "himself"), (f"{man}'s {she}", "herself"))


def objects(writer: Writer) -> Crossed:
    """Give an object to verbs that need one, and to no others."""
    subject, (needs, thing), lacks = (
        f"{writer.person()} {writer.word('manner')}",
        writer.deed(),
        writer.intransitive(),
    )
    return Crossed(
        [f"{subject} {needs.past} {thing}", f"{subject} {lacks.past}"],
        [f"{subject} {needs.past}", f"{subject} {lacks.past} {thing}"],
    )


def passive(writer: Writer) -> Crossed:
    """Form the passive of verbs that have an object, and of no others."""
    (needs, thing), lacks, when = writer.deed(), writer.intransitive(), writer.word("past")
    person, by = writer.person(), f"by {writer.other()}"
    return Crossed(
        [f"{thing} was {needs.participle} {by} {when}", f"{person} {lacks.past} {when}"],
        [f"{thing} was {lacks.participle} {by} {when}", f"{person} {needs.past} {when}"],
    )


def gap(writer: Writer) -> Crossed:
    """Ask for an object by leaving it out."""
    subject, (verb, thing) = writer.person(), writer.deed()
    return Crossed(
        [f"what did {subject} {verb.base}?", f"did {subject} {verb.base} {thing}?"],
        [f"what did {subject} {verb.base} {thing}?", f"did {subject} {verb.base}?"],
    )


def adjunct_island(writer: Writer) -> Crossed:
    """Ask out of a complement clause, but not out of an adverbial one."""
    subject, other, (verb, thing) = writer.person(), writer.other(), writer.deed()
    say, why = f"{writer.clausal().base} that", f"{writer.intransitive().base} {writer.word('conjunctions')}"
    which, rest = f"which {thing[4:]} did {subject}", f"{other} had {verb.participle}"
    return Crossed(
        [f"{which} {say} {rest}?", f"did {subject} {why} {rest} {thing}?"],
        [f"{which} {why} {rest}?", f"did {subject} {say} {rest}?"],
    )


def relative_island(writer: Writer) -> Crossed:
    """Ask out of a complement clause, but not out of a relative clause."""
    subject, (verb, thing), noun = writer.person(), writer.deed(), writer.noun()
    say = f"{writer.clausal().base} that the {noun.name} had {verb.participle}"
    know = f"{writer.rng.choice(('know', 'meet', 'remember', 'thank'))} the {noun.name} who had {verb.participle}"
    which = f"which {thing[4:]} did {subject}"
    return Crossed(
        [f"{which} {say}?", f"did {subject} {know} {thing}?"], [f"{which} {know}?", f"did {subject} {say}?"]
    )


def coordinate_island(writer: Writer) -> Crossed:
    """Ask out of both parts of a coordination or out of none."""
    subject, (first, one), (second, two) = writer.person(), writer.deed(), writer.deed()
    which = f"which {one[4:]} did {subject}"
    return Crossed(
        [
            f"{which} {first.base} and {second.base}?",
            f"did {subject} {first.base} {one} and {second.base} {two}?",
        ],
        [
            f"{which} {first.base} and {second.base} {two}?",
            f"did {subject} {first.base} {one} and {second.base}?",
        ],
    )


def polarity(writer: Writer) -> Crossed:
    """Let "ever" stand where a negation commands it, and not where one is inside a relative clause."""
    noun, others = writer.noun(), writer.noun().plural
    met, end = writer.word("relations"), writer.intransitive().participle
    near = writer.located(writer.rng.choice(writer.depths))
    return Crossed(
        [
            f"no {noun.name} who {met} the {others}{near} has ever {end}",
            f"no {noun.name} who has ever {end} {met} the {others}{near}",
        ],
        [
            f"the {noun.name} who {met} no {others}{near} has ever {end}",
            f"the {noun.name} who has ever {end} {met} no {others}{near}",
        ],
    )


def order(writer: Writer) -> Crossed:
    """Keep verb and object together, and adjectives before nouns."""
    subject, adverb, (verb, thing) = writer.person(), writer.word("manner"), writer.deed()
    state, noun = writer.quality(thing), thing.removeprefix("the ")
    return Crossed(
        [
            f"{subject} {adverb} {verb.past} the {state} {noun}",
            f"{subject} {verb.past} the {state} {noun} {adverb}",
        ],
        [
            f"{subject} {verb.past} {adverb} the {state} {noun}",
            f"{subject} {adverb} {verb.past} the {noun} {state}",
        ],
    )


def inversion(writer: Writer) -> Crossed:
    """Invert subject and auxiliary in a question, but not in an embedded one."""
    subject, other, (verb, _) = writer.person(), writer.other(), writer.deed()
    aux, form = writer.rng.choice(
        (("had", verb.participle), ("will", verb.base), ("should", verb.base), ("could", verb.base))
    )
    asked = writer.rng.choice(("knew", "wondered", "remembered", "asked", "forgot", "revealed"))
    return Crossed(
        [f"what {aux} {subject} {form}?", f"{other} {asked} what {subject} {aux} {form}"],
        [f"what {subject} {aux} {form}?", f"{other} {asked} what {aux} {subject} {form}"],
    )


def fronted_negation(writer: Writer) -> Crossed:
    """Invert after a fronted negation."""
    subject, verb = writer.person(), writer.intransitive().participle
    never = writer.rng.choice(("never", "seldom", "rarely"))
    return Crossed(
        [f"{never} before had {subject} {verb}", f"{subject} had {never} {verb} before"],
        [f"{never} before {subject} had {verb}", f"had {subject} {never} {verb} before"],
    )


def raising(writer: Writer) -> Crossed:
    """Let "there" be the subject of raising adjectives alone."""
    thing, place, (subject, other) = (
        writer.thing().name,
        writer.word("places"),
        (writer.subject().one, writer.other()),
    )
    end, verb = f"to be {a(thing)} near the {place}", writer.intransitive().base
    easy, keen = writer.word("raising"), writer.word("control")
    return Crossed(
        [f"there is {easy} {end}", f"{subject} is {keen} for {other} to {verb}"],
        [f"there is {keen} {end}", f"{subject} is {easy} for {other} to {verb}"],
    )


def tough(writer: Writer) -> Crossed:
    """Tell "easy to please" from "eager to please"."""
    easy, keen = writer.word("tough"), writer.word("control")
    verb = writer.rng.choice(("please", "help", "impress", "amuse", "convince", "satisfy"))
    subject, other = writer.subject().one, writer.other()
    return Crossed(
        [f"to {verb} {other} is {easy}", f"{subject} is {keen} to {verb} {other}"],
        [f"to {verb} {other} is {keen}", f"{subject} is {easy} to {verb} {other}"],
    )


def expletive_object(writer: Writer) -> Crossed:
    """Let "there" follow verbs of belief, and a person and a clause verbs of telling."""
    subject, other, thing = writer.person(), writer.other(), a(writer.thing().name)
    place, one, two = writer.word("places"), writer.word("believe"), writer.word("convince")
    return Crossed(
        [
            f"{subject} {one} there to be {thing} in the {place}",
            f"{subject} {two} {other} that {thing} was in the {place}",
        ],
        [
            f"{subject} {two} there to be {thing} in the {place}",
            f"{subject} {one} {other} that {thing} was in the {place}",
        ],
    )


def determiner(writer: Writer) -> Crossed:
    """Agree a determiner with its noun across adjectives."""
    noun, state, verb = writer.noun(), writer.word("gradable"), writer.intransitive().past
    ones = writer.rng.choice(("this", "that", "each", "every", "another"))
    more = writer.rng.choice(("these", "those", "several", "many", "both"))
    return _cross(f"{{0}} {state} {{1}}{writer.modifier()} {verb}", (ones, noun.name), (more, noun.plural))


def amount(writer: Writer) -> Crossed:
    """Count what can be counted, and measure the rest."""
    things, mass = writer.thing().plural, writer.word("mass")
    start = f"{writer.person()} had seen too"
    return _cross(f"{start} {{0}} {writer.word('neutral')} {{1}}", ("many", things), ("much", mass))


def auxiliary(writer: Writer) -> Crossed:
    """Follow an auxiliary by the form that it asks for."""
    act, adverb = writer.habit(), writer.rng.choice(("never", "always", "often"))
    forms = [
        ("has", act.verb.participle),
        ("will", act.verb.base),
        ("is", act.verb.ing),
        ("can", act.verb.base),
    ]
    one, two = writer.rng.sample(forms, 2)
    if one[1] == two[1]:
        one = ("has", act.verb.participle)
    if one[1] == two[1]:
        two = ("is", act.verb.ing)
    return _cross(f"{writer.subject().one} {{0}} {adverb} {{1}} {act.rest}", one, two)


def comparison(writer: Writer) -> Crossed:
    """Compare with "than" after a comparative, with "as" after "as"."""
    plain, more = writer.word("short").split("/")
    aside = writer.word("hearsay")
    start = f"{writer.subject().one} is"
    return _cross(f"{start} {{0}}{aside} {{1}} {writer.other()}", (more, "than"), (f"as {plain}", "as"))


def existential(writer: Writer) -> Crossed:
    """Let "there is" introduce something new."""
    thing, place = (
        writer.thing().name,
        f"in front of the {writer.word('places')}{writer.located(writer.rng.choice(writer.depths))}",
    )
    return Crossed(
        [f"there is {a(thing)} {place}", f"almost every {thing} is {place}"],
        [f"there is almost every {thing} {place}", f"almost {a(thing)} is {place}"],
    )


def ellipsis(writer: Writer) -> Crossed:
    """Take up the auxiliary of the first clause in the second."""
    act, other = writer.habit(), f"the {writer.noun().name}"
    one, two = writer.rng.sample(
        [
            ("can", act.verb.base),
            ("had", act.verb.participle),
            ("is", act.verb.ing),
            ("would", act.verb.base),
        ],
        2,
    )
    subject = writer.subject().one
    return _cross(
        f"{subject} {{0}} {act.rest}, and so {{1}} {other}",
        (f"{one[0]} {one[1]}", one[0]),
        (f"{two[0]} {two[1]}", two[0]),
    )


def correlative(writer: Writer) -> Crossed:
    """Join the two parts of a paired conjunction."""
    one, two = writer.rng.sample([("both", "and"), ("either", "or"), ("neither", "nor")], 2)
    start, (verb, first), second = writer.person(), writer.deed(), writer.thing().name
    return _cross(f"{start} {verb.past} {{0}} {first} {{1}} the {second}", one, two)


def tense(writer: Writer) -> Crossed:
    """Agree the tense with the time."""
    subject, (verb, thing) = writer.person(), writer.deed()
    place = f"near the {writer.word('places')}"
    return _cross(
        f"{subject} {{0}} {thing} {place} {{1}}",
        (verb.past, writer.word("past")),
        (f"will {verb.base}", writer.word("future")),
    )


def case(writer: Writer) -> Crossed:
    """Put pronouns into the case of their place."""
    nominative, accusative = writer.rng.choice(
        (("he", "him"), ("she", "her"), ("they", "them"), ("we", "us"))
    )
    verb, (deed, thing), other = writer.word("relations"), writer.deed(), writer.person()
    return Crossed(
        [
            f"{nominative} {deed.past} {thing}, and {other} {verb} {accusative}",
            f"{other} {verb} {accusative}, and {nominative} {deed.past} {thing}",
        ],
        [
            f"{accusative} {deed.past} {thing}, and {other} {verb} {nominative}",
            f"{other} {verb} {nominative}, and {accusative} {deed.past} {thing}",
        ],
    )


def preposition(writer: Writer) -> Crossed:
    """Follow an adjective by its preposition."""
    aside = writer.word("hearsay")
    return _cross(
        f"{writer.subject().one} is {{0}}{aside} {{1}} {writer.other()}",
        (writer.word("of"), "of"),
        (writer.word("to"), "to"),
    )


def relative_pronoun(writer: Writer) -> Crossed:
    """Take up people with "who" and things with "which"."""
    state = writer.rng.choice(("was seen", "was found", "was mentioned", "was noticed"))
    place = f"near the {writer.word('places')}{writer.located(writer.rng.choice(writer.depths))}"
    thing = writer.thing().name
    person, thing = (
        f"the {writer.word('gradable')} {writer.noun().name}",
        f"the {writer.quality(thing)} {thing}",
    )
    return _cross(f"{{0}} {{1}} {state} {place} has been photographed", (person, "who"), (thing, "which"))


def complement(writer: Writer) -> Crossed:
    """Follow a verb by a gerund or by an infinitive, as it asks for."""
    act, subject = writer.habit(), writer.person()
    one, two = verb(writer.word("gerund")).past, verb(writer.word("infinitive")).past
    return _cross(f"{subject} {{0}} {{1}} {act.rest}", (one, act.verb.ing), (two, f"to {act.verb.base}"))


def dative(writer: Writer) -> Crossed:
    """Let some verbs have two objects, and others one."""
    subject, other, thing = writer.person(), writer.other(), f"the {writer.thing().name}"
    give, explain = writer.word("double"), writer.word("single")
    return Crossed(
        [f"{subject} {give} {other} {thing}", f"{subject} {explain} {thing} to {other}"],
        [f"{subject} {explain} {other} {thing}", f"{subject} {give} to {thing} {other}"],
    )


def locative(writer: Writer) -> Crossed:
    """Fill a glass with water, but pour water into a glass."""
    subject, liquid, vessel = writer.person(), writer.word("liquids"), f"the {writer.word('vessels')}"
    filled, poured = writer.word("filled"), writer.word("poured")
    return Crossed(
        [f"{subject} {filled} {vessel} with {liquid}", f"{subject} {poured} {liquid} into {vessel}"],
        [f"{subject} {poured} {vessel} with {liquid}", f"{subject} {filled} {liquid} into {vessel}"],
    )


def particle(writer: Writer) -> Crossed:
    """Put a pronoun before the particle of a verb."""
    subject, thing, when = writer.person(), writer.thing().name, writer.word("past")
    verb, away = writer.word("particle").split()
    return Crossed(
        [f"{subject} {verb} {away} the {thing} {when}", f"{subject} {verb} it {away} {when}"],
        [f"{subject} {verb} {away} it {when}", f"{subject} {verb} the {away} {thing} {when}"],
    )


def degree(writer: Writer) -> Crossed:
    """Tell "too tired to" from "so tired that"."""
    subject, state, act = writer.subject().one, writer.word("gradable"), writer.habit()
    return _cross(
        f"{subject} was {{0}} {state} {{1}} {act.rest}",
        ("too", f"to {act.verb.base}"),
        ("so", f"that nobody {act.verb.past}"),
    )


def such(writer: Writer) -> Crossed:
    """Tell "such a tall" from "so tall a"."""
    name, noun, state = writer.some(PEOPLE), writer.noun().name, writer.word("gradable")
    start = writer.rng.choice(("nobody had ever met", "we had never seen", "it is rare to find"))
    return Crossed(
        [f"{start} such {a(state)} {noun} as {name}", f"{start} so {state} {a(noun)} as {name}"],
        [f"{start} so {a(state)} {noun} as {name}", f"{start} such {state} {a(noun)} as {name}"],
    )


FAMILIES: Sequence[Family] = (
    *(
        agreement,
        agreement,
        lexical_agreement,
        lexical_agreement,
        perfect_agreement,
        reflexive,
        reflexive,
        possessor,
    ),
    *(
        objects,
        passive,
        gap,
        adjunct_island,
        relative_island,
        coordinate_island,
        polarity,
        polarity,
        order,
        inversion,
    ),
    *(
        fronted_negation,
        raising,
        tough,
        expletive_object,
        determiner,
        amount,
        auxiliary,
        comparison,
        existential,
    ),
    *(
        ellipsis,
        correlative,
        tense,
        case,
        preposition,
        relative_pronoun,
        complement,
        dative,
        locative,
        particle,
    ),
    *(degree, such),
)
