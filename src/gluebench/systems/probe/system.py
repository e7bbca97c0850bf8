"""A frozen sentence encoder with SentEval's classifier on top, as a system that fits and predicts tasks."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gluebench.benchmark import Task
from gluebench.data import DataError, Example
from gluebench.systems import targets
from gluebench.systems.devices import autocast
from gluebench.systems.probe.classifier import (
    Features,
    Probe,
    expected,
    fit_classifier,
    fit_regression,
    four_ways,
    levels,
    two_ways,
)
from gluebench.systems.probe.settings import DEFAULT, Preset, preset_called
from gluebench.systems.probe.store import BATCH, Precision, encode_into, store_of
from gluebench.systems.protocols import Advance, SentenceEncoder
from gluebench.systems.run import held_out


class ProbedEncoder:
    """A trainable classifier per task on top of an encoder that is not trained."""

    def __init__(
        self,
        encoder: SentenceEncoder,
        preset: str | Preset = DEFAULT,
        *,
        vectors: str | os.PathLike[str] | None = None,
        precision: Precision = "float32",
        batch_size: int = BATCH,
        device: str = "cpu",
        arithmetic: str = "fp32",
        advance: Advance | None = None,
    ) -> None:
        """`vectors` is a file that keeps the sentence vectors for other runs; by default, a temporary file.

        `batch_size` is how many sentences are encoded at a time, `precision` what is stored, and `arithmetic`
        bf16 for an encoder of PyTorch that computes in bfloat16. Raises UnknownNameError for a preset,
        DataError for a file of another encoder's vectors.
        """
        self.encoder = encoder
        self.preset = preset if isinstance(preset, Preset) else preset_called(preset)
        self.probes: dict[str, Probe] = {}
        """Task name to its trained classifier."""
        self._scratch = None if vectors else tempfile.TemporaryDirectory(prefix="gluebench-")
        path = Path(vectors) if vectors else Path(self._scratch.name if self._scratch else "", "vectors.npy")
        self._store = store_of(path, encoder, precision)
        self._batch_size = batch_size
        self._device = device
        self._arithmetic = arithmetic
        self._advance = advance

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Encode both splits and train; if dev is empty, a tenth of train replaces it.

        Raises DataError for a task of more than two texts, EncoderError if the encoder returns no vectors.
        """
        if not dev:
            train, dev = held_out(train)
        settings = self.preset.of(task.name)
        train_features, dev_features = (self._features(task, examples) for examples in (train, dev))
        if task.labels:
            codes = [targets.codes(task, examples) for examples in (train, dev)]

            def score(predicted: list[int]) -> float:
                return targets.score(task, dev, [task.words[code] for code in predicted])

            probe = fit_classifier(
                train_features,
                codes[0],
                dev_features,
                codes[1],
                classes=len(task.words),
                settings=settings,
                score=score if settings.choose == "metric" else None,
            )
        else:
            scores = [targets.numbers(task, examples) for examples in (train, dev)]
            scale = self._levels(task)
            probe = fit_regression(
                train_features, scores[0], dev_features, scores[1], scale=scale, settings=settings
            )
        self.probes[task.name] = probe

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label, or the expected score clipped to the task's range."""
        if not examples:
            return []
        outputs = self.probes[task.name].outputs(self._features(task, examples))
        if not task.labels:
            outputs = torch.from_numpy(expected(outputs, self._levels(task))[:, None])
        return targets.answers(task, outputs.double().numpy())

    def parameters(self) -> int:
        """Number of weights of all classifiers, without the encoder's."""
        return sum(probe.parameters() for probe in self.probes.values())

    def _levels(self, task: Task) -> NDArray[np.float64]:
        if task.score_range is None:
            raise DataError(f"{task.name}: has neither labels nor a range of scores (score_range)")
        return levels(self.preset.of(task.name).relatedness.scale or task.score_range)

    def _features(self, task: Task, examples: Sequence[Example]) -> Features:
        """The features of examples; encodes and stores the sentences that are not stored yet."""
        if len(task.columns) > 2:
            raise DataError(f"{task.name}: has {len(task.columns)} texts; the probe takes one or two")
        texts = [[example.inputs[column] for example in examples] for column in task.columns]
        with autocast(self._arithmetic, self._device):
            encode_into(
                self._store,
                self.encoder,
                [text for column in texts for text in column],
                batch_size=self._batch_size,
                advance=self._advance,
            )
        rows = np.stack([self._store.rows(column) for column in texts], axis=1)
        combine = four_ways if task.labels else two_ways
        return Features(self._store.vectors(), rows, combine, self._device)
