"""Fine-tuning of a checkpoint beside the Trainer of transformers: CPU time of a step, and dev scores.

    python bench/finetune.py MODEL [--data FOLDER] [--task RTE] [--steps N] [--epochs N] [--rounds N]

Both train the same weights with the same settings on the same examples: AdamW, batches of 32, 128 tokens,
dynamic padding, rows of like lengths together, one thread. With `--plain`, the Trainer shuffles batches, as
it does unless told. Each round has another seed; the two take turns. CPU times are of the training with the
tokenization of its texts, and on our side with the saved states; loading the model and the check on dev
after each epoch are left out. Needs gluebench[hf].
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import torch

from gluebench.benchmark import Task, load_benchmark
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters.fine_tuned import CheckpointPerTask
from gluebench.systems.adapters.fine_tuning import FineTuning, Recipe
from gluebench.systems.adapters.huggingface import PairTokenizer
from gluebench.systems.run import fit_data
from gluebench.systems.training.engine import seeded
from gluebench.systems.training.evaluation import input_texts
from gluebench.systems.training.trainer import Trainer


class Job(NamedTuple):
    """What both programs train."""

    model: str
    task: Task
    train: Sequence[Example]
    dev: Sequence[Example]
    recipe: FineTuning
    plain: bool
    """Whether the Trainer shuffles batches without regard to length."""


class Run(NamedTuple):
    """A training run."""

    seconds: float
    """Of CPU."""
    score: float
    """On dev."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--benchmark", default="glue")
    parser.add_argument("--task", default="RTE")
    parser.add_argument("--steps", type=int, default=10, help="of an epoch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    benchmark = load_benchmark(options.benchmark)
    task = benchmark.task(options.task)
    recipe = FineTuning(epochs=options.epochs, learning_rate=options.rate)
    train, dev = fit_data(benchmark, task.name, options.data)
    train = train[: options.steps * recipe.batch_size]
    job = Job(options.model, task, train, dev, recipe, options.plain)
    runs: dict[str, list[Run]] = {"gluebench": [], "Trainer": []}
    for seed in range(options.rounds):
        runs["gluebench"].append(ours(job, seed))
        runs["Trainer"].append(theirs(job, seed))
        print(f"seed {seed}: {runs['gluebench'][-1]}, {runs['Trainer'][-1]}", flush=True)
    pairs = list(zip(*runs.values(), strict=True))
    steps = options.steps * options.epochs
    for name, own in runs.items():
        print(f"{name}: {statistics.median(run.seconds for run in own) / steps:.3f} s of CPU a step")
    ratios = [one.seconds / other.seconds for one, other in pairs]
    print(f"gluebench / Trainer: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    differences = [100 * (one.score - other.score) for one, other in pairs]
    spread = statistics.stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("nan")
    print(
        f"difference of dev scores: {statistics.mean(differences):+.2f}, standard error {spread:.2f} points"
    )


def ours(job: Job, seed: int) -> Run:
    system = CheckpointPerTask(job.model, Recipe(overrides=job.recipe._asdict()), seed=seed)
    seconds = 0.0
    plain = Trainer.train

    def timed(self: Trainer) -> object:
        nonlocal seconds
        start = time.process_time()
        outcome = plain(self)
        seconds = time.process_time() - start
        return outcome

    with patch.object(Trainer, "train", timed):
        system.fit(job.task, job.train, [])
    return Run(seconds, targets.score(job.task, job.dev, system.predict(job.task, job.dev)))


def theirs(job: Job, seed: int) -> Run:
    from transformers import DataCollatorWithPadding, TrainingArguments
    from transformers import Trainer as TheirTrainer

    recipe, words = job.recipe, PairTokenizer.load(job.model)
    system = CheckpointPerTask(job.model, Recipe(overrides=recipe._asdict()))
    with seeded(seed):
        model = system._new(job.model, job.task, recipe)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            seed=seed,
            per_device_train_batch_size=recipe.batch_size,
            num_train_epochs=recipe.epochs,
            learning_rate=recipe.learning_rate,
            weight_decay=recipe.weight_decay,
            warmup_steps=max(1, round(0.1 * recipe.epochs * -(-len(job.train) // recipe.batch_size))),
            train_sampling_strategy="random" if job.plain else "group_by_length",
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        with seeded(seed):
            start = time.process_time()
            gold = [target(job.task, example) for example in job.train]
            encoded = words.encode(input_texts(job.train), recipe.max_length)
            rows = [{**fields, "labels": label} for fields, label in zip(encoded, gold, strict=True)]
            trainer = TheirTrainer(
                model, arguments, train_dataset=rows, data_collator=DataCollatorWithPadding(words._tokenizer)
            )
            trainer.train()
            seconds = time.process_time() - start
    system._models[job.task.name] = model
    return Run(seconds, targets.score(job.task, job.dev, system.predict(job.task, job.dev)))


def target(task: Task, example: Example) -> int | float:
    """The label's code, or the score."""
    if task.labels:
        return task.words.index(str(example.label))
    return float(example.label or 0.0)


if __name__ == "__main__":
    main()
