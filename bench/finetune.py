"""Fine-tuning of a checkpoint: CPU time of a training step against the Trainer of transformers.

    python bench/finetune.py MODEL [--data FOLDER] [--task RTE] [--steps N] [--rounds N] [--plain]

Both train the same weights with the same settings on the same examples: AdamW, batches of 32, 128 tokens,
dynamic padding, rows of like lengths together, one thread. With `--plain`, the Trainer shuffles batches, as
it does unless told. CPU times are taken in turn, the loading of the model left out. Needs gluebench[hf].
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from gluebench.benchmark import load_benchmark
from gluebench.systems.adapters.fine_tuned import FineTunedHere
from gluebench.systems.adapters.fine_tuner import Examples, Loop
from gluebench.systems.adapters.fine_tuning import FineTuning
from gluebench.systems.run import fit_data
from gluebench.systems.training.engine import Engine

SETTINGS = FineTuning(epochs=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--task", default="RTE")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    benchmark = load_benchmark("glue")
    task = benchmark.task(options.task)
    train = fit_data(benchmark, task.name, options.data)[0][: options.steps * SETTINGS.batch_size]
    system = FineTunedHere(options.model)
    encodings = system._encodings(task, train, SETTINGS.max_length)
    codes = [task.words.index(str(example.label)) for example in train]
    times: dict[str, list[float]] = {"gluebench": [], "Trainer": []}
    for _ in range(options.rounds):
        model = system._new(options.model, task, SETTINGS)
        times["gluebench"].append(ours(system, model, encodings, codes))
        model = system._new(options.model, task, SETTINGS)
        times["Trainer"].append(theirs(system, model, encodings, codes, plain=options.plain))
    for name, seconds in times.items():
        each = statistics.median(seconds) / options.steps
        print(f"{name}: {each:.2f} s of CPU a step ({', '.join(f'{value:.1f}' for value in seconds)} s)")
    ratios = [own / other for own, other in zip(*times.values(), strict=True)]
    print(f"gluebench / Trainer: {statistics.median(ratios):.2f}")


def ours(system: FineTunedHere, model: Any, encodings: Any, codes: list[int]) -> float:
    lengths = [len(fields["input_ids"]) for fields in encodings]
    examples = Examples(
        lengths, lambda rows: system._batch([encodings[row] for row in rows]), torch.tensor(codes)
    )
    loop = Loop(model, examples, SETTINGS, name="bench", seed=1, engine=Engine())
    start = time.process_time()
    loop.run(None, lambda done, of: None)
    return time.process_time() - start


def theirs(system: FineTunedHere, model: Any, encodings: Any, codes: list[int], *, plain: bool) -> float:
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    rows = [{**fields, "labels": code} for fields, code in zip(encodings, codes, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            per_device_train_batch_size=SETTINGS.batch_size,
            num_train_epochs=SETTINGS.epochs,
            learning_rate=SETTINGS.learning_rate,
            weight_decay=SETTINGS.weight_decay,
            warmup_steps=1,
            train_sampling_strategy="random" if plain else "group_by_length",
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        trainer = Trainer(
            model, arguments, train_dataset=rows, data_collator=DataCollatorWithPadding(system._tokenizer)
        )
        start = time.process_time()
        trainer.train()
        return time.process_time() - start


if __name__ == "__main__":
    main()
