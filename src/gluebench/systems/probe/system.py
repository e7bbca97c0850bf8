"""A frozen sentence encoder with SentEval's classifier on top, as a system that fits and predicts tasks."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gluebench.benchmark import Task
from gluebench.data import DataError, Example
from gluebench.systems import targets
from gluebench.systems.devices import autocast
from gluebench.systems.probe import classifier
from gluebench.systems.probe.settings import DEFAULT, Preset, preset_called
from gluebench.systems.probe.store import BATCH, Precision, encode_into, store_of
from gluebench.systems.protocols import Advance, SentenceEncoder
from gluebench.systems.run import hold_out


@dataclass(eq=False)
class ProbedEncoder:
    """A trainable classifier per task on top of an encoder that is not trained.

    Raises UnknownNameError for a preset, DataError for a file of another encoder's vectors.
    """

    encoder: SentenceEncoder
    preset: str | Preset = DEFAULT
    _: KW_ONLY
    vectors: str | os.PathLike[str] | None = None
    """A file that keeps the sentence vectors for other runs; by default, a temporary file."""
    precision: Precision = "float32"
    """Of stored vectors."""
    batch_size: int = BATCH
    """Sentences encoded at a time."""
    device: str = "cpu"
    arithmetic: str = "fp32"
    """bf16 for an encoder of PyTorch that computes in bfloat16."""
    advance: Advance | None = None
    probes: dict[str, classifier.Probe] = field(default_factory=dict, init=False)
    """Task name to its trained classifier."""

    def __post_init__(self) -> None:
        self._preset = self.preset if isinstance(self.preset, Preset) else preset_called(self.preset)
        if self.vectors is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="gluebench-")
            self.vectors = Path(self._scratch.name, "vectors.npy")
        self._store = store_of(Path(self.vectors), self.encoder, self.precision)

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Encode both splits and train; if dev is empty, a tenth of train replaces it.

        Raises DataError for a task of more than two texts, EncoderError if the encoder returns no vectors.
        """
        if not dev:
            train, dev = hold_out(train)
        settings = self._preset.of(task.name)
        train_features, dev_features = (self._features(task, examples) for examples in (train, dev))
        if task.labels:
            codes = [targets.codes(task, examples) for examples in (train, dev)]

            def score(predicted: list[int]) -> float:
                return targets.score(task, dev, [task.words[code] for code in predicted])

            probe = classifier.fit_classifier(
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
            probe = classifier.fit_regression(
                train_features, scores[0], dev_features, scores[1], scale=scale, settings=settings
            )
        self.probes[task.name] = probe

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label, or the classifier.expected score clipped to the task's range."""
        if not examples:
            return []
        outputs = self.probes[task.name].outputs(self._features(task, examples))
        if not task.labels:
            outputs = torch.from_numpy(classifier.expected_score(outputs, self._levels(task))[:, None])
        return targets.answers(task, outputs.double().numpy())

    def _levels(self, task: Task) -> NDArray[np.float64]:
        if task.score_range is None:
            raise DataError(f"{task.name}: has neither labels nor a range of scores (score_range)")
        return classifier.levels(self._preset.of(task.name).relatedness.scale or task.score_range)

    def _features(self, task: Task, examples: Sequence[Example]) -> classifier.Features:
        """The features of examples; encodes and stores the sentences that are not stored yet."""
        if len(task.columns) > 2:
            raise DataError(f"{task.name}: has {len(task.columns)} texts; the probe takes one or two")
        texts = []
        for column in task.columns:
            texts.append([example.inputs[column] for example in examples])
        with autocast(self.arithmetic, self.device):
            encode_into(
                self._store,
                self.encoder,
                list(chain.from_iterable(texts)),
                batch_size=self.batch_size,
                advance=self.advance,
            )
        rows = np.stack([self._store.rows(column) for column in texts], axis=1)
        combine = classifier.four_ways if task.labels else classifier.two_ways
        return classifier.Features(self._store.vectors(), rows, combine, self.device)
