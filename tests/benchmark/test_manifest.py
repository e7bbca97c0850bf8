"""Loading manifests: names, paths, and every kind of mistake with its line."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.benchmark import Benchmark, ManifestError, UnknownNameError, load_benchmark
from gluebench.benchmark.build import KEYS, benchmark_record
from gluebench.benchmark.checks import check
from gluebench.benchmark.reader import Finding, KeyPath, Section

GOOD = (Path(__file__).parent / "mine.toml").read_text()


def load(folder: Path, text: str) -> Benchmark:
    path = folder / "mine.toml"
    path.write_text(text)
    return load_benchmark(path)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ManifestError) as raised:
        load(folder, text)
    assert str(raised.value).splitlines() == raised.value.problems
    return [problem.removeprefix(f"{folder}/") for problem in raised.value.problems]


def line_with(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_manifest_of_ones_own_works_by_path(tmp_path: Path) -> None:
    mine = load(tmp_path, GOOD)
    assert (mine.name, mine.title, [task.name for task in mine.tasks]) == (
        "mine",
        "mine",
        ["Mood", "Close", "Probe"],
    )
    mood, close, probe = mine.tasks
    assert mood.words == ("good", "bad")
    assert mood.labels[0].synonyms == ("fine",)
    assert [(m.name, m.function, m.title, m.file, m.positive) for m in mood.metrics] == [
        ("accuracy", "accuracy", "accuracy", "Mood", None),
        ("f1", "f1", "f1", "Mood", "good"),
    ]
    assert (mood.file("mood").size(), mood.file("Mood").size("dev")) == (20, 10)
    assert [split.file for split in mood.splits.values()] == ["train.tsv", "dev.tsv", "hidden.tsv"]
    assert mood.source.license == "not stated"
    assert (close.score_range, close.labels) == ((0.0, 1.0), ())
    assert [file.size() for file in close.files] == [5, 6]
    assert close.files[1].other_versions[0].sizes == {"test": 7}
    assert [(each.coarse, each.name, each.aliases) for each in probe.phenomena] == [
        ("Logic", "Negation", ("not",)),
        ("Logic", "Universal", ()),
    ]


def test_a_path_may_be_text(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    assert load_benchmark(str(tmp_path / "mine.toml")).name == "mine"


def test_windows_line_ends_and_a_byte_order_mark_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_benchmark(path).name == "mine"
    path.write_bytes(
        b"\xef\xbb\xbf" + GOOD.replace("size = 10 ", "size = -1 ").replace("\n", "\r\n").encode()
    )
    with pytest.raises(
        ManifestError, match=rf"mine.toml:{line_with(GOOD, 'dev = ')}: tasks.Mood.splits.dev.size"
    ):
        load_benchmark(path)


@pytest.mark.parametrize("name", ["glue", "GLUE", "Glue"])
def test_a_packaged_benchmark_is_found_in_any_case_and_read_once(name: str) -> None:
    assert load_benchmark(name) is load_benchmark("glue")


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"no benchmark is called 'gleu'\. Did you mean glue or"):
        load_benchmark("gleu")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none\.toml: cannot be read \(No such file"):
        load_benchmark(tmp_path / "none.toml")


SYNTAX = [
    ("[benchmark\nname = 1\n", 1, "Expected ']'"),
    ('[benchmark]\nname = "a"\nname = "b"\n', 3, "Cannot overwrite a value"),
    ("[benchmark]\nname = \n", 2, "Invalid value"),
    ("[a]\n[b]\n[a]\n", 3, "Cannot declare"),
    ('[a]\nb = """\nnever\nclosed\n', 5, "Unterminated string"),
    ("a = 1979-02-31\n", 1, "Invalid date"),
]


@pytest.mark.parametrize(("text", "line", "what"), SYNTAX)
def test_what_is_no_toml_is_said_with_its_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    (problem,) = problems(tmp_path, text)
    assert re.match(rf"mine\.toml:{line}: is not valid TOML: .*{what}", problem)


def test_what_is_no_utf_8_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"[benchmark]\nname = 'caf\xe9'\n")
    with pytest.raises(ManifestError, match=r"mine\.toml:2: is not UTF-8"):
        load_benchmark(path)


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "a = " + "[" * 100_000)
    assert "is not valid TOML" in problem


def test_a_task_unfit_for_a_file(tmp_path: Path) -> None:
    text = GOOD.replace("tasks.Probe", 'tasks."../Probe"')
    assert [problem.partition(" is not a name")[0] for problem in problems(tmp_path, text)] == [
        'mine.toml:47: tasks."../Probe": "../Probe"',
    ]


def test_a_benchmark_needs_a_scored_task(tmp_path: Path) -> None:
    text = (
        '[benchmark]\nname = "probe"\n[tasks.A]\nscored = false\nscore_range = [0, 1]\nsplits.test.size = 1\n'
    )
    (problem,) = problems(tmp_path, text + 'metrics = [{ name = "pearson" }]\n')
    assert problem.startswith("mine.toml:3: tasks: none counts in the score")


def test_all_mistakes_come_together_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = (
        GOOD.replace("size = 100", "size = -1")
        .replace('"feeling"', '"close"')
        .replace('name = "mine"', "name = 3")
    )
    text = text.replace(
        '{ name = "f1", positive = "good" }', '{ name = "f1", positive = "great", weight = 2 }'
    )
    found = problems(tmp_path, text)
    assert [re.match(r"mine\.toml:(\d+): (\S+): ", problem).groups() for problem in found] == [  # type: ignore[union-attr]
        ("2", "benchmark.name"),
        ("15", "tasks.Mood.metrics[1].weight"),
        ("15", "tasks.Mood.metrics[1].positive"),
        ("18", "tasks.Mood.splits.train.size"),
        ("26", "tasks.Close"),
    ]


def test_a_metric_of_another_package_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GOOD.replace('{ name = "accuracy" },', '{ name = "alpha" },').replace(
        "{ accuracy = 0.5 }", "{ alpha = -7 }"
    )
    assert any('"alpha" is not a metric function' in problem for problem in problems(tmp_path, text))
    metadata = tmp_path / "site" / "other-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[gluebench.metrics]\nalpha = other:alpha\n")
    monkeypatch.syspath_prepend(str(metadata.parent))
    assert load(tmp_path, text).task("Mood").metrics[0].function == "alpha"


def test_loading_glue_imports_nothing_slow() -> None:
    slow = "numpy difflib logging urllib.request importlib.metadata subprocess tempfile asyncio statistics"
    load = "import sys, gluebench.benchmark as b; b.load_benchmark('glue')"
    code = f"{load}; print(*set({slow.split()!r}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def places(value: object, path: KeyPath = ()) -> list[KeyPath]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inside for place in places(each, (*path, key)))]


VALUES = st.recursive(
    st.one_of(
        *(st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.dates()),
        *(st.sampled_from(["test", "good", "f1", "pearson", "Mood", "Close-1", "score"]),),
    ),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=3),
    max_leaves=4,
)


@given(st.sampled_from(places(tomllib.loads(GOOD))[1:]), st.none() | VALUES)
def test_nothing_that_stands_in_a_manifest_makes_the_reader_fall(place: KeyPath, value: object) -> None:
    values = tomllib.loads(GOOD)
    inner: Any = values
    for key in place[:-1]:
        inner = inner[key]
    if value is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    findings: list[Finding] = []
    benchmark = benchmark_record(Section(values, (), findings=findings, keys=KEYS["manifest"]))
    assert all(finding.text for finding in check(benchmark, findings))


def manifest_of_ids(split: str) -> str:
    return (
        '[benchmark]\nname = "m"\n[tasks.T]\nlabels = ["a", "b"]\nmetrics = [{ name = "accuracy" }]\n'
        f"splits.test = {{ {split} }}\n"
    )


@pytest.mark.parametrize(
    "ids",
    ["{:>15000}", "{0.__class__}", "{:099999}", "{!r}", "{0}", "{:05.2f}", "{}_{}", "{{}}", "x" * 201 + "{}"],
)
def test_a_pattern_of_ids_is_text_and_a_number(tmp_path: Path, ids: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(manifest_of_ids(f'size = 3, ids = "{ids}"'))
    with pytest.raises(ManifestError, match="is not a pattern of a number"):
        load_benchmark(path)


@pytest.mark.parametrize("ids", ["{}", "{}{}", "{}0{}", "{}_{}_{}"])
def test_a_pattern_of_groups_has_two_numbers_apart(tmp_path: Path, ids: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(manifest_of_ids(f'size = 3, ids = "{ids}", counts = [1, 2]'))
    with pytest.raises(ManifestError, match="is not a pattern of two numbers"):
        load_benchmark(path)


def test_the_first_number_of_ids_has_few_digits(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    for wrong in ("true", '"1"', "9" * 40):
        path.write_text(manifest_of_ids(f'size = 3, ids = "a{{}}", first_id = {wrong}'))
        with pytest.raises(ManifestError, match="expected an integer of at most 18 digits"):
            load_benchmark(path)


def test_numbered_ids_read_like_a_tuple(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    for split, expected in (
        ('size = 4, ids = "a{:03}-", first_id = 8', ["a008-", "a009-", "a010-", "a011-"]),
        ('size = 4, ids = "P{}Q{}", first_id = 2, counts = [0, 3, 0, 1]', ["P3Q0", "P3Q1", "P3Q2", "P5Q0"]),
    ):
        path.write_text(manifest_of_ids(split))
        ids = load_benchmark(path).task("T").splits["test"].ids
        assert [*ids] == [ids[at] for at in range(4)] == [ids[at - 4] for at in range(4)] == expected
        assert (len(ids), ids[1:3], expected[2] in ids) == (4, tuple(expected[1:3]), True)
        with pytest.raises(IndexError):
            ids[4]


def test_a_short_manifest_of_many_numbered_ids_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(manifest_of_ids('size = 1_000_000_000, ids = "a{:020}"'))
    tracemalloc.start()
    record = load_benchmark(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert record.task("T").splits["test"].ids[-1] == "a00000000000999999999"
    assert most < 2**20


def tags_of(folder: Path, labels: str, more: str = "") -> str:
    """The scheme of a task of tokens with these labels."""
    path = folder / "tags.toml"
    path.write_text(
        f"""[benchmark]
name = "tags"
[tasks.NER]
form = "tokens"
labels = [{", ".join(f'"{label}"' for label in labels.split())}]
metrics = [{{ name = "entity_f1" }}]
splits.test.size = 3
{more}
"""
    )
    return load_benchmark(path).task("NER").metrics[0].scheme


def test_the_scheme_of_tags_is_declared_or_the_only_one_that_fits(tmp_path: Path) -> None:
    assert tags_of(tmp_path, "O I-x") == "IO"
    assert tags_of(tmp_path, "O B-x I-x B-y") == "IOB2"
    assert tags_of(tmp_path, "O B-x I-x E-x S-x") == "IOBES"
    assert tags_of(tmp_path, "O B-x I-x L-x U-x") == "BILOU"
    assert tags_of(tmp_path, "O B-x M-x E-x S-x") == "BMES"
    assert tags_of(tmp_path, "O B-x E-x S-x", 'scheme = "BMES"') == "BMES"
    assert tags_of(tmp_path, "") == "IOB2"
    for labels, more, problem in (
        ("O B-x E-x S-x", "", "scheme: is missing, and the labels fit several schemes"),
        ("O x-B x-I", "", "scheme: is missing, and the labels fit several schemes of entities or none"),
        ("O B-x E-x", 'scheme = "IOB2"', "has E-x; expected O and tags that begin with B- and I- in IOB2"),
        ("O B-x I-x", 'scheme = "BIO"', '"BIO" is of no use here; with form = "tokens" expected one of "IO"'),
    ):
        with pytest.raises(ManifestError) as raised:
            tags_of(tmp_path, labels, more)
        assert problem in str(raised.value)
