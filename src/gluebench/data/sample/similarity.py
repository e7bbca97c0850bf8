"""STS-B's shape: two descriptions of a scene, scored by the share of what they say that agrees."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits
from gluebench.data.sample.world import (
    ACTIONS,
    DAYS,
    GOODS,
    NUMBERS,
    PLACES,
    TRADES,
    Action,
    Kind,
    a,
    sentence,
)


class Scene(NamedTuple):
    """Somebody does something to things with somebody's help, somewhere, at some time."""

    agent: str
    helper: str
    action: Action
    kind: Kind
    number: int
    place: str
    day: str


WEIGHTS = {
    "agent": 0.2,
    "helper": 0.1,
    "action": 0.25,
    "kind": 0.25,
    "number": 0.06,
    "place": 0.08,
    "day": 0.06,
}
"""What each slot counts for; they add up to 1."""
SAME_CATEGORY = 0.4
"""How far a violin is a flute."""
SWAP = 0.15
"""What it costs that agent and helper have changed places, beyond the two slots themselves."""
_OPENINGS = ("", "", "", "as far as anyone can tell, ", "if the report is right, ", "so the caption says: ")


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Scores over the whole range 0 to 5, in steps of 0.05."""
    shelf = Shelf(rng)
    return {split: shelf.fill(lambda: [_pair(rng)], size) for split, size in sizes.items()}


def score(first: Scene, second: Scene) -> float:
    """Similarity of two scenes, 0 (nothing in common) to 5 (the same scene)."""
    total = sum(weight for slot, weight in WEIGHTS.items() if getattr(first, slot) == getattr(second, slot))
    if first.kind != second.kind and first.kind.category == second.kind.category:
        total += SAME_CATEGORY * WEIGHTS["kind"]
    if (first.agent, first.helper) == (second.helper, second.agent):
        total -= SWAP
    return round(max(0.0, total) * 100) / 20


def _scene(rng: Random) -> Scene:
    agent, helper = rng.sample(TRADES, 2)
    return Scene(
        agent,
        helper,
        rng.choice(ACTIONS),
        rng.choice(GOODS),
        rng.randint(2, 9),
        rng.choice(PLACES),
        rng.choice(DAYS),
    )


def _pair(rng: Random) -> Row:
    first = _scene(rng)
    second = _varied(rng, first)
    texts = [
        _told(rng, scene, synonym) for scene, synonym in zip((first, second), (False, True), strict=True)
    ]
    if rng.random() < 0.5:
        texts.reverse()
    return Row((texts[0], texts[1]), f"{score(first, second):.2f}")


def _varied(rng: Random, scene: Scene) -> Scene:
    """The scene with none to all of its slots drawn anew, sometimes with agent and helper exchanged."""
    other = _scene(rng)
    slots = rng.sample(sorted(WEIGHTS), rng.choice((0, 0, 1, 1, 2, 3, 4, 5, 6, 7)))
    if {"agent", "helper"} & set(slots):
        slots = [*slots, "agent", "helper"]
    elif rng.random() < 0.4:
        scene = scene._replace(agent=scene.helper, helper=scene.agent)
    return scene._replace(**{slot: getattr(other, slot) for slot in slots})


def _told(rng: Random, scene: Scene, synonym: bool) -> str:
    past, participle = scene.action.same[1:] if synonym else (scene.action.past, scene.action.participle)
    things = f"{NUMBERS[scene.number]} {scene.kind.plural}"
    agent, helper, place, day = a(scene.agent), a(scene.helper), scene.place, f"on {scene.day}"
    templates = (
        f"{agent} {past} {things} {place} {day} with the help of {helper}",
        f"{day}, {agent} who was helped by {helper} {past} {things} {place}",
        f"{things} were {participle} by {agent} {place} {day}; {helper} lent a hand",
        f"{day} {things} were {participle} {place} by {agent}, whom {helper} helped",
        f"what {agent} {past} {place} {day} were {things}, and {helper} helped",
        f"helped by {helper}, {agent} {past} {things} {place} {day}",
        f"it was {agent} who {day} {past} {things} {place}, while {helper} assisted",
        f"there were {things} {place}, and {day} {agent} {past} them with {helper} assisting",
    )
    return sentence(rng.choice(_OPENINGS) + rng.choice(templates))
