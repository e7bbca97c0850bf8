"""The training loop of section 5: one batch of one task at a time, checks on dev, the best weights kept.

A run lives in a folder. Killed at any moment, the same call continues from its last saved state and ends with
the same weights: to the last bit on the CPU of one machine, with as many threads and processes as before.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from gluebench.benchmark.atomic import write_json
from gluebench.systems.neural.heads import MultiTaskModel
from gluebench.systems.training import card, checkpoint
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine, Plain, arithmetic, seeded
from gluebench.systems.training.log import Live, Log, Pace, Say, line
from gluebench.systems.training.outcome import Outcome, read_outcome, write_outcome
from gluebench.systems.training.predicting import predict_together, texts
from gluebench.systems.training.sampling import (
    BatchStream,
    TaskSampler,
    batch_count,
    loss_scales,
    sampling_weights,
)
from gluebench.systems.training.schedule import Plateau, reason_to_stop
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.state import Progress, State
from gluebench.systems.training.validation import TaskScore, macro, score

FAR = 1_000_003
"""Between the seeds of two processes' dropout."""


class Trainer:
    """Trains a model on its tasks; with one task, that task's own model.

    The weights of the model given are those the run begins with. `about`, plain values, goes onto the run's
    card, and a run of something else is not resumed. Where each task keeps weights of its own, the model
    ends with those of the first; `checkpoint.take_weights` loads the others.
    """

    def __init__(
        self,
        model: MultiTaskModel,
        data: Mapping[str, TaskData],
        settings: Settings,
        folder: Path,
        *,
        say: Say | None = None,
        engine: Engine | None = None,
        tensorboard: bool = True,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self._model = model
        self._data = data
        self._settings = settings
        self._folder = folder
        self._say = say or (lambda line: None)
        self._engine = engine or Plain(precision=settings.precision)
        self._log = Log(folder, tensorboard=tensorboard and self._engine.rank == 0)
        self._about = about or {}

    def train(self) -> Outcome:
        """Train, or go on training, until the run ends; the model then has its best weights.

        Raises DataError where the folder holds a run of something else, FloatingPointError for a loss that
        is no number.
        """
        self._identity = self._identified()
        done = read_outcome(self._folder)
        if done is not None:
            same = {**done.identity, "processes": self._engine.world}  # of no account any more
            checkpoint.same_run(self._folder, same, self._identity)
            checkpoint.take_weights(self._model, done.outcome)
            return done.outcome
        self._folder.mkdir(parents=True, exist_ok=True)
        with seeded(self._settings.seed), arithmetic(self._settings.precision):
            self._begin()
            try:
                self._run()
            finally:
                self._log.close()
            return self._finish()

    def _identified(self) -> dict[str, Any]:
        """What must be the same for a saved run to be resumed."""
        shapes = [(name, list(values.shape)) for name, values in self._model.state_dict().items()]
        settings = self._settings.as_dict()
        del settings["save_every"]
        return {
            "settings": settings,
            "data": {name: data.fingerprints() for name, data in self._data.items()},
            "model": hashlib.sha256(repr(shapes).encode()).hexdigest()[:16],
            "about": json.loads(json.dumps(self._about)),
            "processes": self._engine.world,
        }

    def _begin(self) -> None:
        """Prepare everything as it was when the run was last saved."""
        settings, sizes = self._settings, {name: len(data.train) for name, data in self._data.items()}
        self._scales = loss_scales(sizes, settings)
        sampler = TaskSampler(
            sampling_weights(sizes, settings), seed=settings.seed, at_once=settings.drawn_at_once
        )
        self._prepare()
        batches = sum(batch_count(size, settings.batch_size) for size in sizes.values())
        self._between = settings.check_every or batches
        self._engine.place(self._model)
        trained = [parameter for parameter in self._model.parameters() if parameter.requires_grad]
        optimiser = torch.optim.Adam(trained, settings.learning_rate, weight_decay=settings.l2)
        self._engine.wrap(self._model, optimiser)
        if self._engine.rank:
            torch.manual_seed(settings.seed + FAR * self._engine.rank)
        zero = torch.zeros((), dtype=torch.float64)
        self._state = State(
            self._model,
            optimiser,
            self._engine,
            Plateau(settings.learning_rate, settings.decay, settings.patience),
            sampler,
            self._streams(),
            {name: self._engine.on_device(zero.clone()) for name in self._data},
            Progress(began=_now()),
        )
        self._state.restore(self._folder, self._identity)
        self._model.train()

    def _prepare(self) -> None:
        body = self._model.body
        self._train = {name: body.prepare(texts(data.train)) for name, data in self._data.items()}
        self._dev = {
            name: {split: body.prepare(texts(rows)) for split, rows in data.dev.items()}
            for name, data in self._data.items()
        }

    def _streams(self) -> dict[str, BatchStream]:
        body, settings = self._model.body, self._settings
        return {
            name: BatchStream(
                name,
                [body.lengths(item) for item in items],
                size=settings.batch_size,
                seed=settings.seed,
                bucketed=settings.bucketed,
            )
            for name, items in self._train.items()
        }

    def _run(self) -> None:
        progress, settings, live = self._state.progress, self._settings, Live()
        pace, self._clock = Pace(progress.update, self._between, settings), time.monotonic()
        if progress.update:
            self._say(f"going on after update {progress.update:,}")
        while progress.stopped is None:
            self._update()
            if self._engine.rank == 0:
                live.show(lambda: pace.live(progress.update))
            if progress.update % self._between == 0:
                live.clear()
                self._check()
                self._say(
                    line(progress.rows[-1], list(self._data), settings, pace=pace.told(progress.update))
                )
                self._save()
            elif settings.save_every and progress.update % settings.save_every == 0:
                self._save()

    def _update(self) -> None:
        name = self._state.sampler.next()
        positions = self._state.streams[name].next()
        share = positions[self._engine.rank :: self._engine.world]
        # A process without a share still takes part, since the others wait for its gradient: of weight 0.
        part = len(share) / len(positions)
        share = share or positions[:1]
        batch = self._model.body.collate([self._train[name][position] for position in share])
        labels = [self._data[name].train[position].label for position in share]
        targets = self._engine.on_device(self._model.targets(name, labels))
        loss = self._model.head(name).loss(self._engine.outputs(name, batch), targets)
        self._engine.backward(loss * (self._scales[name] * part * self._engine.world))
        self._engine.step(self._settings.clip)
        self._state.optimiser.zero_grad(set_to_none=self._settings.idle_heads == "keep")
        self._state.losses[name] += loss.detach() * part
        self._state.progress.updates[name] = self._state.progress.updates.get(name, 0) + 1
        self._state.progress.update += 1

    def _check(self) -> None:
        """Score every task on its whole dev split; decay, keep, stop."""
        losses = self._mean_losses()
        scores = self._scores()
        average = macro(scores, self._data, self._settings)
        rate = self._state.plateau.rate
        improved = self._state.plateau.step(average)
        self._state.progress.add_check(
            scores, losses, average=average, improved=improved, rate=rate, seconds=self._lap()
        )
        for group in self._state.optimiser.param_groups:
            group["lr"] = self._state.plateau.rate
        self._state.progress.stopped = reason_to_stop(
            self._state.progress.averages(), self._state.plateau.rate, self._settings
        )
        self._keep(scores, improved=improved)
        for total in self._state.losses.values():
            total.zero_()
        if self._engine.rank == 0:
            self._log.check(self._state.progress.rows, self._state.progress.times)

    def _mean_losses(self) -> dict[str, float]:
        """Mean loss of each task's updates since the last check, for the tasks that had any."""
        parts = self._engine.gathered({name: float(total) for name, total in self._state.losses.items()})
        means = {
            name: sum(part[name] for part in parts) / updates
            for name, updates in self._state.progress.updates.items()
        }
        for name, value in means.items():
            if value - value:  # neither infinity nor "not a number" takes itself away
                raise FloatingPointError(
                    f"the training loss of {name} is {value} by update {self._state.progress.update:,}; "
                    "a lower learning rate, or float32, may help"
                )
        return means

    def _scores(self) -> dict[str, TaskScore]:
        self._model.eval()
        scores = {}
        for name, splits in self._dev.items():
            predicted = {
                split: predict_together(
                    self._model,
                    name,
                    items,
                    batch_size=self._settings.batch_size,
                    engine=self._engine,
                )
                for split, items in splits.items()
            }
            scores[name] = score(self._data[name], predicted, self._settings.validation)
        self._model.train()
        return scores

    def _keep(self, scores: Mapping[str, TaskScore], *, improved: bool) -> None:
        """Save the weights for those tasks they are the best for."""
        if self._settings.best == "task":
            better = [name for name in scores if self._state.progress.beats(name, scores[name].score)]
        else:
            better = list(scores) if improved else []
        files = self._state.progress.keep(better, scores, together=self._settings.best == "macro")
        if self._engine.rank == 0:
            for file in files:
                checkpoint.save(self._folder / file, self._model.state_dict())

    def _lap(self) -> float:
        now = time.monotonic()
        self._state.progress.seconds += now - self._clock
        self._clock = now
        return self._state.progress.seconds

    def _save(self) -> None:
        self._lap()
        self._state.save(self._folder, self._identity)

    def _finish(self) -> Outcome:
        outcome = self._state.progress.outcome(self._folder, self._settings)
        self._engine.gathered(None)  # the weights are written before anybody reads them
        self._engine.release()
        checkpoint.take_weights(self._model, outcome)
        if self._engine.rank == 0:
            write_json(self._folder / card.FILE, self._card(outcome))
            write_outcome(outcome, self._identity)
            (self._folder / checkpoint.STATE).unlink(missing_ok=True)
        self._engine.gathered(None)
        return outcome

    def _card(self, outcome: Outcome) -> dict[str, Any]:
        return card.card(
            self._model,
            self._data,
            self._settings,
            outcome,
            world=self._engine.world,
            begun=self._state.progress.began,
            ended=_now(),
            about=self._about,
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
