"""The audit's classifier of one text against the fastText program, on 550,000 sentences: CPU and accuracy.

    python bench/audit.py [--rounds N]

Both learn words and word pairs for 5 epochs on one thread; fastText with 100 dimensions and its own rate,
0.1. fastText's file has its words cut already; ours cuts them itself, and that is counted. It needs
`pip install fasttext-wheel`; without it, only ours is shown. CPU times are taken in turn in the same run.
With $GLUEBENCH_REAL, the accuracies on its samples of SNLI and MNLI follow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from material import interleaved, ratio

from gluebench.analysis.audit.pairs import text_alone
from gluebench.analysis.audit.run import EPOCHS
from gluebench.data import Example
from gluebench.data.tokens import tokens

SENTENCES, HELD_OUT, CLASSES = 550_000, 10_000, 3
WORDS = 20_000
FIRST, SECOND = 40, 39
RATES = (0.1, 0.5, 1.0)
"""fastText's own rate and two more; on the real samples its best counts."""
REAL = Path(os.environ.get("GLUEBENCH_REAL", ""))
SAMPLES = {"SNLI": "corpora/snli", "MNLI": "glue/MNLI"}


class Labeled(NamedTuple):
    texts: list[str]
    codes: list[int]


def material(count: int, *, seed: int) -> Labeled:
    """Sentences of about eight words as unequal as English ones. One word in seven leans to the class; three
    sentences in ten begin with two words which only together tell it."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CLASSES, count)
    lengths = rng.poisson(5.5, count) + 2
    shares = np.cumsum(np.arange(1, WORDS + 1) ** -1.1)
    words = np.searchsorted(shares / shares[-1], rng.random(lengths.sum()))
    leans = rng.random(len(words)) < 0.15
    words = np.where(leans, words // CLASSES * CLASSES + np.repeat(codes, lengths), words)
    told = rng.random(count) < 0.3
    one = rng.integers(0, FIRST, count)
    other = rng.integers(0, SECOND // CLASSES, count) * CLASSES
    other += (codes - one - other) % CLASSES
    starts = (np.cumsum(lengths) - lengths)[told]
    words[starts], words[starts + 1] = WORDS + one[told], WORDS + FIRST + other[told]
    names = [f"w{word}" for word in range(WORDS + FIRST + SECOND + CLASSES)]
    spoken = [names[word] for word in words.tolist()]
    ends = np.cumsum(lengths).tolist()
    texts = [" ".join(spoken[end - length : end]) for end, length in zip(ends, lengths.tolist(), strict=True)]
    return Labeled(texts, codes.tolist())


def ours(train: Labeled) -> Any:
    return text_alone(epochs=EPOCHS, seed=0).fit(examples(train.texts), train.codes)


def examples(texts: Sequence[str]) -> list[Example]:
    return [Example(number, {"text": text}, None) for number, text in enumerate(texts)]


def write(path: Path, train: Labeled) -> None:
    lines = (
        f"__label__{code} {' '.join(tokens(text))}\n"
        for text, code in zip(train.texts, train.codes, strict=True)
    )
    path.write_text("".join(lines))


def fasttext(path: Path, *, rate: float = RATES[0]) -> Any:
    import fasttext

    return fasttext.train_supervised(
        str(path), lr=rate, epoch=EPOCHS, dim=100, wordNgrams=2, thread=1, verbose=0
    )


def answers(model: Any, texts: Sequence[str]) -> list[int]:
    found = model.predict([" ".join(tokens(text)) for text in texts])[0]
    return [int(each[0].removeprefix("__label__")) for each in found]


def accuracy(found: Sequence[int], test: Labeled) -> float:
    return statistics.fmean(one == other for one, other in zip(found, test.codes, strict=True))


def compare(rounds: int, folder: Path) -> None:
    whole = material(SENTENCES + HELD_OUT, seed=0)
    train = Labeled(whole.texts[:SENTENCES], whole.codes[:SENTENCES])
    test = Labeled(whole.texts[SENTENCES:], whole.codes[SENTENCES:])
    work: dict[str, Callable[[], object]] = {"ours": lambda: ours(train)}
    there = find_spec("fasttext") is not None
    if there:
        write(folder / "train.txt", train)
        work["fastText"] = lambda: fasttext(folder / "train.txt")
    seconds = interleaved(work, rounds)
    print(f"{SENTENCES:,} sentences, {EPOCHS} epochs")
    for name, each in seconds.items():
        print(f"{name:16} {statistics.median(each):8.2f} s CPU")
    models = [ours(train) for _ in range(2)]
    asked = examples(test.texts)
    bits = {hashlib.sha256(model.predict_proba(asked).tobytes()).hexdigest() for model in models}
    reached = models[0].score(asked, test.codes)
    print()
    _line("accuracy", f"{reached:.4f}", "")
    _line("different results of two runs", f"{len(bits) - 1}", "0")
    if there:
        peer = accuracy(answers(fasttext(folder / "train.txt"), test.texts), test)
        _line("times the CPU of fastText", f"{ratio(seconds, 'ours', 'fastText'):.2f}", "<= 1")
        _line("accuracy, and fastText's", f"{reached:.4f}, {peer:.4f}", "no less")
    else:
        print("fastText is not installed: pip install fasttext-wheel")


def real(folder: Path) -> None:
    """Trained on each sample and tested on its held-out thousand."""
    for name, place in SAMPLES.items():
        train, test = (
            _hypotheses(REAL / place / f"glue_pretrain.{split}.json") for split in ("train", "dev")
        )
        write(folder / "real.txt", train)
        reached = ours(train).score(examples(test.texts), test.codes)
        peers = [
            accuracy(answers(fasttext(folder / "real.txt", rate=rate), test.texts), test) for rate in RATES
        ]
        shown = ", ".join(f"{peer:.3f}" for peer in peers)
        _line(f"{name} sample: accuracy, and fastText's at {RATES}", f"{reached:.3f}, {shown}", "no less")


def _hypotheses(path: Path) -> Labeled:
    rows = json.loads(path.read_text()).values()
    codes = {"entailment": 0, "neutral": 1, "contradiction": 2}
    return Labeled([row["text_b"] for row in rows], [codes[row["label"]] for row in rows])


def _line(what: str, value: str, goal: str) -> None:
    print(f"{what:62} {value:>28}   goal {goal}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        compare(rounds, Path(name))
        if find_spec("fasttext") and all((REAL / place).is_dir() for place in SAMPLES.values()):
            real(Path(name))


if __name__ == "__main__":
    main()
