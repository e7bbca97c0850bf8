"""A training step of the paper's model: against the bare LSTM under it, and against a plain PyTorch loop.

    python bench/step.py [--rounds N] [--real FOLDER] [--only paper|plain|dev] [--small]

Every ratio is of CPU times taken in turn in the same run. The plain loop packs its sentences into an
nn.LSTM, each side of a pair by itself, in shuffled batches; model, precision, loss, clipping and optimizer
are equal. Without the real files (`--real`, $GLUEBENCH_REAL), sentences of the same lengths are generated.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from material import interleaved, ratio
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gluebench.benchmark import Task, load_benchmark
from gluebench.systems.neural.bilstm import BiLstmBody, pair_features
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.token_vectors import TableVectors
from gluebench.systems.text.embeddings import embedding_matrix
from gluebench.systems.text.ptb import tokenize
from gluebench.systems.text.vocabulary import most_frequent
from gluebench.systems.training.sampling import plan
from gluebench.systems.weights.recurrent import max_pool

Pairs = list[tuple[str, ...]]
LENGTHS = {"RTE": ((42, 17), (9, 4)), "MRPC": ((22, 5), (22, 5))}
"""Mean and deviation of tokens of either side, as the real files have them, for what is generated."""
CLIP = 5.0
SEEDS, EPOCHS = (111, 222, 333), 4


class PlainBody(BiLstmBody):
    """The same model and weights as one would write it with PyTorch's own means: packed, side by side."""

    def collate(self, items: Any) -> Any:
        return tuple(self.vectors.collate(side) for side in zip(*items, strict=True))

    def forward(self, batch: Any) -> Tensor:
        return pair_features(*(self._encode(*self.vectors(side)[:2]) for side in batch))

    def _encode(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.dropout(vectors), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.encoder.lstm(packed)[0], batch_first=True)
        return max_pool(self.dropout(states), lengths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--real", type=Path, default=os.environ.get("GLUEBENCH_REAL"))
    parser.add_argument("--batches", type=int, default=24, help="batches of 32 in an epoch that is timed")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", choices=["paper", "plain", "dev"], help="one of the comparisons")
    parser.add_argument("--small", action="store_true", help="little models, to see that everything runs")
    options = parser.parse_args()
    paper_hidden, plain_hidden = (8, (4,)) if options.small else (1500, (300, 150))
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    if options.only in (None, "paper"):
        paper_size(options.rounds, paper_hidden)
    if options.only in (None, "plain"):
        for name in LENGTHS:
            texts = pairs(name, options.real, 32 * options.batches)
            for hidden in plain_hidden:
                against_plain(name, texts, hidden, options.rounds)
    if options.only == "dev":
        equal_scores(options.real)


def paper_size(rounds: int, hidden: int) -> None:
    """(a): the step at the paper's hidden size against a bare nn.LSTM's forward, backward and update."""
    texts = generated("MRPC", 64)
    body = body_of(texts, 300, hidden)
    model = MultiTaskModel(body, [load_benchmark("glue").task("MRPC")])
    items = body.prepare(texts)[:16]
    batch = body.collate(items)
    update = updater(model)
    targets = torch.zeros(len(items), dtype=torch.long)
    bare = nn.LSTM(300, hidden, 2, bidirectional=True)
    update_bare = updater(bare)
    inputs = [body.vectors(group).vectors.transpose(0, 1).contiguous() for group in batch.groups]
    tokens = sum(sum(body.lengths(item)) for item in items)
    print(f"{hidden} per direction, {len(items)} pairs, {tokens} tokens")
    seconds = interleaved(
        {
            "bare nn.LSTM": lambda: update_bare(sum(bare(each)[0].sum() for each in inputs)),
            "step": lambda: update(loss_of(model, "MRPC", batch, targets)),
            "input pipeline": lambda: body.collate(items),
        },
        rounds,
    )
    _medians(seconds)
    _line("step: times the bare LSTM's", ratio(seconds, "step", "bare nn.LSTM"), "<= 1.2")
    _line("input pipeline: share of the step", ratio(seconds, "input pipeline", "step"), "<= 0.05")


def against_plain(name: str, texts: Pairs, hidden: int, rounds: int) -> None:
    """(b): examples a second against the plain loop, and what bfloat16 adds."""
    task = load_benchmark("glue").task(name)
    ours = body_of(texts, 50, hidden)
    plain = PlainBody(ours.vectors, hidden)
    runs = {
        label: partial(
            epoch, MultiTaskModel(body, [task]), task, texts, bucketed=body is ours, precision=precision
        )
        for label, body, precision in (
            ("plain loop", plain, None),
            ("ours", ours, None),
            ("plain loop, bf16", plain, torch.bfloat16),
            ("ours, bf16", ours, torch.bfloat16),
        )
    }
    print(f"\n{name}, {hidden} per direction, {len(texts)} pairs in batches of 32")
    seconds = in_turn(runs, rounds)
    _medians(seconds, examples=len(texts))
    _line("examples/s: times the plain loop", 1 / ratio(seconds, "ours", "plain loop"), ">= 1.8 (2.5)")
    _line("  both in bfloat16", 1 / ratio(seconds, "ours, bf16", "plain loop, bf16"), "none, named apart")
    _line("  bfloat16 over float32, ours", 1 / ratio(seconds, "ours, bf16", "ours"), "none, named apart")


def equal_scores(real: Path) -> None:
    """(c): accuracy on RTE's dev split after equal epochs, of three seeds each; takes some minutes."""
    train, dev = labeled(real, "train"), labeled(real, "dev")
    task = load_benchmark("glue").task("RTE")
    rates: dict[str, list[float]] = {"ours": [], "plain loop": []}
    for seed in SEEDS:
        for label, found in rates.items():
            torch.manual_seed(seed)
            ours = body_of(
                [*train[0], *dev[0]], 50, 150, vectors=next((Path(real) / "vectors").glob("*50d*"))
            )
            body = ours if label == "ours" else PlainBody(ours.vectors, 150)
            model = MultiTaskModel(body, [task])
            for turn in range(EPOCHS):
                train_epoch(model, *train, seed=100 * seed + turn, bucketed=label == "ours")
            found.append(accuracy(model, *dev))
            print(f"seed {seed}, {label:10} {100 * found[-1]:.1f}", flush=True)
    apart = abs(statistics.mean(rates["ours"]) - statistics.mean(rates["plain loop"]))
    spread = max(max(found) - min(found) for found in rates.values())
    _line(
        f"dev accuracy after {EPOCHS} epochs, points apart",
        100 * apart,
        f"<= {100 * spread:.1f}, the seeds' spread",
    )


def labeled(real: Path, split: str) -> tuple[Pairs, list[int]]:
    """RTE's real pairs and the ids of their labels."""
    rows = (Path(real) / "glue" / "RTE" / f"{split}.tsv").read_text(encoding="utf-8-sig").split("\n")[1:]
    cells = [row.split("\t") for row in rows if row]
    return [(one, two) for _, one, two, _ in cells], [int(label != "entailment") for *_, label in cells]


def train_epoch(
    model: MultiTaskModel, texts: Pairs, labels: Sequence[int], *, seed: int, bucketed: bool
) -> None:
    body, update = model.body, updater(model, rate=1e-3)
    assert isinstance(body, BiLstmBody)
    model.train()
    order = random.Random(seed)
    for positions, batch in batches(body.prepare(texts), body, size=32, rng=order, bucketed=bucketed):
        update(loss_of(model, "RTE", batch, torch.tensor([labels[at] for at in positions])))


@torch.no_grad()
def accuracy(model: MultiTaskModel, texts: Pairs, labels: Sequence[int]) -> float:
    model.eval()
    items, right = model.body.prepare(texts), 0
    for at in range(0, len(items), 64):
        best = model("RTE", model.body.collate(items[at : at + 64])).argmax(dim=1)
        right += int((best == torch.tensor(labels[at : at + 64])).sum())
    return right / len(labels)


def loss_of(model: MultiTaskModel, task_name: str, batch: Any, targets: Tensor) -> Tensor:
    """The loss of one batch, as the trainer computes it."""
    return model.head(task_name).loss(model(task_name, batch), targets)


def epoch(
    model: MultiTaskModel, task: Task, texts: Pairs, *, bucketed: bool, precision: torch.dtype | None
) -> None:
    """One pass over the pairs, from their texts' ids to the update of the weights."""
    body = model.body
    assert isinstance(body, BiLstmBody)
    update = updater(model)
    for positions, batch in batches(
        body.prepare(texts), body, size=32, rng=random.Random(0), bucketed=bucketed
    ):
        targets = torch.zeros(len(positions), dtype=torch.long)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision is not None):
            loss = loss_of(model, task.name, batch, targets)
        update(loss)


def in_turn(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """CPU seconds of runs that are long enough to need no untimed one before them."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    return seconds


def batches(
    items: Sequence[Any], body: BiLstmBody, *, size: int, rng: random.Random, bucketed: bool
) -> Iterator[tuple[list[int], Any]]:
    """The positions and the collated batch of each of one pass."""
    for positions in plan([body.lengths(item) for item in items], size=size, rng=rng, bucketed=bucketed):
        yield positions, body.collate([items[position] for position in positions])


def updater(model: nn.Module, *, rate: float = 1e-4) -> Callable[[Any], None]:
    """Backward, clipping and one step of Adam with the paper's L2."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-5, fused=True)

    def update(loss: Any) -> None:
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()

    return update


def body_of(texts: Pairs, dim: int, hidden: int, *, vectors: Path | None = None) -> BiLstmBody:
    vocabulary = most_frequent(tokenize(text) for pair in texts for text in pair)
    table = embedding_matrix(vocabulary, vectors, dim=dim, lower=True)
    return BiLstmBody(TableVectors(vocabulary, table, tokenize), hidden)


def pairs(name: str, real: Path | None, count: int) -> Pairs:
    """Pairs of the real training split, or generated ones of like lengths."""
    path = None if real is None else Path(real) / "glue" / name / "train.tsv"
    if path is None or not path.is_file():
        print(f"\n{name}: no real files, sentences are generated")
        return generated(name, count)
    columns = slice(1, 3) if name == "RTE" else slice(3, 5)
    rows = path.read_text(encoding="utf-8-sig").split("\n")[1:]
    found = [tuple(row.split("\t")[columns]) for row in rows if row]
    return random.Random(0).sample(found, count)


def generated(name: str, count: int) -> Pairs:
    """Sentences of words drawn at random, of the task's lengths."""
    rng = random.Random(0)
    words = [f"w{at}" for at in range(3000)]
    return [
        tuple(" ".join(rng.choices(words, k=max(3, round(rng.gauss(*side))))) for side in LENGTHS[name])
        for _ in range(count)
    ]


def _medians(seconds: Mapping[str, list[float]], *, examples: int = 0) -> None:
    for name, each in seconds.items():
        middle = statistics.median(each)
        speed = f" {examples / middle:8.1f} examples/s" if examples else ""
        print(f"{name:28} {middle * 1000:9.1f} ms CPU{speed}")


def _line(what: str, value: float, goal: str) -> None:
    print(f"{what:42} {value:6.2f}   goal {goal}")


if __name__ == "__main__":
    main()
