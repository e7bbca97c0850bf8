"""Constructions in which one word asks for a form of another: agreement, reference, comparison, tense."""

from __future__ import annotations

from sample.grammar import Crossed, Writer, cross
from sample.world import MEN, PEOPLE, WOMEN, a


def agreement(writer: Writer) -> Crossed:
    """Agree a copula with its subject over distracting nouns."""
    subject, state = writer.subject(), writer.word("gradable")
    one, many = writer.rng.choice((("is", "are"), ("was", "were"), ("looks", "look"), ("seems", "seem")))
    manner = writer.rng.choice(("", "very ", "rather ", "quite "))
    return cross(f"{{0}} {{1}} {manner}{state}", (subject.one, one), (subject.many, many))


def lexical_agreement(writer: Writer) -> Crossed:
    """Agree a full verb with its subject."""
    subject, act = writer.subject(), writer.habit()
    often = writer.word("frequency")
    return cross(
        f"{{0}} {often} {{1}} {act.rest}", (subject.one, act.verb.third), (subject.many, act.verb.base)
    )


def perfect_agreement(writer: Writer) -> Crossed:
    """Agree an auxiliary with its subject."""
    subject, verb = writer.subject(), writer.intransitive()
    return cross(
        f"{{0}} {{1}} {writer.rng.choice(('already', 'never', 'often', 'just'))} {verb.participle}",
        (subject.one, "has"),
        (subject.many, "have"),
    )


def reflexive(writer: Writer) -> Crossed:
    """Refer back to the subject, not to a noun between."""
    first, second = writer.people()
    verb, between = writer.word("reflexive"), writer.modifier()
    if writer.rng.random() < 0.4:
        other = writer.word(writer.rng.choice(("masculine", "feminine"))).partition("/")[0]
        between = f" who {writer.word('relations')} the {other}{between}"
    return cross(
        f"the {{0}}{between} {verb} {{1}}", (first.name, first.reflexive), (second.name, second.reflexive)
    )


def possessor(writer: Writer) -> Crossed:
    """Refer back to the head of the subject, not to its possessor."""
    he, she = writer.word("male_kin"), writer.word("female_kin")
    man, woman = writer.some(MEN), writer.some(WOMEN)
    end = f"{writer.word('reflexive')} {{1}} {writer.word('past')}"
    return cross(f"{{0}} {end}", (f"{woman}'s {he}", "himself"), (f"{man}'s {she}", "herself"))


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


def determiner(writer: Writer) -> Crossed:
    """Agree a determiner with its noun across adjectives."""
    noun, state, verb = writer.noun(), writer.word("gradable"), writer.intransitive().past
    ones = writer.rng.choice(("this", "that", "each", "every", "another"))
    more = writer.rng.choice(("these", "those", "several", "many", "both"))
    return cross(f"{{0}} {state} {{1}}{writer.modifier()} {verb}", (ones, noun.name), (more, noun.plural))


def amount(writer: Writer) -> Crossed:
    """Count what can be counted, and measure the rest."""
    things, mass = writer.thing().plural, writer.word("mass")
    start = f"{writer.person()} had seen too"
    return cross(f"{start} {{0}} {writer.word('neutral')} {{1}}", ("many", things), ("much", mass))


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
    return cross(f"{writer.subject().one} {{0}} {adverb} {{1}} {act.rest}", one, two)


def comparison(writer: Writer) -> Crossed:
    """Compare with "than" after a comparative, with "as" after "as"."""
    plain, more = writer.word("short").split("/")
    aside = writer.word("hearsay")
    start = f"{writer.subject().one} is"
    return cross(f"{start} {{0}}{aside} {{1}} {writer.other()}", (more, "than"), (f"as {plain}", "as"))


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
    return cross(
        f"{subject} {{0}} {act.rest}, and so {{1}} {other}",
        (f"{one[0]} {one[1]}", one[0]),
        (f"{two[0]} {two[1]}", two[0]),
    )


def correlative(writer: Writer) -> Crossed:
    """Join the two parts of a paired conjunction."""
    one, two = writer.rng.sample([("both", "and"), ("either", "or"), ("neither", "nor")], 2)
    start, (verb, first) = writer.person(), writer.deed()
    second = writer.like(first)
    return cross(f"{start} {verb.past} {{0}} {first} {{1}} the {second}", one, two)


def tense(writer: Writer) -> Crossed:
    """Agree the tense with the time."""
    subject, (verb, thing) = writer.person(), writer.deed()
    place = f"near the {writer.word('places')}"
    return cross(
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
    return cross(
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
    return cross(f"{{0}} {{1}} {state} {place} has been photographed", (person, "who"), (thing, "which"))


def degree(writer: Writer) -> Crossed:
    """Tell "too tired to" from "so tired that"."""
    subject, state, act = writer.subject().one, writer.word("gradable"), writer.habit()
    return cross(
        f"{subject} was {{0}} {state} {{1}}",
        ("too", f"to {act.verb.base} {act.rest}"),
        ("so", writer.word("noticed")),
    )


def such(writer: Writer) -> Crossed:
    """Tell "such a tall" from "so tall a"."""
    name, noun, state = writer.some(PEOPLE), writer.noun().name, writer.word("gradable")
    start = writer.rng.choice(("nobody had ever met", "we had never seen", "it is rare to find"))
    return Crossed(
        [f"{start} such {a(state)} {noun} as {name}", f"{start} so {state} {a(noun)} as {name}"],
        [f"{start} so {a(state)} {noun} as {name}", f"{start} such {state} {a(noun)} as {name}"],
    )


FAMILIES = (
    *(agreement, agreement, lexical_agreement, lexical_agreement, reflexive, polarity),
    *(
        agreement,
        lexical_agreement,
        perfect_agreement,
        reflexive,
        possessor,
        polarity,
        determiner,
        amount,
        auxiliary,
        comparison,
        ellipsis,
        correlative,
        tense,
        case,
        preposition,
        relative_pronoun,
        degree,
        such,
    ),
)
