"""Marks of rows: four bytes from which no text can be had, enough to tell where two copies of a split differ.

A fingerprint says that a split is not the published one; the marks of the published rows say which rows are
not, and what kind of difference it is. Each row has 16 bits of a hash of its texts, 8 bits of a hash of their
letters and digits alone, and a byte for its label.

The marks that come with the package are made from prepared data whose fingerprints are the manifest's:

python -m gluebench.data.verify.marks DATA [BENCHMARK] > src/gluebench/data/verify/glue.marks
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.data.fingerprint import fingerprint_of
from gluebench.data.table import load
from gluebench.data.tsv import Example

HIDDEN = 255
"""Label byte of a row without a label."""
_SCORES = 200
"""Number of label bytes that scores are hashed to."""
_FORMAT = "gluebench.marks/1"


class Marks(NamedTuple):
    """The marks of a split's rows, in file order."""

    texts: array[int]
    """16 bits each, of the input columns exactly as they are."""
    letters: bytes
    """8 bits each, of their letters and digits without regard to case."""
    labels: bytes
    """The code of the label word, a hash of a score, or HIDDEN."""

    def __len__(self) -> int:
        return len(self.letters)


def marks(task: Task, examples: Iterable[Example]) -> Marks:
    """The marks of examples, in their order."""
    texts, letters, labels = array("H"), bytearray(), bytearray()
    codes = {word: code for code, word in enumerate(task.words)}
    for example in examples:
        values = tuple(example.inputs.values())
        texts.append(text_mark(values))
        letters.append(letters_mark(values))
        if isinstance(example.label, str):
            labels.append(codes[example.label])
        elif example.label is None:
            labels.append(HIDDEN)
        else:
            score = _digest(repr(float(example.label)), 2)
            labels.append(int.from_bytes(score, "little") % _SCORES)
    return Marks(texts, bytes(letters), bytes(labels))


def text_mark(values: Sequence[str]) -> int:
    """16 bits of a hash of a row's texts."""
    return int.from_bytes(_digest("\x00".join(values), 2), "little")


def letters_mark(values: Sequence[str]) -> int:
    """8 bits of a hash of the letters and digits of a row's texts."""
    kept = "\x00".join("".join(filter(str.isalnum, value.casefold())) for value in values)
    return _digest(kept, 1)[0]


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def published(benchmark: Benchmark) -> dict[tuple[str, str], Marks]:
    """Task and split name to the marks of its published rows; empty for a benchmark that comes without."""
    resource = files(__package__).joinpath(f"{benchmark.name}.marks")
    return dict(unpacked(resource.read_bytes())) if resource.is_file() else {}


def packed(splits: Mapping[tuple[str, str], Marks]) -> bytes:
    """Marks as a file: a line of JSON that lists the splits, then each split's texts, letters and labels."""
    listing = [[task, split, len(split_marks)] for (task, split), split_marks in splits.items()]
    parts = [json.dumps({"format": _FORMAT, "splits": listing}).encode() + b"\n"]
    for split_marks in splits.values():
        parts += [_little(split_marks.texts).tobytes(), split_marks.letters, split_marks.labels]
    return b"".join(parts)


def unpacked(data: bytes) -> Iterator[tuple[tuple[str, str], Marks]]:
    """The splits of a file of marks. Raises ValueError for another format or a file cut short."""
    head, _, body = data.partition(b"\n")
    values = json.loads(head)
    if values["format"] != _FORMAT or len(body) != 4 * sum(rows for _, _, rows in values["splits"]):
        raise ValueError(f"not a whole file of {_FORMAT}")
    start = 0
    for task, split, rows in values["splits"]:
        texts = _little(array("H", body[start : start + 2 * rows]))
        letters = body[start + 2 * rows : start + 3 * rows]
        yield (task, split), Marks(texts, letters, body[start + 3 * rows : start + 4 * rows])
        start += 4 * rows


def _little(values: array[int]) -> array[int]:
    """The values as a little-endian machine keeps them, or back again."""
    if sys.byteorder == "little":
        return values
    swapped = array("H", values)
    swapped.byteswap()
    return swapped


def published_marks(data: Path, name: str) -> dict[tuple[str, str], Marks]:
    """The marks of every split whose fingerprint the manifest has. Raises ValueError for other data."""
    benchmark = load_benchmark(name)
    splits = {}
    for task in benchmark.tasks:
        for split in (split for split in task.splits.values() if split.fingerprint):
            table = load(task.name, split.name, data, benchmark=benchmark)
            if fingerprint_of(task.columns, table.to_arrow().to_batches()).whole != split.fingerprint:
                raise ValueError(f"{task.name}, {split.name}: not the published rows")
            splits[task.name, split.name] = marks(task, table)
    return splits


if __name__ == "__main__":
    sys.stdout.buffer.write(packed(published_marks(Path(sys.argv[1]), (sys.argv[2:] or ["glue"])[0])))
