"""STS-B's shape: two descriptions of a scene, scored by the share of their slots that agree."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from sample.frame import Row, Shelf, Splits, wordings
from sample.world import CATEGORIES, DEEDS_ON, Deed, a, sentence, verb

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_THINGS = tuple(name for theme in _DATA["themes"] for name in theme["things"])
MEMBERS: Mapping[str, tuple[str, ...]] = {
    **{group: tuple(group.split()) for group in _DATA["people"]},
    **{name: tuple(kind.name for kind in CATEGORIES[name].kinds) for name in _THINGS},
}
"""Groups of people or of things that are alike."""
GROUPS = {member: group for group, members in MEMBERS.items() for member in members}
_PEOPLE = tuple(name for group in _DATA["people"] for name in MEMBERS[group])
MEETINGS = tuple(
    Deed(verb(one), verb(two), ("person",))
    for one, two in (line.split(" | ") for line in _DATA["meetings"].splitlines())
)
_DEEDS = {
    name: tuple(deed for deed in DEEDS_ON[name] if deed.verb.base not in _DATA["unseen"]) for name in _THINGS
}
PLACES = {name: theme["places"] for theme in _DATA["themes"] for name in theme["things"] or _DATA["people"]}
"""Group to where its members are met or handled."""
TIMES: Sequence[str] = _DATA["scenes"]["times"]


class Scene(NamedTuple):
    """Somebody does something to a thing or to another person, somewhere, at some time."""

    agent: str
    action: Deed
    patient: str
    place: str
    time: str


WEIGHTS = {"agent": 0.25, "action": 0.25, "patient": 0.3, "place": 0.1, "time": 0.1}
"""What each slot counts for; they add up to 1."""
ALIKE = 0.4
"""How much people or things of one group agree: a violin is 40 % of a flute."""
EXCHANGED = 0.1
"""How much agent and patient agree if they have changed roles."""


def score(first: Scene, second: Scene) -> float:
    """Compute the similarity of two scenes, from 0 (nothing in common) to 5 (the same scene)."""
    exchanged = first.agent == second.patient and first.patient == second.agent
    total = sum(
        weight
        * (EXCHANGED if exchanged and slot in ("agent", "patient") else _agreement(first, second, slot))
        for slot, weight in WEIGHTS.items()
    )
    return round(5 * total, 2)


def _agreement(first: Scene, second: Scene, slot: str) -> float:
    one, two = getattr(first, slot), getattr(second, slot)
    if one == two or (slot == "action" and verbs(one) & verbs(two)):
        return 1
    alike = slot in ("agent", "patient") and GROUPS[one] == GROUPS[two]
    return ALIKE if alike else 0


def verbs(action: Deed) -> set[str]:
    """Return the verbs for a deed; deeds that share one are the same: repair or mend, fix or repair."""
    return {each.base for each in (action.verb, action.same) if each}


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Write scores over the whole range 0 to 5; test has new wordings."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(lambda fresh=split == "test": [_pair(rng, fresh=fresh)], size)  # type: ignore[misc]
        for split, size in sizes.items()
    }


def _scene(rng: Random) -> Scene:
    agent, other = rng.sample(_PEOPLE, 2)
    patient = other if rng.random() < 0.45 else rng.choice(MEMBERS[rng.choice(_THINGS)])
    group = GROUPS[patient]
    time, place = rng.choice(TIMES), rng.choice(PLACES[group])
    return Scene(agent, rng.choice(_DEEDS.get(group, MEETINGS)), patient, place, time)


def _possible(scene: Scene) -> bool:
    """Return whether people do this to the patient, at that place."""
    group = GROUPS[scene.patient]
    deeds = _DEEDS.get(group, MEETINGS)
    return scene.agent != scene.patient and scene.action in deeds and scene.place in PLACES[group]


def _varied(rng: Random, scene: Scene) -> Scene:
    """Draw none to all of the slots anew; sometimes exchange agent and patient."""
    number = rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))
    if scene.action in MEETINGS and rng.random() < 0.3:
        scene, number = scene._replace(agent=scene.patient, patient=scene.agent), min(number, 2)
    while True:
        other = _near(rng, scene) if rng.random() < 0.5 else _scene(rng)
        slots = rng.sample(sorted(WEIGHTS), number)
        varied = scene._replace(**{slot: getattr(other, slot) for slot in slots})
        if _possible(varied):
            return varied


def _near(rng: Random, scene: Scene) -> Scene:
    """Draw a scene whose agent and patient are of the same groups."""
    agent, patient = (rng.choice(MEMBERS[GROUPS[name]]) for name in (scene.agent, scene.patient))
    return _scene(rng)._replace(agent=agent, patient=patient)


def _pair(rng: Random, *, fresh: bool) -> Row:
    """Describe two scenes, more often than not in different wordings."""
    first = _scene(rng)
    second = _varied(rng, first)
    forms: Sequence[str] = wordings(_DATA["scenes"]["wordings"], fresh=fresh)
    openings: Sequence[str] = _DATA["scenes"]["openings"]
    form, opening = rng.choice(forms), rng.choice(openings)
    one = _told(rng, first, form, opening)
    same = rng.random() < 0.3
    two = _told(rng, second, form if same else rng.choice(forms), opening if same else rng.choice(openings))
    return Row((one, two), f"{score(first, second):.2f}")


def _told(rng: Random, scene: Scene, form: str, opening: str) -> str:
    deed = rng.choice((scene.action.verb, scene.action.same or scene.action.verb))
    return sentence(
        opening
        + form.format(
            agent=a(scene.agent),
            patient=a(scene.patient),
            place=scene.place,
            time=scene.time,
            past=deed.past,
            participle=deed.participle,
            ing=deed.ing,
        )
    )
