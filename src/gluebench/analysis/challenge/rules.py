"""Examples made by rule, so that their label is known: edits of sentences, and probes for three shortcuts.

An edit returns None for a sentence that it cannot change safely, since a wrong label costs more than a
missing example. All edits are for English.

The shortcuts are the heuristics of McCoy, Pavlick and Linzen (ACL 2019): a premise entails every sentence
made of its words (lexical overlap), every run of its words (subsequence) and every phrase in it
(constituent). Each holds for half of the cases here and fails for the other half. Every case is filled with
the same words, so that no word gives the label away.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from random import Random
from typing import Literal, NamedTuple

from gluebench.analysis.challenge.item import ORIGINAL, Classes, Item, classes, english
from gluebench.benchmark import Task, UnknownNameError
from gluebench.data import DataError, Example

Relation = Literal["same", "negated"]
Change = Callable[[str], str | None]


class Edit(NamedTuple):
    """A rule that changes one sentence."""

    name: str
    relation: Relation
    """Whether the new sentence means the same, or the opposite."""
    phenomenon: str
    """The phenomenon that it tests, named as in the paper."""
    change: Change
    """Returns the edited sentence; None if the rule does not fit."""
    exact: bool = False
    """Whether the new sentence is a paraphrase, which keeps its label in tasks other than inference too."""


_WORDS: dict[str, list[str]] = {name: words.split() for name, words in english("edits").items()}
_AUXILIARIES = ("is", "are", "was", "were", "will", "can")
_STARTS = frozenset(_WORDS["starts"])
_UNSAFE = frozenset(_WORDS["unsafe"])
_WOMEN = _WORDS["women"]
_MEN = _WORDS["men"]
_NAMES = tuple(_WOMEN + _MEN)
_VERBS = [text.split("/") for text in _WORDS["verbs"]]
_WORD = re.compile(r"[\w'’]+")
_CONTRACTION = re.compile(r"\b(is|are|was|were|did|ca|wo)n['’]t\b")


_PARTICIPLES = {past: participle for _, past, participle in _VERBS}
_PARTICIPLES |= {verb: verb for verb in _WORDS["participles"]}
_PASTS = {participle: past for past, participle in _PARTICIPLES.items()}
_NOUN = rf"(?!(?:{'|'.join(_WORDS['plural'])})\b)[a-z]*[a-rt-xz]|(?!\w*ly\b)[a-z]+y"
_NP = rf"(?:(?:[Tt]he|[Aa]n?) (?:(?:{'|'.join(_WORDS['adjectives'])}) )?(?:{_NOUN})|{'|'.join(_NAMES)})"
_ACTIVE = re.compile(rf"({_NP}) ({'|'.join(_PARTICIPLES)}) ({_NP})\.")
_PASSIVE = re.compile(rf"({_NP}) was ({'|'.join(_PASTS)}) by ({_NP})\.")
_OTHER_VERBS = [text.split("/") for text in _WORDS["pasts"]]
_BASES = {forms[1]: forms[0] for forms in _VERBS + _OTHER_VERBS}
_PAST_OF = {base: past for past, base in _BASES.items()}
_SUBJECT = rf"(?:{_NP}|[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Ww]e|[Yy]ou|I)"
_PAST_CLAUSE = re.compile(rf"({_SUBJECT}) ({'|'.join(_BASES)})\b")
_DID_NOT = re.compile(rf"\bdid not ({'|'.join(_PAST_OF)})\b")


def negation_added(text: str) -> str | None:
    """Insert "not" after the only auxiliary, or "did not", into a plain statement on a definite subject."""
    if not _is_plain(text):
        return None
    verbs = [match for match in _WORD.finditer(text) if match[0] in _AUXILIARIES]
    if not verbs:
        past = _PAST_CLAUSE.match(text)
        if past is None:
            return None
        return f"{past[1]} did not {_BASES[past[2]]}{text[past.end() :]}"
    if len(verbs) > 1:
        return None
    end = verbs[0].end()
    negation = "not" if verbs[0][0] == "can" else " not"  # "cannot" is one word
    return text[:end] + negation + text[end:]


def negation_removed(text: str) -> str | None:
    """Remove the only negation, if `negation_added` would restore it."""
    full_forms = {"ca": "can", "wo": "will"}  # of "can't" and "won't"
    expanded = _CONTRACTION.sub(lambda match: full_forms.get(match[1], match[1]) + " not", text)
    expanded = re.sub(r"\bcan not\b", "cannot", expanded)
    positive = re.sub(r"\b(can)not\b|\b(is|are|was|were|will) not\b", r"\1\2", expanded)
    positive = _DID_NOT.sub(lambda match: _PAST_OF[match[1]], positive)
    if positive == expanded or negation_added(positive) != expanded:
        return None
    return positive


def _is_plain(text: str) -> bool:
    """Whether a text is a statement of one clause about a definite subject."""
    words = _WORD.findall(text.lower())
    if not 3 <= len(words) <= 25 or "?" in text or "," in text or _UNSAFE & set(words):
        return False
    if any(word.endswith(("n't", "n’t")) for word in words):
        return False
    first = _WORD.search(text)
    return words[0] in _STARTS or (first is not None and first[0] in _NAMES)


def _is_statement(text: str) -> bool:
    """Whether a finite verb comes before any relative clause; a fragment has none."""
    words = _WORD.findall(text.lower())
    for word in words:
        if word in _WORDS["relative"]:
            return False
        if word in _WORDS["finite"] or word in _BASES:
            return True
    return False


def frame_as_true(text: str) -> str | None:
    """Put "It is true that" before a statement; its first letter becomes lower case unless it is a name."""
    first = _WORD.match(text)
    if first is None or "?" in text or not _is_statement(text):
        return None
    if first[0] == "I" or first[0] in _NAMES:
        return f"It is true that {text}"
    # Another first word may be a name that is not known, which keeps its capital.
    first_word = first[0].lower()
    if first_word not in _STARTS and first_word not in ("a", "an", "there"):
        return None
    return f"It is true that {text[0].lower()}{text[1:]}"


def tautology_added(text: str) -> str | None:
    """Append a truism to a statement, which does not change what it entails."""
    if "?" in text or not text.endswith(".") or not _is_statement(text):
        return None
    return f"{text[:-1]}, and a week has seven days."


def make_passive(text: str) -> str | None:
    """Turn "The miller greeted the potter." into the passive; the object must be singular."""
    match = _ACTIVE.fullmatch(text)
    if match is None:
        return None
    subject, verb, patient = match.groups()
    return f"{_upper(patient)} was {_PARTICIPLES[verb]} by {_lower(subject)}."


def make_active(text: str) -> str | None:
    """Turn a passive sentence with an agent into an active one."""
    match = _PASSIVE.fullmatch(text)
    if match is None:
        return None
    patient, verb, subject = match.groups()
    return f"{_upper(subject)} {_PASTS[verb]} {_lower(patient)}."


def _upper(phrase: str) -> str:
    return phrase[0].upper() + phrase[1:]


def _lower(phrase: str) -> str:
    if phrase in _NAMES:
        return phrase
    return phrase[0].lower() + phrase[1:]


EDITS = (
    Edit("negation added", "negated", "Negation", negation_added),
    Edit("negation removed", "negated", "Negation", negation_removed),
    Edit("active to passive", "same", "Active/Passive", make_passive, exact=True),
    Edit("passive to active", "same", "Active/Passive", make_active, exact=True),
    Edit("framed as true", "same", "Redundancy", frame_as_true),
    Edit("truism added", "same", "Conjunction", tautology_added),
)
NAMES_CHANGED = "names changed"
NAMED = "Named Entities"


def change_names(texts: tuple[str, ...], chance: Random) -> tuple[str, ...] | None:
    """Replace each first name by another of the same gender, consistently; None if that is impossible."""
    names: dict[str, None] = {}  # a set in order
    for text in texts:
        separated = re.sub(r"['’]s\b", " s", text)  # "Anna's" has the word Anna
        for word in _WORD.findall(separated):
            if word in _NAMES:
                names[word] = None
    if not names:
        return None
    new: dict[str, str] = {}
    for name in names:
        pool = _WOMEN if name in _WOMEN else _MEN
        unused = [other for other in pool if other not in names and other not in new.values()]
        if not unused:
            return None
        new[name] = chance.choice(unused)
    pattern = re.compile(rf"\b({'|'.join(names)})\b")
    return tuple(pattern.sub(lambda match: new[match[1]], text) for text in texts)


RULES = tuple([edit.name for edit in EDITS] + [NAMES_CHANGED])
"""The names of all rules."""


def perturb(
    task: Task, examples: Sequence[Example], *, rules: Sequence[str] = RULES, seed: int = 0
) -> list[Item]:
    """Every example that a rule fits: the original, then each changed version with its label.

    Edits change the last of two texts; names change in every text, also where a task has only one. Negation
    needs an inference task; an example whose new label is not known is left out. The items are for the model
    of the task, or of its `predict_with`. Raises DataError for a task or examples without labels,
    UnknownNameError for an unknown rule.
    """
    edits = _edits(rules)
    if not task.labels or any(example.label is None for example in examples):
        raise DataError(f"{task.name}: expected examples with label words, to tell what a changed one has")
    try:
        words: Classes | None = classes(task)
    except DataError:  # not inference: only paraphrases and changed names keep the label
        words = None
    label_of = {tuple(example.inputs.values()): str(example.label) for example in examples}
    chance = Random(f"perturb/{seed}")
    items: list[Item] = []
    for example in examples:
        inputs = tuple(example.inputs.values())
        label = str(example.label)
        backward = ""
        if words is not None:
            backward = label_of.get(inputs[::-1]) or words.back(label)
        original = Item(
            task=task.predict_with or task.name,
            case=ORIGINAL,
            inputs=inputs,
            label=label,
            accepted=(label,),
            backward=backward,
            domain=task.name,
            set=f"{task.name}-{example.index}",
        )
        distinct: dict[tuple[str, ...], Item] = {}
        for item in _edit_item(original, edits, words):
            distinct.setdefault(item.inputs, item)
        changed = list(distinct.values())
        if NAMES_CHANGED in rules:
            renamed = change_names(inputs, chance)
            if renamed is not None:
                changed.append(replace(original, case=NAMES_CHANGED, inputs=renamed, phenomena=(NAMED,)))
        if changed:
            source = len(items)
            items.append(original)
            items += [replace(item, source=source) for item in changed]
    return items


def sentence_pairs(
    task: Task, examples: Iterable[Example], *, rules: Sequence[str] = RULES, name: str = ""
) -> list[Item]:
    """Pairs of a sentence of the examples and its edit, for a model of the inference task `task`.

    Both directions have a label by rule, so no gold label is needed: the same meaning entails both ways, the
    opposite contradicts both ways. Names are not changed, since no label follows from that. `name` is the
    domain. Raises what `perturb` raises.
    """
    words = classes(task)
    edits = _edits(rules)
    items: list[Item] = []
    sentences = 0
    texts = chain.from_iterable(example.inputs.values() for example in examples)
    for text in dict.fromkeys(texts):
        before = len(items)
        for edit in edits:
            new = edit.change(text)
            if new is None or new == text:
                continue
            label = words.entailment if edit.relation == "same" else words.contradiction
            item = Item(
                task=task.name,
                case=edit.name,
                inputs=(text, new),
                label=label,
                accepted=(label,),
                backward=label,
                domain=name,
                phenomena=(edit.phenomenon,),
                set=f"sentence-{sentences}",
            )
            items.append(item)
        if len(items) > before:
            sentences += 1
    return items


def _edits(rules: Sequence[str]) -> list[Edit]:
    for rule in rules:
        if rule not in RULES:
            raise UnknownNameError(rule, RULES, what="rule")
    return [edit for edit in EDITS if edit.name in rules]


def _edit_item(original: Item, edits: Sequence[Edit], words: Classes | None) -> Iterator[Item]:
    """Yield the item with its last text edited, for each edit that fits; nothing for a single text."""
    *before, last = original.inputs
    if not before:
        return
    for edit in edits:
        new = edit.change(last)
        if new is None or new == last:
            continue
        edited = replace(original, case=edit.name, inputs=(*before, new), phenomena=(edit.phenomenon,))
        if edit.relation == "same":
            if edit.exact or words is not None:
                yield edited
        elif words is not None:
            label = words.opposite(original.label)
            if label:
                yield replace(edited, label=label, accepted=(label,), backward=words.back(label))


MOST = 300
"""Maximum number of examples per case: premises differ, and the shortest has only 384 variants."""
_LABELS = {"e": "entailment", "n": "neutral"}
_GRAMMAR = english("shortcuts")
SHORTCUTS: tuple[str, ...] = tuple(_GRAMMAR["cases"])


class Case(NamedTuple):
    """A template of a premise and a hypothesis, with the label in each direction."""

    shortcut: str
    name: str
    premise: str
    hypothesis: str
    forward: str
    backward: str
    phenomena: tuple[str, ...]

    @property
    def entailed(self) -> bool:
        """Whether the shortcut leads to the right answer."""
        return self.forward == _LABELS["e"]

    @property
    def title(self) -> str:
        """A unique name, as "subsequence, no: relative clause"; "no" if the shortcut misleads."""
        answer = "yes" if self.entailed else "no"
        return f"{self.shortcut}, {answer}: {self.name}"


def _read_cases() -> Iterator[Case]:
    """Yield the cases of the grammar, a line of its tables each."""
    for shortcut, table in _GRAMMAR["cases"].items():
        for line in table.splitlines():
            name, premise, hypothesis, labels, phenomenon = line.split(" | ")
            forward, backward = labels
            directions = (_LABELS[forward], _LABELS[backward])
            yield Case(shortcut, name, premise, hypothesis, *directions, (phenomenon,))


CASES = tuple(_read_cases())


def shortcuts(task: Task, *, per_case: int = 50, seed: int = 0) -> list[Item]:
    """`per_case` examples of every case, for a model of an inference task; a seed gives the same examples.

    Where the premise does not entail the hypothesis, every other label is right, as in the paper. Raises
    DataError for a task that is not inference, ValueError for a number out of range.
    """
    if not 1 <= per_case <= MOST:
        raise ValueError(f"{per_case} examples of each case; expected 1 to {MOST}")
    words = classes(task)
    others = tuple(word for word in task.words if word != words.entailment)
    chance = Random(f"shortcuts/{seed}")
    items: list[Item] = []
    seen: set[str] = set()
    number = 0
    while number < per_case:
        # a word for every slot; the nouns differ, and so do the words of slots i and j
        filling = dict(zip("abc", chance.sample(_GRAMMAR["nouns"].split(), 3), strict=True))
        filling |= zip("ij", chance.sample(_GRAMMAR["alone"].split(), 2), strict=True)
        filling |= {slot: chance.choice(choices) for slot, choices in _GRAMMAR["slots"].items()}
        pairs = [(case.premise.format(**filling), case.hypothesis.format(**filling)) for case in CASES]
        if any(premise in seen for premise, _ in pairs):
            continue
        seen.update(premise for premise, _ in pairs)
        for case, pair in zip(CASES, pairs, strict=True):
            label = words.word(case.forward)
            item = Item(
                task=task.name,
                case=case.title,
                inputs=pair,
                label=label,
                accepted=(label,) if case.entailed else others,
                backward=words.word(case.backward),
                domain="artificial",
                phenomena=case.phenomena,
                set=f"shortcuts-{number}",
            )
            items.append(item)
        number += 1
    return items
