"""QNLI's similarity step on input of the size of SQuAD's train set, against a full loop and a physical limit.

    python bench/qnli.py [--rounds N]

87,599 questions on 18,900 paragraphs of five sentences: 437,995 pairs, 3.3 million tokens, vectors of 300
numbers. Ratios are of CPU times taken in turn in the same run; the loop is run in full, not scaled up.
"""

from __future__ import annotations

import argparse
import os
import statistics
from array import array
from itertools import islice, product
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from material import interleaved, ratio
from numpy.typing import NDArray

from gluebench.data.recipes.qa_pairs import Rows, cosines, lookup, words
from gluebench.data.vectors import Vectors

QUESTIONS, PARAGRAPHS, SENTENCES = 87_599, 18_900, 5
WORDS, WIDTH = 100_000, 300
QUESTION_LENGTH, SENTENCE_LENGTH, TOPIC = 11, 25, 20
BLOCK = 4096


class Material(NamedTuple):
    groups: list[tuple[list[Rows], list[Rows]]]
    """Of each paragraph the questions and the sentences."""
    matrix: NDArray[np.float32]

    @property
    def texts(self) -> list[Rows]:
        """All texts in order."""
        return [text for group in self.groups for part in group for text in part]


def material(seed: int = 0) -> Material:
    """As in SQuAD: ten words are a quarter of all tokens, and half of a paragraph's tokens repeat others."""
    rng = np.random.default_rng(seed)
    asked = np.bincount(rng.integers(0, PARAGRAPHS, QUESTIONS), minlength=PARAGRAPHS)
    sizes = np.column_stack([asked, np.full(PARAGRAPHS, SENTENCES)]).ravel()
    is_sentence = np.repeat(np.tile([False, True], PARAGRAPHS), sizes)
    lengths = rng.poisson(np.where(is_sentence, SENTENCE_LENGTH, QUESTION_LENGTH) - 1) + 1
    paragraphs = np.repeat(np.repeat(np.arange(PARAGRAPHS), asked + SENTENCES), lengths)
    parts = np.split(_rows(rng, paragraphs).astype(np.intc), np.cumsum(lengths)[:-1])
    texts = (array("i", part.tobytes()) for part in parts)
    groups = [(list(islice(texts, count)), list(islice(texts, SENTENCES))) for count in asked.tolist()]
    return Material(groups, rng.standard_normal((WORDS, WIDTH), dtype=np.float32))


def _rows(rng: np.random.Generator, paragraphs: NDArray[np.int64]) -> NDArray[np.int64]:
    """A word for each token: a third are of the paragraph's own topic, the others of the whole vocabulary."""
    shares = np.cumsum(np.arange(1, WORDS + 1) ** -1.15)
    drawn = np.searchsorted(shares / shares[-1], rng.random(len(paragraphs)))
    topics = rng.integers(100, WORDS, (PARAGRAPHS, TOPIC))
    own = topics[paragraphs, rng.integers(0, TOPIC, len(paragraphs))]
    return np.where(rng.random(len(paragraphs)) < 1 / 3, own, drawn)


def ours(found: Material) -> list[NDArray[np.float32]]:
    return list(cosines(found.groups, found.matrix))


def loop(found: Material) -> list[float]:
    """Bag and cosine of each pair by itself, as one would write it down."""
    similar = []
    for questions, sentences in found.groups:
        for question, sentence in product(questions, sentences):
            one = found.matrix[question].mean(axis=0)
            other = found.matrix[sentence].mean(axis=0)
            similar.append(float(one @ other / np.sqrt((one @ one) * (other @ other))))
    return similar


def take(found: Material) -> None:
    """The limit: read the vector of each token once, into one small block that is written over."""
    block = np.empty((BLOCK, WIDTH), dtype=np.float32)
    rows = np.concatenate(found.texts)
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        found.matrix.take(some, axis=0, out=block[: len(some)], mode="clip")


def spoken(texts: list[Rows]) -> list[str]:
    """Texts of as many words, for the tokenizer."""
    return [" ".join(f"w{row}" for row in text) + "." for text in texts]


def tokenize(texts: list[str]) -> list[list[str]]:
    return [words(text) for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    found = material()
    texts = spoken(found.texts)
    tokenized = tokenize(texts)
    vectors = Vectors({f"w{row}": row for row in range(WORDS)}, found.matrix)
    pairs = np.concatenate([each.ravel() for each in ours(found)])
    seconds = interleaved(
        {
            "ours": lambda: ours(found),
            "loop, in full": lambda: loop(found),
            "take of each token's vector": lambda: take(found),
            "tokenizing": lambda: tokenize(texts),
            "looking the words up": lambda: list(lookup(tokenized, vectors)),
        },
        rounds,
    )
    count = sum(map(len, tokenized))
    print(f"{QUESTIONS:,} questions, {len(pairs):,} pairs, {count:,} tokens, vectors of {WIDTH}")
    print(f"largest difference from the loop: {np.abs(pairs - np.array(loop(found))).max():.1e}")
    for name, each in seconds.items():
        print(f"{name:28} {statistics.median(each):8.2f} s CPU")
    print()
    _line("less CPU than the loop in full", 1 / ratio(seconds, "ours", "loop, in full"), ">= 20 (35)")
    _line(
        "times reading each vector once", ratio(seconds, "ours", "take of each token's vector"), "<= 3.5 (2)"
    )


def _line(what: str, value: float, goal: str) -> None:
    print(f"{what:58} {value:6.2f}   goal {goal}")


if __name__ == "__main__":
    main()
