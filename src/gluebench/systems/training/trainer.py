"""The training loop of section 5: one batch of one task at a time, checks on dev, the best weights kept.

Each run has a folder. If a run is killed, the same call continues from the last saved state and ends with the
same weights: to the last bit on the CPU of one machine, with as many threads and processes as before.
"""

import hashlib
import itertools
import json
import math
import signal
import statistics
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR, ReduceLROnPlateau

from gluebench.systems.devices import arithmetic
from gluebench.systems.neural.model import MultiTaskModel, pin_batch, to_device
from gluebench.systems.run import Say, quiet
from gluebench.systems.training import checkpoint, sampling
from gluebench.systems.training.checkpoint import Outcome
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine, seeded
from gluebench.systems.training.evaluation import (
    TaskScore,
    cut_message,
    input_texts,
    macro,
    predict_together,
    score,
)
from gluebench.systems.training.interrupts import Interrupts
from gluebench.systems.training.log import Log, Pace, check_line
from gluebench.systems.training.optimizers import make_optimizer, make_schedule
from gluebench.systems.training.progress import WEIGHTS, Progress, reason_to_stop
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.trackers import Trackers

FAR = 1_000_003
"""Distance between the dropout seeds of two processes."""
TIMED = 3
"""Batches whose time gives the estimate of a run's duration."""
SPOKEN_EVERY = 30.0
"""Seconds between two lines on the progress where there is no terminal for a bar."""
AGREE_EVERY = 10
"""Updates after which several processes agree whether to save: each time they wait for each other."""


class BatchPart(NamedTuple):
    """Examples of a batch that go through the model together."""

    batch: Any
    targets: Tensor
    weight: float
    """Their share of the batch; 0 if none are this process's."""


class TaskBatch(NamedTuple):
    """A batch of one task, in as many parts as `Settings.accumulate` says."""

    task: str
    parts: Sequence[BatchPart]


@dataclass(eq=False)
class Trainer:
    """Trains a model on its tasks, jointly if there are several.

    The run starts from the model's current weights. `about` (JSON-ready) is written to the run's card; a run
    with another `about` is not resumed. If each task keeps its own best weights, the model ends with those
    of the first task; `checkpoint.take_weights` loads the others.
    """

    model: MultiTaskModel
    data: Mapping[str, TaskData]
    settings: Settings
    folder: Path
    _: KW_ONLY
    say: Say = quiet
    engine: Engine | None = None
    """None for one process on the CPU."""
    trackers: Sequence[str] = ()
    """Names of trackers of experiments, which the leading process tells of each check."""
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._engine = self.engine or Engine(precision=self.settings.precision)
        trackers = self.trackers if self._engine.rank == 0 else ()
        self._log = Log(self.folder, Trackers(trackers, self.folder, asdict(self.settings)))

    def train(self) -> Outcome:
        """Train, or go on training, until the run ends; the model then has its best weights.

        At SIGINT or SIGTERM the run saves its state, says where, and then lets the signal have its effect
        (KeyboardInterrupt, or the end of the process). Raises DataError if the folder holds another run,
        FloatingPointError for a loss that is not finite.
        """
        shapes = [(name, list(values.shape)) for name, values in self.model.state_dict().items()]
        settings = asdict(self.settings)
        del settings["save_minutes"]
        self._identity = {  # what must be the same for a saved run to be resumed
            "settings": settings,
            "data": {name: data.fingerprints() for name, data in self.data.items()},
            "model": hashlib.sha256(repr(shapes).encode()).hexdigest()[:16],
            "about": json.loads(json.dumps(self.about)),
            "processes": self._engine.world,
        }
        if base := self.model.base_digest():
            self._identity["base"] = base
        outcome = checkpoint.read_outcome(self.folder)
        if outcome is not None:
            processes = {"processes": self._engine.world}  # a finished run may be read with any number
            checkpoint.same_run(self.folder, {**outcome.run, **processes}, self._identity)
            checkpoint.take_weights(self.model, outcome)
            return outcome
        self.folder.mkdir(parents=True, exist_ok=True)
        with seeded(self.settings.seed), arithmetic(self.settings.precision):
            self._begin()
            try:
                self._run()
            finally:
                self._stream.close()
                self._log.close()
            if self._ended_by is None:
                return self._finish()
            if self._progress.stopped is None:
                self._say_how_to_go_on(self._ended_by)
            else:  # the signal came with the last update
                self._finish()
        signal.raise_signal(self._ended_by)
        raise KeyboardInterrupt

    def _begin(self) -> None:
        """Set up the run, then restore its last saved state, if there is one."""
        settings = self.settings
        body = self.model.body
        device = self._engine.device
        sizes = {name: len(data.train) for name, data in self.data.items()}
        self._scales = sampling.loss_scales(sizes, settings)
        self._train = {name: body.prepare(input_texts(data.train)) for name, data in self.data.items()}
        self._say_what_is_cut()
        self._dev: dict[str, dict[str, list[Any]]] = {}
        for name, data in self.data.items():
            self._dev[name] = {split: body.prepare(input_texts(rows)) for split, rows in data.dev.items()}
        batches = sum(sampling.batch_count(size, settings.batch_size) for size in sizes.values())
        self._check_interval = settings.check_every or batches
        self.model.to(device)
        self._optimizer = make_optimizer(self.model, settings)
        self._engine.wrap(self.model, self._optimizer)
        if self._engine.rank:
            torch.manual_seed(settings.seed + FAR * self._engine.rank)
        self._last = self._check_interval * settings.max_checks
        self._schedule = make_schedule(self._optimizer, settings, updates=self._last)
        self._sampler = sampling.run_draws(sizes, settings, period=self._check_interval)
        self._streams = {}
        for name, items in self._train.items():
            self._streams[name] = sampling.batch_draws(
                name,
                [body.lengths(item) for item in items],
                size=settings.batch_size,
                seed=settings.seed,
                bucketed=settings.bucketed,
            )
        self._losses = {name: torch.zeros((), dtype=torch.float64, device=device) for name in self.data}
        self._progress = Progress(began=_now())
        self._restore()
        self._stream = self._batches()
        self.model.train()

    def _say_what_is_cut(self) -> None:
        body = self.model.body
        if body.longest is None:
            return
        for name, data in self.data.items():
            cut = body.count_cut(input_texts(data.train), self._train[name])
            if cut:
                self.say(cut_message(data.task, cut, len(data.train), body.longest, body.length_advice))

    def _run(self) -> None:
        progress = self._progress
        settings = self.settings
        if progress.update:
            self.say(f"going on after update {progress.update:,}")
        pace = Pace(progress.update, self._last, shown=self._engine.rank == 0)
        self._clock = time.monotonic()
        self._saved_at = spoken_at = self._clock
        self._ended_by: int | None = None
        if self.say is not quiet:
            self._say_estimate(pace)
        with pace.bar as bar, Interrupts() as interrupts:
            while progress.stopped is None and self._ended_by is None:
                self._update()
                bar.update()
                if progress.update % self._check_interval == 0:
                    self._check()
                    bar.clear()
                    speed = pace.text(progress.update)
                    self.say(check_line(progress.rows[-1], list(self.data), settings, pace=speed))
                    self._save()
                if self._save_if_due(interrupts.received):
                    bar.clear()
                    self.say(f"saved at update {progress.update:,}; {pace.text(progress.update)}")
                if pace.bar.disable and time.monotonic() - spoken_at >= SPOKEN_EVERY:
                    spoken_at = time.monotonic()
                    self._say_progress(pace)

    def _say_progress(self, pace: Pace) -> None:
        """Say how far the run is, and the mean loss of this process since the last check."""
        update = self._progress.update
        since_check = sum(self._progress.updates.values())
        if since_check:
            loss = sum(float(total) for total in self._losses.values()) / since_check
            self.say(f"update {update:,} of at most {self._last:,}; loss {loss:.3f}; {pace.text(update)}")

    def _say_estimate(self, pace: Pace) -> None:
        """Say how long the run may take, by the time of the gradients of its first batches.

        Nothing of the run changes: neither its batches nor what is random or carried from batch to batch.
        """
        sizes = {name: len(data.train) for name, data in self.data.items()}
        tasks = sampling.run_draws(sizes, self.settings, period=self._check_interval)
        carried = [(module, module.carried()) for module in self.model.carriers().values()]
        devices = [self._engine.device] if self._engine.device.type == "cuda" else []
        losses = {name: total.clone() for name, total in self._losses.items()}
        seconds = []
        with torch.random.fork_rng(devices):
            for name in itertools.islice(tasks, TIMED + 1):
                began = time.monotonic()
                some = range(min(self.settings.batch_size, len(self._train[name])))
                self._backward(name, self._make_part(name, some, of=len(some)))
                float(self._losses[name])  # waits for a GPU
                seconds.append(time.monotonic() - began)
        self._optimizer.zero_grad(set_to_none=True)
        self._losses = losses
        for module, before in carried:
            module.carry_on(before)
        update = statistics.median(seconds[1:])  # the first also allocates memory
        left = self._last - self._progress.update
        dev = 0
        for splits in self._dev.values():
            dev += sum(map(len, splits.values()))
        # A prediction takes about a third of the time of an example's gradient.
        checks = left / self._check_interval * dev / self.settings.batch_size / 3
        duration = pace.bar.format_interval((left + checks) * update)
        self.say(f"at most {left:,} updates, about {duration} at the speed of the first batches")

    def _save_if_due(self, received: int | None) -> bool:
        """Save if the last state is old, or if a signal ends the run; return whether it was the clock.

        All processes do so together.
        """
        due = time.monotonic() - self._saved_at >= 60 * self.settings.save_minutes
        if self._engine.world > 1:
            if self._progress.update % AGREE_EVERY:
                return False
            parts = self._engine.gather((received, due))
            received = max((number for number, _ in parts if number is not None), default=None)
            due = any(own_due for _, own_due in parts)
        if due or received is not None:
            self._save()
        self._ended_by = received
        return due and received is None

    def _say_how_to_go_on(self, number: int) -> None:
        self.say(
            f"stopped by {signal.Signals(number).name} after update {self._progress.update:,}, "
            f"which is saved in {self.folder / checkpoint.STATE}; the same command goes on from there"
        )

    def _draw_batch(self) -> TaskBatch:
        """Draw the next batch and make this process's share of it."""
        name = next(self._sampler)
        positions = next(self._streams[name])
        size = -(-len(positions) // self.settings.accumulate)
        starts = range(0, len(positions), size)
        parts = [
            self._make_part(name, positions[start : start + size], of=len(positions)) for start in starts
        ]
        return TaskBatch(name, parts)

    def _make_part(self, name: str, positions: Sequence[int], *, of: int) -> BatchPart:
        share = positions[self._engine.rank :: self._engine.world]
        weight = len(share) / of
        # A process without examples computes a gradient of weight 0, since the others wait for one.
        share = share or positions[:1]
        batch = self.model.body.collate([self._train[name][position] for position in share])
        labels = [self.data[name].train[position].label for position in share]
        targets = self.model.head(name).targets(labels)
        if self._engine.device.type == "cuda":
            batch = pin_batch(batch)
            targets = pin_batch(targets)
        return BatchPart(batch, targets, weight)

    def _batches(self) -> Generator[TaskBatch]:
        """The batches of the run in their order, some made ahead by a thread while a GPU computes."""
        if not self._engine.ahead:
            while True:
                yield self._draw_batch()
        with ThreadPoolExecutor(1) as thread:
            waiting = deque(thread.submit(self._draw_batch) for _ in range(self._engine.ahead))
            while True:
                waiting.append(thread.submit(self._draw_batch))
                yield waiting.popleft().result()

    def _update(self) -> None:
        drawn = next(self._stream)
        for part in drawn.parts:
            self._backward(drawn.task, part)
        self._engine.step(self.settings.clip)
        self._used_rate = self._rate()
        if self.settings.schedule == "linear":
            cast(LambdaLR, self._schedule).step()
        self._optimizer.zero_grad(set_to_none=self.settings.idle_heads == "keep")
        self._progress.updates[drawn.task] = self._progress.updates.get(drawn.task, 0) + 1
        self._progress.update += 1

    def _backward(self, name: str, part: BatchPart) -> None:
        """Add the gradients of a part of a batch."""
        weight = part.weight
        carried = []
        if not weight:  # a batch of its own that counts for nothing: what it carries on is undone below
            carried = [(module, module.carried()) for module in self.model.carriers().values()]
        targets = to_device(part.targets, self._engine.device)
        loss = self.model.head(name).loss(self._engine.outputs(name, part.batch), targets)
        self._engine.backward(loss * (self._scales[name] * weight * self._engine.world))
        for module, before in carried:
            module.carry_on(before)
        self._losses[name] += loss.detach() * weight

    def _check(self) -> None:
        """Score every task on dev; decay the learning rate, keep the best weights, decide to stop."""
        progress = self._progress
        settings = self.settings
        losses = self._mean_losses()
        scores = self._scores()
        average = macro(scores, self.data, settings)
        improved = average > max(progress.averages(), default=-math.inf)
        self._add_time()
        progress.add_check(scores, losses, average=average, improved=improved, rate=self._used_rate)
        if settings.schedule == "plateau":
            cast(ReduceLROnPlateau, self._schedule).step(average)
        progress.stopped = reason_to_stop(progress.averages(), self._rate(), settings)
        files = progress.keep(scores, improved=improved, best=settings.best)
        for total in self._losses.values():
            total.zero_()
        if self._engine.rank == 0:
            for file in files:
                checkpoint.save_weights(self.folder / file, self.model.state_to_save())
            self._log.check(progress.rows, progress.times)

    def _rate(self) -> float:
        """The learning rate, of several the highest."""
        return max(float(group["lr"]) for group in self._optimizer.param_groups)

    def _mean_losses(self) -> dict[str, float]:
        """Mean loss of each task's updates since the last check, for the tasks that had any."""
        parts = self._engine.gather({name: float(total) for name, total in self._losses.items()})
        means = {}
        self._expect_finite(parts)
        for name, updates in self._progress.updates.items():
            means[name] = sum(part[name] for part in parts) / updates
        return means

    def _expect_finite(self, losses: Sequence[Mapping[str, float]]) -> None:
        """Raise FloatingPointError if a task's loss, of several processes, is no number any more."""
        for name in self.data:
            total = sum(part[name] for part in losses)
            if not math.isfinite(total):
                raise FloatingPointError(
                    f"the training loss of {name} is {total} by update {self._progress.update:,}; "
                    "a lower learning rate, a longer warm-up, or fp32, may help"
                )

    def _scores(self) -> dict[str, TaskScore]:
        self.model.eval()
        size = self.settings.batch_size
        engine = self._engine
        scores = {}
        for name, splits in self._dev.items():
            predicted = {
                split: predict_together(self.model, name, items, batch_size=size, engine=engine)
                for split, items in splits.items()
            }
            scores[name] = score(self.data[name], predicted, self.settings.validation)
        self.model.train()
        return scores

    def _add_time(self) -> None:
        """Add the time since the last call to the duration of the run."""
        now = time.monotonic()
        self._progress.seconds += now - self._clock
        self._clock = now

    def _save(self) -> None:
        """Save all that changes during a run; only then remove weights that are no longer the best."""
        self._add_time()
        self._saved_at = time.monotonic()
        rank_state = {
            "cpu": torch.get_rng_state(),
            "gpu": torch.cuda.get_rng_state() if torch.cuda.is_available() else None,
            "losses": {name: float(total) for name, total in self._losses.items()},
            "carried": {name: module.carried() for name, module in self.model.carriers().items()},
        }
        ranks = self._engine.gather(rank_state)
        self._expect_finite([state["losses"] for state in ranks])  # keep the last state that is sound
        if self._engine.rank:
            return
        scaler = self._engine.scaler
        values = {
            "run": self._identity,
            "model": self.model.state_to_save(),
            "optimizer": self._optimizer.state_dict(),
            "scaler": None if scaler is None else scaler.state_dict(),
            "schedule": self._schedule.state_dict(),
            "progress": asdict(self._progress),
            "ranks": ranks,
        }
        checkpoint.save(self.folder / checkpoint.STATE, values)
        best = {kept.weights for kept in self._progress.kept.values()}
        for path in self.folder.glob(f"{WEIGHTS}*"):
            if path.name not in best:
                path.unlink()

    def _restore(self) -> None:
        """Load the saved state, if there is one. Raises DataError for the state of another run."""
        path = self.folder / checkpoint.STATE
        if not path.is_file():
            return
        values = checkpoint.load(path)
        checkpoint.same_run(self.folder, values["run"], self._identity)
        self.model.load_saved(values["model"])
        self._optimizer.load_state_dict(values["optimizer"])
        if values["scaler"] is not None and self._engine.scaler is not None:
            self._engine.scaler.load_state_dict(values["scaler"])
        self._schedule.load_state_dict(values["schedule"])
        if self.settings.idle_heads == "decay":  # a gradient of zero, where the interrupted run had one
            for weights in self._optimizer.state:
                weights.grad = torch.zeros_like(weights)
        self._progress = Progress.resume(values["progress"])
        for _ in range(self._progress.update):  # the batches that are done
            next(self._streams[next(self._sampler)])
        rank_state = values["ranks"][self._engine.rank]
        for name, total in rank_state["losses"].items():
            self._losses[name].fill_(total)
        for name, module in self.model.carriers().items():
            module.carry_on(rank_state["carried"][name])
        torch.set_rng_state(rank_state["cpu"])
        if rank_state["gpu"] is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(rank_state["gpu"])

    def _finish(self) -> Outcome:
        progress = self._progress
        for name, kept in progress.kept.items():
            if kept.constant:
                self.say(
                    f"WARNING: {name}: every dev example gets the same answer, so nothing was learned of it; "
                    "try more checks, another learning rate or sampling, or a pre-trained body"
                )
        outcome = Outcome(
            folder=self.folder,
            seed=self.settings.seed,
            score=max(progress.averages()),
            tasks=progress.kept,
            checks=len(progress.rows),
            updates=progress.update,
            stopped=progress.stopped or "",
            seconds=round(progress.seconds, 1),
            run=self._identity,
        )
        self._engine.gather(None)  # every process waits until the weights are written
        self._engine.release()
        checkpoint.take_weights(self.model, outcome)
        if self._engine.rank == 0:
            checkpoint.write_card(
                outcome,
                self.model,
                self.data,
                self.settings,
                began=progress.began,
                ended=_now(),
                about=self.about,
            )
            checkpoint.write_outcome(outcome)
            (self.folder / checkpoint.STATE).unlink(missing_ok=True)
        self._engine.gather(None)
        return outcome


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
