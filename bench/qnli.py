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
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from material import interleaved, ratio
from numpy.typing import NDArray

from gluebench.data.recipes.similarity import Bags, Group, bags, cosines
from gluebench.data.recipes.words import words
from gluebench.data.vectors import Vectors

QUESTIONS, PARAGRAPHS, SENTENCES = 87_599, 18_900, 5
WORDS, WIDTH = 100_000, 300
QUESTION_LENGTH, SENTENCE_LENGTH = 11, 25
BLOCK = 4096


class Material(NamedTuple):
    questions: Bags
    sentences: Bags
    matrix: NDArray[np.float32]
    asked: NDArray[np.int64]
    """How many questions each paragraph has."""


def material(seed: int = 0) -> Material:
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, WORDS + 1)
    matrix = rng.standard_normal((WORDS, WIDTH), dtype=np.float32)
    asked = np.bincount(rng.integers(0, PARAGRAPHS, QUESTIONS), minlength=PARAGRAPHS)
    return Material(
        _bags(rng, shares, rng.poisson(QUESTION_LENGTH - 1, QUESTIONS) + 1),
        _bags(rng, shares, rng.poisson(SENTENCE_LENGTH - 1, PARAGRAPHS * SENTENCES) + 1),
        matrix,
        asked,
    )


def _bags(rng: np.random.Generator, shares: NDArray[np.float64], lengths: NDArray[np.int64]) -> Bags:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.searchsorted(np.cumsum(shares / shares.sum()), rng.random(starts[-1]))
    return Bags(array("i", rows.tolist()), array("i", starts.tolist()))


def groups(asked: NDArray[np.int64]) -> list[Group]:
    ends = np.cumsum(asked)
    return [
        Group(slice(int(end - count), int(end)), slice(at * SENTENCES, (at + 1) * SENTENCES))
        for at, (end, count) in enumerate(zip(ends, asked, strict=True))
    ]


def ours(found: Material) -> list[NDArray[np.float32]]:
    return list(cosines(found.questions, found.sentences, groups(found.asked), found.matrix))


def loop(found: Material) -> list[float]:
    """Bag and cosine of each pair by itself, as one would write it down."""
    matrix, similar = found.matrix, []
    question_rows, sentence_rows = np.asarray(found.questions.rows), np.asarray(found.sentences.rows)
    for questions, sentences in groups(found.asked):
        for question in range(questions.start, questions.stop):
            for sentence in range(sentences.start, sentences.stop):
                starts = found.questions.starts
                one = matrix[question_rows[starts[question] : starts[question + 1]]].mean(axis=0)
                starts = found.sentences.starts
                other = matrix[sentence_rows[starts[sentence] : starts[sentence + 1]]].mean(axis=0)
                similar.append(float(one @ other / np.sqrt((one @ one) * (other @ other))))
    return similar


def take(found: Material) -> None:
    """The limit: read the vector of each token once, into one small block that is written over."""
    block = np.empty((BLOCK, WIDTH), dtype=np.float32)
    for part in (found.questions, found.sentences):
        rows = np.asarray(part.rows)
        for start in range(0, len(rows), BLOCK):
            some = rows[start : start + BLOCK]
            found.matrix.take(some, axis=0, out=block[: len(some)], mode="clip")


def spoken(found: Bags) -> list[str]:
    """Texts of as many words, for the tokeniser."""
    return [
        " ".join(f"w{row}" for row in found.rows[start:end]) + "."
        for start, end in zip(found.starts, found.starts[1:], strict=False)
    ]


def tokenise(texts: list[str]) -> list[list[str]]:
    return [words(text) for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    found = material()
    texts = spoken(found.questions) + spoken(found.sentences)
    tokenised = tokenise(texts)
    vectors = Vectors({f"w{row}": row for row in range(WORDS)}, found.matrix)
    pairs = np.concatenate([each.ravel() for each in ours(found)])
    seconds = interleaved(
        {
            "ours": lambda: ours(found),
            "loop, in full": lambda: loop(found),
            "take of each token's vector": lambda: take(found),
            "tokenising": lambda: tokenise(texts),
            "looking the words up": lambda: bags(tokenised, vectors),
        },
        rounds,
    )
    count = sum(map(len, tokenised))
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
