"""`gluebench export` and `gluebench data croissant`: files read back, and what is refused."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from official import validate_records

from gluebench.cli import main

MODEL = ("--model", "acme/tiny")
WHO = ("--organization", "Acme", "--relationship", "third_party")


def test_export_writes_a_valid_record_for_every_eval_ever(world):
    out = world.root / "out"
    result = world.run("export", world.worse, "--gold", world.gold, *MODEL, "--eee", out, *WHO)
    assert result.exit_code == 0, result.output
    assert validate_records(out) is None
    [path] = out.rglob("*.json")
    assert result.stderr.splitlines()[-1] == f"written: {path}"
    record = json.loads(path.read_text())
    report = json.loads(world.run("grade", world.worse, "--gold", world.gold, "--json").stdout)
    scores = {
        row["evaluation_result_id"]: row["score_details"]["score"] for row in record["evaluation_results"]
    }
    assert scores["score"] == pytest.approx(report["score"]["value"])
    assert record["source_metadata"]["source_organization_name"] == "Acme"
    assert record["model_info"]["additional_details"]["deployment_type"] == "unknown"
    assert "detailed_evaluation_results" not in record, "the manifest calls no labels public"


def test_export_writes_what_the_hub_reads(world):
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    card, entries = world.root / "README.md", world.root / "tiny.yaml"
    options = ["--model-index", card, "--eval-results", entries, "--dataset", "acme/tiny-suite"]
    result = world.run(
        "export", world.right, "--gold", world.gold, *MODEL, *options, "--task-id", "Pairs=pairs"
    )
    assert result.exit_code == 0, result.output
    read = hub.ModelCard(card.read_text()).data.eval_results
    assert {(each.dataset_type, each.dataset_config) for each in read} == {
        ("acme/tiny-suite", task) for task in ("Pairs", "Likeness", "Probe")
    }
    parsed = hub.parse_eval_result_entries(yaml.safe_load(entries.read_text()))
    assert [(entry.task_id, entry.value) for entry in parsed] == [("pairs", 100.0), ("Likeness", 100.0)]
    card.write_text("---\na: [\n---\n")
    broken = world.run("export", world.right, "--gold", world.gold, *MODEL, "--model-index", card)
    assert broken.exit_code == 1
    assert f"{card}: the metadata of this model card is not YAML" in broken.stderr


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "name what to write"),
        (["--eee", "out"], "give --organization and --relationship"),
        (["--eval-results", "out.yaml"], "needs --dataset"),
        (["--model-index", "out.md", "--model", "tiny"], "--model is 'tiny'"),
    ],
)
def test_export_says_what_is_missing(world, options, reason):
    result = world.run("export", world.right, "--gold", world.gold, *MODEL, *options)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_data_croissant_writes_the_document_and_names_what_is_not_stated(sample_folder, tmp_path):
    data = tmp_path / "data"
    (data / "RTE").mkdir(parents=True)
    for path in (sample_folder / "RTE").iterdir():
        (data / "RTE" / path.name).write_bytes(path.read_bytes())
    result = CliRunner().invoke(main, ["data", "croissant", "sample", "--data", str(data)])
    assert result.exit_code == 0, result.output
    assert "not stated in the manifest:" in result.stderr
    assert "card.version" in result.stderr
    document = json.loads((data / "croissant.json").read_text())
    assert [file["@id"] for file in document["distribution"]] == [
        "RTE/train.tsv",
        "RTE/dev.tsv",
        "RTE/test.tsv",
    ]
    empty = CliRunner().invoke(main, ["data", "croissant", "sample", "--data", str(tmp_path / "none")])
    assert empty.exit_code == 1
    assert "There are no data of sample" in empty.stderr
