"""Model cards of trained models: how they were trained, and dev scores with intervals."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.atomic import write_text
from gluebench.benchmark.figures import with_interval
from gluebench.benchmark.tables import Table, to_markdown
from gluebench.scoring import Report
from gluebench.scoring.exports import eval_results
from gluebench.systems.adapters.fine_tuned import RECORD
from gluebench.systems.training.checkpoint import CARD
from gluebench.systems.training.trained import BASE, MODEL, TrainedSystem
from gluebench.version import __version__

README = "README.md"
_LOADING = """One folder of `gluebench train`. To answer the benchmark with it:

    hf download {name} --local-dir trained
    gluebench run trained --data data/ --out submission.zip
"""


def write_cards(folder: Path, report: Report, benchmark: Benchmark, *, model: str) -> None:
    """Write README.md into the folder of each task's model, with its scores in the form model-index."""
    for name in report.tasks:
        home = folder / quote(name, safe="")
        if report.tasks[name].metrics and (home / RECORD).is_file():
            text = _card(benchmark, benchmark.task(name), report, home, model.partition(":")[2])
            write_text(home / README, text)


def _card(benchmark: Benchmark, task: Task, report: Report, home: Path, base: str) -> str:
    training: dict[str, Any] = json.loads((home / RECORD).read_bytes())
    del training["fingerprint"]
    metadata = {
        "base_model": None if Path(base).exists() else base,
        "library_name": "transformers",
        "model_name": f"{Path(base).name} on {task.name}",
        "eval_results": [
            each for each in eval_results(report, benchmark) if each.dataset_config == task.name
        ],
    }
    heading = f"# {Path(base).name}, fine-tuned on {task.name}\n\n{task.title}."
    table = Table(("metric", "score", "n"), _score_rows(report, task))
    return _compose(metadata, heading, report.split, table, training)


def write_shared_card(system: TrainedSystem, report: Report, benchmark: Benchmark, *, name: str) -> None:
    """Write README.md into the folder of a system of `gluebench train`; `name` is its repository's."""
    run = system.runs()[0]
    card: dict[str, Any] = json.loads((run / CARD).read_bytes())
    about = card["about"]
    is_on_hub = "encoder" not in about  # of a folder's files the card has the digests
    metadata = {
        "base_model": about["body"].get("encoder") if is_on_hub else None,
        "library_name": "gluebench",
        "model_name": system.title,
        "eval_results": list(eval_results(report, benchmark)),
    }
    heading = f"# {system.title}\n\n{_LOADING.format(name=name)}"
    if BASE in json.loads((run.parent / MODEL).read_bytes()):
        heading += f"\nThe encoder is not in it: `{BASE}` in `{MODEL}` says where it is expected."
    rows = []
    for task in benchmark.tasks:
        if task.name in report.tasks:
            for title, value, count in _score_rows(report, task):
                rows.append((task.name, title, value, count))
    table = Table(("task", "metric", "score", "n"), rows)
    text = _compose(metadata, heading, report.split, table, card["settings"])
    write_text(system.folder / README, text)


def _score_rows(report: Report, task: Task) -> list[tuple[str, str, int]]:
    """The title, the score with its interval, and the number of examples of each metric of a task."""
    titles = {metric.name: metric.title for metric in task.metrics}
    rows = []
    for name, score in report.tasks[task.name].metrics.items():
        value = with_interval(score.value, score.low, score.high)
        rows.append((titles.get(name, name), value, score.n))
    return rows


def _compose(
    metadata: Mapping[str, Any], heading: str, split: str, scores: Table, settings: Mapping[str, Any]
) -> str:
    from huggingface_hub import ModelCardData

    data = ModelCardData(pipeline_tag="text-classification", **metadata)
    setting_rows = [(name, str(value)) for name, value in settings.items()]
    return "\n".join(
        [
            f"---\n{data.to_yaml()}\n---\n",
            f"{heading}\n",
            f"Scores on the {split} split, times 100, with 95 % intervals:\n",
            to_markdown(scores),
            f"Trained by gluebench {__version__}:\n",
            to_markdown(Table(("setting", "value"), setting_rows)),
        ]
    )
