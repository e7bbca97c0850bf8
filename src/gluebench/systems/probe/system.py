"""A frozen sentence encoder with SentEval's classifier on top, as a system that fits and predicts tasks."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gluebench.benchmark import Task
from gluebench.data import DataError, Example
from gluebench.systems import targets
from gluebench.systems.probe.classifier import Probe, expected, fit_classifier, fit_regression, levels
from gluebench.systems.probe.settings import DEFAULT, Preset, ProbeSettings, preset_called
from gluebench.systems.probe.store import BATCH, Advance, Precision, encode_into, silent, store_of
from gluebench.systems.probe.training import Combine, Features, four_ways, two_ways
from gluebench.systems.protocols import SentenceEncoder
from gluebench.systems.run import held_out


class ProbedEncoder:
    """A trainable predictor of one classifier per task; the encoder learns nothing."""

    def __init__(
        self,
        encoder: SentenceEncoder,
        preset: str | Preset = DEFAULT,
        *,
        vectors: str | os.PathLike[str] | None = None,
        precision: Precision = "float32",
        batch_size: int = BATCH,
        device: str = "cpu",
        advance: Advance = silent,
    ) -> None:
        """Vectors are kept in the file named, for other runs to use; without a name, in a temporary file.

        `batch_size` is how many sentences the encoder is given at a time. Raises UnknownNameError for a
        preset, DataError for a file that is another encoder's.
        """
        self.encoder = encoder
        self.preset = preset if isinstance(preset, Preset) else preset_called(preset)
        self.probes: dict[str, Probe] = {}
        """What was trained, by task."""
        self._scratch = None if vectors else tempfile.TemporaryDirectory(prefix="gluebench-")
        path = Path(vectors) if vectors else Path(self._scratch.name if self._scratch else "", "vectors.npy")
        self._store = store_of(path, encoder, precision)
        self._batch_size = batch_size
        self._device = device
        self._advance = advance

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Encode both splits and train; where dev is empty, on nine tenths of train, the tenth in its place.

        Raises DataError for a task of more than two texts, EncoderError for what are no vectors.
        """
        if not dev:
            train, dev = held_out(train)
        settings = self.preset.of(task.name)
        combine = four_ways if task.labels else two_ways
        features = [self._features(task, examples, combine) for examples in (train, dev)]
        learn = self._classifier if task.labels else self._regression
        self.probes[task.name] = learn(task, train, dev, features, settings)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label, or the mean score cut to the task's range."""
        if not examples:
            return []
        features = self._features(task, examples, four_ways if task.labels else two_ways)
        outputs = self.probes[task.name].outputs(features)
        if task.labels:
            return [task.words[code] for code in outputs.argmax(dim=1).tolist()]
        low, high = _range(task)
        scores = expected(outputs, levels(self._scale(task)))
        return [float(score) for score in np.clip(scores, low, high)]

    def parameters(self) -> int:
        """The weights of all classifiers; the encoder's are not among them."""
        return sum(probe.parameters() for probe in self.probes.values())

    def _classifier(
        self,
        task: Task,
        train: Sequence[Example],
        dev: Sequence[Example],
        features: Sequence[Features],
        settings: ProbeSettings,
    ) -> Probe:
        codes = {word: code for code, word in enumerate(task.words)}
        own, held = ([codes[word] for word in targets.labels(task, examples)] for examples in (train, dev))
        return fit_classifier(features[0], own, features[1], held, classes=len(codes), settings=settings)

    def _regression(
        self,
        task: Task,
        train: Sequence[Example],
        dev: Sequence[Example],
        features: Sequence[Features],
        settings: ProbeSettings,
    ) -> Probe:
        own, held = (targets.numbers(task, examples) for examples in (train, dev))
        return fit_regression(
            features[0],
            own,
            features[1],
            held,
            scale=levels(self._scale(task)),
            settings=settings.relatedness,
            seed=settings.seed,
        )

    def _scale(self, task: Task) -> tuple[float, float]:
        return self.preset.of(task.name).relatedness.scale or _range(task)

    def _features(self, task: Task, examples: Sequence[Example], combine: Combine) -> Features:
        """The features of examples, their sentences stored first."""
        if len(task.columns) > 2:
            raise DataError([f"{task.name}: has {len(task.columns)} texts; the probe takes one or two"])
        texts = [[example.inputs[column] for example in examples] for column in task.columns]
        encode_into(
            self._store,
            self.encoder,
            [text for column in texts for text in column],
            batch_size=self._batch_size,
            advance=self._advance,
        )
        rows = np.stack([self._store.rows(column) for column in texts], axis=1)
        return Features(self._store.vectors(), rows, combine, self._device)


def _range(task: Task) -> tuple[float, float]:
    if task.score_range is None:
        raise DataError([f"{task.name}: has neither labels nor a range of scores (score_range)"])
    return task.score_range
