"""The labels of the sample benchmark, worked out again from the finished sentences alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import permutations, product

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.data.sample import SEED, generate
from gluebench.data.sample.paraphrase import _EVENTS
from gluebench.data.sample.rows import Row
from gluebench.data.sample.sentiment import _NEW_WORDS
from gluebench.data.sample.similarity import Scene, score
from gluebench.data.sample.world import ACTIONS, DAYS, GOODS, KINDS, MONTHS, NUMBERS, PLACES, TRADES, plural
from gluebench.data.tokens import words

SEEDS = (SEED, 7)


def rows_of(task: str) -> list[Row]:
    record = load_benchmark("sample").task(task)
    return [row for seed in SEEDS for rows in generate(record, seed=seed).values() for row in rows]


# ---------------------------------------------------------------- inference: all models of the premise


def verdict(models: Iterable[bool]) -> str:
    found = set(models)
    assert found, "a premise that cannot be true"
    return "neutral" if len(found) == 2 else "entailment" if True in found else "contradiction"


NOUNS = {form: kind.name for kinds in KINDS.values() for kind in kinds for form in (kind.name, kind.plural)}
CATEGORY = {kind.name: kind.category for kinds in KINDS.values() for kind in kinds}
CATEGORIES = {form: name for name in KINDS for form in (name, plural(name))}


def quantified(clauses: list[str], hypothesis: str) -> str | None:
    """Every state of three individuals of the premise's group, the first two of the hypothesis's kind."""
    some = r"some of the|at least one|some|a few of the|more than one"
    none = r"none of the|not a single one of the|not one|no"
    every = r"all of the|each|every|the|any"
    claim = re.fullmatch(rf"(one|not every|{some}|{every}) (\w+) (.*)", hypothesis)
    if not claim or claim[2] not in NOUNS:
        return None
    kind = NOUNS[claim[2]]
    fact = None
    for clause in clauses:
        found = re.match(rf"({none}|{some}|{every}) (\w+)", clause)
        group = found and (CATEGORIES.get(found[2]) or NOUNS.get(found[2]))
        if found and group in (kind, CATEGORY[kind]):
            fact = (
                "none"
                if re.fullmatch(none, found[1])
                else "some"
                if re.fullmatch(some, found[1])
                else "every"
            )
            whole_group = group != kind
    if fact is None:
        return None
    denied = claim[1] == "not every" or " not " in f" {claim[3]} "
    models = []
    for states in product((False, True), repeat=3):
        if {"every": all(states), "some": any(states), "none": not any(states)}[fact]:
            members = states[:2] if whole_group else states
            models.append(not all(members) if denied else all(members))
    return verdict(models)


RELATIONS = {
    "is taller than": "is shorter than",
    "is older than": "is younger than",
    "earns more than": "earns less than",
    "ran faster than": "ran slower than",
    "lives to the north of": "lives to the south of",
    "arrived before": "arrived after",
    "spoke earlier than": "spoke later than",
    "left before": "left after",
    "sits in front of": "sits behind",
}


def compared(clauses: list[str], hypothesis: str) -> str | None:
    def above(text: str) -> tuple[str, str] | None:
        for more, less in RELATIONS.items():
            if found := re.fullmatch(rf"(\w+) ({more}|{less}) (\w+)", text):
                return (found[1], found[3]) if found[2] == more else (found[3], found[1])
        return None

    claim, facts = above(hypothesis), [above(clause) for clause in clauses]
    if claim is None:
        return None
    names = sorted({name for fact in facts if fact for name in fact})
    orders = [{name: place for place, name in enumerate(order)} for order in permutations(names)]
    return verdict(
        order[claim[0]] < order[claim[1]]
        for order in orders
        if all(fact and order[fact[0]] < order[fact[1]] for fact in facts)
    )


def counted(clauses: list[str], hypothesis: str) -> str | None:
    claim = re.fullmatch(r"(\w+) \w+ (more|fewer) than (\w+) .*", hypothesis)
    if not claim:
        return None
    least, most = "at least|no fewer than|a minimum of", "at most|no more than|a maximum of"
    bound = next(
        found
        for clause in clauses
        if (
            found := re.fullmatch(
                rf"{claim[1]} \w+ ({least}|{most}) (\w+) .*",
                clause,
            )
        )
    )
    number, asked = NUMBERS.index(bound[2]), NUMBERS.index(claim[3])
    open_above = re.fullmatch(least, bound[1])
    possible = [count for count in range(40) if (count >= number if open_above else count <= number)]
    return verdict(count > asked if claim[2] == "more" else count < asked for count in possible)


def propositional(clauses: list[str], hypothesis: str) -> str | None:
    """Who did it and who did not, in every way that the premise leaves open."""
    affirm = re.fullmatch(r"([A-Z]\w+) (did not )?(\w+) (.+)", hypothesis)
    if not affirm:
        return None
    people = sorted({name for clause in clauses for name in re.findall(r"[A-Z]\w+", clause)})
    facts = [condition(clause) for clause in clauses]
    worlds = [dict(zip(people, states, strict=True)) for states in product((False, True), repeat=len(people))]
    return verdict(
        world[affirm[1]] != bool(affirm[2]) for world in worlds if all(fact(world) for fact in facts)
    )


World = dict[str, bool]


def condition(clause: str) -> Callable[[World], bool]:
    if found := re.match(r"if (\w+) .*, then so did (\w+)$", clause):
        return lambda world: not world[found[1]] or world[found[2]]
    if found := re.match(r"if (\w+) .*, then (\w+) did not ", clause):
        return lambda world: not world[found[1]] or not world[found[2]]
    if found := re.match(r"either (\w+) or (\w+) ", clause):
        return lambda world: world[found[1]] or world[found[2]]
    if found := re.match(r"\w+ (knows|has found out|is glad) that (\w+) ", clause):
        return lambda world: world[found[2]]
    if found := re.match(r"\w+ (wrongly|falsely) \w+ that (\w+) ", clause):
        return lambda world: not world[found[2]]
    if re.match(r"\w+ (suspects|hopes|says) that ", clause):
        return lambda world: True
    if found := re.match(r"(\w+) and (\w+) ", clause):
        return lambda world: world[found[1]] and world[found[2]]
    if found := re.match(r"(\w+) did not ", clause):
        return lambda world: not world[found[1]]
    found = re.match(r"(\w+) ", clause)
    assert found
    return lambda world: world[found[1]]


def test_inference_labels_follow_from_all_models_of_the_premise() -> None:
    seen: Counter[str] = Counter()
    for row in rows_of("MNLI"):
        premise, hypothesis = (text[0].lower() + text[1:-1] for text in row.inputs)
        named = [text[:-1] for text in row.inputs]
        parts = re.split(r"; |, and (?!so)|, (?!then)", named[0])
        for reader in (quantified, compared, counted, propositional):
            lowered = reader is quantified
            clauses = re.split(r"; |, and |, ", premise) if lowered else parts
            clauses = (
                clauses
                if lowered
                else [re.sub("^(If|Either) ", lambda m: m[0].lower(), each) for each in clauses]
            )
            label = reader(clauses, hypothesis if lowered else named[1])
            if label is not None:
                assert label == row.label, row
                seen[reader.__name__] += 1
                break
        else:
            pytest.fail(f"not understood: {row}")
    assert set(seen) == {"quantified", "compared", "counted", "propositional"}
    assert min(seen.values()) > 200


def test_inference_blocks_have_the_same_words_under_every_label() -> None:
    blocks = defaultdict(set)
    for row in rows_of("MNLI"):
        blocks[row.inputs[1], *sorted(words(row.inputs[0]))].add(row.label)
    assert sum(len(labels) == 3 for labels in blocks.values()) > 0.99 * len(blocks)


def test_entailment_and_answering_blocks_hold_each_text_under_both_labels() -> None:
    for task, column in (("RTE", 1), ("QNLI", 0), ("QNLI", 1)):
        held = defaultdict(Counter)
        for row in rows_of(task):
            held[row.inputs[column]][row.label] += 1
        assert all(count["entailment"] == count["not_entailment"] for count in held.values()), task


# ---------------------------------------------------------------- the other tasks, each read in its own way


def test_a_sentence_answers_if_its_main_clause_has_what_is_asked_for() -> None:
    place = "|".join(PLACES)
    slots = {
        r"When|Which day": rf"\bon ({'|'.join(DAYS)})\b",
        r"Where": rf"\b({place})\b",
        r"Who assisted|Whose help": r"\btogether with [A-Z]",
        r"How much|What sum": r"\bfor \w+ pieces of silver",
    }
    for row in rows_of("QNLI"):
        question, sentence = row.inputs
        asked = next(slot for start, slot in slots.items() if re.match(start, question))
        main = re.split(", (?:and|but|while) ", sentence)[0]
        assert bool(re.search(asked, main, re.I)) == (row.label == "entailment"), row


def test_opinions_have_the_polarity_that_their_grammar_gives() -> None:
    polarity = {word: label == "1" for label, known in _NEW_WORDS.items() for word in known}

    def clause(text: str) -> bool:
        found = [word for word in re.findall(r"[a-z]+", text) if word in polarity]
        flipped = re.search(r"\b(is not|is hardly|anything but|is never|far from|is less)\b", text)
        return polarity[found[0]] != bool(flipped)

    def whole(text: str) -> bool:
        text = re.split(", and the |, and (?=a film|the film)|; moreover", text)[0]
        for pattern in (
            r"although .*?, (?P<says>.*)",
            r"(?P<says>.*), even though .*",
            r"whoever says that .* has not seen how (?P<says>.*)",
            r"it hardly matters that .*, because (?P<says>.*)",
            r"(?P<says>.*), which matters more than that .*",
            r".*, but (?P<says>.*)",
        ):
            if found := re.fullmatch(pattern, text):
                return clause(found["says"])
        return clause(text)

    for row in rows_of("SST-2"):
        assert whole(row.inputs[0].lower()) == (row.label == "1"), row


def test_paraphrases_tell_the_same_facts_and_the_others_do_not() -> None:
    opening = r"(?:Officials said that |According to a spokeswoman, )?"
    field = {"n": r"\w+", "kind": r"\w+", "time": r"\w+", "until": r"\w+"}
    readers = [
        re.compile(
            opening
            + re.sub(
                r"\{(\w+)\}",
                lambda at: _group(at[1], field),
                re.escape(form).replace("\\{", "{").replace("\\}", "}"),
            )
            + r"\.",
            re.I,
        )
        for _, forms in _EVENTS
        for form in forms
    ]

    def facts(text: str) -> set[tuple[tuple[str, str], ...]]:
        return {
            tuple(sorted((role, value.lower()) for role, value in found.groupdict().items()))
            for reader in readers
            if (found := reader.fullmatch(text))
        }

    for row in rows_of("MRPC"):
        first, second = map(facts, row.inputs)
        assert first, row
        assert second, row
        assert bool(first & second) == (row.label == "1"), row


def _group(role: str, field: dict[str, str]) -> str:
    return f"(?P<{role}>{field.get(role, r'[A-Za-z]+(?: [a-z]+)?')})"


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
    plurals, singulars = {kind.plural for kind in GOODS}, {kind.name for kind in GOODS}
    seen: Counter[str] = Counter()
    for row in rows_of("CoLA"):
        (text,) = row.inputs
        found = words(text)
        if found[1] in plurals | singulars:
            one = re.search(r" (is|was|looks|seems) \w+\.$", text)
            many = re.search(r" (are|were|look|seem) \w+\.$", text)
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


def test_duplicates_among_comparisons_and_routes_by_rule() -> None:
    opposite = {"faster": "slower", "cheaper": "more expensive", "heavier": "lighter", "older": "newer"}
    opposite |= {"more useful": "less useful", "louder": "quieter", "easier to sell": "harder to sell"}
    forms = "|".join([*opposite, *opposite.values()])
    seen: Counter[str] = Counter()
    for row in rows_of("QQP"):
        sides = [
            re.search(rf"\ban? (\w+) (?:is |usually )*({forms}) than an? (\w+)\?", text)
            for text in row.inputs
        ]
        if sides[0] and sides[1]:
            order = [(at[1], at[3]) if at[2] in opposite else (at[3], at[1]) for at in sides if at]
            assert (row.label == "1") == (order[0] == order[1]), row
            seen["comparison"] += 1
        if "get from the" in row.inputs[0] or "go from the" in row.inputs[0]:
            start = re.search(r"from the (\w+(?: hall)?)", row.inputs[0])
            again = re.search(r"from the (\w+(?: hall)?)", row.inputs[1])
            assert start
            assert again
            assert (row.label == "1") == (start[1] == again[1]), row
            seen["route"] += 1
    assert min(seen["comparison"], seen["route"]) > 50


def test_entailment_of_two_constructions_by_rule() -> None:
    seen: Counter[str] = Counter()
    for row in rows_of("RTE"):
        premise, hypothesis = row.inputs
        if found := re.search(r"(\w+) left the (\w+) (\w+) (.+) and took", premise):
            (thing,) = re.findall(rf"{found[1]} left the (\w+) ", hypothesis)
            inside = f"The {thing} are in the {found[2]} {found[3]}." in premise
            assert (row.label == "entailment") == inside, row
            seen["carried"] += 1
        if found := re.search(r"What (\w+) owns has been (.+) since (\w+);", premise):
            assert found[3] in MONTHS
            (kind,) = re.findall(rf"{found[1]} owns one (\w+)\.", premise)
            (category,) = re.findall(r"There is an? (\w+) ", hypothesis)
            assert (row.label == "entailment") == (CATEGORY[kind] == category), row
            seen["stored"] += 1
    assert min(seen["carried"], seen["stored"]) > 50
