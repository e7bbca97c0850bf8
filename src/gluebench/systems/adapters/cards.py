"""Model cards of fine-tuned models: how they were trained, and dev scores with intervals."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import with_interval
from gluebench.benchmark.tables import Table, to_markdown
from gluebench.scoring import Report
from gluebench.scoring.exports import eval_results
from gluebench.systems.adapters.fine_tuned import RECORD
from gluebench.version import __version__


def write_cards(folder: Path, report: Report, benchmark: Benchmark, *, model: str) -> None:
    """Write README.md into the folder of each task's model, with its scores in the form model-index."""
    for name in report.tasks:
        home = folder / quote(name, safe="")
        if report.tasks[name].metrics and (home / RECORD).is_file():
            text = _card(benchmark, benchmark.task(name), report, home, model.partition(":")[2])
            (home / "README.md").write_text(text, encoding="utf-8")


def _card(benchmark: Benchmark, task: Task, report: Report, home: Path, base: str) -> str:
    from huggingface_hub import ModelCardData

    scores = report.tasks[task.name].metrics
    titles = {metric.name: metric.title for metric in task.metrics}
    results = [each for each in eval_results(report, benchmark) if each.dataset_config == task.name]
    data = ModelCardData(
        base_model=None if Path(base).exists() else base,
        library_name="transformers",
        pipeline_tag="text-classification",
        model_name=f"{Path(base).name} on {task.name}",
        eval_results=results,
    )
    training: dict[str, Any] = json.loads((home / RECORD).read_bytes())
    rows = []
    for name, score in scores.items():
        value = with_interval(score.value, score.low, score.high)
        rows.append((titles.get(name, name), value, score.n))
    settings = [(name, str(value)) for name, value in training.items() if name != "fingerprint"]
    return "\n".join(
        [
            f"---\n{data.to_yaml()}\n---\n",
            f"# {Path(base).name}, fine-tuned on {task.name}\n",
            f"{task.title}. Scores on the {report.split} split, times 100, with 95 % intervals:\n",
            to_markdown(Table(("metric", "score", "n"), rows)),
            f"Trained by gluebench {__version__}:\n",
            to_markdown(Table(("setting", "value"), settings)),
        ]
    )
