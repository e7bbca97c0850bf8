"""The words a model knows, and their numbers."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

PAD = 0
"""Id of the padding after the end of a sentence."""
UNKNOWN = 1
"""Id of every word that is not in the vocabulary."""
FIRST = 2
"""Id of the first word."""
MOST = 30_000
"""Words of the paper's vocabulary."""


class Vocabulary:
    """Words in the order of their ids, from 2 on; letter case counts."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._ids = {word: at for at, word in enumerate(self.words, FIRST)}
        if len(self._ids) != len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"the vocabulary has {twice!r} more than once")

    def __len__(self) -> int:
        """Number of ids, those of padding and unknown words with them."""
        return FIRST + len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token."""
        return [self._ids.get(token, UNKNOWN) for token in tokens]

    def key(self) -> str:
        """A hash of the words in their order."""
        return hashlib.sha256("\n".join(self.words).encode(errors="surrogatepass")).hexdigest()


def most_frequent(sentences: Iterable[Iterable[str]], *, most: int | None = MOST) -> Vocabulary:
    """The vocabulary of the most frequent tokens (of all, with None); of those that tie, by code points."""
    counts: Counter[str] = Counter()
    for tokens in sentences:
        counts.update(tokens)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return Vocabulary(ranked[:most])
