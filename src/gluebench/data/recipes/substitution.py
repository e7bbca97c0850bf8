"""Replacing a pronoun by a candidate: possessives, articles, capitals and the full stop.

The hypotheses of GLUE's WNLI mostly contain only the clause of the pronoun, so the rules also decide where
that clause begins.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from gluebench.data.recipes.winograd import Schema, join_phrases


class Language(NamedTuple):
    """Rules of a language: options of the recipe wnli, which recipes.toml explains, with English defaults.

    Words are in lower case; an empty set or text switches a rule off.
    """

    clause: str
    connectives: frozenset[str]
    links: frozenset[str]
    keeps: frozenset[str]
    subjects: frozenset[str]
    objects: frozenset[str]
    abbreviations: frozenset[str]
    possessives: frozenset[str]
    object_before: frozenset[str]
    possessive_form: str
    plural_form: str
    article: str
    determiners: frozenset[str]
    definite_form: str
    agreement: dict[str, str]
    plurals: frozenset[str]
    stop: str


def language_of(options: Mapping[str, str]) -> Language:
    """The rules of the language from the recipe's options."""
    values: dict[str, Any] = {}
    for field in Language._fields:
        text = options[field.replace("_", "-")]
        words = frozenset(word.strip().lower() for word in text.split(",") if word.strip())
        if field == "agreement":
            values[field] = {}
            for change in words:
                plural, _, singular = change.partition("=")
                values[field][plural.strip()] = singular.strip()
        elif field == "article":
            values[field] = text.strip().lower()
        elif field in ("clause", "stop") or field.endswith("_form"):
            values[field] = text
        else:
            values[field] = words
    return Language(**values)


def with_stop(text: str, stop: str) -> str:
    """The text, with `stop` appended if it has no final punctuation."""
    if not text or re.search(r"[.!?…。！？][\"'”’)]*$", text):
        return text
    return text + stop


def hypothesis(schema: Schema, candidate: str, language: Language) -> str:
    """The pronoun's clause with the candidate in the pronoun's place."""
    if schema.hypothesis is not None:
        return schema.hypothesis
    possessive = _possessive(schema, language)
    name = noun_phrase(candidate, language, possessive=possessive)
    begins = _begins(schema, language, possessive=possessive)
    before = _quote_before(schema, language)
    if not before:
        before = clause_before(schema.before, language, begins=begins, possessive=possessive)
    after = schema.after
    if language.clause != "text":
        after = first_sentence(after, language)
    text = join_phrases(before, name, _with_singular_verb(after, schema, name, language))
    return with_stop(text[:1].upper() + text[1:], language.stop)


def _possessive(schema: Schema, language: Language) -> bool:
    """Whether the pronoun is possessive here: English "her" may also be an object."""
    if schema.pronoun.lower() not in language.possessives:
        return False
    words_after = schema.after.split(maxsplit=1)
    if not words_after:
        return False
    following = words_after[0]
    if following[:1] in ".,;:!?":
        return False
    return following.strip('"').lower() not in language.object_before


def _begins(schema: Schema, language: Language, *, possessive: bool) -> bool | None:
    """Whether the clause begins with the pronoun, by the file or by its form; None if unclear."""
    if schema.quote is not None:
        return not schema.quote
    pronoun = schema.pronoun.lower()
    if not possessive and (pronoun in language.objects or re.match(r"[.,;:!?]|$", schema.after)):
        return False
    if pronoun in language.subjects:
        return True
    return None


def _with_singular_verb(after: str, schema: Schema, name: str, language: Language) -> str:
    """The text after the pronoun, its verb made singular if one person's name replaces a plural pronoun.

    A name is one capitalized word that also occurs in the middle of a sentence.
    """
    if schema.pronoun.lower() not in language.plurals:
        return after
    capitalized = " " not in name and name[:1].isupper() and not name.endswith("s")
    if not capitalized or not re.search(rf"[^.!?\s]\s+{re.escape(name)}\b", schema.premise):
        return after
    verb, space, rest = after.partition(" ")
    return language.agreement.get(verb.lower(), verb) + space + rest


def noun_phrase(candidate: str, language: Language, *, possessive: bool) -> str:
    """The candidate as worded within a sentence: article, and possessive form if `possessive`."""
    name = candidate.strip()
    owner = re.fullmatch(_owner(language), name)
    if owner is not None and not possessive:
        name = owner.group("name")
    name = _with_article(name, language)
    if not possessive or re.fullmatch(_owner(language), name):
        return name
    form = language.possessive_form
    if name.startswith(f"{language.article} ") and name.endswith("s"):
        form = language.plural_form
    return form.format(name=name)


def _owner(language: Language) -> str:
    """Pattern of a candidate that is already possessive, as "Ann's"; its group is the name."""
    head, _, tail = language.possessive_form.partition("{name}")
    if not re.search(r"\W", head + tail):  # without punctuation, an "s" may belong to the name
        return r"(?P<name>(?!))"
    return rf"{re.escape(head)}(?P<name>.+){re.escape(tail)}"


def _with_article(name: str, language: Language) -> str:
    """The candidate as a definite noun phrase: "the dog" for "a dog" and "dog"; names stay."""
    first, _, rest = name.partition(" ")
    lower = first.lower()
    if lower == language.article and rest:
        return f"{lower} {rest}"
    if lower in language.determiners and rest:
        return language.definite_form.format(name=rest)
    if first[:1].islower() and lower not in language.objects:  # neither a name nor a pronoun
        return language.definite_form.format(name=name)
    return name


_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)]*\s+|[。！？]+\s*")
_FEWEST_WORDS = 2
"""Fewest words of a clause before its pronoun: a subject and a verb."""


def last_sentence(text: str, language: Language) -> str:
    """The text after the last end of a sentence."""
    ends = _sentence_ends(text, language)
    if not ends:
        return text
    return text[ends[-1] :]


def first_sentence(text: str, language: Language) -> str:
    """The text up to the first end of a sentence."""
    ends = _sentence_ends(text, language)
    if not ends:
        return text
    return text[: ends[0]].rstrip()


def _sentence_ends(text: str, language: Language) -> list[int]:
    """Positions after sentences; not at an abbreviation's or initial's stop, or before a small letter."""
    ends = []
    for end in _SENTENCE_END.finditer(text + " "):
        word = re.split(r"[\s.]", text[: end.start()])[-1]
        abbreviation = word.lower() in language.abbreviations or (len(word) == 1 and word.isalpha())
        if abbreviation and end.group().strip() == ".":
            continue
        if not text[end.end() :][:1].islower():
            ends.append(end.end())
    return ends


def clause_before(before: str, language: Language, *, begins: bool | None, possessive: bool) -> str:
    """The part of the text before a pronoun that the hypothesis keeps.

    `begins` is whether the clause begins with the pronoun; None decides by the word before it. A possessive
    in the middle of a clause keeps the words before it, which often show the possessor.
    """
    if language.clause == "text":
        return before
    sentence = last_sentence(before, language)
    leads = language.connectives | language.links
    # A sentence that begins "Since he ..." has its main clause after the pronoun's.
    if language.clause == "sentence" or _follows(sentence, language.keeps) or sentence.lower() in leads:
        return sentence
    if begins is not False and (sentence.endswith((",", ";", ":")) or _follows(sentence, leads)):
        return ""
    if possessive:
        return re.split(r"[;:]\s+", sentence)[-1]
    words = sentence.lower().split()
    if begins and words[-2:-1] != [language.article]:
        return ""
    return _clause(sentence, language)


def _quote_before(schema: Schema, language: Language) -> str:
    """The file's words of the clause before the pronoun, if the clause begins with them; else "".

    It does if a boundary is before them, or a subject pronoun is their first word. Other words may be only
    the end of the clause ("put", "more of").
    """
    quote = schema.quote or ""
    words = quote.lower().split()
    fits = len(words) >= _FEWEST_WORDS and schema.before.lower().endswith(quote.lower())
    if language.clause != "clause" or not fits:
        return ""
    left = last_sentence(schema.before[: -len(quote)].rstrip() + " ", language).rstrip()
    leads = language.connectives | language.links
    bounded = not left or left.endswith((",", ";", ":")) or _follows(left, leads)
    if not bounded and words[0] not in language.subjects:
        return ""
    return schema.before[-len(quote) :]


def _follows(sentence: str, words: frozenset[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}$", sentence.lower()) for word in words)


def _clause(sentence: str, language: Language) -> str:
    """The part after the last boundary that leaves a subject and a verb, without leading connectives.

    A boundary is punctuation, a connective, or a link before a subject pronoun, but not a sentence's start.
    """
    connectives = _either(language.connectives)
    links = _either(language.links)
    subjects = _either(language.subjects)
    boundaries = [r"[,;:]\s+"]
    if connectives:
        boundaries.append(rf"\s(?:{connectives})\s+")
    if links and subjects:
        boundaries.append(rf"\s(?:{links})\s+(?=(?:{subjects})\s)")
    leads = _either(language.connectives | language.links)
    ends = [boundary.end() for boundary in re.finditer("|".join(boundaries), sentence, re.IGNORECASE)]
    for end in reversed(ends):
        rest = sentence[end:]
        if leads:
            rest = re.sub(rf"^(?:(?:{leads})\s+)+", "", rest, flags=re.IGNORECASE)
        if len(rest.split()) >= _FEWEST_WORDS:
            return rest
    return sentence


def _either(words: frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
