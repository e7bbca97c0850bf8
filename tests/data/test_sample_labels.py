"""The labels of the sample benchmark, worked out again from the finished sentences alone."""

from __future__ import annotations

import re
from collections import Counter

from gluebench.data.sample.paraphrase import _EVENTS
from gluebench.data.sample.rows import Row
from gluebench.data.sample.sentiment import _NEW_WORDS
from gluebench.data.sample.similarity import Scene, score
from gluebench.data.sample.world import (
    ACTIONS,
    DAYS,
    GOODS,
    NUMBERS,
    PEOPLE,
    PLACES,
    SCARCE_ACTIONS,
    SCARCE_GOODS,
    TRADES,
)

from gluebench.benchmark import load_benchmark
from gluebench.data.sample import SEED, generate
from gluebench.data.tokens import words

SEEDS = (SEED, 7)


def rows_of(task: str) -> list[Row]:
    record = load_benchmark("sample").task(task)
    return [row for seed in SEEDS for rows in generate(record, seed=seed).values() for row in rows]


def test_opinions_have_the_polarity_that_their_grammar_gives() -> None:
    polarity = {word: label == "1" for label, known in _NEW_WORDS.items() for word in known}

    def clause(text: str) -> bool:
        found = [word for word in re.findall(r"[a-z]+", text) if word in polarity]
        if len(found) == 2:
            last = re.search(r"not so much|\bless\b|would be", text)
            return polarity[found[1 if last else 0]]
        (word,) = found
        negations = "is not|hardly|anything but|never|far from|less|in no way|by no means"
        return polarity[word] != bool(re.search(rf"\b({negations})\b", text))

    def whole(text: str) -> bool:
        for pattern in (
            r"although .*?, (?P<says>.*)",
            r"(?P<says>.*), even though .*",
            r"whoever says that .* has not seen how (?P<says>.*)",
            r"it hardly matters that .*, because (?P<says>.*)",
            r"(?P<says>.*), which matters more than that .*",
            r".*, (?:but|and yet) (?P<says>.*)",
            r"never mind that .*, for (?P<says>.*)",
        ):
            if found := re.fullmatch(pattern, text):
                return clause(found["says"])
        parts = re.split(
            r", and of course |, and |; moreover, |; what is more, |; in short, |, just as ", text
        )
        (says,) = {clause(re.sub("^(besides, |not only that: )", "", part)) for part in parts}
        return says

    for row in rows_of("SST-2"):
        assert whole(row.inputs[0].lower()) == (row.label == "1"), row


FIELD = {"n": r"\w+", "kind": r"\w+", "time": r"\w+", "until": r"\w+", "place": "|".join(PLACES)}
FIELD |= {"past": r"\w+", "participle": r"\w+"}


def reader(form: str) -> re.Pattern[str]:
    """What recognises a template, with a group for each of its fields."""
    opening = r"(?:officials said that |according to a spokeswoman, )?"
    parts = re.split(r"\{(\w+)\}", form)
    for at in range(1, len(parts), 2):
        parts[at] = f"(?P<{parts[at]}>{FIELD.get(parts[at], '[a-z]+(?: [a-z]+)?')})"
    return re.compile(opening + "".join(parts) + r"\.")


def test_paraphrases_tell_the_same_facts_and_the_others_do_not() -> None:
    readers = [reader(form) for _, forms in _EVENTS for form in forms]
    verbs = {form: each.base for each in ACTIONS for form in (each.past, each.participle, *each.same[1:])}

    def facts(text: str) -> set[tuple[tuple[str, str], ...]]:
        """Roles and what fills them, in each way the text can be read; verbs that mean the same are one."""
        found = [match.groupdict() for each in readers if (match := each.fullmatch(text.lower()))]
        for roles in found:
            for form in {"past", "participle"} & set(roles):
                roles["deed"] = verbs[roles.pop(form)]
        return {tuple(sorted(roles.items())) for roles in found}

    for row in rows_of("MRPC"):
        first, second = map(facts, row.inputs)
        assert first, row
        assert second, row
        assert bool(first & second) == (row.label == "1"), row


def test_similarity_scores_are_those_of_the_scenes_that_the_texts_describe() -> None:
    verbs = {form: each for each in ACTIONS for form in (each.past, each.participle, *each.same[1:])}
    kinds = {kind.plural: kind for kind in GOODS}

    def scene(text: str) -> Scene:
        text = text[0].lower() + text[1:-1]
        helper = re.search(r"help(?:ed by|ed by| of) an? (\w+)|an? (\w+) (?:lent|assist|helped)", text)
        assert helper, text
        helping = helper[1] or helper[2]
        (agent,) = {trade for trade in re.findall(r"\ban? (\w+)", text) if trade in TRADES} - {helping}
        found = words(text)
        return Scene(
            agent,
            helping,
            next(verbs[word] for word in found if word in verbs),
            next(kinds[word] for word in found if word in kinds),
            next(NUMBERS.index(word) for word in found if word in NUMBERS),
            next(place for place in PLACES if place in text),
            next(day for day in DAYS if day in text),
        )

    for row in rows_of("STS-B"):
        assert score(scene(row.inputs[0]), scene(row.inputs[1])) == float(row.label), row


def test_acceptability_of_three_constructions_by_rule() -> None:
    state = r" (?:very |rather )?\w+(?: and \w+| but not \w+)?\.$"
    plurals, singulars = {kind.plural for kind in GOODS}, {kind.name for kind in GOODS}
    seen: Counter[str] = Counter()
    for row in rows_of("CoLA"):
        text = re.sub(
            "^(to be honest|as far as I know|if I am right|by the way), ", "", row.inputs[0], flags=re.I
        )
        text = text[0].upper() + text[1:]
        found = words(text)
        if found[1] in plurals | singulars:
            one = re.search(rf" (is|was|looks|seems){state}", text)
            many = re.search(rf" (are|were|look|seem){state}", text)
            assert bool(one) != bool(many)
            assert (row.label == "1") == (bool(one) == (found[1] in singulars)), row
            seen["agreement"] += 1
        elif found[-1] in ("himself", "herself"):
            assert (row.label == "1") == ((found[1] in ("king", "uncle")) == (found[-1] == "himself")), row
            seen["reflexive"] += 1
        elif " ever " in text:
            assert (row.label == "1") == text.startswith("No "), row
            seen["polarity"] += 1
    assert min(seen.values()) > 100
    assert len(seen) == 3


def test_duplicates_among_comparisons_routes_and_deeds_by_rule() -> None:
    opposite = {"faster": "slower", "cheaper": "more expensive", "heavier": "lighter", "older": "newer"}
    opposite |= {"more useful": "less useful", "louder": "quieter", "easier to sell": "harder to sell"}
    forms = "|".join([*opposite, *opposite.values()])
    verbs = {form: each.base for each in ACTIONS for form in (each.base, each.same[0])}
    seen: Counter[str] = Counter()
    for row in rows_of("QQP"):
        sides = [
            re.search(rf"\ban? (\w+) (?:is |usually |be )*({forms}) than an? (\w+)\?", text)
            for text in row.inputs
        ]
        if sides[0] and sides[1]:
            order = [(at[1], at[3]) if at[2] in opposite else (at[3], at[1]) for at in sides if at]
            assert (row.label == "1") == (order[0] == order[1]), row
            seen["comparison"] += 1
        starts = [re.search(r"[Ff]rom the (\w+(?: hall)?)", text) for text in row.inputs]
        if starts[0] and starts[1]:
            assert (row.label == "1") == (starts[0][1] == starts[1][1]), row
            seen["route"] += 1
        deeds = [{verbs[word] for word in words(text) if word in verbs} for text in row.inputs]
        if all(deeds) and re.search("|".join(PEOPLE), row.inputs[0]) and " not " not in row.inputs[0]:
            assert (row.label == "1") == (deeds[0] == deeds[1]), row
            seen["deed"] += 1
    assert min(seen[name] for name in ("comparison", "route", "deed")) > 500


def test_scarce_tasks_are_tested_on_what_they_were_not_trained_on() -> None:
    """The kinds and verbs that RTE and MRPC are tested on are new to them; other tasks teach all of them."""
    sample = load_benchmark("sample")
    kinds = {form: kind for kind in GOODS for form in (kind.name, kind.plural)}
    verbs = {form: each for each in ACTIONS for form in (each.base, each.past, each.participle, *each.same)}

    def met(task: str, *splits: str) -> tuple[set[object], set[object]]:
        made = generate(sample.task(task))
        rows = [row for split in splits for row in made[split]]
        texts = [text.replace(" saw how ", " ") for row in rows for text in row.inputs]  # a saw is a tool
        found = {word for text in texts for word in words(text)}
        return {kinds[word] for word in found & set(kinds)}, {verbs[word] for word in found & set(verbs)}

    assert met("RTE", "train", "dev")[0] == set(SCARCE_GOODS)
    assert met("RTE", "test")[0] == set(GOODS) - set(SCARCE_GOODS)
    trained, tested = met("MRPC", "train", "dev"), met("MRPC", "test")
    assert trained[0] == set(SCARCE_GOODS)
    assert not trained[0] & tested[0]
    assert trained[1] >= set(SCARCE_ACTIONS)
    assert tested[1] - trained[1] >= set(ACTIONS) - set(SCARCE_ACTIONS) - {verbs["bought"]}
    for task in ("QQP", "QNLI", "STS-B"):
        assert met(task, "train") == (set(GOODS), set(ACTIONS)), task
    assert met("MNLI", "train")[0] == set(GOODS)
