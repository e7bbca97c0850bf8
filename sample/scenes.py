"""MNLI-like meanings from everyday life: what somebody did, and what went with it.

A premise tells a deed with some of its particulars (what like, where, when) and two or three details, which
may be denied. A hypothesis repeats, generalizes, denies or adds something: `label` says what follows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row
from sample.logic import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL
from sample.world import (
    CATEGORIES,
    DAYS,
    MEN,
    WOMEN,
    Activity,
    Verb,
    a,
    listed,
    seen,
    sentence,
    unseen,
    verb,
)

SCENES: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
HELD_OUT = ("renting", "watching", "forgetting")
"""Scenes of MNLI's mismatched sections."""
TIMES = tuple(f"on {day}" for day in DAYS)
"""Two of them exclude each other."""
_VAGUE = 0.2
"""How often a deed names only the category of a thing."""


class Deed(NamedTuple):
    """What somebody did; what is not told is empty."""

    kind: str
    """A kind of thing, or its category."""
    quality: str
    place: str
    time: str


class Claim(NamedTuple):
    """A statement on a deed or on details."""

    deed: Deed | None
    details: Mapping[int, bool]
    """Number of a detail to whether it is said to be so."""
    denied: bool = False
    """Whether the deed is denied."""
    same: bool = False
    """Whether the statement is on the deed that the premise tells, and not on any such deed."""


class Scene(NamedTuple):
    """What a premise tells."""

    name: str
    who: str
    pronoun: str
    deed: Deed
    details: Mapping[int, bool]


def label(scene: Scene, claim: Claim) -> str | None:
    """What the premise says of a claim; None where people may disagree: a coat on Monday, one on Friday."""
    if claim.deed is None:
        return _label_of_details(scene, claim)
    pairs = list(zip(claim.deed[1:], scene.deed[1:], strict=True))
    if any(said and told and said != told for said, told in pairs):
        return CONTRADICTION if claim.same else None
    wider = claim.deed.kind in (scene.deed.kind, category(scene.deed.kind))
    narrower = category(claim.deed.kind) == scene.deed.kind
    if not wider and not narrower:
        return None
    if not wider or any(said and not told for said, told in pairs):
        return NEUTRAL
    return CONTRADICTION if claim.denied else ENTAILMENT


def _label_of_details(scene: Scene, claim: Claim) -> str:
    told = [(value, scene.details.get(number)) for number, value in claim.details.items()]
    if any(so is not None and so != said for said, so in told):
        return CONTRADICTION
    return ENTAILMENT if all(so is not None for _, so in told) else NEUTRAL


def category(kind: str) -> str:
    """What a kind of thing is: a violin is an instrument."""
    return _CATEGORY.get(kind, kind)


_CATEGORY = {kind.name: each.name for each in CATEGORIES.values() for kind in each.kinds}


def act(name: str) -> Verb:
    """The verb of a scene."""
    return verb(SCENES[name]["act"])


class Wording(NamedTuple):
    """One way to tell a detail."""

    activity: Activity
    opposite: bool
    """Whether it says that the detail is not so."""


def wordings(name: str, number: int) -> list[Wording]:
    """The ways to tell a detail of a scene."""
    found = []
    for text in SCENES[name]["details"][number].split(" | "):
        first, _, rest = text.removeprefix("!").partition(" ")
        found.append(Wording(Activity(verb(first), rest), text.startswith("!")))
    return found


def block(rng: Random, *, fresh: bool) -> list[Row]:
    """One premise with a hypothesis for each label."""
    scene = _scene(rng, fresh=fresh)
    premise = _told(rng, scene)
    makers = {ENTAILMENT: _entailed, NEUTRAL: _neutral, CONTRADICTION: _contradicted}
    rows = []
    for wanted in LABELS:
        claim = makers[wanted](rng, scene)
        if label(scene, claim) != wanted:
            return []
        rows.append(Row((premise, _claimed(rng, scene, claim)), wanted))
    return rows


def _scene(rng: Random, *, fresh: bool) -> Scene:
    part = unseen if fresh else seen
    name = rng.choice([each for each in SCENES if (each in HELD_OUT) == fresh])
    names, pronoun = rng.choice(((WOMEN, "she"), (MEN, "he")))
    chosen = sorted(rng.sample(range(len(SCENES[name]["details"])), rng.choice((2, 2, 3))))
    return Scene(
        name,
        rng.choice(part(names)),
        pronoun,
        _deed(rng, name),
        {number: rng.random() < 0.5 for number in chosen},
    )


def _deed(rng: Random, name: str) -> Deed:
    """A deed with most of its particulars."""
    things = CATEGORIES[rng.choice(SCENES[name]["things"])]
    vague = rng.random() < _VAGUE
    return Deed(
        things.name if vague else rng.choice(things.kinds).name,
        rng.choice(things.qualities) if rng.random() < 0.5 and not vague else "",
        rng.choice(SCENES[name]["places"]) if rng.random() < 0.75 else "",
        rng.choice(TIMES) if rng.random() < 0.6 else "",
    )


def _told(rng: Random, scene: Scene) -> str:
    """The premise: the deed, and the details in another sentence."""
    first = _deed_text(rng, scene.who, act(scene.name).past, scene.deed)
    parts = [_detail_text(rng, scene, number, value, "it") for number, value in scene.details.items()]
    return f"{sentence(first)} {sentence(f'{scene.pronoun} {listed(parts)}')}"


def _detail_text(rng: Random, scene: Scene, number: int, value: bool, it: str) -> str:
    (form, rest), opposite = rng.choice(wordings(scene.name, number))
    said = form.past if value != opposite else f"did not {form.base}"
    return f"{said} {rest.format(it=it)}".strip()


def _deed_text(rng: Random, who: str, verb: str, deed: Deed) -> str:
    thing = a(f"{deed.quality} {deed.kind}".strip())
    clause = f"{who} {verb} {thing}"
    if deed.place:
        clause += f" {deed.place}"
    if deed.time and rng.random() < 0.3:
        return f"{deed.time} {clause}"
    return f"{clause} {deed.time}".strip()


def _claimed(rng: Random, scene: Scene, claim: Claim) -> str:
    """A hypothesis in words."""
    if claim.deed is None:
        it = f"the {scene.deed.kind}"
        parts = [_detail_text(rng, scene, number, value, it) for number, value in claim.details.items()]
        return sentence(f"{scene.who} {' and '.join(parts)}")
    form = act(scene.name)
    if claim.denied:
        return sentence(_deed_text(rng, scene.who, f"did not {form.base}", claim.deed))
    if claim.same:
        when_or_where = claim.deed.time or claim.deed.place
        return sentence(f"it was {when_or_where} that {scene.who} {form.past} the {claim.deed.kind}")
    return sentence(_deed_text(rng, scene.who, form.past, claim.deed))


def _less(rng: Random, deed: Deed) -> Deed:
    """The deed with less said of it."""
    told = [name for name in ("quality", "place", "time") if getattr(deed, name)]
    dropped = rng.sample(told, rng.randint(min(1, len(told)), len(told)))
    return deed._replace(**dict.fromkeys(dropped, ""))


def _entailed(rng: Random, scene: Scene) -> Claim:
    way = rng.random()
    if way < 0.5:
        numbers = rng.sample(list(scene.details), rng.choice((1, 1, 2)))
        return Claim(None, {number: scene.details[number] for number in numbers})
    if way < 0.65:
        return _placed(rng, scene, scene.deed)
    deed = _less(rng, scene.deed)
    if way < 0.8:
        deed = deed._replace(kind=category(deed.kind), quality="")
    return Claim(deed, {})


def _contradicted(rng: Random, scene: Scene) -> Claim:
    way = rng.random()
    if way < 0.55:
        numbers = rng.sample(list(scene.details), rng.choice((1, 1, 2)))
        wrong = rng.choice(numbers)
        return Claim(None, {number: scene.details[number] != (number == wrong) for number in numbers})
    if way < 0.75:
        return Claim(_less(rng, scene.deed), {}, denied=True)
    return _placed(rng, scene, _deed(rng, scene.name))


def _neutral(rng: Random, scene: Scene) -> Claim:
    way = rng.random()
    if way < 0.45:
        number = rng.randrange(len(SCENES[scene.name]["details"]))
        told = rng.sample(sorted(scene.details.items()), rng.choice((0, 0, 1)))
        return Claim(None, {**dict(told), number: rng.random() < 0.5})
    other = _deed(rng, scene.name)
    if way < 0.55:
        return _placed(rng, scene, other)
    if category(other.kind) != scene.deed.kind:
        other = other._replace(kind=scene.deed.kind)
    return Claim(other, {}, denied=rng.random() < 0.35)


def _placed(rng: Random, scene: Scene, other: Deed) -> Claim:
    """That the deed was done where, or when, the other was."""
    time, place = (other.time, "") if rng.random() < 0.5 else ("", other.place)
    return Claim(Deed(scene.deed.kind, "", place, time), {}, same=bool(time or place))
