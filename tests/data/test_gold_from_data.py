"""Labels of prepared data grade as the same labels in a gold folder do."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from gluebench import grade, read_gold
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.cli import main
from gluebench.data import DataError
from gluebench.data.dataset import Origin
from gluebench.data.gold import gold_from_data
from gluebench.data.prepared import prepare
from gluebench.scoring import GoldError
from gluebench.systems import SYSTEMS, run
from sample.archive import judgments


@pytest.fixture(scope="module")
def predictions(sample: Benchmark, sample_folder: Path) -> dict[str, object]:
    return dict(run(SYSTEMS["overlap"].make(), sample, sample_folder, role="dev"))


def test_dev_scores_are_those_of_the_gold_folder(
    sample: Benchmark, sample_folder: Path, predictions: dict[str, object]
) -> None:
    by_data = grade(predictions, gold_from_data(sample_folder, sample), intervals=False)
    by_gold = grade(predictions, read_gold(sample_folder / "gold-dev", sample, role="dev"), intervals=False)
    assert by_data.score == by_gold.score
    assert by_data.tasks == by_gold.tasks
    assert by_data.provenance["labels"] is None


def prepared_diagnostic(folder: Path, sample: Benchmark) -> None:
    """The sample's diagnostic set with its labels, in no order of its indices."""
    rows = list(enumerate(judgments()))[::-1]
    table = pa.table(
        {
            "index": pa.array([index for index, _ in rows], pa.int64()),
            "premise": [row.premise for _, row in rows],
            "hypothesis": [row.hypothesis for _, row in rows],
            "label": [row.label for _, row in rows],
            "domain": [row.domain for _, row in rows],
            "phenomena": [list(row.phenomena) for _, row in rows],
        }
    )
    prepare(folder, sample, sample.task("AX"), {"test": table.to_batches()}, origin=Origin("folder", "x"))


def test_a_diagnostic_set_keeps_its_phenomena_domains_directions_and_pairs(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    prepared_diagnostic(tmp_path, sample)
    by_data = gold_from_data(tmp_path, sample, role="test")
    by_gold = read_gold(sample_folder / "gold", sample)
    assert by_data.columns["AX"] == by_gold.columns["AX"]
    assert by_data.phenomena["AX"] == by_gold.phenomena["AX"]
    assert by_data.metadata["AX"] == by_gold.metadata["AX"]


def test_the_report_names_the_data_it_was_graded_on(sample: Benchmark, tmp_path: Path) -> None:
    prepared_diagnostic(tmp_path, sample)
    gold = gold_from_data(tmp_path, sample, role="test", partial=True)
    report = grade({"AX": ["neutral"] * len(judgments())}, gold, intervals=False)
    assert len(report.provenance["datasets"]["AX"]) == 32


def test_a_submitted_task_without_data_is_told(
    sample: Benchmark, sample_folder: Path, tmp_path: Path, predictions: dict[str, object]
) -> None:
    (tmp_path / "RTE").symlink_to(sample_folder / "RTE")
    with pytest.raises(GoldError, match=r"CoLA\.tsv"):
        grade(predictions, gold_from_data(tmp_path, sample))
    assert grade({"RTE": predictions["RTE"]}, gold_from_data(tmp_path, sample), intervals=False).tasks["RTE"]


def test_no_data_and_hidden_labels_are_told(sample: Benchmark, sample_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="gluebench data get sample --task CoLA"):
        gold_from_data(tmp_path, sample)
    with pytest.raises(DataError, match="no test split of sample has labels; they are hidden"):
        gold_from_data(sample_folder, sample, role="test")


def test_the_command_takes_data_in_place_of_gold(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    rows = load_benchmark("sample").file("RTE").size("dev")
    (tmp_path / "RTE.tsv").write_text(
        "index\tprediction\n" + "".join(f"{each}\tentailment\n" for each in range(rows))
    )
    command = ["grade", str(tmp_path / "RTE.tsv"), "--benchmark", "sample", "--split", "dev", "--json"]
    done = CliRunner().invoke(main, [*command, "--data", str(sample_folder)])
    assert json.loads(done.stdout)["tasks"]["RTE"]["score"]["value"] == 0.5
    for options in ([], ["--data", str(sample_folder), "--gold", str(sample_folder / "gold-dev")]):
        refused = CliRunner().invoke(main, [*command, *options])
        assert refused.exit_code == 2
        assert "--gold" in refused.stderr
