"""Released TSV files: every quirk of the real ones, on text of our own; each byte is kept or told of."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from folders import prepare_files, read_text, write_hub_file
from hypothesis import given
from hypothesis import strategies as st

from gluebench.data.errors import DataError
from gluebench.data.fingerprint import fingerprint
from gluebench.data.sources import files
from gluebench.data.sources.columns import unquote


def problems(folder: Path, name: str, text: str, **options: Any) -> list[str]:
    """The lines of the error, each without the folder in front of it."""
    with pytest.raises(DataError) as caught:
        read_text(folder, name, text, **{"rows": 1, **options})
    return [line.replace(f"{folder / 'glue_data'}/", "") for line in str(caught.value).splitlines()]


def test_a_file_without_header_or_final_line_end_has_the_columns_of_its_release(tmp_path: Path) -> None:
    text = "gj04\t1\t\tThe kettle sang.\ncj99\t0\t \tKettle the sang.\nr-67\t0\t*?\tSang it the."
    found = read_text(tmp_path, "CoLA", text, rows=3)
    assert found.tables["dev"].column_names == ["index", "sentence", "label", "source", "mark"]
    assert found.column("sentence") == ["The kettle sang.", "Kettle the sang.", "Sang it the."]
    assert found.column("label") == ["1", "0", "0"]
    assert found.column("mark") == ["", " ", "*?"]
    assert found.column("index") == [0, 1, 2]
    assert found.dataset.splits["dev"].labels == {"0": 2, "1": 1}


def test_a_header_is_taken_where_the_release_says_there_is_none(tmp_path: Path) -> None:
    found = read_text(tmp_path, "CoLA", "index\tsentence\tlabel\n7\tA bell rang.\t1\n", rows=1)
    assert (found.column("index"), found.column("sentence")) == ([7], ["A bell rang."])


def test_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    sentences = [
        "a space at its end ",
        " and at its start",
        '"an unclosed quotation mark',
        '" a stray one',
        'one "inside',
        '"whole"',
        "a lone\rcarriage return",
        "a null\x00and a control\x12character",
        "a mark \ufeffinside",
        "a no-break\xa0space, a line\u2028separator and \x85",
        "naïve, 東京, 🐟",
        "NA",
        "",
        "null",
        "ends in a carriage return\r",
    ]
    text = "sentence\tlabel\n" + "".join(f"{each}\t{row % 2}\n" for row, each in enumerate(sentences))
    found = read_text(tmp_path, "SST-2", text, rows=len(sentences))
    assert found.column("sentence") == sentences


def test_an_unclosed_quotation_mark_swallows_no_row(tmp_path: Path) -> None:
    rows = [f'{row}\tg\tf\t2012\t{row:04d}\ts\tt\t"One {row}.\tTwo.\t{row % 6}.000' for row in range(300)]
    header = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
    found = read_text(tmp_path, "STS-B", header + "\n".join(rows) + "\n", rows=300)
    assert found.column("old_index")[:2] == ["0000", "0001"]
    assert found.column("label")[:3] == [0.0, 1.0, 2.0]
    assert found.column("sentence1")[7] == '"One 7.'


def test_carriage_returns_belong_to_the_line_end_only_where_every_line_has_one(tmp_path: Path) -> None:
    every = read_text(tmp_path / "a", "SST-2", "sentence\tlabel\r\na\rb\t1\r\nc\t0\r\n", rows=2)
    assert (every.column("sentence"), every.column("label")) == (["a\rb", "c"], ["1", "0"])
    some = read_text(tmp_path / "b", "SST-2", "index\tsentence\n0\ta\r\n1\tb\n", split="test", rows=2)
    assert some.column("sentence", "test") == ["a\r", "b"]
    assert problems(tmp_path / "c", "SST-2", "sentence\tlabel\na\t1\r\nb\t0\n")[0].startswith(
        "SST-2/dev.tsv:2:"
    )


def test_a_carriage_return_between_two_blocks_still_belongs_to_its_line_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "sentence\tlabel\r\n" + "".join(f"{'x' * (row % 9)}\t1\r\n" for row in range(64))
    for size in (16, 17, 18):
        monkeypatch.setattr(files, "BLOCK", size)
        found = read_text(tmp_path / str(size), "SST-2", text, rows=64)
        assert found.column("sentence") == ["x" * (row % 9) for row in range(64)]


def test_a_byte_order_mark_is_left_out_at_the_start_of_a_file(tmp_path: Path) -> None:
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    found = read_text(tmp_path, "MRPC", header + "1\t10\t011\tIt 's here .\tHere it is .\n", rows=1)
    assert found.column("label") == ["1"]
    assert found.column("sentence1") == ["It 's here ."]
    assert (found.column("id1"), found.column("id2")) == (["10"], ["011"])


def test_columns_are_taken_by_name_and_others_stay(tmp_path: Path) -> None:
    header = (
        "index\tpromptID\tpairID\tgenre\tsentence1_parse\tsentence1\tsentence2\tlabel1\tlabel2\tgold_label\n"
    )
    row = "3\t63735\t63735n\tslate\t( a )\tA cat. \t \tneutral\tentailment\tneutral\n"
    found = read_text(tmp_path, "MNLI", header + row, split="dev_matched", rows=1)
    first = {name: found.column(name, "dev_matched")[0] for name in found.tables["dev_matched"].column_names}
    assert list(first)[:4] == ["index", "premise", "hypothesis", "label"]
    assert first == {
        "index": 3,
        "premise": "A cat. ",
        "hypothesis": " ",
        "label": "neutral",
        "promptID": "63735",
        "pairID": "63735n",
        "genre": "slate",
        "sentence1_parse": "( a )",
        "label1": "neutral",
        "label2": "entailment",
    }


@pytest.mark.parametrize("label", ["", "\t-1"])
def test_labels_that_are_absent_or_minus_one_are_hidden(tmp_path: Path, label: str) -> None:
    header = "index\tsentence1\tsentence2" + ("\tlabel" if label else "")
    found = read_text(tmp_path, "WNLI", f"{header}\n0\ta\tb{label}\n1\tc\td{label}\n", split="test", rows=2)
    assert "label" not in found.tables["test"].column_names
    record = found.dataset.splits["test"]
    assert record.labels is None
    assert (
        record.fingerprint
        == record.text_fingerprint
        == fingerprint({"premise": ["a", "c"], "hypothesis": ["b", "d"]})
    )


def test_synonyms_become_the_label_words(tmp_path: Path) -> None:
    text = "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tnot_entailment\n1\ta\tc\t1\n"
    assert read_text(tmp_path, "WNLI", text, rows=2).column("label") == ["0", "1"]


def test_a_label_that_is_no_word_is_told_with_its_line(tmp_path: Path) -> None:
    text = "sentence\tlabel\na\t1\nb\t2\nc\t-1\nd\tgood\n"
    told = problems(tmp_path, "SST-2", text)
    assert [line.split("; ")[0] for line in told] == [
        "SST-2/dev.tsv:3: the label is '2'",
        "SST-2/dev.tsv:4: the label is '-1'",
        "SST-2/dev.tsv:5: the label is 'good'",
    ]
    assert all(line.endswith("expected one of 0, 1") for line in told)


def test_labels_that_begin_hidden_stay_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK", 16)
    text = "index\tsentence\tlabel\n0\taaaa\t-1\n1\tbbbb\t-1\n2\tcccc\t1\n"
    (told,) = problems(tmp_path, "SST-2", text, split="test")
    assert told == "SST-2/test.tsv:4: the label is '1'; expected -1 for hidden, as in the rows above"


@pytest.mark.parametrize(
    "score", ["nan", "inf", "1e0", "+1.0", "5.001", "-0.1", "1_0", " 1.0", "", ".5", "1.", "١", "9" * 400]
)
def test_a_score_that_is_no_plain_number_in_range_is_told(tmp_path: Path, score: str) -> None:
    told = problems(
        tmp_path, "STS-B", f"index\tsentence1\tsentence2\tscore\n0\ta\tb\t2.50\n1\ta\tb\t{score}\n"
    )
    assert told == [f"STS-B/dev.tsv:3: the label is {score!r}; expected a plain decimal number from 0 to 5"]


def test_scores_are_the_doubles_nearest_to_their_digits(tmp_path: Path) -> None:
    digits = ["5.000", "3.2", "4", "2.11111111111111", "0.30000000000000004", "00.5"]
    rows = "".join(f"{row}\ta\tb\t{score}\n" for row, score in enumerate(digits))
    found = read_text(tmp_path, "STS-B", "index\tsentence1\tsentence2\tscore\n" + rows, rows=len(digits))
    assert found.column("label") == [float(score) for score in digits]


@pytest.mark.parametrize("index", ["x", "-3", "1.0", " 1", "+1", "01", "", "9" * 19])
def test_an_index_that_is_no_whole_number_is_told(tmp_path: Path, index: str) -> None:
    text = f"index\tquestion\tsentence\tlabel\n0\tq\ts\tentailment\n{index}\tq\ts\tentailment\n"
    (told,) = problems(tmp_path, "QNLI", text)
    assert told == f"QNLI/dev.tsv:3: the index is {index!r}; expected a whole number from 0"


def test_an_index_that_is_there_twice_is_told(tmp_path: Path) -> None:
    rows = "".join(f"{index}\tq\ts\tentailment\n" for index in (4, 9, 2, 9, 4, 9))
    told = problems(tmp_path, "QNLI", "index\tquestion\tsentence\tlabel\n" + rows, rows=6)
    assert told == [
        "QNLI, dev: the index 4 stands in the rows 1 and 5; expected each index once",
        "QNLI, dev: the index 9 stands in the rows 2 and 4; expected each index once",
    ]


def test_lines_that_are_no_rows_are_told_and_none_is_dropped(tmp_path: Path) -> None:
    text = b"index\tsentence\n0\tone\n1\n2\ttwo\tthree\n\n4\t\xffour\nx\tfive\n6\tsix\n\n"
    with pytest.raises(DataError) as caught:
        prepare_files(tmp_path, "SST-2", {"SST-2/test.tsv": text}, rows={"test": 2})
    told = [line.rpartition("test.tsv:")[2] for line in caught.value.problems]
    advice = "expected 2 fields, with a tab between them; fix the line, or fetch the file again"
    utf8 = "is not UTF-8; expected UTF-8 text; convert the file from the encoding it has"
    assert told == [
        f"3: 1 fields; {advice}",
        f"4: 3 fields; {advice}",
        f"5: an empty line; {advice}",
        f"6: byte 3 of the line, 0xff, {utf8}",
        f"9: an empty line; {advice}",
        "7: the index is 'x'; expected a whole number from 0",
    ]
    assert not (tmp_path / "data" / "glue" / "SST-2").exists()


def test_twenty_problems_are_shown_or_all_of_them(tmp_path: Path) -> None:
    text = ("index\tsentence\n" + "".join(f"{row}\n" for row in range(50))).encode()
    shown = {}
    for keep_going in (False, True):
        with pytest.raises(DataError) as caught:
            prepare_files(
                tmp_path, "SST-2", {"SST-2/test.tsv": text}, rows={"test": 50}, keep_going=keep_going
            )
        shown[keep_going] = str(caught.value).splitlines()
    assert (len(shown[False]), shown[False][-1]) == (21, "... and 30 more")
    assert len(shown[True]) == 50


def test_problems_of_all_splits_are_told_together(tmp_path: Path) -> None:
    files = {"SST-2/train.tsv": b"sentence\tlabel\na\tx\n", "SST-2/dev.tsv": b"sentence\tlabel\nb\ty\n"}
    with pytest.raises(DataError) as caught:
        prepare_files(tmp_path, "SST-2", files, rows={})
    assert ["'x'" in line or "'y'" in line for line in caught.value.problems] == [True, True]


QQP = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"


def test_csv_quoting_is_undone_where_the_release_has_it(tmp_path: Path) -> None:
    rows = (
        '7\t1\t2\t"Is ""right"" a word?"\tWhat?\t0\n'
        '8\t3\t4\t"unclosed\t""\t1\n'
        '9\t5\t6\t"a "b" c"\t"\t1\n'
        '10\t7\t8\tsay "hi"\t"""whole"""\t0\n'
    )
    found = read_text(tmp_path, "QQP", QQP + rows, rows=4)
    assert found.column("question1") == ['Is "right" a word?', '"unclosed', '"a "b" c"', 'say "hi"']
    assert found.column("question2") == ["What?", "", '"', '"whole"']
    assert (found.column("id"), found.column("index")) == (["7", "8", "9", "10"], [0, 1, 2, 3])


def test_a_row_of_qqp_that_lacks_a_column_is_told_with_what_can_be_done(tmp_path: Path) -> None:
    text = QQP + "7\t1\t2\tHow?\tWhy? 0\n"
    (told,) = problems(tmp_path, "QQP", text)
    assert told.startswith("QQP/dev.tsv:2: 5 fields; expected 6 fields")
    assert "three lines lack a column" in told
    assert "the hub's copy" in told


def test_the_three_incomplete_lines_of_qqps_train_are_left_out_and_named(tmp_path: Path) -> None:
    short, whole = "7\t1\t2\tHow?\tWhy? 0\n", "8\t3\t4\tWho?\tWhat?\t1\n"
    found = read_text(tmp_path, "QQP", QQP + short + whole + short * 2 + whole, split="train", rows=2)
    assert found.column("question1", "train") == ["Who?", "Who?"]
    assert found.column("index", "train") == [0, 1]
    assert found.dataset.notes == ("train: 3 lines that lack a column are left out: train.tsv, line 2, 4, 5",)
    (message,) = problems(tmp_path, "QQP", QQP + short * 4, split="train")
    assert message.startswith("QQP/train.tsv:5: 5 fields; expected 6 fields")
    (message,) = problems(tmp_path, "SST-2", "sentence\tlabel\nOne\n", split="train")
    assert message.startswith("SST-2/train.tsv:2: 1 fields; expected 2 fields")


AXB = (
    '{"idx": 0, "label": "not_entailment", "sentence1": "It rains.", '
    '"sentence2": "It is dry.", "logic": "Negation"}\n'
    '{"idx": 1, "label": "entailment", "sentence1": "It pours.", "sentence2": "It rains.", '
    '"lexical-semantics": "Lexical entailment", "logic": "Upward monotone;Temporal"}\n'
)


def test_superglues_ax_b_is_ax_without_its_three_labels(tmp_path: Path) -> None:
    found = prepare_files(tmp_path, "AX", {"AX-b/AX-b.jsonl": AXB.encode()}, rows={"test": 2})
    assert found.column("premise", "test") == ["It rains.", "It pours."]
    assert found.column("index", "test") == [0, 1]
    assert found.column("phenomena", "test") == [
        ["Negation"],
        ["Lexical Entailment", "Upward Monotone", "Temporal"],
    ]
    assert found.column("merged_label", "test") == ["not_entailment", "entailment"]
    assert "label" not in found.tables["test"].column_names
    assert any("only entailment or not_entailment" in note for note in found.dataset.notes)


def test_a_wrong_line_of_json_is_named(tmp_path: Path) -> None:
    for ending, told in {
        "[1]\n" + '{"sentence1": "a", "label": "entailment"}\n': [
            "3: no sentence1 is there; expected text",
            "3: no sentence2 is there; expected text",
            "3: the index is ''; expected a whole number from 0",
        ],
        '{"sentence1': ["3: expected JSON, not '{\"sentence1'; write the file with a JSON library"],
    }.items():
        with pytest.raises(DataError) as caught:
            prepare_files(tmp_path, "AX", {"AX/AX-b.jsonl": (AXB + ending).encode()}, rows={"test": 2})
        ends = [line.partition("AX-b.jsonl:")[2] for line in caught.value.problems]
        assert sorted(ends)[: len(told)] == told


@pytest.mark.parametrize("path", ["MNLI/diagnostic.tsv", "MNLI/diagnostic-full.tsv"])
def test_ax_is_found_beside_mnli(tmp_path: Path, path: str) -> None:
    text = b"index\tsentence1\tsentence2\n0\tIt rains.\tIt pours.\n"
    found = prepare_files(tmp_path, "AX", {path: text, "MNLI/train.tsv": b""}, rows={"test": 1})
    assert found.column("hypothesis", "test") == ["It pours."]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("index", [None, "index", "shuffled"])
def test_scores_that_pandas_wrote_are_read_with_and_without_its_index(
    tmp_path: Path, kind: str, index: str | None
) -> None:
    import pandas as pd  # noqa: TID251 - what a user gives

    scores = [0.0, 3.2, 2.111111, 5.0]
    texts = ["a", "b", "c", "d"]
    frame = pd.DataFrame({"sentence1": texts, "sentence2": texts, "score": scores})
    frame["score"] = frame["score"].astype("float32").astype(kind)
    frame.index = pd.Index(
        [3, 1, 2, 0] if index == "shuffled" else range(4), name="index" if index == "index" else None
    )
    path = tmp_path / "glue_data" / "STS-B" / "dev.parquet"
    path.parent.mkdir(parents=True)
    frame.to_parquet(path, index=index is not None)
    found = prepare_files(tmp_path, "STS-B", {}, rows={"dev": 4})
    assert found.column("label") == scores
    assert found.column("index") == [0, 1, 2, 3]
    assert set(found.tables["dev"].column_names) == {"index", "sentence1", "sentence2", "label"}


@given(st.text(st.sampled_from('"ab\n'), max_size=8))
def test_quoting_is_undone_as_a_writer_of_csv_would_have_made_it(text: str) -> None:
    written = '"' + text.replace('"', '""') + '"'
    assert unquote(pa.array([written, "plain"])).to_pylist() == [text, "plain"]
    if '"' not in text:
        assert unquote(pa.array([text])).to_pylist() == [text]


CATEGORIES = "Lexical Semantics\tPredicate-Argument Structure\tLogic\tKnowledge"
AX = f"{CATEGORIES}\tDomain\tPremise\tHypothesis\tLabel\r\n"


def test_tags_of_a_diagnostic_set_get_the_names_of_the_manifest(tmp_path: Path) -> None:
    rows = "Factivity;Quantifiers\tCore args\t\t\tNews\tA dog barks. \tIt barks.\tentailment\r\n"
    rows += "\t\tDouble negation\tWorld knowledge\tACL\tIt is.\tIt is not.\tcontradiction\r\n"
    rows += "\t\t\t\tReddit\tSo.\tNo.\tneutral\r\n"
    files = {"diagnostic/diagnostic-full.tsv": (AX + rows).encode()}
    found = prepare_files(tmp_path, "AX", files, rows={"test": 3})
    assert found.column("phenomena", "test") == [
        ["Factivity", "Quantifiers", "Core Arguments"],
        ["Double Negation", "World Knowledge"],
        [],
    ]
    assert found.column("domain", "test") == ["News", "ACL", "Reddit"]
    assert found.column("premise", "test")[0] == "A dog barks. "
    assert pc.list_value_length(found.tables["test"].column("phenomena")).to_pylist() == [3, 2, 0]


@pytest.mark.parametrize("tag", ["Sarcasm", "Negation;", "Factivity"])
def test_a_tag_that_the_manifest_does_not_know_in_that_category_is_told(tmp_path: Path, tag: str) -> None:
    files = {"AX/diagnostic-full.tsv": f"{AX}\t\t{tag}\t\tNews\ta\tb\tneutral\r\n".encode()}
    with pytest.raises(DataError, match=r"diagnostic-full.tsv:2: the tag '.*' of Logic; expected one of Neg"):
        prepare_files(tmp_path, "AX", files, rows={"test": 1})


def test_a_diagnostic_set_without_labels_has_neither_labels_nor_tags(tmp_path: Path) -> None:
    files = {"AX/diagnostic.tsv": b"index\tsentence1\tsentence2\n0\ta\tb\n"}
    found = prepare_files(tmp_path, "AX", files, rows={"test": 1})
    assert found.tables["test"].column_names == ["index", "premise", "hypothesis"]


def test_columns_that_are_missing_or_twice_are_told_with_those_that_are_there(tmp_path: Path) -> None:
    (told,) = problems(tmp_path / "a", "RTE", "index\tsentence1\tlabel\n0\ta\tentailment\n")
    assert told == (
        "RTE/dev.tsv:1: found the columns 'index' 'sentence1' 'label'; expected premise (or sentence1) "
        "hypothesis (or sentence2) among them, for RTE"
    )
    (told,) = problems(tmp_path / "b", "RTE", "sentence1\tsentence2\tpremise\na\tb\tc\n")
    assert "'premise' twice; expected each name once" in told


def test_a_tsv_with_csv_quotes_and_class_numbers_is_read_and_said(tmp_path: Path) -> None:
    text = 'sentence1\tsentence2\tlabel\tidx\n"a ""b"""\tc\t0\t0\nd\t"e "" f"\t1\t1\n'
    found = read_text(tmp_path, "RTE", text, rows=2)
    assert found.column("premise") == ['a "b"', "d"]
    assert found.column("hypothesis") == ["c", 'e " f']
    assert found.column("label") == ["entailment", "not_entailment"]
    note = "dev: labels are class numbers; 0 is entailment, 1 is not_entailment"
    assert found.dataset.notes == (note,)


def test_class_numbers_of_a_plain_tsv_are_read_as_those_of_csv(tmp_path: Path) -> None:
    rows = "sentence1,sentence2,label\na,b,0\nc,d,1\n"
    note = "dev: labels are class numbers; 0 is entailment, 1 is not_entailment"
    for name, text in {"dev.tsv": rows.replace(",", "\t"), "dev.csv": rows}.items():
        made = {f"RTE/{name}": text.encode()}
        found = prepare_files(tmp_path / name, "RTE", made, rows={"dev": 2})
        assert found.column("label") == ["entailment", "not_entailment"]
        assert found.dataset.notes == (note,)
    for label, wrong in {"2": "2", "1.5": "0", "entailment": "0"}.items():
        text = f"sentence1\tsentence2\tlabel\na\tb\t0\nc\td\t{label}\n"
        told = problems(tmp_path / label, "RTE", text, rows=2)
        assert any(f"the label is '{wrong}'" in line for line in told)


def test_class_numbers_as_text_of_parquet_are_read(tmp_path: Path) -> None:
    columns = {"sentence1": ["a", "c"], "sentence2": ["b", "d"], "label": ["0", "1"]}
    write_hub_file(tmp_path / "glue_data/RTE/dev.parquet", columns)
    found = prepare_files(tmp_path, "RTE", {}, rows={"dev": 2})
    assert found.column("label") == ["entailment", "not_entailment"]
    assert found.dataset.notes == ("dev: labels are class numbers; 0 is entailment, 1 is not_entailment",)


@pytest.mark.parametrize("name", ["dev.csv", "dev.jsonl", "dev.tsv"])
def test_columns_are_named_as_the_file_has_them(tmp_path: Path, name: str) -> None:
    columns = {"sentence1": "a", "text": "b", "label": "entailment"}
    separator = "," if name.endswith("csv") else "\t"
    text = "\n".join([separator.join(columns), separator.join(columns.values()), ""])
    if name.endswith("jsonl"):
        text = json.dumps(columns) + "\n"
    with pytest.raises(DataError) as caught:
        prepare_files(tmp_path, "RTE", {f"RTE/{name}": text.encode()}, rows={"dev": 1})
    assert (
        "found the columns 'sentence1' 'text' 'label'; expected premise (or sentence1) hypothesis (or "
        in str(caught.value)
    )


def test_quotation_marks_of_a_released_tsv_stay_text(tmp_path: Path) -> None:
    text = 'sentence1\tsentence2\tlabel\n"a ""b"""\tc\tentailment\n"d\te\tentailment\n"f"\tg\tentailment\n'
    found = read_text(tmp_path, "RTE", text, rows=3)
    assert found.column("premise") == ['"a ""b"""', '"d', '"f"']


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "an HTML page"),
        (b"\n <HTML>\n", "an HTML page"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"PAR1....PAR1", "a Parquet file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        ("\ufeffindex\tsentence\n".encode("utf-16"), "UTF-16"),
        (b"", "the file is empty"),
    ],
)
def test_a_file_that_is_something_else_is_told_for_what_it_is(
    tmp_path: Path, content: bytes, what: str
) -> None:
    with pytest.raises(DataError, match=f"test.tsv: .*{what}.*fetch it again"):
        prepare_files(tmp_path, "SST-2", {"SST-2/test.tsv": content}, rows={"test": 1})


def test_a_file_without_line_ends_is_told_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST", 4 * files.BLOCK)
    content = b"x" * (6 * files.BLOCK)
    with pytest.raises(DataError, match="a line of more than"):
        prepare_files(tmp_path, "SST-2", {"SST-2/test.tsv": content}, rows={"test": 1})


TEXT = st.text(st.sampled_from("ab\r\0\"',\ufeffé🐟 \u2028\x85\\#"), max_size=4)
FIELD = TEXT | st.sampled_from(["NA", "null", "", "1.0", "true", "nan", '""', "#N/A"])


@given(st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=12), st.integers(4, 64))
def test_fields_are_what_stands_between_tabs_wherever_blocks_are_cut(
    rows: list[tuple[str, str]], block: int
) -> None:
    data = "\n".join(f"{a}\t{b}" for a, b in rows).encode()
    with patch.object(files, "BLOCK", block):
        blocks = list(files._blocks(BytesIO(data), Path("x.tsv")))
    columns = [files._by_column(files._fields(each, 2), 2) for each in blocks]
    assert [value for first, _ in columns for value in first.to_pylist()] == [a for a, _ in rows]
    assert [value for _, second in columns for value in second.to_pylist()] == [b for _, b in rows]


@given(st.lists(st.lists(FIELD, min_size=1, max_size=4), min_size=1, max_size=5), st.integers(1, 4))
def test_a_block_is_read_only_if_every_line_has_so_many_fields(rows: list[list[str]], width: int) -> None:
    data = "".join("\t".join(row) + "\n" for row in rows).encode()
    assert (files._fields(data, width) is not None) == all(len(row) == width for row in rows)


@pytest.mark.parametrize("spoilt", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"])
def test_a_block_that_is_not_utf8_is_not_read(spoilt: bytes) -> None:
    for data in (b"a\t" + spoilt + b"\n", spoilt + b"\tb\r\n"):
        assert files._fields(data, 2) is None
