"""Reading one file: what is tolerated, what is refused, and that the fast ways agree with the careful one."""

from __future__ import annotations

import random
from array import array
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gluebench.submission import arrays as arrays_module
from gluebench.submission import rows as rows_module
from gluebench.submission.arrays import read_arrays
from gluebench.submission.canonical import _template, read_canonical
from gluebench.submission.columns import read_columns
from gluebench.submission.forms import CellForm
from gluebench.submission.problems import SHOWN_PER_FILE
from gluebench.submission.rows import Fault, Layout, read_lines
from gluebench.submission.submission import Column
from gluebench.submission.tables import Table, read_table

BINARY = Layout(("0", "1"), 4)
NLI = Layout(("entailment", "neutral", "contradiction"), 4)
SCORES = Layout((), 4)
HEADER = b"index\tprediction\n"
GOOD = HEADER + b"0\t1\n1\t0\n2\t0\n3\t1\n"


def read(data: bytes, layout: Layout = BINARY) -> Table:
    return read_table("T.tsv", data, layout)


def codes(table: Table) -> list[str]:
    return [problem.code for problem in table.problems]


def test_a_canonical_file_gives_its_codes_and_no_problem() -> None:
    table = read(GOOD)
    assert table.column is not None
    assert table.column.codes == bytes([1, 0, 0, 1])
    assert table.column.words() == ["1", "0", "0", "1"]
    assert table.problems == []


@pytest.mark.parametrize(
    ("rows", "code"),
    [(10_009, "too-large"), (20_000, "wrong-split"), (40_000, "too-large"), (90_000, "wrong-split")],
)
def test_a_file_of_far_too_many_rows_is_counted_and_not_read(rows: int, code: str) -> None:
    layout = replace(BINARY, others={20_000: "dev", 90_000: "train"})
    table = read(HEADER + b"".join(b"%d\t1\n" % at for at in range(rows)), layout)
    assert (codes(table), table.column) == ([code], None)
    if code == "too-large":
        assert (table.problems[0].value or "").endswith(f" bytes, {rows:,} rows")


@pytest.mark.parametrize(
    ("data", "notices"),
    [
        (GOOD.replace(b"\n", b"\r\n"), ["line-ends"]),
        (GOOD.replace(b"\n", b"\r"), ["line-ends"]),
        (b"\xef\xbb\xbf" + GOOD, ["byte-order-mark"]),
        (b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n"), ["byte-order-mark", "line-ends"]),
        (GOOD.removesuffix(b"\n"), []),
        (GOOD + b"\n\n", ["blank-lines"]),
        (GOOD.replace(b"1\t0\n", b"1\t0\n\n"), ["blank-lines"]),
        (GOOD.replace(b"index", b"id"), ["header-name"]),
        (GOOD.replace(b"index", b"Id"), ["header-name"]),
        (GOOD.replace(b"index", b""), ["header-name"]),
        (GOOD.replace(b"index\tprediction", b"Index\tPrediction"), ["header-name"]),
        (HEADER + b"3\t1\n0\t1\n2\t0\n1\t0\n", []),
    ],
)
def test_what_loses_nothing_is_read_with_a_notice(data: bytes, notices: list[str]) -> None:
    table = read(data)
    assert table.column is not None
    assert table.column.codes == bytes([1, 0, 0, 1])
    assert codes(table) == notices
    assert all(problem.severity == "notice" for problem in table.problems)


@pytest.mark.parametrize(
    ("rows", "code", "line", "index", "value"),
    [
        (b"0\t1\n1\t0\n2\t0\n3\t2\n", "unknown-label", 5, 3, "2"),
        (b'0\t"1"\n1\t0\n2\t0\n3\t1\n', "unknown-label", 2, 0, '"1"'),
        (b"0\t1.0\n1\t0\n2\t0\n3\t1\n", "unknown-label", 2, 0, "1.0"),
        (b"0\t1 \n1\t0\n2\t0\n3\t1\n", "unknown-label", 2, 0, "1 "),
        (b"0\t\n1\t0\n2\t0\n3\t1\n", "empty-value", 2, 0, ""),
        (b"0\t1\n1\t0\n1\t0\n2\t0\n3\t1\n", "repeated-index", 4, 1, None),
        (b"0\t1\n1\t0\n2\t0\n3\t1\n4\t1\n", "extra-index", 6, 4, None),
        (b"0\t1\n01\t0\n2\t0\n3\t1\n", "bad-index", 3, None, "01"),
        (b"0\t1\n1.0\t0\n2\t0\n3\t1\n", "bad-index", 3, None, "1.0"),
        (b"0\t1\n-1\t0\n2\t0\n3\t1\n", "bad-index", 3, None, "-1"),
        (b"0\t1\n\xd9\xa1\t0\n2\t0\n3\t1\n", "bad-index", 3, None, "١"),
        (b"0\t1\n1\t0\t0\n2\t0\n3\t1\n", "columns", 3, None, "1\t0\t0"),
        (b"0\t1\n1 0\n2\t0\n3\t1\n", "columns", 3, None, "1 0"),
        (b"0\t1\n1\t0\n3\t1\n", "missing-index", None, 2, None),
    ],
)
def test_what_could_make_a_score_wrong_is_an_error_that_names_its_place(
    rows: bytes, code: str, line: int | None, index: int | None, value: str | None
) -> None:
    table = read(HEADER + rows)
    assert table.column is None
    problem = next(problem for problem in table.problems if problem.code == code)
    assert (problem.severity, problem.file) == ("error", "T.tsv")
    assert (problem.line, problem.index, problem.value) == (line, index, value)
    assert problem.expected
    assert problem.fix


def test_blank_lines_and_line_ends_do_not_shift_the_line_numbers() -> None:
    table = read(HEADER + b"0\t1\r\n\r\n1\tx\r\n2\t0\r\n3\t1\r\n")
    assert [problem.line for problem in table.problems if problem.code == "unknown-label"] == [4]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nan", "not-finite"),
        ("NaN", "not-finite"),
        ("-inf", "not-finite"),
        ("1e999", "not-finite"),
        ("-1e300", "too-large-number"),
        ("1" + "0" * 51, "too-large-number"),
        ("", "empty-value"),
        ("1_0", "not-a-number"),
        (" 1.0", "not-a-number"),
        ("1,5", "not-a-number"),
        ("0x1p3", "not-a-number"),
        ("five", "not-a-number"),
    ],
)
def test_numbers_python_would_take_or_turn_into_nan_are_refused(text: str, code: str) -> None:
    table = read(HEADER + b"0\t1.5\n1\t%b\n2\t0\n3\t1\n" % text.encode(), SCORES)
    assert codes(table) == [code]


def test_numbers_keep_every_digit() -> None:
    table = read(HEADER + b"2\t-0.587\n0\t3.7980523\n1\t5\n3\t2.11111111111111e0\n", SCORES)
    assert table.column is not None
    assert table.column.numbers == array("d", [3.7980523, 5.0, -0.587, 2.11111111111111])


def test_a_file_without_a_header_is_told_that_its_first_example_would_be_lost() -> None:
    table = read(GOOD.removeprefix(HEADER))
    assert codes(table) == ["no-header"]
    assert table.column is None


def test_a_file_without_a_header_still_has_its_other_errors_listed_with_their_lines() -> None:
    table = read(b"0\t1\n1\tx\n2\t0\n3\t1\n")
    assert [(problem.code, problem.line) for problem in table.problems] == [
        ("no-header", 1),
        ("unknown-label", 2),
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (GOOD.replace(b"\t", b","), "separator"),
        (GOOD.replace(b"prediction", b"answer"), "header"),
        (GOOD.decode().encode("utf-16"), "utf-16"),
        (GOOD.decode().encode("utf-16")[:-1], "encoding"),
        (b"", "empty-file"),
        (b"\xef\xbb\xbf\r\n", "empty-file"),
    ],
)
def test_files_of_another_form_are_named_as_what_they_are(data: bytes, code: str) -> None:
    assert code in codes(read(data))


def test_indices_that_count_from_one_are_recognized() -> None:
    table = read(HEADER + b"1\t1\n2\t0\n3\t0\n4\t1\n")
    assert {problem.code for problem in table.problems} == {"extra-index", "missing-index"}
    assert all("count from 1" in problem.fix for problem in table.problems)


def test_another_release_is_recognized_by_its_rows_and_said_once() -> None:
    layout = Layout(("0", "1"), 4, versions={6: "v1 (withdrawn)"})
    table = read(HEADER + b"".join(b"%d\t0\n" % index for index in range(6)), layout)
    assert codes(table) == ["wrong-version"]
    assert "v1" in table.problems[0].expected


def test_synonyms_are_read_as_their_label_with_a_notice() -> None:
    layout = Layout(("0", "1"), 4, {"not_entailment": 0, "entailment": 1})
    table = read(HEADER + b"0\tentailment\n1\tnot_entailment\n2\tnot_entailment\n3\t1\n", layout)
    assert table.column is not None
    assert table.column.codes == bytes([1, 0, 0, 1])
    assert codes(table) == ["label-synonym"]


def test_a_storm_of_wrong_lines_is_answered_with_twenty_and_a_count() -> None:
    size = 100_000
    data = HEADER + b"".join(b"%d\tx\n" % index for index in range(size))
    table = read(data, Layout(("0", "1"), size))
    errors = [problem for problem in table.problems if problem.severity == "error"]
    assert len(errors) == SHOWN_PER_FILE
    assert table.unshown == {"unknown-label": size - SHOWN_PER_FILE}


@pytest.mark.parametrize("size", [1, 9, 10, 11, 99, 100, 101, 999, 12345, 100_001])
def test_the_template_is_the_rows_written_one_by_one(size: int) -> None:
    assert _template(size) == b"".join(b"%d\t0\n" % index for index in range(size))


@given(st.lists(st.sampled_from("yxz"), min_size=1, max_size=120))
def test_the_canonical_way_reads_any_labels_of_one_letter(labels: list[str]) -> None:
    body = "".join(f"{index}\t{label}\n" for index, label in enumerate(labels)).encode()
    assert read_canonical(body, 0, words="xyz", size=len(labels)) == bytes(map("xyz".index, labels))
    assert read_canonical(body, 0, words=("x", "y", "że"), size=len(labels)) is None
    assert read_canonical(body.replace(b"\t", b"\tw", 1), 0, words="xyz", size=len(labels)) is None


WORDS = [("yes", "no"), ("entailment", "not_entailment"), ("aa", "ab"), ("tak", "nie", "może"), ("że", "x")]


@given(st.sampled_from(WORDS), st.lists(st.integers(0, 1), min_size=1, max_size=30))
def test_words_of_any_letters_are_read_in_whole_array_steps(words: tuple[str, ...], codes: list[int]) -> None:
    body = "".join(f"{index}\t{words[code]}\n" for index, code in enumerate(codes)).encode()
    read = read_arrays(body, Layout(words, len(codes)))
    assert read is not None
    assert read.values == bytes(codes)


@pytest.mark.parametrize("index", ["1a", "e1", "", "n", "1 ", "11", "01"])
def test_letters_of_a_word_beside_an_index_are_not_passed_over(index: str) -> None:
    body = f"0\tneutral\n{index}\tneutral\n2\tentailment\n".encode()
    layout = replace(NLI, size=3)
    assert read_arrays(body, layout) == read_lines(body, layout)


@pytest.mark.parametrize(
    "wrong", ["nuetral", "neutrall", "u", "", "neutral\tneutral", "xneutral", "neutra\0"]
)
def test_letters_of_a_word_in_another_order_are_not_the_word(wrong: str) -> None:
    body = f"0\tneutral\n1\t{wrong}\n2\tentailment\n".encode()
    layout = replace(NLI, size=3)
    read = read_arrays(body, layout)
    assert read == read_lines(body, layout)
    assert read is not None
    assert read.faults


@given(st.text("0123456789.+-eE", min_size=1, max_size=6))
@example("1e300")
@example("1e999")
@example("1" + "0" * 51)
def test_columns_take_just_the_numbers_that_the_careful_reader_takes(text: str) -> None:
    body = b"0\t%b\n1\t1e-05\n" % text.encode()
    careful = read_lines(body, replace(SCORES, size=2))
    assert repr(read_columns(body, replace(SCORES, size=2))) == repr(None if careful.faults else careful)


SETS = [
    Layout(("0", "1"), 12, {"not_entailment": 0, "entailment": 1}),
    Layout(("entailment", "neutral", "contradiction"), 12),
    Layout(("ab", "c"), 12, {"cc": 1}, complete=False),
    Layout(("\u00e9t\u00e9", "no"), 12),
]
INSERTS = [
    b"\t",
    b"\n",
    b"0",
    b"1",
    b"9",
    b"x",
    b"a",
    b"e",
    b"u",
    b"\xff",
    b" ",
    b"\x80",
    b"-1\t0\n",
    b"3\t1\n",
    b"00",
    b"12345678",
    b"1" * 20,
]


def mutated(body: bytes, rng: random.Random) -> bytes:
    """The body with up to four insertions, deletions or changed bytes."""
    changed = bytearray(body)
    for _ in range(rng.randint(0, 4)):
        place = rng.randrange(len(changed) + 1)
        kind = rng.random()
        if kind < 0.4:
            changed[place:place] = rng.choice(INSERTS)
        elif kind < 0.8:
            del changed[place : place + rng.randint(1, 4)]
        elif place < len(changed):
            changed[place] = rng.randrange(256)
    return bytes(changed) if changed.endswith(b"\n") else bytes(changed) + b"\n"


def fuzz(runs: int, seed: int) -> int:
    """Hold the three readers against each other; how many files were read without a fault."""
    rng, clean = random.Random(seed), 0
    for _ in range(runs):
        wanted = rng.choice(SETS)
        words = [*wanted.codes, *wanted.synonym_codes]
        indices = list(range(wanted.size))
        if rng.random() < 0.5:
            rng.shuffle(indices)
        body = mutated(b"".join(b"%d\t%b\n" % (index, rng.choice(words)) for index in indices), rng)
        by_line, by_column = read_lines(body, wanted), read_columns(body, wanted)
        assert read_arrays(body, wanted) == by_line, body
        assert by_column in (None, by_line), body
        assert by_column is not None or by_line.faults or by_line.blank or by_line.indices, body
        canonical = read_canonical(body, 0, words=wanted.words, size=wanted.size)
        if canonical is not None:
            assert not by_line.faults, body
            assert by_line.values == canonical, body
        clean += not by_line.faults
    return clean


def test_the_readers_agree_on_mutated_files() -> None:
    assert fuzz(600, seed=0) > 30


@pytest.mark.slow
def test_the_readers_agree_on_many_mutated_files() -> None:
    assert fuzz(90_000, seed=1) > 4_500


HARD = [
    b"9\t0\n12345678\t1\n123456789\t0\n123456789012345678\t1\n1234567890123456789\t0\n",
    b"012345678\t0\n0000000000\t1\n12345678x\t0\nx12345678\t1\n00\t0\n0\t1\n",
    b"/\t0\n:\t1\n\t0\n-1\t1\n+1\t0\n1 \t1\n 1\t0\n1_0\t1\n\xb2\t0\n",
    b"11\t0\n12\t1\n13\t0\n11\t1\n12\t0\n11\tx\n",
    b"\n\n0\t1\n\n1\t0\n\n",
    b"\t\n\t\t\n0\n\n0\t\n1\t0\t0\n1\t0\n",
    b"0\tentailment\n1\tnot_entailment\n2\tEntailment\n3\tentailmen\n4\tentailment \n0\tentailment\n",
    b"".join(b"%d\t%d\n" % (index, index % 2) for index in range(12)),
    b"".join(b"%d\t%d\n" % (index, index % 2) for index in range(11)),
    b"".join(b"%d\tx\n" % index for index in range(40)),
    b"x\n" * 40,
]


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("shown", [0, 1, 3, 20])
@pytest.mark.parametrize("body", HARD)
def test_the_readers_agree_on_hard_files(
    body: bytes, shown: int, complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rows_module, arrays_module):
        monkeypatch.setattr(module, "SHOWN_PER_FILE", shown)
    wanted = replace(SETS[0], complete=complete)
    assert read_lines(body, wanted) == read_arrays(body, wanted)


@pytest.mark.parametrize("words", [("0", "1"), ("x", "longer")])
def test_the_readers_agree_beyond_one_chunk(words: tuple[str, str]) -> None:
    rng, size = random.Random(2), 70_000
    wanted = Layout(words, size, {"other": 1})
    rows = [b"%d\t%b\n" % (index, rng.choice([*wanted.codes, b"other"])) for index in range(size)]
    for change in (None, 40_000):
        rng.shuffle(rows)
        if change is not None:
            rows[change] = b"%d\twrong\n" % rng.randrange(2 * size)
        body = b"".join(rows)
        by_line = read_lines(body, wanted)
        assert by_line == read_arrays(body, wanted)
        assert bool(by_line.faults) == (change is not None)


def test_labels_in_order_beyond_one_chunk_keep_their_codes() -> None:
    codes = random.Random(3).randbytes(30_000).translate(bytes(at % 3 for at in range(256)))
    body = b"".join(b"%d\t%d\n" % row for row in enumerate(codes))
    for start in (b"", HEADER):
        assert read_canonical(start + body, len(start), words="012", size=len(codes)) == codes
    for wrong in (
        body[:-2] + b"x\n",
        body[1:],
        body + b"0\t0\n",
        body.replace(b"\n29998\t", b"\n2999x\t"),
    ):
        assert read_canonical(wrong, 0, words="012", size=len(codes)) is None
    assert read_canonical(body, 0, words="012", size=len(codes) - 1) is None


@pytest.mark.parametrize("words", [NLI.words, ("a1", "b2", "c3"), ("01", "10", "11"), ("1", "10", "01")])
def test_words_in_order_beyond_one_chunk_keep_their_codes(words: tuple[str, ...]) -> None:
    codes = random.Random(3).randbytes(30_000).translate(bytes(at % 3 for at in range(256)))
    body = "".join(f"{index}\t{words[code]}\n" for index, code in enumerate(codes)).encode()
    read = read_arrays(body, Layout(words, len(codes)))
    assert read is not None
    assert read.values == codes


@pytest.mark.parametrize(
    "body",
    [b"0\t1\n1\t2", b"0\t1\n1\t2\n\n", b"0\t1\n0\t2\n", b"0\t1\n2\t2\n", b"0\t1\n1\t\n", b"0\t1\n1\t2\t3\n",
     b"0\t1\n01\t2\n", b"0\t1\n1\t1e999\n", b"0\t1\n1\t1e\n", b"0\t1\n1\tnan\n", b"0\t1\n1\t 2\n", b"0\t1\n"],
)  # fmt: skip
def test_other_numbers_are_left_to_the_careful_reader(body: bytes) -> None:
    assert read_columns(body, replace(SCORES, size=2)) is None


@pytest.mark.parametrize("ids", [(), ("a-1", "b|2", "ü 3")])
@pytest.mark.parametrize("blank", [True, False])
def test_cells_are_read_as_by_the_careful_reader(ids: tuple[str, ...], blank: bool) -> None:
    known = {"": (), "1": ("1",), "2": ("2",), "1|2": ("1", "2")}

    def read_cell(cell: str) -> tuple[str, ...]:
        if cell not in known:
            raise ValueError(cell)
        return known[cell]

    form = CellForm(read_cell, "|".join, "", blank)
    names, rng, taken = ids or ("0", "1", "2"), random.Random(0), 0
    for _ in range(500):
        rows = [f"{name}\t{rng.choice(['1', '2', '1|2', '', 'x'])}\n" for name in rng.sample(names, 3)]
        body = "".join(rows).encode()
        body = mutated(body, rng) if rng.random() < 0.5 else body
        layout = Layout((), 3, form=form, ids=ids)
        careful, fast = read_lines(body, layout), read_columns(body, layout)
        assert fast in (None, careful), body
        taken += fast is not None
    assert taken > 20


def test_labels_of_ids_are_read_in_columns() -> None:
    layout = Layout(NLI.words, 3, ids=("x", "y\u00e9", "z"))
    body = "z\tneutral\nx\tentailment\ny\u00e9\tneutral\n".encode()
    assert read_columns(body, layout) == read_lines(body, layout)
    assert read_columns(body.replace(b"z\tn", b"z\tx"), layout) is None
    assert read_columns(body.replace(b"z\tn", b"x\tn"), layout) is None
    assert read_arrays(body, layout) is None


def test_numbers_in_another_order_are_put_in_order() -> None:
    rows = read_columns(b"2\t3.5\n0\t-1\n1\t2e-1\n", replace(SCORES, size=3))
    assert rows is not None
    assert rows.values == array("d", [-1, 0.2, 3.5])


def test_the_careful_reader_counts_what_it_passes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "SHOWN_PER_FILE", 1)
    rows = read_lines(b"\n1\tentailment\n\n0\t0\n2\tno\n", replace(SETS[0], size=4))
    assert (rows.rows, rows.blank, rows.synonyms) == (3, 2, 1)
    assert rows.shown == [Fault("unknown-label", 6, 2, b"no")]
    assert rows.faults == {"unknown-label": 1, "missing-index": 1}
    assert (rows.values, rows.indices) == (b"", array("q"))
    part = read_lines(b"3\tentailment\n1\t0\n", replace(SETS[0], size=4, complete=False))
    assert (part.values, part.indices) == (bytes([0, 1]), array("q", [1, 3]))


def test_a_column_counts_and_takes() -> None:
    for labels in (("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")):
        codes = bytes(at * at % len(labels) for at in range(50))
        column = Column(labels, codes)
        assert column.counts() == tuple(codes.count(code) for code in range(len(labels)))
        assert column.take([7, 3]) == Column(labels, bytes([codes[7], codes[3]]), array("q", [7, 3]))
        with pytest.raises(TypeError, match=r"^<Column of 50 labels: .*> has no numbers$"):
            _ = column.numbers
    numbers = Column((), array("d", [1.5, 2.5]))
    assert numbers.take([1]) == Column((), array("d", [2.5]), array("q", [1]))
    with pytest.raises(TypeError, match=r"^<Column of \d+ numbers> has no label codes$"):
        _ = numbers.codes


@given(st.binary(max_size=300))
def test_no_bytes_at_all_raise(data: bytes) -> None:
    for layout in (BINARY, NLI, SCORES):
        for prefix in (b"", HEADER):
            table = read(prefix + data, layout)
            assert (table.column is None) == any(problem.severity == "error" for problem in table.problems)
