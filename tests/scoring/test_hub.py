"""The hub's formats, read back by huggingface_hub."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml
from scoring.material import predicted_values

from gluebench import Report, grade
from gluebench.benchmark import Benchmark
from gluebench.scoring.exports import eval_results_yaml, model_card

hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
CARD = """---
license: apache-2.0
model-index:
- name: Tiny
  results:
  - task:
      type: text-generation
    dataset:
      name: Other
      type: other
    metrics:
    - type: accuracy
      value: 0.5
---
# Tiny

A model.
"""


@pytest.fixture
def report(small: Benchmark, folder: Path) -> Report:
    return grade(predicted_values(), folder, benchmark=small)


def test_a_new_card_has_every_metric_with_its_interval(small: Benchmark, report: Report) -> None:
    card = hub.ModelCard(model_card("", report, small, model="acme/tiny", dataset="acme/small"))
    assert card.data.model_name == "tiny"
    read = {(each.dataset_config, each.metric_type): each for each in card.data.eval_results}
    scores = {
        (task, metric): score for task, part in report.tasks.items() for metric, score in part.metrics.items()
    }
    overall = report.diagnostics["Probe"]
    assert overall is not None
    scores["Probe", "r_k"] = overall.overall
    assert read.keys() == scores.keys()
    for key, score in scores.items():
        assert read[key].metric_value == score.value
        assert read[key].metric_args == {"interval_95": [score.low, score.high], "n": score.n}
        assert (read[key].dataset_type, read[key].dataset_split) == ("acme/small", "test")


def test_an_existing_card_keeps_its_text_and_other_results(small: Benchmark, report: Report) -> None:
    text = model_card(CARD, report, small, model="acme/tiny")
    assert model_card(text, report, small, model="acme/tiny") == text, "again, and nothing is there twice"
    card = hub.ModelCard(text)
    assert card.data.license == "apache-2.0"
    assert card.data.model_name == "Tiny"
    assert card.text.strip() == "# Tiny\n\nA model."
    assert [each.metric_value for each in card.data.eval_results if each.dataset_type == "other"] == [0.5]
    assert len(card.data.eval_results) == 1 + 8
    with pytest.raises(ValueError, match="not YAML"):
        model_card("---\na: [\n---\n", report, small, model="acme/tiny")


def test_eval_results_are_read_by_the_hub_s_parser(report: Report) -> None:
    day = date(2026, 11, 22)
    options = {"dataset": "acme/small", "tasks": {"Pairs": "pairs"}, "source": "https://example.org/run"}
    text = eval_results_yaml(report, day=day, **options)  # type: ignore[arg-type]
    entries = hub.parse_eval_result_entries(yaml.safe_load(text))
    assert [entry.task_id for entry in entries] == ["Accept", "pairs", "Like", "Halves"]
    for entry, task in zip(entries, report.tasks.values(), strict=True):
        assert task.score is not None
        assert entry.value == pytest.approx(100 * task.score.value, abs=0.005)
        assert (entry.dataset_id, entry.date) == ("acme/small", "2026-11-22")
        assert entry.source_url == "https://example.org/run"
        assert f"[{100 * task.score.low:.1f}, {100 * task.score.high:.1f}]" in entry.notes


def test_a_score_without_an_interval_says_nothing_of_one(small: Benchmark, folder: Path) -> None:
    report = grade(predicted_values(), folder, benchmark=small, intervals=False)
    text = eval_results_yaml(report, dataset="acme/small", tasks={}, day=date(2026, 11, 22))
    assert "interval" not in text
    assert "source" not in text
