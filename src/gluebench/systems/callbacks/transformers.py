"""A callback for the `Trainer` of transformers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from transformers import TrainerCallback

from gluebench.benchmark import Benchmark
from gluebench.scoring import Report
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.huggingface import ModelInMemory
from gluebench.systems.callbacks.results import TrainingResults


class SubmissionCallback(TrainerCallback):  # type: ignore[misc]
    """Write a submission, and dev scores with 95 % intervals, when a `Trainer` ends.

    The model needs a classification head. With `load_best_model_at_end`, the best one answers. Of several
    processes the first writes. `report` has the dev scores, and so has the Trainer's `state.log_history`.
    """

    def __init__(
        self,
        tasks: str | Sequence[str],
        data: str | os.PathLike[str],
        out: str | os.PathLike[str] = "submission.zip",
        *,
        benchmark: Benchmark | str | os.PathLike[str] = "glue",
        labels: Mapping[str, str] | None = None,
        longest: int = 128,
        batch_size: int = 64,
    ) -> None:
        """Name the task that the model learns, the folder of prepared data and the zip to write.

        `labels` maps the model's labels to the task's words, where `id2label` does not have these; `longest`
        is in tokens. Pairs are tokenized as two segments. Raises UnknownNameError.
        """
        self._results = TrainingResults(tasks, data, out, benchmark=benchmark)
        self._labels = labels
        self._longest = longest
        self._batch_size = batch_size

    @property
    def report(self) -> Report | None:
        """The dev scores, once training has ended."""
        return self._results.report

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Refuse a run that could not be answered at its end. Raises DataError, ModelError."""
        self._results.expect_data()
        self._predictor(**kwargs)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write the results, and add the dev scores to the Trainer's log."""
        if not state.is_world_process_zero:
            return
        model = kwargs["model"]
        was_training = model.training
        self._results.write(self._predictor(**kwargs), type(model).__name__)
        model.train(was_training)
        state.log_history.append({**self._results.figures(), "step": state.global_step})

    def _predictor(self, *, model: Any, processing_class: Any, **_: Any) -> ModelInMemory:
        """The model with its tokenizer. Raises ModelError if it cannot answer the tasks."""
        if processing_class is None:
            raise ModelError("the Trainer has no tokenizer; give it one, as processing_class=tokenizer")
        return ModelInMemory(
            model,
            processing_class,
            self._results.tasks,
            labels=self._labels,
            longest=self._longest,
            batch_size=self._batch_size,
        )
