"""The check of a whole submission: verdicts, names, what is missing, and what looks wrong."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from real import REAL, needs_real

import gluebench.submission as submission_room
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.submission import Submission, check, official

LATER = {"Fixed", "fix_submission", "read_predictions", "write_submission"}
"""What is imported when first used."""
Folder = Callable[[dict[str, str]], Path]


def codes(submission: Submission, severity: str | None = None) -> list[str]:
    return [problem.code for problem in submission.problems if severity in (None, problem.severity)]


def test_a_good_submission_is_valid_and_silent(tiny: Benchmark, good: dict[str, str], folder: Folder) -> None:
    submission = check(folder(good), tiny)
    assert submission.verdict == "valid"
    assert submission.problems == ()
    assert set(submission.predictions) == {"Para", "Sim", "Infer-m", "Infer-mm", "Refer", "DX"}
    assert submission.predictions["Infer-mm"].words() == ["contradiction", "neutral", "entailment"]


def test_a_missing_scored_file_makes_it_incomplete_and_names_the_nearest_other_name(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    good["Infer_mm.tsv"] = good.pop("Infer-mm.tsv")
    submission = check(folder(good), tiny)
    assert submission.verdict == "incomplete"
    assert submission.missing == ("Infer-mm",)
    missing = next(problem for problem in submission.problems if problem.code == "missing-file")
    assert "Infer_mm.tsv" in missing.fix
    assert codes(submission, "notice") == []


def test_a_missing_diagnostic_file_is_a_warning_and_the_rest_stays_valid(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    del good["DX.tsv"]
    submission = check(folder(good), tiny)
    assert submission.verdict == "valid"
    assert codes(submission) == ["missing-file"]
    assert submission.missing == ()


def test_other_names_for_a_file_are_taken_with_a_notice(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    good["diagnostic.tsv"] = good.pop("DX.tsv")
    good["PARA.TSV"] = good.pop("Para.tsv")
    submission = check(folder(good), tiny)
    assert submission.verdict == "valid"
    assert codes(submission) == ["file-name", "file-name"]


def test_two_files_for_one_test_file_are_refused(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    good["diagnostic.tsv"] = good["DX.tsv"]
    submission = check(folder(good), tiny)
    assert submission.verdict == "invalid"
    assert codes(submission, "error") == ["two-files"]


def test_problems_of_all_files_come_together(tiny: Benchmark, good: dict[str, str], folder: Folder) -> None:
    good["Para.tsv"] = good["Para.tsv"].replace("3\t1", "3\tyes")
    good["Sim.tsv"] = good["Sim.tsv"].replace("2.25", "nan")
    good["Refer.tsv"] = good["Refer.tsv"].replace("2\t0\n", "")
    submission = check(folder(good), tiny)
    assert submission.verdict == "invalid"
    assert {(problem.file, problem.code) for problem in submission.errors} == {
        ("Para.tsv", "unknown-label"),
        ("Sim.tsv", "not-finite"),
        ("Refer.tsv", "row-count"),
        ("Refer.tsv", "missing-index"),
    }
    assert set(submission.predictions) == {"Infer-m", "Infer-mm", "DX"}


def test_a_damaged_member_does_not_hide_what_is_wrong_with_the_others(
    tiny: Benchmark, good: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (good | {"Refer.tsv": good["Refer.tsv"].replace("2\t0", "2\tno")}).items():
            archive.writestr(name, text)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"3.125", b"3.126", 1))
    submission = check(path, tiny)
    assert {(problem.file, problem.code) for problem in submission.problems} == {
        ("Sim.tsv", "bad-crc"),
        ("Refer.tsv", "unknown-label"),
    }


def test_nothing_that_is_a_test_file_is_an_error(tiny: Benchmark, folder: Folder) -> None:
    submission = check(folder({"notes.md": "hello"}), tiny)
    assert submission.verdict == "invalid"
    assert codes(submission, "error") == ["no-files"]


def test_a_single_file_is_an_incomplete_submission(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    submission = check(folder(good) / "Para.tsv", tiny)
    assert submission.verdict == "incomplete"
    assert set(submission.predictions) == {"Para"}


def test_the_dev_split_has_its_own_sizes_and_files(tiny: Benchmark, folder: Folder) -> None:
    rows = "index\tprediction\n0\t1\n1\t0\n2\t1\n3\t1\n"
    submission = check(folder({"Para.tsv": rows}), tiny, role="dev")
    assert submission.verdict == "incomplete"
    assert submission.missing == ("Sim", "Infer-m", "Infer-mm")
    refused = check(folder_path(submission), tiny)
    assert codes(refused, "error") == ["wrong-split"], "no row for each index that test has and dev has not"
    assert refused.errors[0].fix.endswith("not those of the dev split.")


def test_a_file_of_another_task_is_not_suggested_for_a_missing_one(tmp_path: Path) -> None:
    manifest = tmp_path / "part.toml"
    manifest.write_text('[benchmark]\nname = "glue-part"\nextends = "glue"\ntasks = ["SST-2", "QNLI"]\n')
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "WNLI.tsv").write_text("anything")
    (tmp_path / "s" / "SST-2.tsv").write_text(
        "index\tprediction\n" + "".join(f"{index}\t{index % 2}\n" for index in range(1821))
    )
    found = check(tmp_path / "s", load_benchmark(manifest)).problems
    assert [problem.fix for problem in found if problem.code == "missing-file"] == ["Add it."]


def folder_path(submission: Submission) -> Path:
    return Path(submission.source)


def test_files_of_the_parents_other_tasks_are_ignored_with_a_notice(tmp_path: Path) -> None:
    manifest = tmp_path / "part.toml"
    manifest.write_text('[benchmark]\nname = "glue-part"\nextends = "glue"\ntasks = ["WNLI"]\n')
    rows = "index\tprediction\n" + "".join(f"{index}\t{index % 2}\n" for index in range(146))
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "WNLI.tsv").write_text(rows)
    (tmp_path / "s" / "CoLA.tsv").write_text("anything")
    submission = check(tmp_path / "s", load_benchmark(manifest))
    assert submission.verdict == "valid"
    assert codes(submission) == ["other-task"]


@pytest.mark.parametrize("value", ["0", "1"])
def test_constant_predictions_are_warned_of(
    tiny: Benchmark, good: dict[str, str], folder: Folder, value: str
) -> None:
    good["Para.tsv"] = "index\tprediction\n" + "".join(f"{index}\t{value}\n" for index in range(6))
    submission = check(folder(good), tiny)
    assert submission.verdict == "valid"
    assert codes(submission, "warning") == ["constant"]


def test_scores_outside_the_range_are_named_and_kept(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    good["Sim.tsv"] = good["Sim.tsv"].replace("2.25", "-0.5").replace("3.125", "5.01")
    submission = check(folder(good), tiny)
    assert submission.verdict == "valid"
    assert [(problem.code, problem.index, problem.value) for problem in submission.problems] == [
        ("outside-range", 1, "-0.5"),
        ("outside-range", 4, "5.01"),
    ]
    assert submission.predictions["Sim"].numbers[1] == -0.5


def test_a_swapped_label_map_shows_in_the_label_shares(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    for name, ones, expected in (("right", 700, []), ("swapped", 300, ["swapped-labels"])):
        labels = [int(index * 7919 % 1063 < ones * 1.063) for index in range(1063)]
        folder = tmp_path / name
        folder.mkdir()
        (folder / "CoLA.tsv").write_text(
            "index\tprediction\n" + "".join(f"{index}\t{label}\n" for index, label in enumerate(labels))
        )
        warnings = [code for code in codes(check(folder, glue), "warning") if code != "missing-file"]
        assert warnings == expected


def test_official_refuses_what_the_original_site_did(
    tiny: Benchmark, good: dict[str, str], tmp_path: Path
) -> None:
    def zipped(files: dict[str, str], name: str) -> Path:
        path = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in files.items():
                archive.writestr(member, text)
        return path

    assert official(check(zipped(good, "good"), tiny)).verdict == "valid"
    changes = {
        "missing-file": {key: text for key, text in good.items() if key != "DX.tsv"},
        "file-name": {key.replace("DX", "diagnostic"): text for key, text in good.items()},
        "header-name": {key: text.replace("index", "id") for key, text in good.items()},
        "outside-range": {key: text.replace("2.25", "-2.25") for key, text in good.items()},
    }
    for code, files in changes.items():
        submission = check(zipped(files, code), tiny)
        assert submission.verdict == "valid"
        judged = official(submission)
        assert judged.verdict == "invalid"
        assert {problem.code for problem in judged.errors} == {code}


@needs_real
@pytest.mark.parametrize(
    ("name", "notices"),
    [
        ("bert4keras", {"line-ends", "outside-range", "constant"}),
        ("fastmtl", {"label-synonym", "outside-range", "constant"}),
    ],
)
def test_real_submissions_are_valid_with_their_oddities_named(name: str, notices: set[str]) -> None:
    submission = check(REAL / "submissions" / name, load_benchmark("glue"))
    assert submission.verdict == "valid"
    assert len(submission.predictions) == 11
    assert set(codes(submission)) - {"ignored-file"} == notices
    assert official(submission).verdict == "invalid"


@needs_real
def test_the_very_zip_that_was_submitted_reads_as_its_folder() -> None:
    glue = load_benchmark("glue")
    folder = REAL / "submissions" / "fastmtl"
    assert check(folder / "submission.zip", glue).predictions == check(folder, glue).predictions


@needs_real
def test_qnli_v1_is_recognized(tmp_path: Path) -> None:
    rows = "index\tprediction\n" + "".join(f"{index}\tentailment\n" for index in range(5740))
    (tmp_path / "QNLI.tsv").write_text(rows)
    problem = check(tmp_path / "QNLI.tsv", load_benchmark("glue")).errors[0]
    assert problem.code == "wrong-version"
    assert "v1" in problem.expected


def test_a_submission_as_json_has_every_key_of_the_manual(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    good["Para.tsv"] = good["Para.tsv"].replace("3\t1", "3\tyes")
    del good["Sim.tsv"], good["DX.tsv"], good["Infer-m.tsv"], good["Infer-mm.tsv"]
    source = folder(good)
    found = check(source, tiny).as_dict()
    problems = found.pop("problems")
    assert found == {
        "benchmark": "tiny",
        "split": "test",
        "source": str(source),
        "verdict": "invalid",
        "missing": ["Sim", "Infer-m", "Infer-mm"],
        "unshown": {},
    }
    assert problems[0] == {
        "code": "unknown-label",
        "severity": "error",
        "file": "Para.tsv",
        "line": 5,
        "index": 3,
        "value": "yes",
        "expected": "expected 0 or 1",
        "fix": "Write the label word exactly so: no quotes, spaces or decimals.",
        "repair": "",
        "id": "",
    }
    assert [problem["file"] for problem in problems[1:]] == [
        "Sim.tsv",
        "Infer-m.tsv",
        "Infer-mm.tsv",
        "DX.tsv",
    ]


def test_what_is_not_shown_is_counted_by_file(tmp_path: Path) -> None:
    rows = "index\tprediction\n" + "".join(f"{index}\tx\n" for index in range(146))
    (tmp_path / "WNLI.tsv").write_text(rows)
    scores = "index\tprediction\n" + "".join(f"{index}\t{index / 7}\n" for index in range(1379))
    (tmp_path / "STS-B.tsv").write_text(scores)
    submission = check(tmp_path, load_benchmark("glue"))
    outside = sum(index / 7 > 5 for index in range(1379))
    assert submission.unshown == {
        "WNLI.tsv": {"unknown-label": 126},
        "STS-B.tsv": {"outside-range": outside - 20},
    }
    assert submission.as_dict()["unshown"] == submission.unshown


def test_every_file_that_is_absent_or_strange_is_explained(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    good["Infer_mm.tsv"] = good.pop("Infer-mm.tsv")
    good["para.TSV"] = good.pop("Para.tsv")
    del good["DX.tsv"]
    for at in range(11):
        good[f"notes{at:02}"] = "mine"
    listed = ", ".join(f"notes{at:02}" for at in range(10))
    assert [str(problem) for problem in check(folder(good), tiny).problems] == [
        "para.TSV: file-name: expected the name Para.tsv. Nothing to do: it was taken for that file.",
        "Infer-mm.tsv: missing-file: found 'Infer_mm.tsv'; expected a file of this name; without it there "
        "is no average. The file Infer_mm.tsv seems to be it: rename it to Infer-mm.tsv.",
        "DX.tsv: missing-file: expected a file of this name; without it its analysis is left out. Add it.",
        f"ignored-file: expected nothing but test files; passed over {listed} and 1 more. "
        "Nothing to do, if none of them was meant.",
    ]


def test_other_tasks_are_told_apart_from_strange_files(tmp_path: Path) -> None:
    manifest = tmp_path / "part.toml"
    manifest.write_text('[benchmark]\nname = "glue-part"\nextends = "glue"\ntasks = ["WNLI"]\n')
    (tmp_path / "s").mkdir()
    for name in ("CoLA.tsv", "cola.TSV", "AX.tsv", "x.tsv"):
        (tmp_path / "s" / name).write_text("anything")
    assert [str(problem) for problem in check(tmp_path / "s", load_benchmark(manifest)).problems] == [
        "no-files: expected at least one of WNLI.tsv. Name each file as its task's test file.",
        "other-task: expected only this benchmark's tasks; passed over AX.tsv, CoLA.tsv, cola.TSV. "
        "Nothing to do.",
        "ignored-file: expected nothing but test files; passed over x.tsv. "
        "Nothing to do, if none of them was meant.",
    ]


def test_what_could_not_be_read_is_not_said_to_be_missing(
    tiny: Benchmark, good: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Para.tsv", good["Para.tsv"])
    path.write_bytes(path.read_bytes().replace(b"5\t0", b"5\t1", 1))
    submission = check(path, tiny)
    assert codes(submission) == ["bad-crc"]
    assert (submission.verdict, submission.missing) == ("invalid", ())
    assert check(tmp_path / "nowhere", tiny).missing == ()


def test_the_original_site_says_what_it_wants(tiny: Benchmark, good: dict[str, str], folder: Folder) -> None:
    del good["DX.tsv"]
    good["para.tsv"] = "\ufeff" + good.pop("Para.tsv").replace("index", "id").replace("\n", "\r\n")
    good["Sim.tsv"] = good["Sim.tsv"].replace("2.25", "-2.25")
    judged = official(check(folder({f"run/{name}": text for name, text in good.items()}), tiny))
    assert judged.verdict == "invalid"
    assert {problem.code: problem.fix for problem in judged.errors} == {
        "missing-file": "The original site refuses a submission without all test files; add it.",
        "file-name": "The original site wants the exact file name.",
        "wrapper-folder": "The original site wants the files at the top of the zip, as `zip -j` puts them.",
        "header-name": "The original site wants exactly this header.",
        "byte-order-mark": "The original site wants exactly this header, without a byte order mark before "
        "it.",
        "outside-range": "The original site refuses the file: clip the score to the range.",
        "not-a-zip": "Write one with `gluebench check SUBMISSION --fix OUT.zip`.",
    }
    assert codes(judged, "notice") == ["line-ends"]
    assert judged.errors[-1].expected == "expected a zip of all test files"
    assert judged.errors[-1].file == ""


def test_every_public_name_is_there_and_another_is_an_attribute_error() -> None:
    for name in submission_room.__all__:
        assert submission_room.__getattr__(name) if name in LATER else getattr(submission_room, name)
    with pytest.raises(AttributeError, match=r"^module 'gluebench\.submission' has no attribute 'chekc'$"):
        _ = submission_room.chekc  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("metric", "labels", "notice"),
    [
        ("entity_f1", "", True),
        ("entity_f1", 'labels = ["O", "B-x", "I-x"]', False),
        ("entity_f1", 'scheme = "IOB2"', False),
        ("token_macro_f1", "", False),
    ],
)
def test_the_scheme_of_open_tags_is_said(tmp_path: Path, metric: str, labels: str, notice: bool) -> None:
    (tmp_path / "tags.toml").write_text(
        f'[benchmark]\nname = "tags"\n[tasks.NER]\nform = "tokens"\n{labels}\n'
        f'metrics = [{{ name = "{metric}" }}]\nsplits.test.size = 2\n'
    )
    (tmp_path / "NER.tsv").write_text("index\tprediction\n0\tB-x I-x\n1\tO\n")
    checked = check(tmp_path / "NER.tsv", tmp_path / "tags.toml")
    assert checked.verdict == "valid"
    said = [problem for problem in checked.problems if problem.code == "tag-scheme"]
    assert [problem.severity for problem in said] == ["notice"] * notice
    assert not said or "scheme IOB2" in said[0].expected
