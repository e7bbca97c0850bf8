"""Constructions about what a verb or an adjective takes, and where: objects, clauses, questions."""

from __future__ import annotations

from sample.grammar import Crossed, Writer, cross
from sample.world import a, verb


def objects(writer: Writer) -> Crossed:
    """Give an object to verbs that need one, and to no others."""
    subject, (needs, thing), lacks = (
        f"{writer.person()} {writer.word('frequency')}",
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
    met = writer.rng.choice(("know", "meet", "remember", "thank"))
    know = f"{met} the {noun.name} who had {verb.participle}"
    which = f"which {thing[4:]} did {subject}"
    return Crossed(
        [f"{which} {say}?", f"did {subject} {know} {thing}?"], [f"{which} {know}?", f"did {subject} {say}?"]
    )


def coordinate_island(writer: Writer) -> Crossed:
    """Ask out of both parts of a coordination or out of none."""
    subject, (first, one) = writer.person(), writer.deed()
    second, two = writer.deed()
    while second.base == first.base:
        second, two = writer.deed()
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
    never = writer.rng.choice(("never", "seldom"))
    return Crossed(
        [f"{never} before had {subject} {verb}", f"{subject} had {never} {verb} before"],
        [f"{never} before {subject} had {verb}", f"{subject} {verb} had {never} before"],
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
            f"{subject} {one} there to be {thing} near the {place}",
            f"{subject} {two} {other} that {thing} was near the {place}",
        ],
        [
            f"{subject} {two} there to be {thing} near the {place}",
            f"{subject} {one} {other} that {thing} was near the {place}",
        ],
    )


def complement(writer: Writer) -> Crossed:
    """Follow a verb by a gerund or by an infinitive, as it asks for."""
    act, subject = writer.habit(), writer.person()
    one, two = verb(writer.word("gerund")).past, verb(writer.word("infinitive")).past
    return cross(f"{subject} {{0}} {{1}} {act.rest}", (one, act.verb.ing), (two, f"to {act.verb.base}"))


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


FAMILIES = (
    objects,
    passive,
    gap,
    adjunct_island,
    relative_island,
    coordinate_island,
    order,
    inversion,
    fronted_negation,
    raising,
    tough,
    expletive_object,
    complement,
    dative,
    locative,
    particle,
    existential,
)
