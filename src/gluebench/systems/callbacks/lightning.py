"""A callback for the `Trainer` of Lightning."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import torch
from lightning.pytorch import Callback

from gluebench.benchmark import Benchmark, Task
from gluebench.data import Example
from gluebench.scoring import Report
from gluebench.systems.callbacks.results import TrainingResults

Answers = Sequence[str | float]
"""A label word, or a number, for each example, in order."""
Predict = Callable[[Any, Task, Sequence[Example]], Answers]
"""A function of the module, a task and its examples to a label word, or a number, for each example."""


class SubmissionCallback(Callback):  # type: ignore[misc]
    """Write a submission, and dev scores with 95 % intervals, when a Lightning `Trainer` ends.

    The weights are those at the end of training; a checkpoint that was better is not loaded. Of several
    processes the first writes. `report` has the dev scores, and so have the Trainer's loggers.
    """

    def __init__(
        self,
        predict: Predict,
        tasks: str | Sequence[str],
        data: str | os.PathLike[str],
        out: str | os.PathLike[str] = "submission.zip",
        *,
        benchmark: Benchmark | str | os.PathLike[str] = "glue",
    ) -> None:
        """Give `predict(module, task, examples)`, the task, the folder of prepared data and the zip to write.

        Raises UnknownNameError.
        """
        self._predict = predict
        self._results = TrainingResults(tasks, data, out, benchmark=benchmark)

    @property
    def report(self) -> Report | None:
        """The dev scores, once training has ended."""
        return self._results.report

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Raise DataError if an example to answer is missing."""
        self._results.expect_data()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Write the results, and give the dev scores to the loggers."""
        if trainer.is_global_zero:
            was_training = pl_module.training
            pl_module.eval()
            with torch.inference_mode():
                predictor = _ModulePredictor(self._predict, pl_module)
                self._results.write(predictor, type(pl_module).__name__)
            pl_module.train(was_training)
            for logger in trainer.loggers:
                logger.log_metrics(self._results.figures(), step=trainer.global_step)
        trainer.strategy.barrier("gluebench")


class _ModulePredictor:
    """A module, with the function that answers by it, as a system."""

    def __init__(self, predict: Predict, module: Any) -> None:
        self._predict = predict
        self._module = module

    def predict(self, task: Task, examples: Sequence[Example]) -> Answers:
        """The function's answers."""
        return self._predict(self._module, task, examples)
