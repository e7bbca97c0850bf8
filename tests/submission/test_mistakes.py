"""The commonest mistakes of submitters, one file each: what `check` answers, and what `--fix` does.

docs/reference/mistakes.md is what `PYTHONPATH=tests python tests/submission/test_mistakes.py` prints.
"""

from __future__ import annotations

import io
import json
import random
import struct
import tarfile
import tempfile
import zipfile
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from submission.test_variants import mutated

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.submission import Problem, Submission, check, fix_submission
from gluebench.submission.mistakes import explain_table
from gluebench.submission.rows import Layout
from gluebench.submission.tables import read_table

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "mistakes.md"
HEADER = "index\tprediction\n"
WORDS = ("entailment", "not_entailment")
NLI = ("entailment", "neutral", "contradiction")
VALUES = {
    "SST-2": [str(at * 7 % 11 % 2) for at in range(12)],
    "RTE": [WORDS[at * 5 % 7 % 2] for at in range(9)],
    "STS-B": [repr(at * 13 % 50 / 10) for at in range(8)],
    "MNLI-m": [NLI[at * 4 % 5 % 3] for at in range(7)],
    "MNLI-mm": [NLI[at * 3 % 7 % 3] for at in range(6)],
}
"""What is meant by every file below."""
MANIFEST = """
[benchmark]
name = "small"

[tasks.SST-2]
columns = ["sentence"]
labels = { 0 = "negative", 1 = "positive" }
metrics = [{ name = "accuracy" }]
splits = { test = { size = 12 }, dev = { size = 5 } }

[tasks.RTE]
columns = ["premise", "hypothesis"]
labels = { entailment = "yes", not_entailment = "no" }
metrics = [{ name = "accuracy" }]
splits = { test = { size = 9 } }

[tasks.STS-B]
columns = ["sentence1", "sentence2"]
score_range = [0.0, 5.0]
metrics = [{ name = "pearson" }]
splits = { test = { size = 8 } }

[tasks.MNLI]
columns = ["premise", "hypothesis"]
labels = { entailment = "yes", neutral = "maybe", contradiction = "no" }
metrics = [
  { name = "matched", function = "accuracy", file = "MNLI-m" },
  { name = "mismatched", function = "accuracy", file = "MNLI-mm" },
]
splits = { test_matched = { size = 7 }, test_mismatched = { size = 6 } }

[[tasks.MNLI.files]]
name = "MNLI-m"
test = "test_matched"

[[tasks.MNLI.files]]
name = "MNLI-mm"
test = "test_mismatched"
"""


class Case(NamedTuple):
    """A mistaken submission: files by name, or the bytes of one file that is sent."""

    files: Mapping[str, bytes]
    fixed: bool = True
    labels: tuple[tuple[str, ...], ...] = ()
    sent: str = ""
    """Name of the one file that is sent as it is; else the files are zipped."""


def rows(name: str) -> list[tuple[int, str]]:
    return list(enumerate(VALUES[name]))


def table(name: str, change: Callable[[int, str], str] = "{}\t{}".format, header: str = HEADER) -> bytes:
    return (header + "".join(change(at, value) + "\n" for at, value in rows(name))).encode()


def one(name: str, data: bytes, **details: object) -> Case:
    return Case({name: data}, **details)  # type: ignore[arg-type]


def sst(change: Callable[[int, str], str] = "{}\t{}".format, header: str = HEADER, **details: object) -> Case:
    return one("SST-2.tsv", table("SST-2", change, header), **details)


def rte(change: Callable[[int, str], str], header: str = HEADER, **details: object) -> Case:
    return one("RTE.tsv", table("RTE", change, header), **details)


def sts(change: Callable[[int, str], str], header: str = HEADER, **details: object) -> Case:
    return one("STS-B.tsv", table("STS-B", change, header), **details)


def parquet(name: str) -> bytes:
    target = pa.BufferOutputStream()
    columns = {"index": [at for at, _ in rows(name)], "prediction": VALUES[name]}
    pq.write_table(pa.table(columns), target)
    return target.getvalue().to_pybytes()


def number(value: str) -> int:
    return WORDS.index(value)


def zipped(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return target.getvalue()


COMMAS = "{},{}".format
WORKBOOK = zipped({"xl/workbook.xml": b"<workbook/>", "[Content_Types].xml": b"<Types/>"})
ARRAY = b"\x93NUMPY\1\0v\0" + struct.pack("<12d", *map(float, VALUES["SST-2"]))
LINES = "".join(json.dumps({"idx": at, "label": value}) + "\n" for at, value in rows("RTE")).encode()

CASES = {
    # The file that holds the others.
    "a zip in a zip": one("submission.zip", zipped({"SST-2.tsv": table("SST-2")})),
    "a tar.gz": one("run.tar.gz", tarred({"SST-2.tsv": table("SST-2")}), fixed=False, sent="run.tar.gz"),
    "a RAR archive named .zip": one("run.zip", b"Rar!\x1a\7\0" + bytes(30), fixed=False, sent="run.zip"),
    "an Excel workbook, alone": one("SST-2.xlsx", WORKBOOK, fixed=False, sent="SST-2.xlsx"),
    "an Excel workbook in the zip": one("SST-2.xlsx", WORKBOOK, fixed=False),
    "a NumPy array": one("SST-2.npy", ARRAY, fixed=False),
    "files from a Mac": Case({"__MACOSX/._x": b"\0\5", ".DS_Store": b"Bud1", "SST-2.tsv": table("SST-2")}),
    "all tasks in one file": one("predictions.tsv", b"".join(map(table, VALUES)), fixed=False),
    "all tasks in one table, with a column of them": one(
        "predictions.csv",
        b"task,index,prediction\n" + b"".join(
            table(name, f"{name},{{}},{{}}".format, "") for name in VALUES
        )
    ),
    "a task in one JSON file": one("predictions.json", json.dumps({"rte": dict(rows("RTE"))}).encode()),
    "Parquet": one("RTE.parquet", parquet("RTE")),
    # The name.
    "SST2.tsv": one("SST2.tsv", table("SST-2")),
    "sst2_test.tsv": one("sst2_test.tsv", table("SST-2")),
    "SST-2.tsv.txt": one("SST-2.tsv.txt", table("SST-2")),
    "Hugging Face's predict_results_sst2.txt": one("predict_results_sst2.txt", table("SST-2")),
    "predict_results_mnli-mm.txt": one("predict_results_mnli-mm.txt", table("MNLI-mm")),
    "mnli_test_mismatched.csv": one("mnli_test_mismatched.csv", table("MNLI-mm", COMMAS, ",prediction\n")),
    "SST-2.csv": one("SST-2.csv", table("SST-2", COMMAS, "index,prediction\n")),
    "SST-2.csv, alone": one("SST-2.csv", table("SST-2", COMMAS, "index,prediction\n"), sent="SST-2.csv"),
    "MNLI-m and MNLI-mm exchanged": Case({"MNLI-m.tsv": table("MNLI-mm"), "MNLI-mm.tsv": table("MNLI-m")}),
    # The form.
    "commas in SST-2.tsv": sst(COMMAS, "index,prediction\n"),
    "decimal commas": sts(lambda at, text: f"{at};{text}".replace(".", ","), "id;prediction\n"),
    "spaces for tabs": sst("{} {}".format, "index prediction\n"),
    "the pandas index column": sst("{0}\t{0}\t{1}".format, "\tindex\tprediction\n"),
    "the sentences too": sst("{}\ta, b\t{}".format, "index\tsentence\tprediction\n"),
    "no header": sst(header=""),
    "another header": sst(header="id\tpredicted_label\n"),
    "columns exchanged": sst(lambda at, value: f"{value}\t{at}", "prediction\tindex\n"),
    "columns exchanged, without a header": rte(lambda at, value: f"{value}\t{at}", ""),
    "labels alone": rte(lambda _, value: value, ""),
    "UTF-16 from a spreadsheet": one("SST-2.tsv", table("SST-2").decode().encode("utf-16")),
    "UTF-16 without a mark": one("SST-2.tsv", table("SST-2").decode().encode("utf-16-le")),
    "byte order mark and Windows line ends": sst("{}\t{}\r".format, "\ufeffindex\tprediction\r\n"),
    "JSON lines": one("RTE.jsonl", LINES),
    "JSON": one("RTE.json", json.dumps({str(at): value for at, value in rows("RTE")}).encode()),
    "quotes around the labels": rte('{}\t"{}"'.format),
    "tensors": sst("{}\ttensor({}, device='cuda:0')".format),
    "appended to an older run": one("SST-2.tsv", table("SST-2") + table("SST-2", header="")),
    # The index.
    "floats from numpy.savetxt": sst(lambda at, value: f"{at:.18e}\t{int(value):.18e}"),
    "indices from 1": sst(lambda at, value: f"{at + 1}\t{value}"),
    "indices like test-7": sst("test-{}\t{}".format),
    "a row lost": one("SST-2.tsv", table("SST-2").rpartition(b"11\t")[0], fixed=False),
    "dev predictions": one("SST-2.tsv", b"".join(table("SST-2").splitlines(keepends=True)[:6]), fixed=False),
    # The values.
    "Python floats, 1.0": sst("{}\t{}.0".format),
    "True and False": sst(lambda at, value: f"{at}\t{value == '1'}"),
    "capitals": rte(lambda at, value: f"{at}\t{value.upper()}"),
    "not entailment, with a space": rte(lambda at, value: f"{at}\t{value.replace('_', ' ')}"),
    "class numbers": rte(lambda at, value: f"{at}\t{number(value)}", fixed=False),
    "class numbers, and --labels": rte(lambda at, value: f"{at}\t{number(value)}", labels=(WORDS,)),
    "class numbers of a model that counts otherwise, and --labels": rte(
        lambda at, value: f"{at}\t{1 - number(value)}", labels=(WORDS[::-1],)
    ),
    "LABEL_0 and LABEL_1": rte(lambda at, value: f"{at}\tLABEL_{number(value)}", fixed=False),
    "one probability a row": rte(lambda at, value: f"{at}\t{0.75 - number(value) / 2}", fixed=False),
    "two columns of logits": sst(lambda at, value: f"{at}\t0.5\t-{value}.5", "id\t0\t1\n", fixed=False),
    "class names, as run_glue.py writes them": sst(
        lambda at, value: f"{at}\t{['negative', 'positive'][int(value)]}"
    ),
    "BERT's test_results.tsv": rte(lambda at, value: f"0.{at}25\t{number(value)}.5", "", fixed=False),
    "a tab after each value": sst("{}\t{}\t".format),
    "a tab after each value and the header": sst("{}\t{}\t".format, "index\tprediction\t\n"),
    "indices of each batch": sst(lambda at, value: f"{at % 4}\t{value}", fixed=False),
    "hidden labels copied": sst("{}\t-1".format, fixed=False),
    "nan for a score": sts(lambda at, value: f"{at}\t{'nan' if at == 3 else value}", fixed=False),
    "brackets around scores": sts("{}\t[{}]".format),
}  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    path = tmp_path_factory.mktemp("small") / "small.toml"
    path.write_text(MANIFEST)
    return load_benchmark(path)


def sent(case: Case, folder: Path) -> Path:
    """The case as the file that somebody sends."""
    path = folder / (case.sent or "submission.zip")
    path.write_bytes(case.files[case.sent] if case.sent else zipped(case.files))
    return path


def telling(submission: Submission) -> list[Problem]:
    """The problems but for files that are absent because the case has only one."""
    absent = [each for each in submission.problems if each.code == "missing-file" and each.fix == "Add it."]
    return [each for each in submission.problems if each not in absent and each.code != "ignored-file"]


@pytest.mark.parametrize("name", CASES)
def test_each_is_answered_in_a_sentence_or_two_and_fixed_as_it_was_meant(
    small: Benchmark, tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    path = sent(case, tmp_path)
    submission = check(path, small)
    assert 1 <= len(telling(submission)) <= 2, submission.problems
    assert not submission.unshown
    fixed = fix_submission(path, tmp_path / "fixed.zip", small, labels=case.labels)
    assert bool(fixed.problems) != case.fixed, fixed
    assert (tmp_path / "fixed.zip").exists() == case.fixed
    if case.fixed:
        again = check(tmp_path / "fixed.zip", small)
        assert {each.code for each in again.problems} <= {"missing-file"}
        assert again.predictions
        for file, column in again.predictions.items():
            meant = array("d", map(float, VALUES[file])) if not column.labels else VALUES[file]
            assert (column.words() if column.labels else column.numbers) == meant


FORMS = (
    ("index\tprediction\n", "{}\t{}\n"),
    (",index,prediction\n", "{0},{0},{1}\n"),
    ("", "{}\t{}\n"),
    ("prediction\tindex\n", "{1}\t{0}\n"),
    ("prediction\n", "{1}\n"),
    ('"index","prediction"\n', '"{}","{}"\n'),
    ("index prediction\n", "{} {}\n"),
    ("index\tprediction\n", "test-{}\t{}.\n"),
)


def damage(runs: int, seed: int) -> int:
    """How many damaged files were repaired; each must say what was meant, or be left alone."""
    rng, meant, repaired = random.Random(seed), VALUES["MNLI-m"], 0
    wanted = Layout(NLI, len(meant))
    for _ in range(runs):
        header, row = rng.choice(FORMS)
        order = (
            rng.sample(range(len(meant)), len(meant)) if "{0}" in row or "{}" in row else range(len(meant))
        )
        text = header + "".join(row.format(at, meant[at]) for at in order)
        data = mutated(text.encode(), rng)
        read = read_table("M.tsv", data, wanted)
        if read.column is None:
            column = explain_table("M.tsv", data, wanted, read, thorough=True).column
            assert column is None or column.words() == meant, data
            repaired += column is not None
    return repaired


def test_a_damaged_file_is_never_repaired_into_other_labels() -> None:
    assert damage(700, 0) > 10


def test_a_line_end_in_quotes_makes_no_row() -> None:
    data = b'index,prediction\n0,"neutral\n1\tentailment"\n1,neutral\n2,neutral\n'
    wanted = Layout(NLI, 3)
    table = explain_table("M.tsv", data, wanted, read_table("M.tsv", data, wanted), thorough=True)
    assert table.column is None
    assert [problem.value for problem in table.problems if problem.code == "unknown-label"]


@pytest.mark.slow
def test_no_damaged_file_of_many_is_repaired_into_other_labels() -> None:
    assert damage(20_000, 1) > 500


def test_the_manual_has_the_table_of_at_least_forty(small: Benchmark, tmp_path: Path) -> None:
    assert len(CASES) >= 40
    assert PAGE.read_text() == page(small, tmp_path)


def page(small: Benchmark, folder: Path) -> str:
    """What docs/reference/mistakes.md says."""
    lines = []
    for name, case in CASES.items():
        path = sent(case, folder)
        answers = [f"`{each.code}`: {each.expected}. {each.fix}" for each in telling(check(path, small))]
        fixed = fix_submission(path, folder / "out.zip", small, labels=case.labels)
        steps = [step.split(": ", 1)[-1] for step in fixed.done[:-1]] if case.fixed else ["–"]
        cells = [cell.replace("|", "\\|").replace("<TAB>", "&lt;TAB&gt;") for cell in (*answers, *steps)]
        told, done = "<br>".join(cells[: len(answers)]), "<br>".join(cells[len(answers) :])
        lines.append(f"| {name} | {told} | {done} |\n")
    return TITLE + "".join(lines)


TITLE = """# Common mistakes

What `gluebench check`, the submission page and the API answer to common mistakes, and what
`gluebench check --fix` does about each. A test makes every file here; it checks that a repaired file is valid
and says what was meant. A step that begins with `guess:` rests on an assumption: check it. `–` means that the
file is left to its author. The codes are those of [submission.md](submission.md).

| file | answer | what `--fix` does |
|---|---|---|
"""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        manifest = Path(home, "small.toml")
        manifest.write_text(MANIFEST)
        print(page(load_benchmark(manifest), Path(home)), end="")
