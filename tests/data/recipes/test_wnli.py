"""WNLI from small files of schemas of our own: wording, splits, other languages, and every mistake named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gluebench.benchmark import Task, load_benchmark
from gluebench.data import DataError
from gluebench.data.recipes import RecipeResult, recipe

OWN = """
[benchmark]
name = "own"
[tasks.Bezug]
columns = ["text", "aussage"]
labels = { nein = "folgt nicht", ja = "folgt" }
metrics = [{ name = "accuracy" }]
splits = { train = { size = 2 }, dev = { size = 2 }, test = { size = 2 } }
source = { corpus = "own", license = "CC0", citation = "none" }
"""
HEAD = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<?xml-stylesheet type="text/xsl" href="none.xsl"?>\n'
Schema = tuple[str, str, str, tuple[str, ...], str]


def xml(*schemas: Schema, quotes: dict[int, str] | None = None) -> str:
    """A collection with the habits of the real one: line feeds, stray spaces, a dot after the letter."""
    parts = []
    for number, (before, pronoun, after, answers, correct) in enumerate(schemas):
        quote = (quotes or {}).get(number)
        told = "" if quote is None else f"<quote1>{quote}</quote1>"
        listed = "".join(f"<answer> {answer}  </answer>\n" for answer in answers)
        parts.append(
            f"<schema>\n<text>\n<txt1>\n{before}\n</txt1>\n<pron> {pronoun} </pron>\n"
            f"<txt2> {after} \n</txt2>\n"
            f"</text>\n<quote>{told}<pron>{pronoun} </pron><quote2></quote2></quote>\n"
            f"<answers>\n{listed}</answers>\n<correctAnswer> {correct}  </correctAnswer>\n</schema>\n"
        )
    return f"{HEAD}<collection>\n{''.join(parts)}</collection>\n"


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., RecipeResult]:
    """Writes the file, if there is text for it, and builds with the options given."""

    def built(text: str | bytes | None = None, name: str = "WSCollection.xml", **given: Any) -> RecipeResult:
        if text is not None:
            data = text if isinstance(text, bytes) else text.encode()
            (tmp_path / name).write_bytes(data)
        task = given.pop("task", None) or load_benchmark("glue").task("WNLI")
        wnli = recipe("wnli")
        options: dict[str, Any] = {option.name: option.default for option in wnli.options}
        options |= {"files": name, "dev": 0.0} | {
            key.replace("_", "-"): value for key, value in given.items()
        }
        return wnli.build(tmp_path, task, options)

    return built


@pytest.fixture
def own(tmp_path: Path) -> Task:
    (tmp_path / "own.toml").write_text(OWN)
    return load_benchmark(tmp_path / "own.toml").task("Bezug")


def problems(build: Callable[..., RecipeResult], *args: Any, **given: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        build(*args, **given)
    return caught.value.problems


LAMP: Schema = (
    "The lamp would not go into the brown\nbox because",
    "it",
    "was too wide.",
    ("The lamp", "the box"),
    "A.",
)


def test_a_schema_becomes_a_pair_for_each_candidate(build: Callable[..., RecipeResult]) -> None:
    result = build(xml(LAMP))
    assert result.splits == {
        "train": {
            "premise": ["The lamp would not go into the brown box because it was too wide."] * 2,
            "hypothesis": ["The lamp was too wide.", "The box was too wide."],
            "label": ["1", "0"],
            "schema": ["WSCollection.xml:1"] * 2,
        }
    }
    assert [path.name for path in result.files] == ["WSCollection.xml"]
    assert result.options["dev"] == 0.0
    assert any("no test split" in note for note in result.notes)


@pytest.mark.parametrize(
    ("before", "pronoun", "after", "candidate", "expected"),
    [
        # Possessives: a name, a plural with the article, a candidate that is in the possessive already.
        ("Nora waved at Inga, and", "her", "hat fell.", "Nora", "Nora's hat fell."),
        ("The boys met the girls, and", "their", "dog ran.", "the boys", "The boys' dog ran."),
        ("Nora saw Inga's house, and", "her", "key fitted.", "Inga's", "Inga's key fitted."),
        ("Nora saw Inga's house, but", "she", "went on.", "Inga's", "Inga went on."),
        # "her" as an object is not a possessive, and no clause begins with it.
        ("Nora was sad, so we gave", "her", "a cake.", "Nora", "We gave Nora a cake."),
        ("Nora looked after", "her", ".", "Inga", "Nora looked after Inga."),
        # A possessive within a clause keeps its sentence.
        ("Nora sang because Inga sold", "her", "hat.", "Nora", "Nora sang because Inga sold Nora's hat."),
        # Reflexives take the bare name.
        ("Olaf told Emil about", "himself", ".", "Olaf", "Olaf told Emil about Olaf."),
        # Articles and capitals.
        ("We used a brush, but", "it", "broke.", "a brush", "The brush broke."),
        ("We saw my aunt, but", "she", "left.", "my aunt", "The aunt left."),
        ("Olaf has oars, and then I sold", "them", ".", "oars", "I sold the oars."),
        ("The cat hid. We could not see", "it", ".", "The cat", "We could not see the cat."),
        # A verb agrees with the one who replaces a plural pronoun; a word that is not a name stays plural.
        ("In May Oslo played Bergen, and", "they", "were glad.", "Bergen", "Bergen was glad."),
        ("Women met here because", "they", "were glad.", "Women", "Women were glad."),
        # Where the clause begins.
        ("Olaf rang Emil so that", "he", "could go.", "Emil", "Olaf rang Emil so that Emil could go."),
        ("Rain fell on Olaf. Since", "he", "sang, we sang.", "Olaf", "Since Olaf sang, we sang."),
        ("Dr. Berg met Mr. Lund. Later", "he", "slept.", "Dr. Berg", "Dr. Berg slept."),
        ("I met Olaf; we liked", "him", ".", "Olaf", "We liked Olaf."),
        ("They like the boat", "he", "built.", "Olaf", "They like the boat Olaf built."),
        ("We fed the dog while Olaf slept and I washed", "it", ".", "the dog", "I washed the dog."),
        # What follows: one sentence, quotation marks, a missing full stop.
        ("Olaf rang but", "he", "left. Emil ate.", "Emil", "Emil left."),
        ("Olaf rang because", "his", '"Hello!" was loud.', "Emil", 'Emil\'s "Hello!" was loud.'),
        ("Olaf rang because", "he", 'was "it"', "Emil", 'Emil was "it".'),
        ("Olaf rang Emil but", "he", "left", "Emil", "Emil left."),
    ],
)
def test_the_wording_of_a_hypothesis(
    build: Callable[..., RecipeResult], before: str, pronoun: str, after: str, candidate: str, expected: str
) -> None:
    text = xml((before, pronoun, after, (candidate, "nobody at all"), "A"))
    text = text.replace(f"<quote><pron>{pronoun} </pron><quote2></quote2></quote>", "")
    assert build(text).splits["train"]["hypothesis"][0] == expected


def test_the_collection_says_where_a_clause_begins(build: Callable[..., RecipeResult]) -> None:
    schema: Schema = (
        "Ida asked what Olaf thought. She feared",
        "it",
        "was dull.",
        ("The play", "the song"),
        "B",
    )
    begins = build(xml(schema, quotes={0: " "})).splits["train"]["hypothesis"]
    later = build(xml(schema, quotes={0: "feared"})).splits["train"]["hypothesis"]
    assert begins == ["The play was dull.", "The song was dull."]
    assert later == ["She feared the play was dull.", "She feared the song was dull."]


@pytest.mark.parametrize(
    ("before", "pronoun", "after", "quote", "candidate", "expected"),
    [
        ("Nora sang because Inga sold", "her", "hat.", "Inga sold", "Nora", "Inga sold Nora's hat."),
        ("Olaf left when the dog bit", "him", ".", "the dog bit", "Olaf", "The dog bit Olaf."),
        ("Olaf left unless Emil had", "him", "in.", "Emil had", "Olaf", "Emil had Olaf in."),
        # Words that are only the end of the clause.
        ("Olaf opened the lid of", "it", ".", "the lid of", "the box", "Olaf opened the lid of the box."),
        ("He sat and shut", "it", ".", "shut", "the box", "He sat and shut the box."),
    ],
)
def test_the_words_of_quote1_are_the_beginning_of_their_clause(
    build: Callable[..., RecipeResult],
    before: str,
    pronoun: str,
    after: str,
    quote: str,
    candidate: str,
    expected: str,
) -> None:
    text = xml((before, pronoun, after, (candidate, "nobody at all"), "A"), quotes={0: quote})
    assert build(text).splits["train"]["hypothesis"][0] == expected


@pytest.mark.parametrize(
    ("extent", "expected"),
    [
        ("clause", "The lamp was wide."),
        ("sentence", "We kept the lamp because the lamp was wide."),
        ("text", "It was May. We kept the lamp because the lamp was wide. Fine."),
    ],
)
def test_how_much_of_the_text_is_kept(build: Callable[..., RecipeResult], extent: str, expected: str) -> None:
    schema: Schema = (
        "It was May. We kept the lamp because",
        "it",
        "was wide. Fine.",
        ("The lamp", "the box"),
        "A",
    )
    assert build(xml(schema), clause=extent).splits["train"]["hypothesis"][0] == expected


def many(count: int) -> str:
    """Twin schemas: the same candidates, one word that decides."""
    schemas: list[Schema] = []
    for number in range(count):
        names = (f"Ann{number}", f"Bea{number}")
        for verb, right in (("thanked", "A"), ("helped", "B")):
            schemas.append((f"{names[0]} {verb} {names[1]} because", "she", "came.", names, right))
    return xml(*schemas)


def places(result: RecipeResult, split: str) -> set[tuple[str, str]]:
    columns = result.splits[split]
    return set(zip(columns["premise"], columns["hypothesis"], strict=True))


def test_a_draw_is_repeatable_and_another_seed_draws_otherwise(build: Callable[..., RecipeResult]) -> None:
    text = many(25)
    first = build(text, dev=0.1)
    assert len(first.splits["dev"]["label"]) == 10
    assert len(first.splits["train"]["label"]) == 90
    assert not places(first, "dev") & places(first, "train")
    assert build(text, dev=0.1) == first
    assert build(text, dev=10.0).splits == first.splits
    assert places(build(text, dev=0.1, seed=7), "dev") != places(first, "dev")


def test_apart_leaves_the_other_pair_of_each_premise_in_train(build: Callable[..., RecipeResult]) -> None:
    result = build(many(25), dev=0.3, pairing="apart")
    dev = result.splits["dev"]["premise"]
    assert len(dev) == len(set(dev)) == 30
    assert set(dev) <= set(result.splits["train"]["premise"])


def test_together_keeps_twins_and_shared_sentences_on_one_side(build: Callable[..., RecipeResult]) -> None:
    result = build(many(25), dev=0.3, pairing="together")
    train, dev = result.splits["train"], result.splits["dev"]
    assert 26 < len(dev["premise"]) <= 30
    assert not set(dev["premise"]) & set(train["premise"])
    assert not set(dev["hypothesis"]) & set(train["hypothesis"])


def test_more_pairs_than_can_be_drawn_are_told(build: Callable[..., RecipeResult]) -> None:
    result = build(many(2), dev=6.0, pairing="apart")
    assert len(result.splits["dev"]["label"]) == 4
    assert any("4 of the 6" in note for note in result.notes)


def line(text: str, candidate: str, pronoun: str, **more: Any) -> str:
    return json.dumps({"text": text, "span1_text": candidate, "span2_text": pronoun, **more}) + "\n"


def test_lines_of_json_flat_or_nested_with_hidden_labels_in_test(
    tmp_path: Path, build: Callable[..., RecipeResult]
) -> None:
    text = "Olaf 's dog bit Emil , so he fed it when it came ."
    spans = {"span1_text": "dog", "span2_text": "it", "span2_index": 11}
    (tmp_path / "hidden.jsonl").write_text(json.dumps({"text": text, "target": spans}) + "\n\n")
    rows = line(text, "Olaf", "he", span2_index=7, label=True) + line(text, "Emil", "he", label=0)
    result = build(rows, "own.jsonl", test="hidden.jsonl")
    assert result.splits["train"]["hypothesis"] == ["Olaf fed it when it came.", "Emil fed it when it came."]
    assert result.splits["train"]["label"] == ["1", "0"]
    assert result.splits["train"]["premise"][0] == "Olaf's dog bit Emil, so he fed it when it came."
    assert result.splits["test"]["hypothesis"] == ["The dog came."]
    assert "label" not in result.splits["test"]


def test_blocks_give_the_hypothesis_and_the_split(build: Callable[..., RecipeResult]) -> None:
    block = "text: The fox saw the hen and it ran .\nhypothesis: The fox saw the hen and the {} ran .\n"
    blocks = [
        block.format("fox") + "entailed: entailed\npartof: train\n",
        block.format("hen") + "entailed: not-entailed\npartof: dev\n",
    ]
    result = build("\n".join(blocks), "own.txt", dev=0.9)
    assert result.splits["train"]["hypothesis"] == ["The fox saw the hen and the fox ran."]
    assert result.splits["dev"]["label"] == ["0"]


def test_a_later_file_adds_only_new_schemas(tmp_path: Path, build: Callable[..., RecipeResult]) -> None:
    again = line(
        "The LAMP would not go into the brown box because it was too wide .", "lamp", "it", label=True
    )
    new = line("Olaf rang Emil but he left.", "Emil", "he", label=True)
    (tmp_path / "more.jsonl").write_text(again + new)
    (tmp_path / "WSCollection.xml").write_text(xml(LAMP))
    result = build(None, "WSCollection.xml", files="WSCollection.xml,more.jsonl")
    assert len(result.splits["train"]["label"]) == 3
    assert any("1 schemas left out" in note for note in result.notes)


def test_another_language_and_another_tasks_columns_and_labels(
    build: Callable[..., RecipeResult], own: Task
) -> None:
    rows = line("Der Hund bellte die Katze an, weil sie fauchte.", "die Katze", "sie", label=True)
    rows += line("Der Hund bellte die Katze an, weil sie fauchte.", "der Hund", "sie", label=False)
    rows += line("Klaus half Emil, denn sein Rad war kaputt.", "Emil", "sein", label=True)
    rows += line("Emil rief Klaus, denn er war allein.", "Klaus", "er", label=False)
    german = {
        "connectives": "denn,aber",
        "links": "",
        "subjects": "er",
        "objects": "ihm,ihn",
        "keeps": "weil",
        "possessives": "sein,seine,ihr,ihre",
        "possessive_form": "{name}s",
        "plural_form": "{name}",
        "article": "der",
        "determiners": "",
        "definite_form": "{name}",
        "agreement": "",
    }
    result = build(rows, "eigen.jsonl", task=own, **german)
    assert result.splits["train"] == {
        "text": ["Der Hund bellte die Katze an, weil sie fauchte."] * 2
        + ["Klaus half Emil, denn sein Rad war kaputt.", "Emil rief Klaus, denn er war allein."],
        "aussage": [
            "Der Hund bellte die Katze an, weil die Katze fauchte.",
            "Der Hund bellte die Katze an, weil der Hund fauchte.",
            "Emils Rad war kaputt.",
            "Klaus war allein.",
        ],
        "label": ["ja", "nein", "ja", "nein"],
        "schema": ["eigen.jsonl:1", "eigen.jsonl:1", "eigen.jsonl:3", "eigen.jsonl:4"],
    }


def test_every_unusable_schema_is_named_at_once(tmp_path: Path, build: Callable[..., RecipeResult]) -> None:
    text = xml(
        LAMP,
        ("Olaf rang", "", "and left.", ("Olaf", "Emil"), "A"),
        ("Olaf rang", "he", "left.", ("Olaf", ""), "A"),
        ("Olaf rang", "he", "left.", ("Olaf", "Emil"), "C"),
        ("", "he", "", ("Olaf", "Emil"), "B"),
    )
    path = tmp_path / "WSCollection.xml"
    starts = [number for number, row in enumerate(text.split("\n"), 1) if row == "<schema>"]
    assert problems(build, text) == [
        f"{path}:{starts[1]}: schema 2 has no pronoun; "
        "expected <text><txt1>...</txt1><pron>...</pron><txt2>...</txt2></text>",
        f"{path}:{starts[2]}: schema 3 has 1 answers; expected two or more <answer>, none empty",
        f'{path}:{starts[3]}: schema 4 has "C" as its correctAnswer; expected one of A, B',
        f"{path}:{starts[4]}: schema 5 has no text around its pronoun; expected <txt1> or <txt2>",
    ]


LAUGHS = (
    '<!DOCTYPE collection [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    "<collection><schema><text><pron>&b;</pron></text></schema></collection>"
)
SECRET = '<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/hostname">]><c><schema><pron>&x;</pron></schema></c>'
SKIPPED = (
    '<!DOCTYPE c SYSTEM "http://localhost:9/c.dtd"><c><schema><text><pron>&x;</pron></text></schema></c>'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Not Found", "not well-formed XML"),
        ("<collection><schema></collection>", "not well-formed XML: mismatched tag"),
        ("<collection></collection>", "no <schema> in it"),
        ("", "not well-formed XML: no element found"),
        (LAUGHS, "defines the entity a, which corpora do not; refused"),
        (SECRET, "defines the entity x, which corpora do not; refused"),
        (SKIPPED, "&x; is defined in another file, which is not read"),
    ],
)
def test_xml_that_is_broken_or_does_harm_is_refused(
    build: Callable[..., RecipeResult], text: str, expected: str
) -> None:
    assert expected in problems(build, text)[0]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.jsonl", "{", ":1: Expecting property name"),
        ("a.jsonl", "[]", ":1: expected a JSON object"),
        ("a.jsonl", "", "no schema in it"),
        ("a.jsonl", line("He ran.", "", "He", label=1), ':1: no text in "span1_text"'),
        ("a.jsonl", line("He ran.", "Olaf", "she", label=1), ':1: the pronoun "she" does not occur'),
        ("a.jsonl", line("He saw he ran.", "Olaf", "he", label=7), ':1: the label is "7"'),
        (
            "a.jsonl",
            line("So he saw he ran.", "Olaf", "he", label=1),
            "stands at word 1, 3, but no span2_index",
        ),
        (
            "a.jsonl",
            line("So he saw he ran.", "Olaf", "he", label=1, span2_index=2),
            "stands at word 1, 3, but span2_index is 2",
        ),
        ("a.jsonl", line("He ran.", "Olaf", "He"), "a.jsonl:1: no label"),
        ("a.jsonl", b"\n\xff", ":2: not UTF-8 text"),
        ("a.txt", "text: A b.\nentailed: entailed\n", ":1: a block without hypothesis"),
        ("a.txt", "text: A b.\nhypothesis: A c.\nentailed: maybe\n", ':1: entailed is "maybe"'),
        ("a.csv", "text", 'the name ends in ".csv"; expected .xml, .jsonl or .txt'),
    ],
)
def test_other_files_mistakes(
    build: Callable[..., RecipeResult], name: str, text: str | bytes, expected: str
) -> None:
    assert expected in problems(build, text, name)[0]


def test_labels_that_contradict_are_refused(build: Callable[..., RecipeResult]) -> None:
    rows = line("Olaf rang but he left.", "Olaf", "he", label=1) + line(
        "Olaf rang but he left.", "Olaf", "he", label=0
    )
    assert "has another label than at a.jsonl:1" in problems(build, rows, "a.jsonl")[0]


def test_a_missing_file_and_wrong_options_are_told(build: Callable[..., RecipeResult]) -> None:
    assert "No such file" in problems(build, None)[0]
    found = problems(build, xml(LAMP), dev=1.5, possessive_form="'s", agreement="were")
    assert [problem.split(" is ")[0].split(" has ")[0] for problem in found] == [
        "--dev",
        "--possessive-form",
        "--agreement",
    ]


@pytest.mark.parametrize("dev", [-0.1, 1.5, float("nan"), float("inf")])
def test_a_dev_set_of_no_size_is_refused(build: Callable[..., RecipeResult], dev: float) -> None:
    assert problems(build, xml(LAMP), dev=dev) == [
        f"--dev is {dev}; expected a share below 1 or a whole number of pairs"
    ]


def test_a_task_of_another_shape_is_refused(build: Callable[..., RecipeResult]) -> None:
    found = problems(build, xml(LAMP), task=load_benchmark("glue").task("SST-2"))
    assert found == ["SST-2: 1 columns, but this corpus has 2 texts a row"]
