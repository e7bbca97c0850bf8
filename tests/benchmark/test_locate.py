"""The lines of keys, checked against what tomllib reads from the same text."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.benchmark.locate import line_of, lines


def paths(value: object, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """The path of everything inside a value that tomllib read."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path for path in [path] if path}.union(*(paths(each, (*path, key)) for key, each in inside))


DOCUMENT = '''\
# a comment = [ "not a key" ]
title = "x"   # and = another

"a.b" = 1
'lit"eral' = 2
site . "google.com" = true
text = """
[not.a.table]
also = "not a key" \\""" still
"""
more = \'\'\'
'' # no comment
x = 1\'\'\'
ends = """with quotes"""""
when = 1979-05-27 07:32:00
inline = { a = 1, "b c" = { d = [1, { e = 2 }] } }
array = [
  "one, # two",  # three
  [ 1,
    2 ],

  { k = 'v' },
]

[table."quoted.name"] # tail
x = -1.5e3

[[rows]]
n = 1
[rows.sub]
m = 1
[[rows.list]]
[[rows.list]]
z = 1
[[rows]]
[rows.sub]
"\\u00e9" = inf
'''
EXPECTED = {
    ("title",): 2,
    ("a.b",): 4,
    ('lit"eral',): 5,
    ("site",): 6,
    ("site", "google.com"): 6,
    ("text",): 7,
    ("more",): 11,
    ("ends",): 14,
    ("when",): 15,
    ("inline",): 16,
    ("inline", "b c", "d", 1, "e"): 16,
    ("array",): 17,
    ("array", 0): 18,
    ("array", 1): 19,
    ("array", 1, 1): 20,
    ("array", 2): 22,
    ("array", 2, "k"): 22,
    ("table",): 25,
    ("table", "quoted.name"): 25,
    ("table", "quoted.name", "x"): 26,
    ("rows",): 28,
    ("rows", 0): 28,
    ("rows", 0, "n"): 29,
    ("rows", 0, "sub", "m"): 31,
    ("rows", 0, "list"): 32,
    ("rows", 0, "list", 1): 33,
    ("rows", 0, "list", 1, "z"): 34,
    ("rows", 1): 35,
    ("rows", 1, "sub"): 36,
    ("rows", 1, "sub", "é"): 37,
}


def test_every_form_of_key_has_its_line() -> None:
    found = lines(DOCUMENT)
    assert {path: found[path] for path in EXPECTED} == EXPECTED
    assert found.keys() == paths(tomllib.loads(DOCUMENT))


def test_an_absent_path_has_the_line_of_the_table_around_it() -> None:
    found = lines(DOCUMENT)
    assert line_of(("rows", 1, "sub", "nothing", 3), found) == 36
    assert line_of(("nothing",), found) == 1


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "a = 1", "[a]", "[[a]]\n[[a]]"])
def test_every_key_of_a_small_document_has_a_line(text: str) -> None:
    assert lines(text).keys() == paths(tomllib.loads(text))


TRICKY = st.text(alphabet="ab\"'#=[]{},.\\\n\t é", max_size=8)
BARE = st.text(alphabet="abAZ09_-", min_size=1, max_size=4)


def basic(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def multi(text: str) -> str:
    return '"""\n' + text.replace("\\", "\\\\").replace('"""', '""\\"').replace('"', '\\"') + '"""'


@st.composite
def written_value(draw: st.DrawFn, depth: int = 2) -> str:
    """A value as TOML text, in one of the ways in which it can be written."""
    form = draw(
        st.sampled_from(["number", "basic", "multi", "literal", *(["array", "table"] if depth else [])])
    )
    if form == "number":
        return draw(st.sampled_from(["0", "-1.5", "true", "inf", "1979-05-27", "0x1f", "1_000"]))
    if form == "array":
        parts = draw(st.lists(written_value(depth=depth - 1), max_size=3))
        return "[ # first\n" + "".join(f"  {part}, # ]\n" for part in parts) + "]"
    if form == "table":
        names = draw(st.lists(TRICKY, max_size=3, unique=True))
        return "{" + ", ".join(f"{basic(name)} = {draw(written_value(depth=0))}" for name in names) + "}"
    text = draw(TRICKY)
    if form == "literal":
        return "'" + text.replace("'", "").replace("\n", "") + "'"
    return basic(text) if form == "basic" else multi(text)


@given(st.lists(st.tuples(st.sampled_from(["", "[", "[["]), BARE, TRICKY, written_value()), max_size=6))
def test_the_keys_of_any_document_are_found_on_their_lines(blocks: list[tuple[str, str, str, str]]) -> None:
    text = "\n".join(
        f"{bracket}{bare}.{basic(key)}{bracket.replace('[', ']')}\nx = {value}" if bracket else f"# {bare!r}"
        for bracket, bare, key, value in blocks
    )
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # the same table twice
        return
    found = lines(text)
    assert found.keys() == paths(values)
    written = text.split("\n")
    for path, line in found.items():
        if path[-1] == "x" and len(path) > 2:
            assert "x" in written[line - 1]
