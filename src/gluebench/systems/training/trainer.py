"""The training loop of section 5: one batch of one task at a time, checks on dev, the best weights kept.

A run lives in a folder. Killed at any moment, the same call goes on from its last saved state and comes to
the same weights: on the CPU bit for bit, with as many threads and processes as before.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gluebench.data import DataError
from gluebench.systems.neural.heads import MultiTaskModel
from gluebench.systems.training import card, checkpoint
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine, Plain, arithmetic, seeded
from gluebench.systems.training.files import write_json
from gluebench.systems.training.log import Live, Log, Pace, Say, line
from gluebench.systems.training.outcome import Outcome, read_outcome, write_outcome
from gluebench.systems.training.predicting import predict_together, texts
from gluebench.systems.training.progress import Progress
from gluebench.systems.training.sampling import BatchStream, TaskSampler, batch_count
from gluebench.systems.training.scaling import loss_scales, sampling_weights
from gluebench.systems.training.schedule import Plateau
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.stopping import reason_to_stop
from gluebench.systems.training.validation import TaskScore, macro, score

FAR = 1_000_003
"""Between the seeds of two processes' dropout."""


class Trainer:
    """Trains a model on its tasks; with one task, that task's own model.

    The weights of the model given are those the run begins with. `about` goes onto the run's card.
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
            checkpoint.same_run(self._folder, done.identity, self._identity)
            self._take_best(done.outcome)
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
        """What must be the same for a saved run to be gone on with."""
        shapes = [(name, list(values.shape)) for name, values in self._model.state_dict().items()]
        settings = self._settings.as_dict()
        del settings["save_every"]
        return {
            "settings": settings,
            "data": {name: each.fingerprints() for name, each in self._data.items()},
            "model": hashlib.sha256(repr(shapes).encode()).hexdigest()[:16],
            "processes": self._engine.world,
        }

    def _begin(self) -> None:
        """Prepare everything as it was when the run was last saved."""
        settings, sizes = self._settings, {name: len(each.train) for name, each in self._data.items()}
        self._scales = loss_scales(sizes, settings)
        self._sampler = TaskSampler(
            sampling_weights(sizes, settings), seed=settings.seed, at_once=settings.drawn_at_once
        )
        self._prepare()
        batches = sum(batch_count(size, settings.batch_size) for size in sizes.values())
        self._between = settings.check_every or batches
        self._plateau = Plateau(settings.learning_rate, settings.decay, settings.patience)
        self._engine.place(self._model)
        trained = [each for each in self._model.parameters() if each.requires_grad]
        self._optimiser = torch.optim.Adam(trained, settings.learning_rate, weight_decay=settings.l2)
        self._engine.wrap(self._model, self._optimiser)
        if self._engine.rank:
            torch.manual_seed(settings.seed + FAR * self._engine.rank)
        self._progress = Progress(began=_now())
        self._losses = {name: self._zero() for name in self._data}
        self._restore()
        self._model.train()

    def _prepare(self) -> None:
        body, settings = self._model.body, self._settings
        self._train = {name: body.prepare(texts(each.train)) for name, each in self._data.items()}
        self._dev = {
            name: {split: body.prepare(texts(rows)) for split, rows in each.dev.items()}
            for name, each in self._data.items()
        }
        self._streams = {
            name: BatchStream(
                name,
                [body.lengths(item) for item in items],
                size=settings.batch_size,
                seed=settings.seed,
                bucketed=settings.bucketed,
            )
            for name, items in self._train.items()
        }

    def _zero(self) -> Tensor:
        return self._engine.on_device(torch.zeros((), dtype=torch.float64))

    def _run(self) -> None:
        progress, settings, live = self._progress, self._settings, Live()
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
        name = self._sampler.next()
        positions = self._streams[name].next()
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
        self._optimiser.zero_grad(set_to_none=self._settings.idle_heads == "keep")
        self._losses[name] += loss.detach() * part
        self._progress.updates[name] = self._progress.updates.get(name, 0) + 1
        self._progress.update += 1

    def _check(self) -> None:
        """Score every task on its whole dev split; decay, keep, stop."""
        losses = self._mean_losses()
        scores = self._scores()
        average = macro(scores, self._data, self._settings)
        rate = self._plateau.rate
        improved = self._plateau.step(average)
        self._progress.add_check(
            scores, losses, average=average, improved=improved, rate=rate, seconds=self._lap()
        )
        for group in self._optimiser.param_groups:
            group["lr"] = self._plateau.rate
        self._progress.stopped = reason_to_stop(self._progress.averages(), self._plateau.rate, self._settings)
        self._keep(scores, improved=improved)
        for total in self._losses.values():
            total.zero_()
        if self._engine.rank == 0:
            self._log.check(self._progress.rows, self._progress.times)

    def _mean_losses(self) -> dict[str, float]:
        """Mean loss of each task's updates since the last check, for the tasks that had any."""
        parts = self._engine.gathered({name: float(total) for name, total in self._losses.items()})
        found = {
            name: sum(part[name] for part in parts) / updates
            for name, updates in self._progress.updates.items()
        }
        for name, value in found.items():
            if value - value:  # neither infinity nor "not a number" takes itself away
                raise FloatingPointError(
                    f"the training loss of {name} is {value} by update {self._progress.update:,}; "
                    "a lower learning rate, or float32, may help"
                )
        return found

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
            better = [name for name, found in scores.items() if self._progress.beats(name, found.score)]
        else:
            better = list(scores) if improved else []
        files = self._progress.keep(better, scores, together=self._settings.best == "macro")
        if self._engine.rank == 0:
            for file in files:
                checkpoint.save(self._folder / file, self._model.state_dict())

    def _lap(self) -> float:
        now = time.monotonic()
        self._progress.seconds += now - self._clock
        self._clock = now
        return self._progress.seconds

    def _save(self) -> None:
        """Write the state; only then are weights removed that it no longer names."""
        self._lap()
        own = {
            "cpu": torch.get_rng_state(),
            "gpu": torch.cuda.get_rng_state() if torch.cuda.is_available() else None,
            "losses": {name: float(total) for name, total in self._losses.items()},
        }
        ranks = self._engine.gathered(own)
        if self._engine.rank:
            return
        state = {
            "run": self._identity,
            "model": self._model.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "scaler": self._engine.scaler_state(),
            "plateau": self._plateau.state(),
            "sampler": self._sampler.state(),
            "streams": {name: stream.state() for name, stream in self._streams.items()},
            "progress": self._progress.state(),
            "ranks": ranks,
        }
        checkpoint.save(self._folder / checkpoint.STATE, state)
        self._progress.remove_others(self._folder)

    def _restore(self) -> None:
        path = self._folder / checkpoint.STATE
        if not path.is_file():
            return
        state = checkpoint.load(path)
        checkpoint.same_run(self._folder, state["run"], self._identity)
        self._model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        if state["scaler"] is not None:
            self._engine.restore_scaler(state["scaler"])
        self._plateau = Plateau(**state["plateau"])
        self._sampler.restore(state["sampler"])
        for name, stream in self._streams.items():
            stream.restore(state["streams"][name])
        self._progress = Progress(**state["progress"])
        own = state["ranks"][self._engine.rank]
        for name, total in own["losses"].items():
            self._losses[name].fill_(total)
        torch.set_rng_state(own["cpu"])
        if own["gpu"] is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(own["gpu"])

    def _finish(self) -> Outcome:
        outcome = self._progress.outcome(self._folder, self._settings)
        self._engine.gathered(None)  # the weights are written before anybody reads them
        self._engine.release()
        self._take_best(outcome)
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
            begun=self._progress.began,
            ended=_now(),
            about=self._about,
        )

    def _take_best(self, outcome: Outcome) -> None:
        """Load the best weights; where each task has its own, those of the first task, with all the heads."""
        take_weights(self._model, outcome)


def take_weights(model: MultiTaskModel, outcome: Outcome, task: str | None = None) -> None:
    """Load the weights that a run kept for a task (by default its first), and end training mode."""
    file = outcome.tasks[task or next(iter(outcome.tasks))].weights
    path = outcome.folder / file
    if not path.is_file():
        raise DataError(
            [f"{path}: the weights of this run are missing; remove {path.parent.name} to train anew"]
        )
    model.load_state_dict(checkpoint.load(path))
    model.eval()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
