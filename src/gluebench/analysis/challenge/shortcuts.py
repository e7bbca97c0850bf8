"""Probes for three shortcuts of inference models, in sentences of a grammar of our own.

McCoy, Pavlick and Linzen (ACL 2019) name three: that a premise entails whatever is made of its words
(lexical overlap), whatever run of words stands in it (subsequence), and whatever phrase it contains
(constituent). Each holds for half of the cases here and fails for the other half. Every case is filled with
the same words, so that no word tells the label.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from gluebench.analysis.challenge.item import Item, classes
from gluebench.benchmark import Task

SHORTCUTS = ("lexical overlap", "subsequence", "constituent")
MOST = 300
"""Examples of a case: no premise comes twice, and the shortest has 384 wordings."""
_LABELS = {"e": "entailment", "n": "neutral"}
_NOUNS = (
    *("archivist", "beekeeper", "carpenter", "dentist", "florist", "glazier", "juggler", "locksmith"),
    *("miller", "notary", "optician", "potter", "shepherd", "tailor", "violinist", "weaver"),
)
_ALONE = ("slept", "smiled", "waited", "laughed", "shivered", "whistled", "stumbled", "sneezed")
_SLOTS = {
    "v": ("thanked", "greeted", "followed", "advised", "visited", "admired", "praised", "rescued", "called"),
    "near": ("near", "beside", "behind", "opposite"),
    "place": ("in the orchard", "at the ferry", "on the bridge", "in the cellar", "at the fair"),
    "doubted": ("believed", "suspected", "doubted"),
    "knew": ("knew", "noticed", "remembered"),
    "thought": ("believed", "hoped", "claimed"),
    "maybe": ("Supposedly", "Allegedly", "Reportedly"),
    "surely": ("Luckily", "Sadly", "Oddly"),
}


class Case(NamedTuple):
    """A kind of pair, with what each sentence says of the other."""

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
        """Unique: "subsequence, no: relative clause"; "no" where the shortcut misleads."""
        return f"{self.shortcut}, {'yes' if self.entailed else 'no'}: {self.name}"


_TABLE = """
[lexical overlap]
roles swapped | The {a} {v} the {b}. | The {b} {v} the {a}. | nn | Core Arguments
phrase | The {a} {near} the {b} {v} the {c}. | The {b} {v} the {c}. | nn | Prepositional Phrases
relative clause | The {a} whom the {b} {v} {i}. | The {a} {v} the {b}. | nn | Relative Clauses
passive | The {a} was {v} by the {b}. | The {a} {v} the {b}. | nn | Active/Passive
coordination | The {a} {v} the {b} and the {c}. | The {c} {v} the {b}. | nn | Coordination Scope
phrase | The {a} {near} the {b} {v} the {c}. | The {a} {v} the {c}. | en | Prepositional Phrases
relative clause | The {a} whom the {b} {v} {i}. | The {b} {v} the {a}. | en | Relative Clauses
passive | The {a} was {v} by the {b}. | The {b} {v} the {a}. | ee | Active/Passive
coordination | The {a} and the {b} {v} the {c}. | The {a} {v} the {c}. | en | Conjunction
object of two | The {a} {v} the {b} and the {c}. | The {a} {v} the {c}. | en | Conjunction
[subsequence]
phrase | The {a} {near} the {b} {i}. | The {b} {i}. | nn | Prepositional Phrases
relative clause | The {a} who {v} the {b} {i}. | The {b} {i}. | nn | Relative Clauses
clause taken for an object | The {a} {doubted} the {b} {i}. | The {a} {doubted} the {b}. | nn | Core Arguments
second clause | The {a} {i}, and the {b} {j}. | The {b} {j}. | en | Conjunction
place left out | The {a} {v} the {b} {place}. | The {a} {v} the {b}. | en | Prepositional Phrases
clause left out | The {a} {v} the {b} who {i}. | The {a} {v} the {b}. | en | Relative Clauses
[constituent]
condition | If the {a} {i}, the {b} {j}. | The {a} {i}. | nn | Conditionals
disjunction | The {a} {i}, or the {b} {j}. | The {a} {i}. | ne | Disjunction
thought | The {a} {thought} that the {b} {i}. | The {b} {i}. | nn | Factivity
hearsay | {maybe}, the {a} {i}. | The {a} {i}. | nn | Factivity
reason | Because the {a} {i}, the {b} {j}. | The {a} {i}. | en | Factivity
conjunction | The {a} {i}, and the {b} {j}. | The {a} {i}. | en | Conjunction
knowledge | The {a} {knew} that the {b} {i}. | The {b} {i}. | en | Factivity
comment | {surely}, the {a} {i}. | The {a} {i}. | en | Factivity
"""


def _cases() -> Iterator[Case]:
    """The rows of the table: name, premise, hypothesis, labels forward and backward, phenomenon."""
    shortcut = ""
    for line in _TABLE.strip().splitlines():
        if line.startswith("["):
            shortcut = line.strip("[]")
            continue
        name, premise, hypothesis, labels, phenomenon = line.split(" | ")
        forward, backward = (_LABELS[letter] for letter in labels)
        yield Case(shortcut, name, premise, hypothesis, forward, backward, (phenomenon,))


CASES = tuple(_cases())


def shortcuts(task: Task, *, each: int = 50, seed: int = 0) -> list[Item]:
    """`each` examples of every case, for a model of an inference task. The same seed gives the same examples.

    Whatever is not entailment counts as right where nothing follows, as in the paper. Raises DataError for a
    task that is not inference, ValueError for a number out of range.
    """
    if not 1 <= each <= MOST:
        raise ValueError(f"{each} examples of each case; expected 1 to {MOST}")
    words = classes(task)
    others = tuple(word for word in task.words if word != words.entailment)
    chance = Random(f"shortcuts/{seed}")
    items: list[Item] = []
    seen: set[str] = set()
    number = 0
    while number < each:
        filling = dict(_filling(chance))
        pairs = [(case.premise.format(**filling), case.hypothesis.format(**filling)) for case in CASES]
        if any(premise in seen for premise, _ in pairs):
            continue
        seen.update(premise for premise, _ in pairs)
        for case, pair in zip(CASES, pairs, strict=True):
            label = words.word(case.forward)
            accepted = (label,) if case.entailed else others
            about = (words.word(case.backward), "artificial", case.phenomena, f"shortcuts-{number}")
            items.append(Item(task.name, case.title, pair, label, accepted, *about))
        number += 1
    return items


def _filling(chance: Random) -> Iterator[tuple[str, str]]:
    """A word for every slot; those of one kind differ."""
    yield from zip("abc", chance.sample(_NOUNS, 3), strict=True)
    yield from zip("ij", chance.sample(_ALONE, 2), strict=True)
    for slot, words in _SLOTS.items():
        yield slot, chance.choice(words)
