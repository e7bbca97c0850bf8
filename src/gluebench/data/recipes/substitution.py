"""Putting a candidate in the place of a pronoun: possessives, articles, capitals and the full stop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gluebench.data.recipes.clauses import ClauseRules, first_sentence, kept_before
from gluebench.data.recipes.winograd import Schema, joined


class Language(NamedTuple):
    """What has to be known of a language; all words lower case, an empty set or text switches a rule off."""

    clause: ClauseRules
    possessives: frozenset[str]
    objects: frozenset[str]
    """Pronouns that can be no subject."""
    objects_before: frozenset[str]
    """A possessive with one of these, or nothing, after it is an object: "told her about it"."""
    possessive_form: str
    """With {name} in it."""
    plural_form: str
    """For a candidate in the plural: one that has an article and ends in s."""
    determiners: frozenset[str]
    """Left out before a candidate, which then gets `definite_form`."""
    definite_form: str
    """With {name} in it; used for a candidate without its determiner, or of one without any in lower case."""
    article: str
    agreement: dict[str, str]
    """After a plural pronoun that a name replaces: "were" becomes "was"."""
    plurals: frozenset[str]
    """The plural pronouns."""
    stop: str
    """Put at the end of a text that has no punctuation there."""


def closed(text: str, stop: str) -> str:
    """The text with its final stop."""
    return text if not text or re.search(r"[.!?…。！？][\"'”’)]*$", text) else text + stop


def hypothesis(schema: Schema, candidate: str, language: Language) -> str:
    """The pronoun's clause with the candidate in the pronoun's place."""
    if schema.hypothesis is not None:
        return schema.hypothesis
    possessive = _possessive(schema, language)
    name = noun_phrase(candidate, language, possessive=possessive)
    rules = language.clause
    begins = _begins(schema, language, possessive=possessive)
    kept = kept_before(schema.before, rules, begins=begins, possessive=possessive)
    after = schema.after if rules.extent == "text" else first_sentence(schema.after, rules)
    text = joined(kept, name, _agreeing(after, schema, name, language))
    return closed(text[:1].upper() + text[1:], language.stop)


def _possessive(schema: Schema, language: Language) -> bool:
    """Whether the pronoun stands for a possessor: English "her" may be an object, too."""
    if schema.pronoun.lower() not in language.possessives:
        return False
    following = schema.after.split(maxsplit=1)
    return bool(following) and (
        following[0][:1] not in ".,;:!?" and following[0].strip('"').lower() not in language.objects_before
    )


def _begins(schema: Schema, language: Language, *, possessive: bool) -> bool | None:
    """Whether the clause begins with the pronoun, as the file says or by its form; no object begins one."""
    if schema.begins is not None:
        return schema.begins
    pronoun = schema.pronoun.lower()
    if not possessive and (pronoun in language.objects or re.match(r"[.,;:!?]|$", schema.after)):
        return False
    return True if pronoun in language.clause.subjects else None


def _agreeing(after: str, schema: Schema, name: str, language: Language) -> str:
    """What follows, its verb in the singular where the name of one stands for a plural pronoun.

    A name is one capital word that the text has in the middle of a sentence, too.
    """
    verb, space, rest = after.partition(" ")
    one = " " not in name and name[:1].isupper() and not name.endswith("s")
    named = one and re.search(rf"[^.!?\s]\s+{re.escape(name)}\b", schema.premise)
    if schema.pronoun.lower() in language.plurals and named:
        return language.agreement.get(verb.lower(), verb) + space + rest
    return after


def noun_phrase(candidate: str, language: Language, *, possessive: bool) -> str:
    """The candidate as it stands within a sentence."""
    name = candidate.strip()
    owner = re.fullmatch(_owner(language), name) if not possessive else None
    name = _determined(owner.group("name") if owner else name, language)
    if not possessive or re.fullmatch(_owner(language), name):
        return name
    plural = name.startswith(f"{language.article} ") and name.endswith("s")
    return (language.plural_form if plural else language.possessive_form).format(name=name)


def _owner(language: Language) -> str:
    """What a candidate in the possessive looks like: "Ann's", for candidates are named as in the text."""
    head, _, tail = language.possessive_form.partition("{name}")
    known = re.search(r"\W", head + tail)  # A mere "s" may belong to the name.
    return rf"{re.escape(head)}(?P<name>.+){re.escape(tail)}" if known else r"(?P<name>(?!))"


def _determined(name: str, language: Language) -> str:
    first, _, rest = name.partition(" ")
    lower = first.lower()
    if lower == language.article and rest:
        return f"{lower} {rest}"
    if lower in language.determiners and rest:
        return language.definite_form.format(name=rest)
    bare = first[:1].islower() and lower not in language.objects
    return language.definite_form.format(name=name) if bare else name


def language_of(options: Mapping[str, str]) -> Language:
    """The rules as the recipe's options give them."""
    lists = {name: _listed(options[name]) for name in _LISTS}
    article = options["article"].strip().lower()
    return Language(
        clause=ClauseRules(
            extent=options["clause"],
            connectives=lists["connectives"],
            links=lists["links"],
            keeps=lists["keeps"],
            subjects=lists["subjects"],
            abbreviations=lists["abbreviations"],
            definite=article,
        ),
        possessives=lists["possessives"],
        objects=lists["objects"],
        objects_before=lists["object-before"],
        possessive_form=options["possessive-form"],
        plural_form=options["plural-form"],
        determiners=lists["determiners"],
        definite_form=options["definite-form"],
        article=article,
        agreement=_agreement(options["agreement"]),
        plurals=lists["plurals"],
        stop=options["stop"],
    )


def _agreement(changes: str) -> dict[str, str]:
    parted = [change.partition("=") for change in _listed(changes)]
    return {plural.strip(): singular.strip() for plural, _, singular in parted}


_LISTS = (
    "connectives",
    "links",
    "keeps",
    "subjects",
    "abbreviations",
    "possessives",
    "objects",
    "object-before",
    "determiners",
    "plurals",
)


def _listed(words: str) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in words.split(",") if word.strip())
