"""Reading gold: strictly, all problems at once, for the organizer; the keyed version of the labels."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from scoring.material import gold_values, write_gold

from gluebench.scoring import GoldError, read_gold
from gluebench.scoring.gold import Gold
from gluebench.scoring.report import datasets
from gluebench.scoring.tags import Category
from gluebench.submission.problems import Problem, listed


def problems(folder: Path, benchmark, **options) -> list[tuple[str, str, int | None, str | None]]:
    with pytest.raises(GoldError) as caught:
        read_gold(folder, benchmark, **options)
    return [(each.file, each.code, each.line, each.value) for each in caught.value.problems]


def cells(path: Path) -> list[list[str]]:
    return [row.split("\t") for row in path.read_text().splitlines()[1:]]


def test_a_gold_folder_is_read_with_its_tags_and_groups(folder, small) -> None:
    gold = read_gold(folder, small)
    assert list(gold.columns) == ["Accept", "Pairs", "Like", "Halves-m", "Halves-mm", "Probe"]
    assert gold.columns["Pairs"].words() == [str(value) for value in gold_values()["Pairs"]]
    assert list(gold.columns["Like"].numbers) == gold_values()["Like"]
    tags = {phenomenon.name: positions for phenomenon, positions in gold.phenomena["Probe"].items()}
    assert tags["Double Negation"] == tuple(index for index in range(60) if index // 2 % 3 == 1)
    assert 2 in tags["Negation"], "by the manifest's alias"
    assert gold.metadata["Probe"].groups == tuple(index // 2 for index in range(60))
    assert gold.metadata["Probe"].columns["direction"][:3] == ("forward", "backward", "forward")


def test_line_ends_a_byte_order_mark_and_the_order_of_rows_do_not_matter(folder, small) -> None:
    expected = read_gold(folder, small)
    for path in folder.glob("*.tsv"):
        header, *rows = path.read_text().splitlines()
        path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([header, *reversed(rows)]).encode())
    gold = read_gold(folder, small)
    assert (gold.columns, gold.phenomena, gold.version) == (
        expected.columns,
        expected.phenomena,
        expected.version,
    )
    assert gold.metadata["Probe"].columns == expected.metadata["Probe"].columns


def test_every_problem_of_every_file_is_named(folder, small) -> None:
    (folder / "Pairs.tsv").write_text((folder / "Pairs.tsv").read_text().replace("3\t1\n", "3\tyes\n", 1))
    (folder / "Like.tsv").write_text((folder / "Like.tsv").read_text().replace("39\t3.0\n", "38\tnan\n"))
    with (folder / "Probe.phenomena.tsv").open("a") as file:
        file.write("5\tLogic\tNegatoin\n99\tLogic\tNegation\n7\tKnowledge\tNegation\n8\tLogic\n")
    (folder / "Probe.metadata.tsv").write_text("index\tgroup\n0\t0\n0\t0\n")
    found = problems(folder, small)
    assert ("Pairs.tsv", "unknown-label", 5, "yes") in found
    assert ("Like.tsv", "not-finite", 41, "nan") in found
    assert ("Like.tsv", "missing-index", None, None) in found
    assert ("Probe.phenomena.tsv", "bad-index", 73, "99") in found
    assert ("Probe.phenomena.tsv", "columns", 75, "8\tLogic") in found
    assert [code for name, code, *_ in found if name == "Probe.metadata.tsv"] == ["metadata-column"]


def test_a_phenomenon_that_the_manifest_lacks_is_a_problem_with_the_nearest_name(folder, small) -> None:
    with (folder / "Probe.phenomena.tsv").open("a") as file:
        file.write("5\tLogic\tNegatoin\n7\tKnowledge\tNegation\n")
    with pytest.raises(GoldError) as caught:
        read_gold(folder, small)
    first, second = caught.value.problems
    assert (first.code, first.line, first.index, first.value) == (
        "unknown-phenomenon",
        72,
        5,
        "Logic, Negatoin",
    )
    assert "Did you mean Negation" in first.fix
    assert second.value == "Knowledge, Negation"
    assert "the gold labels in" in str(caught.value)
    assert "not the submission" in str(caught.value)


def test_metadata_that_misses_an_example_or_gives_one_twice(folder, small) -> None:
    rows = (folder / "Probe.metadata.tsv").read_text().splitlines()
    (folder / "Probe.metadata.tsv").write_text("\n".join([*rows[:-1], rows[1]]) + "\n")
    assert problems(folder, small) == [
        ("Probe.metadata.tsv", "repeated-index", 61, None),
        ("Probe.metadata.tsv", "missing-index", None, None),
    ]


@pytest.mark.parametrize("name", ["Probe.phenomena.tsv", "Probe.metadata.tsv"])
def test_a_foreign_header_or_encoding(folder, small, name: str) -> None:
    (folder / name).write_text("id\twhat\n0\tx\n")
    assert [code for _, code, *_ in problems(folder, small)] == ["header"]
    (folder / name).write_bytes(b"index\tcoarse\tfine\n0\t\xff\tx\n")
    assert [code for _, code, *_ in problems(folder, small)] == ["encoding"]


def test_many_problems_are_counted(folder, small) -> None:
    (folder / "Probe.phenomena.tsv").write_text("index\tcoarse\tfine\n" + "1\tLogic\tNo\n" * 1000)
    found = problems(folder, small)
    assert len(found) == 21
    assert found[-1][1] == "more"


def test_rows_that_lack_are_an_error_unless_partial_gold_is_allowed(tmp_path, small) -> None:
    values = gold_values()
    values["Accept"] = values["Accept"][:30]
    folder = write_gold(tmp_path / "less", values)
    assert {code for _, code, *_ in problems(folder, small)} >= {"row-count", "missing-index"}
    gold = read_gold(folder, small, partial=True)
    assert list(gold.columns["Accept"].indices) == list(range(30))
    (folder / "Accept.tsv").write_text("index\tlabel\n40\t1\n")
    assert "extra-index" in {code for _, code, *_ in problems(folder, small, partial=True)}


def test_partial_gold_keeps_tags_and_metadata_on_the_rows_they_were_written_for(folder, small) -> None:
    """The first seven rows and one in the middle have no gold, so no index is its own position any more."""
    path = folder / "Probe.tsv"
    lacking = {*range(7), 30}
    rows = [row for row in path.read_text().splitlines()[1:] if int(row.split("\t")[0]) not in lacking]
    path.write_text("\n".join(["index\tlabel", *rows]) + "\n")
    gold = read_gold(folder, small, partial=True)
    indices = list(gold.columns["Probe"].indices)
    written: dict[str, set[int]] = {}
    for index, _, name in cells(folder / "Probe.phenomena.tsv"):
        written.setdefault({"Neg": "Negation"}.get(name, name), set()).add(int(index))
    tagged = {
        phenomenon.name: [indices[at] for at in positions]
        for phenomenon, positions in gold.phenomena["Probe"].items()
    }
    assert tagged == {name: sorted(at - lacking) for name, at in written.items()}
    direction = {int(at): way for at, _, way in cells(folder / "Probe.metadata.tsv")}
    assert gold.metadata["Probe"].columns["direction"] == tuple(direction[index] for index in indices)


def test_what_lacks_and_what_is_not_shown_is_said(tmp_path, small) -> None:
    values = gold_values()
    folder = write_gold(tmp_path / "gold", values | {"Pairs": values["Pairs"][:39], "Accept": [7] * 40})
    with pytest.raises(GoldError) as caught:
        read_gold(folder, small)
    found = caught.value.problems
    more = Problem("more", "error", "Accept.tsv", "20 more of unknown-label", "Fix those above first.")
    assert [each.code for each in found] == ["unknown-label"] * 20 + ["more", "row-count", "missing-index"]
    assert found[20] == more
    assert found[-1].fix.startswith("Add the labels, or say that partial gold is allowed")
    assert {each.severity for each in found} == {"error"}
    assert not any("partial" in each.fix for each in found[:-1])
    first, *rest = str(caught.value).split("\n")
    assert first == f"the gold labels in {folder} are at fault, not the submission:"
    assert rest == listed(found)


def test_gold_of_another_split_is_named_as_such(tmp_path, small) -> None:
    folder = write_gold(tmp_path / "gold", gold_values() | {"Pairs": [0, 1] * 6})
    found = problems(folder, small, partial=True)
    assert found == [("Pairs.tsv", "wrong-split", None, "12 rows, not 40")]


def test_an_empty_folder_says_what_belongs_there(tmp_path, small) -> None:
    with pytest.raises(GoldError) as caught:
        read_gold(tmp_path, small)
    files = "Accept.tsv, Pairs.tsv, Like.tsv, Halves-m.tsv, Halves-mm.tsv, Probe.tsv"
    fix = (
        "Put one file of labels there for each test file: in the shape of a submission, or a .tsv file "
        "with the header index<TAB>label."
    )
    assert caught.value.problems == [
        Problem("no-gold", "error", "", f"expected at least one of {files}", fix)
    ]


def test_tags_and_metadata_stand_by_themselves_and_beside_any_file(folder, small) -> None:
    """Halves-m has groups alone, and the diagnostic set its tags alone."""
    (folder / "Halves-m.metadata.tsv").write_text(
        "index\tgroup\n" + "".join(f"{index}\t{index % 3}\n" for index in range(30))
    )
    whole = read_gold(folder, small)
    assert whole.metadata["Halves-m"].groups == (0, 1, 2) * 10
    (folder / "Probe.metadata.tsv").unlink()
    (folder / "Halves-mm.phenomena.tsv").write_text("index\tcoarse\tfine\n")
    gold = read_gold(folder, small)
    assert gold.phenomena["Probe"] == whole.phenomena["Probe"]
    assert (list(gold.phenomena), list(gold.metadata)) == (["Halves-mm", "Probe"], ["Halves-m"])
    assert (gold.version != whole.version, gold.folder, gold.datasets) == (True, str(folder), {})


def test_a_diagnostic_set_without_tags_has_the_whole_alone(folder, small) -> None:
    for path in folder.glob("Probe.*.tsv"):
        path.unlink()
    assert read_gold(folder, small).categories["Probe"] == (Category("overall", "", tuple(range(60))),)


def test_gold_from_elsewhere_has_no_version_and_keeps_where_its_examples_are_from(folder, small) -> None:
    read = read_gold(folder, small)
    found = Gold(small, "test", "", read.columns, {}, {}, partial=True, datasets={"Like": "0123456789abcdef"})
    assert (found.version, found.warnings, found.partial) == (None, (), True)
    assert datasets(found)["Like"] == "0123456789abcdef"
    assert datasets(read)["Like"] is None


@pytest.mark.parametrize("name", ["missing", "Accept.tsv", "Accept.tsv/below"])
def test_a_path_that_is_no_folder_is_named(folder, small, name: str) -> None:
    with pytest.raises(GoldError) as caught:
        read_gold(folder / name, small)
    path = str(folder / name)
    assert caught.value.problems == [
        Problem("no-gold", "error", path, "expected a folder of labels", "Check the path.")
    ]


class TestVersion:
    def test_it_names_the_labels_and_hides_them(self, folder, small, tmp_path) -> None:
        first = read_gold(folder, small).version
        assert first == read_gold(folder, small).version
        assert len(first) == 16
        other = write_gold(tmp_path / "other")
        assert read_gold(other, small).version != first, "another key, though the labels are the same"

    @pytest.mark.parametrize("name", ["Pairs.tsv", "Probe.phenomena.tsv", "Probe.metadata.tsv", "Like.tsv"])
    def test_it_changes_with_anything_that_a_score_depends_on(self, folder, small, name: str) -> None:
        before = read_gold(folder, small).version
        changes = {
            "Pairs.tsv": ("0\t1\n", "0\t0\n"),
            "Probe.phenomena.tsv": ("0\tLogic\tNegation\n", ""),
            "Probe.metadata.tsv": ("0\t0\tforward\n", "0\t1\tforward\n"),
            "Like.tsv": ("1\t0.5\n", "1\t0.6\n"),
        }
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(*changes[name], 1))
        assert read_gold(folder, small).version != before

    def test_the_key_is_its_owners_alone(self, folder, small) -> None:
        read_gold(folder, small)
        key = folder / ".label-key"
        assert len(key.read_bytes()) == 32
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == [".label-key"]

    def test_processes_that_start_together_share_one_key(self, folder, small, tmp_path) -> None:
        code = (
            "import sys; from gluebench.benchmark import load_benchmark;"
            "from gluebench.scoring import read_gold;"
            "print(read_gold(sys.argv[1], load_benchmark(sys.argv[2])).version)"
        )
        command = [sys.executable, "-c", code, str(folder), str(tmp_path / "small.toml")]
        children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        assert len({child.communicate()[0] for child in children}) == 1
        assert all(child.returncode == 0 for child in children)

    @pytest.mark.parametrize(
        ("error", "reason"),
        [(PermissionError(13, "Permission denied"), "Permission denied"), (TimeoutError(), "TimeoutError")],
    )
    def test_where_no_key_can_be_kept_there_is_no_name_and_a_warning(
        self, folder, small, monkeypatch, error: OSError, reason: str
    ) -> None:
        def refuse(*_arguments, **_options):
            raise error

        monkeypatch.setattr(os, "open", refuse)
        gold = read_gold(folder, small)
        assert gold.version is None
        assert f"no key could be kept beside the gold ({reason})" in gold.warnings[0]

    def test_a_damaged_key_is_not_used(self, folder, small) -> None:
        (folder / ".label-key").write_bytes(b"short")
        gold = read_gold(folder, small)
        assert gold.version is None
        assert "holds 5 bytes, expected 32" in gold.warnings[0]
