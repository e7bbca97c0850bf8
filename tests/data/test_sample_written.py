"""CoLA, SST-2, WNLI and STS-B of the sample: their sentences read back by rules."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from random import Random

import numpy as np
import pytest

from gluebench.data.tokens import overlap, words
from sample import acceptability, coreference, paraphrase, sentiment, similarity
from sample.frame import Row, Splits, normalized, wordings
from sample.grammar import WORDS
from sample.similarity import GROUPS, Scene, score
from sample.world import CATEGORIES, DEEDS, TRADES, Deed, plural, verb

TASKS = {
    "CoLA": acceptability.generate,
    "SST-2": sentiment.generate,
    "WNLI": coreference.generate,
    "MRPC": paraphrase.generate,
    "STS-B": similarity.generate,
}
SIZES = {"train": 200, "dev": 40, "test": 200}


@cache
def splits(task: str, seed: int = 2018) -> Splits:
    return TASKS[task](Random(seed), SIZES)


def rows_of(task: str) -> list[Row]:
    return [row for seed in (2018, 7) for rows in splits(task, seed).values() for row in rows]


def alternatives(items: list[str]) -> str:
    return "|".join(re.escape(item) for item in sorted(items, key=len, reverse=True))


@pytest.mark.parametrize("task", TASKS)
def test_no_text_stands_twice_when_case_and_punctuation_are_left_out(task: str) -> None:
    keys = Counter(normalized(row.inputs) for rows in splits(task).values() for row in rows)
    assert keys.total() == sum(SIZES.values())
    assert keys.most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("task", "label", "share"),
    [("CoLA", "1", 0.7), ("SST-2", "1", 0.5), ("MRPC", "1", 0.68), ("WNLI", "0", 0.65)],
)
def test_labels_have_the_shares_of_glue(task: str, label: str, share: float) -> None:
    test = splits(task)["test"]
    assert sum(row.label == label for row in test) / len(test) == pytest.approx(share, abs=0.005)


# ---------------------------------------------------------------- SST-2

POLARITY = {
    word: label == sentiment.POSITIVE
    for lists in sentiment.DIMENSIONS.values()
    for label, known in lists.items()
    for word in known
}
OPINION = re.compile(rf"\b(?:{alternatives(list(POLARITY))})\b")
REVERSED = re.compile(
    r"\b(not|hardly|anything but|far from|nothing|nobody|by no means|a lie|in vain|fails?|avoids?)\b"
    r"|\b(at no point|wrong|disagree|less)\b|\bnever (?!before)"
)
CONTRASTS = [
    re.compile(pattern)
    for pattern in (
        r"although (?P<against>.*), (?P<says>.*)",
        r"while it is true that (?P<against>.*), (?P<says>.*)",
        r"it hardly matters that (?P<against>.*), because (?P<says>.*)",
        r"(?P<says>.*), (even though|never mind that) (?P<against>.*)",
        r"(granted, |admittedly |i know that )?(?P<against>.*)"
        r"(, but all the same|, but|, and yet|, yet|; still,|, and nevertheless) (?P<says>.*)",
    )
]
AGREEING = r"; moreover, |; what is more, |; on top of that, |, just as |, and in the same way |, and "


def clause(text: str) -> bool:
    found = OPINION.findall(text)
    if len(found) == 2:
        second = r"not so much|\bless .* than|would be|i expected|^this could have been"
        return POLARITY[found[1 if re.search(second, text) else 0]]
    (word,) = found
    return POLARITY[word] != bool(REVERSED.search(text))


def polarity(text: str) -> bool:
    """The polarity of an opinion: of the clause that counts, or of all of them."""
    for opening in sentiment.OPENINGS:
        text = text.removeprefix(opening.lower())
    text = re.sub(r"contrary to what i had been told, ([^,]*), not", r"\1 and not", text)
    text = text.replace("and not, as somebody told me,", "and not").replace("but for", "without")
    text = text.replace("but never", "and never")
    for pattern in CONTRASTS:
        if found := pattern.fullmatch(text):
            assert clause(found["says"]) != clause(found["against"]), text
            return clause(found["says"])
    if text.startswith(("with a less", "with less", "this could", "only the", "without the")):
        return clause(re.sub(r"\bless ", "", text))
    text = re.sub("^(besides, |not only that: )", "", text)
    (says,) = {clause(part) for part in re.split(AGREEING, text) if OPINION.search(part)}
    return says


def test_opinions_have_the_polarity_that_their_grammar_gives() -> None:
    for row in rows_of("SST-2"):
        assert polarity(row.inputs[0].lower().rstrip(".")) == (row.label == "1"), row


def test_a_quarter_of_the_words_of_opinion_is_in_no_split_but_test() -> None:
    known = {
        word
        for lists in sentiment.DIMENSIONS.values()
        for words in lists.values()
        for word in wordings(words, fresh=False)
    }
    for split, rows in splits("SST-2").items():
        used = {word for row in rows for word in OPINION.findall(row.inputs[0].lower())}
        assert (split == "test") == bool(used - known), used - known
    assert len(set(POLARITY) - known) >= len(POLARITY) // 5


# ---------------------------------------------------------------- WNLI


def test_wnli_tests_new_names_and_new_schemas_and_its_dev_split_is_adversarial() -> None:
    made = splits("WNLI")
    named = {split: {words(row.inputs[1])[0] for row in rows} for split, rows in made.items()}
    assert not (named["train"] | named["dev"]) & named["test"]
    said = {split: {tuple(words(row.inputs[1])[1:]) for row in rows} for split, rows in made.items()}
    assert not (said["train"] | said["dev"]) & said["test"]
    train = {normalized(row.inputs)[1]: row.label for row in made["train"]}
    shared = [row for row in made["dev"] if normalized(row.inputs)[1] in train]
    assert sum(train[normalized(row.inputs)[1]] != row.label for row in shared) >= 0.8 * len(made["dev"])


def test_wnli_texts_are_of_several_sentences_and_of_each_pair_of_names_one_is_meant() -> None:
    by_premise: dict[str, list[Row]] = {}
    for row in splits("WNLI")["train"]:
        by_premise.setdefault(row.inputs[0], []).append(row)
    for premise, rows in by_premise.items():
        assert len(re.findall(r"\w[.] ?", premise)) >= 2
        assert {row.label for row in rows} == {"0", "1"} or len(rows) < 2
        assert len({row.group for row in rows}) == 1


# ---------------------------------------------------------------- STS-B

VIOLIN, FLUTE = (kind.name for kind in CATEGORIES["instrument"].kinds[:2])
HUG, CALL = (
    Deed(verb(one), verb(two), ("person",)) for one, two in (("hug+", "embrace"), ("call", "summon"))
)
SCENE = Scene("nurse", HUG, "baker", "in the park", "at dawn")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 5.0),
        ({"time": "after lunch"}, 4.5),
        ({"place": "by the lake", "time": "after lunch"}, 4.0),
        ({"agent": "doctor"}, 4.25),
        ({"agent": "sailor"}, 3.75),
        ({"action": CALL}, 3.75),
        ({"patient": "sailor"}, 3.5),
        ({"agent": "baker", "patient": "nurse"}, 2.5),
        ({"agent": "baker", "patient": "nurse", "action": CALL}, 1.25),
        ({"agent": "sailor", "patient": "pilot", "action": CALL}, 1.0),
        (
            {
                "agent": "sailor",
                "patient": "pilot",
                "action": CALL,
                "time": "after lunch",
                "place": "by the lake",
            },
            0.0,
        ),
    ],
)
def test_similarity_by_hand(changes: dict[str, object], expected: float) -> None:
    other = SCENE._replace(**changes)  # type: ignore[arg-type]
    assert score(SCENE, other) == pytest.approx(expected, abs=0.03)
    assert score(other, SCENE) == score(SCENE, other)


def test_similarity_never_rises_when_one_more_slot_differs() -> None:
    different = Scene("sailor", CALL, VIOLIN, "by the lake", "after lunch")
    for seed in range(20):
        slots = Random(seed).sample(Scene._fields, 5)
        scores = [
            score(SCENE, SCENE._replace(**{slot: getattr(different, slot) for slot in slots[:count]}))
            for count in range(6)
        ]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == 6


def test_scenes_are_read_back_with_their_scores() -> None:
    verbs: dict[str, set[str]] = {}
    for each in (*DEEDS, *similarity.MEETINGS):
        forms = [form for form in (each.verb, each.same) if form]
        for form in forms:
            for text in (form.past, form.participle, form.ing):
                verbs.setdefault(text, set()).update(other.base for other in forms)
    nouns = re.compile(rf"\ban? ({alternatives(list(GROUPS))})\b")
    places = alternatives(sorted({place for each in similarity.PLACES.values() for place in each}))
    times = alternatives([time.lower() for time in similarity.TIMES])

    def scene(text: str) -> tuple[str, set[str], str, str, str]:
        text = text.lower().replace("was seen", "")
        (place,), (time,) = set(re.findall(places, text)), set(re.findall(times, text))
        left = text.replace(time, " ").replace(place, " ")
        one, two = nouns.findall(left)
        passive = re.search(rf"was \w+ +by an? {two}", left)
        deeds = [verbs[word] for word in words(left) if word in verbs and word not in (one, two)]
        return (two if passive else one), set.intersection(*deeds[:1]), (one if passive else two), place, time

    def value(first: str, second: str) -> float:
        one, two = scene(first), scene(second)
        swapped = (one[0], one[2]) == (two[2], two[0])
        shares = [
            0.1 if swapped else 1.0 if a == b else 0.4 * (GROUPS[a] == GROUPS[b])
            for a, b in zip(one[::2][:2], two[::2][:2], strict=True)
        ]
        total = 0.25 * shares[0] + 0.3 * shares[1] + 0.25 * bool(one[1] & two[1])
        return 5 * (total + 0.1 * (one[3] == two[3]) + 0.1 * (one[4] == two[4]))

    for row in rows_of("STS-B"):
        assert value(*row.inputs) == pytest.approx(float(row.label), abs=0.03), row


def test_overlap_says_something_of_similarity_but_not_much() -> None:
    rows = TASKS["STS-B"](Random(3), {"test": 500})["test"]
    shared = [overlap(*row.inputs) for row in rows]
    assert 0.3 < np.corrcoef(shared, [float(row.label) for row in rows])[0, 1] < 0.75


# ---------------------------------------------------------------- CoLA

PLURALS = {noun.plural for noun in TRADES} - {noun.name for noun in TRADES}
HIM = {form for each in (*WORDS["masculine"], *WORDS["male_kin"]) for form in each.split("/")[:1]}
MALE_PLURALS = {
    each.partition("/")[2] or plural(each) for name in ("masculine", "feminine") for each in WORDS[name]
}


def test_four_constructions_of_acceptability_by_rule() -> None:
    seen: Counter[str] = Counter()
    for row in rows_of("CoLA"):
        text = row.inputs[0]
        for opening in filter(None, WORDS["openings"]):
            if text.lower().startswith(opening.lower()):
                text = text[len(opening) :]
        found = words(text)
        if copula := re.search(
            r" (is|are|was|were|looks|look|seems|seem)( very| rather| quite)? (\w+)\.$", text
        ):
            if copula[3] in WORDS["gradable"] and found[0] == "the" and "which" not in found:
                several = copula[1] in ("are", "were", "look", "seem")
                assert (row.label == "1") == (several == (found[1] in PLURALS)), row
                seen["agreement"] += 1
        elif found[-1] in ("himself", "herself", "themselves") and found[0] == "the":
            wanted = "themselves" if found[1] in MALE_PLURALS else "himself" if found[1] in HIM else "herself"
            assert (row.label == "1") == (found[-1] == wanted), row
            seen["reflexive"] += 1
        elif "has ever" in text:
            assert (row.label == "1") == (found[0] == "no"), row
            seen["polarity"] += 1
        elif many := re.search(r" too (much|many) \w+ ([\w-]+)\.$", text):
            assert (row.label == "1") == ((many[1] == "much") == (many[2] in WORDS["mass"])), row
            seen["amount"] += 1
    assert min(seen.values()) > 10
    assert len(seen) == 4


def test_every_word_of_acceptability_is_about_as_often_in_good_sentences_as_in_bad() -> None:
    rows = TASKS["CoLA"](Random(5), {"train": 1500})["train"]
    good = Counter(word for row in rows if row.label == "1" for word in set(words(row.inputs[0])))
    every = Counter(word for row in rows for word in set(words(row.inputs[0])))
    for word, count in every.items():
        if count >= 30:
            assert abs(good[word] / count - 0.7) < 4.5 * (0.7 * 0.3 / count) ** 0.5, word
    assert len(every) > 800


def test_acceptability_is_tested_on_deeper_sentences_and_on_new_words() -> None:
    made = splits("CoLA")
    length = {
        split: sum(len(words(row.inputs[0])) for row in rows) / len(rows) for split, rows in made.items()
    }
    assert length["test"] > length["train"] + 2
    new = {word for row in made["test"] for word in words(row.inputs[0])}
    new -= {word for row in made["train"] for word in words(row.inputs[0])}
    assert len(new) > 100
