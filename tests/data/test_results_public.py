"""Results in the layouts of public repositories: SWE-bench, collections of records, Kaggle, MTEB."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from result_files import document, lines, text

from gluebench import DataError, read_results
from gluebench.data.results.parts import Settings
from gluebench.data.results.read import read_file


def test_reports_of_single_issues_of_swe_bench_are_joined(tmp_path: Path) -> None:
    """The harness writes a report into a folder of each issue that had a patch, with or without its id."""
    for name, right in {"django-1": True, "sympy-7": False}.items():
        report = {"patch_exists": True, "resolved": right, "tests_status": {}}
        document(tmp_path / "keyed" / "logs" / name / "report.json", {name: report})
        document(tmp_path / "flat" / "logs" / name / "report.json", report)
    details = {
        name: {"cost": 0.5, "resolved": name == "django-2"} for name in ("django-1", "django-2", "sympy-7")
    }
    ids = document(tmp_path / "agent" / "per_instance_details.json", details)
    document(tmp_path / "agent" / "metadata.json", {})
    folders = [tmp_path / name for name in ("keyed", "flat", "agent")]
    table = read_results(folders, ids=ids)
    assert table.items == ("django-1", "django-2", "sympy-7")
    assert table.scores == {"keyed": (1, 0, 0), "flat": (1, 0, 0), "agent": (0, 1, 0)}
    assert not table.notes
    without = read_results(folders)
    assert without.items == ("django-1", "sympy-7")
    assert "keyed: issues without a report are left out" in without.notes[0]


def test_a_submission_to_swe_bench_is_read_from_its_folder_and_named_by_it(tmp_path: Path) -> None:
    for name, resolved in {"a": ["django-1"], "b": []}.items():
        results = {"no_generation": [], "no_logs": [], "resolved": resolved}
        document(tmp_path / name / "results" / "results.json", results)
        document(
            tmp_path / name / "results" / "resolved_by_repo.json", {"django": {"resolved": 1, "total": 2}}
        )
        document(tmp_path / "old" / name / "report.json", {**results, "generated": [], "applied": []})
    ids = text(tmp_path / "ids.txt", "django-1\ndjango-2\n")
    assert read_results([tmp_path / "a", tmp_path / "b"], ids=ids).scores == {"a": (1, 0), "b": (0, 0)}
    old = [tmp_path / "old" / name / "report.json" for name in "ab"]
    assert read_results(old, ids=ids).scores == {"a": (1, 0), "b": (0, 0)}


@pytest.mark.parametrize("folder", ["qa-model=acme_tiny", "qa:model=acme_tiny", "qa:k=1,model=acme_tiny"])
def test_a_run_of_helm_is_named_by_its_model(tmp_path: Path, folder: str) -> None:
    stats = [{"name": {"name": "f1_score", "split": "test"}, "count": 1, "sum": 0.5}]
    document(tmp_path / folder / "per_instance_stats.json", [{"instance_id": "id1", "stats": stats}])
    [part] = read_file(tmp_path / folder / "per_instance_stats.json", Settings())
    assert (part.system, part.task) == ("acme_tiny", folder.replace("model=acme_tiny", "").strip(":,-"))


def test_aggregates_on_one_scale_by_the_newest_record(tmp_path: Path) -> None:
    """As collections have them: counts among scores, -1 for a missing score, a model twice."""

    def record(model: str, time: int, **scores: float) -> None:
        results = [
            {
                "evaluation_name": name,
                "metric_config": {"lower_is_better": False, "max_score": 355.0 if name == "evals" else 1.0}
                | {"min_score": 0.0},
                "score_details": {"score": score},
            }
            for name, score in scores.items()
        ]
        about = {"model_info": {"id": model}, "retrieved_timestamp": str(time)}
        document(tmp_path / f"{model}{time}.json", {**about, "evaluation_results": results})

    record("a", 2, RTE=0.7, CoLA=0.4, MRPC=-1.0, evals=355.0, **{"Mean win rate": 0.9})
    record("a", 1, RTE=0.6, CoLA=0.4)
    for name in "bcde":
        record(name, 1, RTE=0.5, CoLA=0.3, MRPC=0.2, evals=355.0)
    table = read_results(tmp_path)
    assert dict(zip(table.items, zip(*table.scores.values(), strict=True), strict=True)) == {
        "RTE": (0.7, 0.5, 0.5, 0.5, 0.5),
        "CoLA": (0.4, 0.3, 0.3, 0.3, 0.3),
    }
    notes = "\n".join(table.notes)
    assert (
        "a2.json, b1.json, c1.json, ... (5 alike): 1 item whose scale does not end at 1.0, left out: evals"
        in notes
    )
    assert "a2.json: 1 item as an average of others, left out: Mean win rate" in notes
    assert "a2.json: 1 item with a score outside its scale, left out: MRPC" in notes
    assert "a: records differ on 1 tasks, of which the newest record is read: RTE" in notes


def test_kaggle_submissions_of_floats_and_probabilities(tmp_path: Path) -> None:
    gold = text(tmp_path / "solution.csv", "Id,Survived,Usage\nx,1,Public\ny,0,Private\nw,1,Private\n")
    floats = text(tmp_path / "floats.csv", "Id,Survived\nx,1.0\ny,0.0\nw,0.0\n")
    assert read_results(floats, gold=gold).scores == {"floats": (1, 1, 0)}
    probabilities = text(tmp_path / "p.csv", "Id,Survived\nx,0.93\ny,0.2\nw,0.5\n")
    with pytest.raises(DataError, match=r"p\.csv:2: '0.93', where the gold label is 1; expected labels"):
        read_results(probabilities, gold=gold)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "log.json",
            {"eval": {"model": "m", "task": "t"}, "samples": [{"id": 1, "scores": {}}]},
            "no item has",
        ),
        ("manifest.jsonl", {"benchmark": "b", "object_path": "c.json"}, "its format is not known"),
    ],
)
def test_a_file_without_scores_does_not_ask_for_an_option(
    tmp_path: Path, name: str, content: object, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        read_results(document(tmp_path / name, content))


def test_predicted_labels_that_are_no_gold_label_are_named(tmp_path: Path) -> None:
    gold = text(tmp_path / "gold.csv", "index,text,label\n0,a,yes\n1,b,no\n2,c,no\n")
    rows = [{"index": at, "prediction": label} for at, label in enumerate(("yes", "nope", "nope"))]
    answers = lines(tmp_path / "answers.jsonl", rows)
    table = read_results(answers, gold=gold)
    assert table.scores == {"answers": (1, 0, 0)}
    assert "no gold label is like them: nope (2 times)" in table.notes[0]
    renamed = read_results(answers, gold=gold, synonyms={"nope": "no"})
    assert renamed.scores == {"answers": (1, 1, 1)}
    assert not renamed.notes
    unused = read_results(answers, gold=gold, synonyms={"nope,nada": "no", "nope": "no"})
    assert unused.notes == ("--synonym nope,nada: no prediction has this label",)


def mteb(model: Path, task: str, splits: dict[str, list[float | None]], **others: object) -> Path:
    """A file of MTEB 2, with the keys that its repository of results has; subsets are s0, s1, ..."""
    scores = {
        split: [
            {"hf_subset": f"s{at}", "languages": ["eng-Latn"], "main_score": score, "accuracy": score}
            for at, score in enumerate(of_split)
        ]
        for split, of_split in splits.items()
    }
    result = {"dataset_revision": "r", "task_name": task, "mteb_version": "2.18.12", "scores": scores}
    result |= {"evaluation_time": 1.5, "kg_co2_emissions": None, "date": 1.7e9, "evaluation_phases": None}
    document(model / ("0" * 40) / "model_meta.json", {"name": model.name, "max_tokens": float("inf")})
    return document(model / ("0" * 40) / f"{task}.json", result | others)


def test_one_file_of_mteb_without_a_score_does_not_stop_the_others(tmp_path: Path) -> None:
    """Secret labels of a test split (NaN), times in place of scores, and files before version 1.11."""
    model, nan = tmp_path / "acme__tiny", float("nan")
    mteb(model, "STS12", {"test": [0.5], "validation": [0.9]})
    mteb(model, "AFQMC", {"test": [nan], "validation": [0.25]})
    mteb(model, "Massive", {"test": [0.25, nan]})
    mteb(model, "GPUSpeedTask", {"test": [3453.8]})
    old = {"mteb_dataset_name": "ATEC", "mteb_version": "1.0.2", "test": {"cos_sim": {"spearman": 0.3}}}
    document(model / ("0" * 40) / "ATEC.json", old)
    mteb(model / "experiments" / "kwargs", "STS12", {"test": [0.75]})
    table = read_results(model)
    assert dict(zip(table.items, table.scores["acme__tiny"], strict=True)) == {"AFQMC": 0.25, "STS12": 0.5}
    assert [*table.notes] == [
        f"{task}: left out of acme__tiny, without a main_score from -1 to 1 of each subset"
        for task in ("ATEC", "GPUSpeedTask", "Massive")
    ]


def test_a_task_of_mteb_with_a_subset_twice_is_left_out(tmp_path: Path) -> None:
    file = mteb(tmp_path / "acme__a", "Massive", {"test": [0.5, 0.75]})
    file.write_text(file.read_text().replace('"s1"', '"s0"'))
    mteb(tmp_path / "acme__a", "STS12", {"test": [0.5]})
    table = read_results(tmp_path / "acme__a")
    assert table.scores == {"acme__a": (0.5,)}
    assert table.notes == ("Massive: left out of acme__a, with two scores of a subset",)


def test_tasks_of_mteb_with_other_subsets_are_not_compared(tmp_path: Path) -> None:
    for model, subsets in (("acme__a", [0.5, 0.75]), ("acme__b", [0.5])):
        mteb(tmp_path / model, "Massive", {"test": [*subsets]})
        mteb(tmp_path / model, "STS12", {"test": [0.5]})
    table = read_results([tmp_path / "acme__a", tmp_path / "acme__b"])
    assert table.items == ("STS12",)
    assert (
        "acme__a: 1 of 2 tasks are not in all files with the same revision and subsets, left out: Massive"
        in (table.notes)
    )


def test_two_revisions_of_a_model_are_named(tmp_path: Path) -> None:
    file = mteb(tmp_path / "acme__a", "STS12", {"test": [0.5]})
    document(tmp_path / "acme__a" / "external" / "STS12.json", json.loads(file.read_text()))
    with pytest.raises(DataError, match=r"acme__a is in two files \(STS12\); .* the folder of one revision"):
        read_results(tmp_path / "acme__a")
    assert read_results(tmp_path / "acme__a" / "external").scores == {"acme__a": (0.5,)}


def test_the_highest_score_above_one_is_named(tmp_path: Path) -> None:
    table = read_results(text(tmp_path / "t.csv", "task,a\nx,0.5\ny,31.5\n"))
    assert "scores reach 31.5 (y) and are shown x 100" in table.notes[0]
