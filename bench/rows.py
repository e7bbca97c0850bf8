"""The rows of Table 4 at the paper's sizes: samples a second, peak memory, and the hours of all of them.

    python bench/rows.py [--small] [--device auto] [--precision fp32] [--row NAME] [--updates N]

A BiLSTM row runs updates of the real trainer on generated pairs of MNLI's lengths, with random weights,
against its bare LSTMs (PyTorch's own: cuDNN on a GPU) with the same sentences and optimizer. A frozen row
encodes sentences, against its bare network without packing. Hours assume `--multi-updates` for a multi-task
run and `--passes` over the data for a single-task run, three seeds, and time in proportion to the tokens.
`--small` gives no figure of use: it shows on any CPU that everything runs.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from step import updater
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.systems.devices import PRECISIONS, arithmetic, device
from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.token_vectors import CoveVectors, ElmoVectors, TableVectors, TokenVectors
from gluebench.systems.reproduce.row import Row, rows
from gluebench.systems.text.vocabulary import Vocabulary
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine
from gluebench.systems.training.trainer import Trainer
from gluebench.systems.weights.elmo import Elmo, ElmoOptions
from gluebench.systems.weights.recurrent import Cove, run

TOKENS = {
    "CoLA": 8.9, "SST-2": 9.4, "STS-B": 22.3, "QQP": 25.3, "WNLI": 30.6, "MNLI": 32.3, "QNLI": 39.6,
    "RTE": 41.9, "MRPC": 43.9, "SNLI": 22.0,
}  # fmt: skip
"""Mean number of tokens of an example, sentences cut at 40."""
FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
ELMO = ElmoOptions(50, 16, FILTERS, "relu", 2, 2, 4096, 512, 3.0, 3.0, skip=True)
SMALL_ELMO = ElmoOptions(50, 4, ((1, 8), (2, 8)), "relu", 1, 2, 32, 8, 3.0, 3.0, skip=True)
FROZEN: dict[str, list[tuple[type[nn.LSTM] | type[nn.GRU], int, int, bool]]] = {
    "skip-thought": [(nn.GRU, 620, 2400, False), (nn.GRU, 620, 1200, True)],
    "infersent": [(nn.LSTM, 300, 2048, True)],
    "dissent": [(nn.LSTM, 300, 2048, True)],
    "gensen": [(nn.GRU, 512, 1024, True)] * 2,
}
"""Networks of the published encoders: inputs, hidden size, both directions."""
WORDS = 20_000


class Measured(NamedTuple):
    samples: float
    """Per second."""
    ratio: float
    """Times the bare kernel's seconds."""
    memory: int
    """Bytes at the peak; on a CPU of the whole process."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="little models, for a trial on a CPU")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="fp32", choices=PRECISIONS)
    parser.add_argument("--row", action="append", help="this row only; may be repeated")
    parser.add_argument("--updates", type=int, default=20, help="timed, after as many that are not")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--multi-updates", type=int, default=100_000)
    parser.add_argument("--passes", type=float, default=6)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    place = torch.device(device(options.device))
    name = (
        torch.cuda.get_device_name(place)
        if place.type == "cuda"
        else f"CPU, {torch.get_num_threads()} threads"
    )
    print(f"{name}, {options.precision}, batches of {options.batch}{', SMALL' * options.small}")
    print(f"{'row':26} {'samples/s':>10} {'x bare':>7} {'peak GiB':>9} {'hours':>8}")
    total = 0.0
    for row in rows():
        if row.name == "cbow" or row.name not in (options.row or [row.name]):
            continue
        _reset_peak(place)
        measure = _frozen if row.probe else _trained
        with arithmetic(options.precision):
            measured = measure(row, place, options)
        hours = _hours(row, measured.samples, options)
        total += hours
        gib = measured.memory / 2**30
        print(
            f"{row.name:26} {measured.samples:10.1f} {measured.ratio:7.2f} {gib:9.2f} {hours:8.2f}",
            flush=True,
        )
    print(
        f"all rows above: {total:.1f} hours on one such device (cbow takes minutes; probes are not counted)"
    )


def _trained(row: Row, place: torch.device, options: argparse.Namespace) -> Measured:
    task = load_benchmark("glue").task("MNLI")
    count = 4 * options.batch
    examples = [Example(at, texts, "neutral") for at, texts in enumerate(_pairs(count))]
    torch.manual_seed(0)
    size = 16 if options.small else row.model["hidden"]
    body = BiLstmBody(_vectors(row, small=options.small), size, attention=row.model["attention"])
    assert row.settings is not None

    settings = replace(row.settings, batch_size=options.batch, precision=options.precision, check_every=10**9)
    with tempfile.TemporaryDirectory() as folder:
        data = {"MNLI": TaskData(task, examples, {})}
        engine = Engine(place, precision=options.precision)
        trainer = Trainer(MultiTaskModel(body, [task]), data, settings, Path(folder), engine=engine)
        trainer._begin()
        seconds = _timed(trainer._update, options.updates, place)
        trainer._stream.close()
    memory = _peak(place)
    bare = _timed(_bare(row, body, examples[: options.batch], place), options.updates, place)
    return Measured(options.batch / seconds, seconds / bare, memory)


def _bare(row: Row, body: BiLstmBody, examples: Sequence[Example], place: torch.device) -> Callable[[], Any]:
    """Forward, backward and update of the LSTMs alone, as PyTorch has them, on packed random inputs."""
    encoder = body.encoder.lstm
    layers = nn.ModuleList([nn.LSTM(encoder.input_size, encoder.hidden_size, 2, bidirectional=True)])
    if body.modeling is not None:
        layers.append(nn.LSTM(4 * encoder.hidden_size, encoder.hidden_size, bidirectional=True))
    layers.to(place)
    widths = [lstm.input_size for lstm in layers.children() if isinstance(lstm, nn.LSTM)]
    update = updater(layers)
    lengths = [
        sorted((len(text.split()) for text in side), reverse=True)
        for side in zip(*(each.inputs.values() for each in examples), strict=True)
    ]
    frozen: Any = None
    if isinstance(body.vectors, ElmoVectors):
        own = body.vectors.elmo.options
        frozen = nn.LSTM(own.projection, own.dim, 2, proj_size=own.projection, bidirectional=True).to(place)
    elif isinstance(body.vectors, CoveVectors):
        frozen = body.vectors.cove.network

    def packed(width: int, own: list[int]) -> Any:
        return pack_padded_sequence(torch.randn(own[0], len(own), width, device=place), own)

    inputs = [[packed(width, own) for own in lengths] for width in widths]
    before = [packed(frozen.input_size, own) for own in lengths] if frozen is not None else []

    def step() -> None:
        with torch.no_grad():
            for each in before:
                frozen(each)
        update(
            sum(
                lstm(each)[0].data.sum() for lstm, sides in zip(layers, inputs, strict=True) for each in sides
            )
        )

    return step


def _frozen(row: Row, place: torch.device, options: argparse.Namespace) -> Measured:
    """Sentences encoded a second."""
    scale = 32 if options.small else 1
    made: list[Any] = [
        kind(width, hidden // scale, bidirectional=both, batch_first=True).to(place)
        for kind, width, hidden, both in FROZEN[row.name]
    ]
    lengths = [len(text.split()) for texts in _pairs(options.batch // 2) for text in texts.values()]
    inputs = {
        each.input_size: torch.randn(len(lengths), max(lengths), each.input_size, device=place)
        for each in made
    }
    with torch.no_grad():
        seconds = _timed(
            lambda: [run(each, inputs[each.input_size], torch.tensor(lengths)) for each in made],
            options.updates,
            place,
        )
        memory = _peak(place)
        bare = _timed(lambda: [each(inputs[each.input_size]) for each in made], options.updates, place)
    return Measured(len(lengths) / seconds, seconds / bare, memory)


def _vectors(row: Row, *, small: bool) -> TokenVectors:
    if row.model["words"] == "elmo":
        own = SMALL_ELMO if small else ELMO
        elmo = Elmo(
            own, {name: 0.02 * torch.randn(shape) for name, shape in own.shapes().items()}, carry=True
        )
        return ElmoVectors(elmo, elmo.dim, str.split, carry=True)
    words = Vocabulary([f"w{at}" for at in range(WORDS)])
    table = np.random.default_rng(0).standard_normal((len(words), 300), dtype=np.float32)
    vectors = TableVectors(words, table, str.split)
    if row.model["words"] == "glove":
        return vectors
    return CoveVectors(vectors, Cove(nn.LSTM(300, 300, 2, bidirectional=True, batch_first=True)))


def _pairs(count: int) -> list[dict[str, str]]:
    """Pairs of words drawn at random, of about MNLI's lengths."""
    rng = random.Random(0)

    def text(mean: float, deviation: float) -> str:
        length = min(40, max(3, round(rng.gauss(mean, deviation))))
        return " ".join(f"w{rng.randrange(WORDS)}" for _ in range(length))

    return [{"premise": text(20, 10), "hypothesis": text(11, 4)} for _ in range(count)]


def _timed(step: Callable[[], Any], times: int, place: torch.device) -> float:
    """Seconds of one, after as many for warming up; a GPU is waited for at the ends alone."""
    for _ in range(times):
        step()
    _wait(place)
    began = time.perf_counter()
    for _ in range(times):
        step()
    _wait(place)
    return (time.perf_counter() - began) / times


def _hours(row: Row, samples: float, options: argparse.Namespace) -> float:
    """Hours of all seeds of a row, or of encoding all sentences once, at this speed on pairs like MNLI's."""
    glue = load_benchmark("glue")
    if row.probe:
        texts = sum(split.size * len(task.columns) for task in glue.tasks for split in task.splits.values())
        return texts / samples / 3600
    names = [task.name for task in glue.scored if task.name not in row.owners] + list(row.auxiliary)
    sizes = {name: glue.dataset(name).splits["train"].size for name in names}
    tokens = (
        sum(size * TOKENS[name] for name, size in sizes.items()) / TOKENS["MNLI"]
    )  # of one pass, in pairs
    if row.training == "multi-task":
        tokens *= options.multi_updates * options.batch / sum(sizes.values())
    else:
        tokens *= options.passes
    return float(len(row.seeds) * tokens / samples / 3600)


def _wait(place: torch.device) -> None:
    if place.type == "cuda":
        torch.cuda.synchronize(place)


def _reset_peak(place: torch.device) -> None:
    if place.type == "cuda":
        torch.cuda.reset_peak_memory_stats(place)
    else:
        with suppress(OSError):  # Linux alone forgets a process's peak
            Path("/proc/self/clear_refs").write_text("5")


def _peak(place: torch.device) -> int:
    if place.type == "cuda":
        return torch.cuda.max_memory_allocated(place)
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
