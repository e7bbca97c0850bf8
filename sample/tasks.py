"""Which module makes which task."""

from __future__ import annotations

from collections.abc import Mapping

from gluebench.benchmark import Task
from sample import (
    acceptability,
    answering,
    coreference,
    entailment,
    inference,
    paraphrase,
    questions,
    sentiment,
    similarity,
)
from sample.frame import Dealer, Generator, Splits

GENERATORS: Mapping[str, Generator] = {
    "CoLA": acceptability.generate,
    "SST-2": sentiment.generate,
    "MRPC": paraphrase.generate,
    "STS-B": similarity.generate,
    "QQP": questions.generate,
    "MNLI": inference.generate,
    "QNLI": answering.generate,
    "RTE": entailment.generate,
    "WNLI": coreference.generate,
}


def generate(task: Task, seed: int) -> Splits:
    """The splits of one task, of the manifest's sizes; a task's text does not depend on the other tasks."""
    sizes = {name: split.size for name, split in task.splits.items()}
    return GENERATORS[task.name](Dealer(f"{seed}/{task.name}"), sizes)
