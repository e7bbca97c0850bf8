"""The cells of each form: what is written is read, and each fault is refused."""

from __future__ import annotations

import json
import math
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluebench import load_benchmark
from gluebench.benchmark import Task
from gluebench.submission.columns import read_columns
from gluebench.submission.forms import CellForm, cell_form, cell_text
from gluebench.submission.rows import Layout, read_lines

LABELS = ("joy", "anger", "free wifi", "ärger")
KEYS = {
    "sets": ("sets_micro_f1", True),
    "open sets": ("sets_micro_f1", False),
    "probabilities": ("neg_log_loss", True),
    "distributions": ("neg_cross_entropy", True),
    "independent distributions": ("icm_soft", True),
    "text": ("exact_match", False),
    "tokens": ("token_accuracy", False),
    "dependencies": ("uas", False),
    "labeled dependencies": ("uas", True),
    "spans": ("span_f1", True),
    "open spans": ("span_iou", False),
    "ranking": ("map", False),
    "relations": ("relation_f1", True),
}
TAGS = ("ARG0", "ARG1", "SIG")
WORDS_OF = {"relations": TAGS, "labeled dependencies": ("nsubj", "root")}


def task(name: str, folder: Path) -> Task:
    metric, labeled = KEYS[name]
    labels = f"labels = {list(WORDS_OF.get(name, LABELS))}" if labeled else ""
    labels += "\nexclusive = false" * name.startswith("independent")
    path = folder / "form.toml"
    path.write_text(
        f'[benchmark]\nname = "form"\n[tasks.T]\nform = "{name.split()[-1]}"\n{labels}\n'
        f'metrics = [{{ name = "{metric}" }}]\nsplits.test.size = 3\n',
        encoding="utf-8",
    )
    return load_benchmark(path).task("T")


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Task]:
    return {name: task(name, tmp_path_factory.mktemp("form")) for name in KEYS}


def form_of(forms: dict[str, Task], name: str, *, gold: bool = False) -> CellForm:
    form = cell_form(forms[name], gold=gold)
    assert form is not None
    return form


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=5)
DOCUMENTS = WORDS.filter(lambda word: not {*",:"} & {*word})
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
NUMBERS = st.floats(0, 1, allow_nan=False)


def labeled_spans(labels: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    ends = st.tuples(st.integers(0, 90), st.integers(1, 9), labels)
    return st.lists(ends).map(lambda spans: tuple(sorted({(start, start + n, x) for start, n, x in spans})))


def marked(places: list[tuple[int, int]], words: list[str], tags: tuple[str, ...]) -> str:
    """The sentence with a tag at each place; a tag may stand inside a word."""
    marks = zip(tags, places, strict=False)
    words = [word.translate({60: "(", 62: ")"}) for word in words]
    for tag, (first, last) in marks:
        start, end = sorted((first % len(words), last % len(words)))
        words[start] = f"<{tag}>{words[start]}"
        words[end] += f"</{tag}>"
    return " ".join(words)


def tagged_sentences() -> st.SearchStrategy[tuple[str, ...]]:
    places = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4)
    words = st.lists(TEXTS.map(lambda text: text.replace(" ", "") or "rain"), min_size=1, max_size=6)
    return st.tuples(words, st.lists(places, max_size=3)).map(
        lambda pair: tuple(marked(each, pair[0], ("ARG0", "SIG3", "ARG1", "SIG")) for each in pair[1])
    )


def arcs(relations: list[str]) -> st.SearchStrategy[Any]:
    heads = st.lists(st.integers(0, len(relations)), min_size=len(relations), max_size=len(relations))
    return heads.map(lambda of: tuple(f"{head}:{word}" for head, word in zip(of, relations, strict=True)))


def weighted_spans(weights: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """One weight for each place."""
    ends = st.tuples(st.integers(0, 90), st.integers(1, 9))
    return st.dictionaries(ends, weights).map(
        lambda spans: tuple(sorted((start, start + n, weight) for (start, n), weight in spans.items()))
    )


def shares(weights: list[float]) -> tuple[float, ...]:
    return tuple(weight / math.fsum(weights) for weight in weights)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "sets": st.sets(st.sampled_from(LABELS)).map(lambda labels: tuple(sorted(labels))),
    "open sets": st.sets(WORDS.filter(lambda word: "|" not in word)).map(lambda words: tuple(sorted(words))),
    "probabilities": st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(shares),
    "distributions": st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(shares),
    "independent distributions": st.tuples(*[NUMBERS] * 4),
    "text": TEXTS,
    "tokens": st.lists(WORDS, min_size=1).map(tuple),
    "dependencies": st.lists(WORDS, min_size=1, max_size=6).flatmap(arcs),
    "labeled dependencies": st.lists(st.sampled_from(["nsubj", "root"]), min_size=1).flatmap(arcs),
    "spans": labeled_spans(st.sampled_from(LABELS)),
    "open spans": weighted_spans(st.sampled_from(["0.5", "1"])) | weighted_spans(st.just("")),
    "ranking": st.lists(DOCUMENTS, unique=True).map(tuple),
    "relations": tagged_sentences(),
}
GOLD: dict[str, st.SearchStrategy[Any]] = {
    "text": st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    "ranking": st.dictionaries(DOCUMENTS, st.floats(0, 1e9)).map(lambda gains: tuple(gains.items())),
}


@pytest.mark.parametrize("name", KEYS)
@given(data=st.data())
def test_what_is_written_is_read(forms: dict[str, Task], name: str, data: st.DataObject) -> None:
    """From a cell, and from the value itself, as JSON or Python gives it."""
    for gold in (False, True) if name in GOLD else (False,):
        value = data.draw(GOLD[name] if gold else VALUES[name])
        form = form_of(forms, name, gold=gold)
        cell = form.write(value)
        assert not {*"\t\n\r"} & {*cell}
        assert form.read(cell) == value
        assert bool(cell) or form.blank
        plain = [*value] if isinstance(value, tuple) else value
        assert form.read(cell_text(plain, forms[name])) == value


FAULTS = {
    "sets": ["joy|Anger", "joy|joy", "joy||anger", "|", "joy, anger", "sad"],
    "open sets": ["a|a", "a||b", "|"],
    "probabilities": [
        *("0.5 0.5 0.5 0.5", "1 0 0", "1 0 0 0 0", "0.5 0.5 0 nan", "2 -1 0 0", "inf 0 0 0", "a b c d", "1"),
        *(
            '{"joy": 1}',
            '{"joy": 1, "anger": 0, "free wifi": 0, "sad": 0}',
            "[1, 0, 0",
            "{",
            "[[1, 0, 0, 0]]",
        ),
        *("[0.9, 0.2, 0, 0]", "[null, 1, 0, 0]", "[]", "0.998 0 0 0", f"[1{'0' * 400}, 0, 0, 0]"),
    ],
    "distributions": ["0.5 0.5 0.5 0", "joy"],
    "independent distributions": ["1 1 1", "0.5 0.5 0.5 1.1", "0 0 0 -0.1", "0 0 0 nan", "joy"],
    "tokens": ["", "   "],
    "labeled dependencies": [
        "",
        "0:nsubj 3:root",
        "0:obj",
        "0:nsubj 0:",
        "1:0:root",
        "0:nsubj:1:root",
        "-1:root",
        "\u0660:root",
    ],
    "dependencies": ["", "  ", "0", "0:", ":x", "x:0", "-1:x", "2:x", "0:x 3:y", "0:x y", "0: x", "0.0:x"],
    "spans": ["0-5", "0-5:sad", "5-0:joy", "3-3:joy", "-1-3:joy", "0-5 :joy", "0:joy", "0-5:joy,6-9:joy"],
    "open spans": ["0-5:joy", "0-5:nan", "0-5:-1", "0-5:inf", "0-5:1e999", "0-5:1e60", "a-b", "0..5", "5"],
    "ranking": ["d1 d2 d1"],
    "relations": [
        *(
            "",
            "[",
            "rain",
            '"rain"',
            "{}",
            "[1]",
            '["a", null]',
            "['<ARG0>a</ARG0> b']",
            "null",
            "[" * 100_000,
        ),
        *('["<ARG2>a</ARG2>"]', '["<ARG>a</ARG>"]', '["<CAUSE>a</CAUSE>"]', '["<SIGNAL>a</SIGNAL>"]'),
        *('["<ARG0>a"]', '["a</ARG0>"]', '["<ARG0>a</ARG1>"]', '["<ARG0>a <ARG0>b</ARG0></ARG0>"]'),
        *('["<SIG0>a</SIG1>"]', '["a b", "a"]', '["a b", "a  b"]', '["<SIG></SIG> a"]', '["<SIG> </SIG>"]'),
    ],
}


@pytest.mark.parametrize(("name", "cell"), [(name, cell) for name, cells in FAULTS.items() for cell in cells])
def test_faults_are_refused(forms: dict[str, Task], name: str, cell: str) -> None:
    form = form_of(forms, name)
    if cell or form.blank:
        with pytest.raises(ValueError):
            form.read(cell)


PIECES = (
    *(
        "0-5:joy",
        "12-20:anger",
        "3-3:joy",
        "7-1:joy",
        "5:6-joy",
        "0-5",
        "0-5:0.7",
        "6-7:1",
        "0-5:free wifi",
        "0-5:joy:3-4",
    ),
    *("0:root", "2:nsubj", "1:root 0:nsubj", "01:root"),
    *("; ", ";", ":", "-", " ", "  ", "\u00a0", "\u0665", "1_0", "+1", "d1", "d2", "joy", "x", ""),
    *("0.25 0.25 0.25 0.25", "1 0 0 0", "1e-5 0 0 1", "0.5", "0.998", "1.001", "-0.1", "[1, 0, 0, 0]"),
    *("1e999", "nan", "inf", "anger"),
    *('["<ARG0>a</ARG0> b"]', '["a b", "<SIG3>a</SIG3> b"]', '["<ARG0>a <SIG>b</SIG></ARG0>"]', "[]"),
    *('["<SIG></SIG> a"]', '["<ARG1> </ARG1>"]', '["<ARG0> a</ARG0>"]'),
    *('["', '"]', '", "', '","', "<ARG0>", "</ARG0>", "<SIG12>", "<sig>", "<b", "\\u00e9", '\\"', "\x01"),
)
CELLS = st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map("".join), min_size=1, max_size=4)


@pytest.mark.parametrize("cell", ["; 0-5:joy", "0-5:joy; ", "0-5:joy; ; 6-9:joy", "0-5:joy;6-9:joy", ";"])
def test_spans_may_have_empty_parts(forms: dict[str, Task], cell: str) -> None:
    layout = Layout((), 2, form=form_of(forms, "spans"))
    body = f"0\t0-5:joy\n1\t{cell}\n".encode()
    assert read_columns(body, layout) == read_lines(body, layout)
    assert not read_lines(body, layout).faults


@pytest.mark.parametrize("name", sorted(KEYS))
def test_many_cells_at_once_are_read_as_one_by_one(forms: dict[str, Task], name: str) -> None:
    """The quick reader takes just the columns that have no fault, and gives the same values."""
    form, rng = form_of(forms, name), random.Random(0)
    cells = [*map("".join, product(PIECES, repeat=2)), *(cell for cells in FAULTS.values() for cell in cells)]

    def same(drawn: list[str]) -> None:
        body = "".join(f"{at}\t{cell}\n" for at, cell in enumerate(drawn)).encode()
        layout = Layout((), len(drawn), form=form)
        careful = read_lines(body, layout)
        assert repr(read_columns(body, layout)) == repr(None if careful.faults else careful), drawn

    settings(max_examples=50, deadline=None)(
        given(st.lists(VALUES[name].map(form.write), min_size=1, max_size=4))(same)
    )()
    for _ in range(100):
        same(rng.sample(cells, rng.randint(1, 2)))


@pytest.mark.parametrize(("name", "cell"), [("sets", "joy|joy"), ("ranking", "d1 d2 d1")])
def test_a_part_that_is_there_twice_is_named_so(forms: dict[str, Task], name: str, cell: str) -> None:
    rows = read_lines(f"0\t{cell}\n".encode(), Layout((), 1, form=form_of(forms, name)))
    assert [fault.code for fault in rows.shown] == ["repeated-part"]


def test_the_wrong_part_of_relations_is_named(forms: dict[str, Task]) -> None:
    layout = Layout((), 7, form=form_of(forms, "relations"))
    cells = ["<ARG2>a</ARG2>", "<ARG0>a", "a</SIG0>", "<ARG0>a <ARG0>b</ARG0>", 'a b", "<SIG1>a</SIG1>']
    cells += ["<SIG></SIG> rain", "<ARG1><SIG1> </SIG1>a</ARG1>"]
    lines = "".join(f'{at}\t["{cell}"]\n' for at, cell in enumerate(cells))
    shown = read_lines(lines.encode(), layout).shown
    assert [(fault.code, fault.line) for fault in shown] == [("bad-cell", line) for line in range(2, 9)]
    assert [fault.value for fault in shown] == [
        *(
            b"<ARG2>",
            b"<ARG0> without </ARG0>",
            b"</SIG0>",
            b"<ARG0>",
            b"1 words, not 2 as in the first sentence",
            b"<SIG></SIG> without a word between",
            b"<SIG1> </SIG1> without a word between",
        ),
    ]


def test_gold_relations_may_be_written_as_in_python_and_are_few(forms: dict[str, Task]) -> None:
    gold = form_of(forms, "relations", gold=True)
    assert gold.read("[\"<ARG0>a</ARG0> 'b'\", '<SIG0>a</SIG0> b']") == (
        *("<ARG0>a</ARG0> 'b'", "<SIG0>a</SIG0> b"),
    )
    assert len(gold.read(json.dumps(["a"] * 8))) == 8
    for cell in (json.dumps(["a"] * 9), "['a'", "[open('x')]", "(" * 1000, "['<ARG3>a</ARG3>']", "{'a'}"):
        with pytest.raises(ValueError):
            gold.read(cell)


def test_gains_are_not_negative_and_finite(forms: dict[str, Task]) -> None:
    form = form_of(forms, "ranking", gold=True)
    assert form.read("d1 d2:0.5 a:b:2") == (("d1", 1.0), ("d2", 0.5), ("a:b", 2.0))
    for cell in ("d1:x", "d1:-1", "d1:nan", "d1:inf", "d1:1e60"):
        with pytest.raises(ValueError):
            form.read(cell)


def test_probabilities_by_name_of_one_label_and_rounded(forms: dict[str, Task], tmp_path: Path) -> None:
    form = form_of(forms, "probabilities")
    named = '{"anger": 0.25, "joy": 0.5, "ärger": 0.0, "free wifi": 0.25}'
    assert form.read(named) == form.read("0.5 .25 25e-2 0") == (0.5, 0.25, 0.25, 0.0)
    assert form.read("0.333 0.333 0.333 0") == (0.333, 0.333, 0.333, 0.0)
    two = load_two(tmp_path)
    assert two.read("0.25") == two.read("0.75 0.25") == (0.75, 0.25)
    for cell in ("1.5", "-0.5", "nan", "x", "", '{"0.25": 1, "0.75": 1}'):
        with pytest.raises(ValueError):
            two.read(cell)


def load_two(folder: Path) -> CellForm:
    path = folder / "two.toml"
    path.write_text(
        '[benchmark]\nname = "two"\n[tasks.T]\nform = "probabilities"\nlabels = ["no", "yes"]\n'
        'metrics = [{ name = "neg_log_loss" }]\nsplits.test.size = 3\n'
    )
    form = cell_form(load_benchmark(path).task("T"))
    assert form is not None
    return form


def test_texts_of_several_answers(forms: dict[str, Task]) -> None:
    """A text in quotes is a JSON string; other quotes and brackets belong to the text."""
    form, gold = form_of(forms, "text"), form_of(forms, "text", gold=True)
    assert form.read('"a\\tb"') == "a\tb"
    assert form.read('say "a"') == 'say "a"'
    assert gold.read('["a", "b\\n"]') == ("a", "b\n")
    assert [gold.read(cell) for cell in ("[1]", "[", "[]", '["a", 1]')] == [
        *(("[1]",), ("[",), ("[]",), ('["a", 1]',))
    ]
    squad = [{"text": "a", "answer_start": 3}, {"text": "b"}]
    assert gold.read(cell_text(squad, forms["text"])) == ("a", "b")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("sets", {"joy", "anger"}, ("anger", "joy")),
        ("sets", [], ()),
        (
            "spans",
            [[0, 5, "joy"], {"start": 6, "end": 9, "label": "anger"}],
            ((0, 5, "joy"), (6, 9, "anger")),
        ),
        ("dependencies", [[2, "subj"], "0:root"], ("2:subj", "0:root")),
        ("open spans", [[0, 5]], ((0, 5, ""),)),
        ("open spans", [{"start": 0, "end": 5, "prob": 0.5}], ((0, 5, "0.5"),)),
        ("probabilities", {"joy": 1, "anger": 0, "free wifi": 0, "ärger": 0}, (1.0, 0.0, 0.0, 0.0)),
    ],
)
def test_values_of_json(forms: dict[str, Task], name: str, value: Any, expected: Any) -> None:
    assert form_of(forms, name).read(cell_text(value, forms[name])) == expected


@pytest.mark.parametrize("value", [[1, 2], [[1]], [[1, 2, 3, 4]], [None], [{"start": 1}], 7, None, {"a": 1}])
def test_values_of_json_that_are_no_spans(forms: dict[str, Task], value: Any) -> None:
    with pytest.raises(ValueError):
        form_of(forms, "open spans").read(cell_text(value, forms["open spans"]))
