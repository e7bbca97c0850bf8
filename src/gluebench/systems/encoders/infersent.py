"""InferSent, and DisSent which has its form: a wide two-way LSTM over word vectors, maximum over time."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from gluebench.systems.encoders.batches import BatchedEncoder, WordVectorFile
from gluebench.systems.text.ptb import Tokenize
from gluebench.systems.text.ptb import tokenizer as tokenizer_called
from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.pickles import read_module
from gluebench.systems.weights.recurrent import Padding, largest, read_network, run
from gluebench.systems.weights.state import MoreThanTensorsError, read_state

MARKS = {1: ("<s>", "</s>"), 2: ("<p>", "</p>")}
"""What begins and ends a sentence, by version of the model."""


def read_infersent(path: Path) -> nn.LSTM:
    """The network of `infersent1.pkl`, `infersent2.pkl`, or a module saved whole.

    Whole modules are `infersent.allnli.pickle`, and DisSent's `dis-model.pickle.encoder` or
    `dis-model.pickle`, of which the classifier is left out. Raises WeightsError.
    """
    try:
        state = read_state(path)
    except MoreThanTensorsError:
        module = read_module(path)
        tied = module.settings.get("tied_weights")
        pool = module.settings.get("pool_type", "max")
        if tied or pool != "max":
            raise WeightsError(
                f"{path}: a {module.name} with tied_weights {tied}, pool_type {pool}; expected False and max"
            ) from None
        inside = {name: tensor for name, tensor in module.tensors.items() if name.startswith("encoder.")}
        state = {name.removeprefix("encoder."): tensor for name, tensor in (inside or module.tensors).items()}
    return read_network(
        path, "InferSent or DisSent", state, nn.LSTM, inputs=300, hidden=2048, prefix="enc_lstm."
    )


@dataclass(eq=False)
class InferSentEncoder(BatchedEncoder):
    """A model's file, a file of word vectors (GloVe for version 1 and DisSent, fastText for 2), a tokenizer.

    Words without a vector are left out; a sentence that has none left is its end mark, or zeros where that
    has no vector either. InferSent 1 and DisSent were published with "zero" padding: the zeros after a short
    sentence's end count in its maximum, so that its vector depends on its batch of `batch` sentences. The
    default, as in InferSent 2, does not.
    """

    weights: Path
    vectors: Path
    tokenizer: str | Tokenize = "ptb"
    _: KW_ONLY
    version: Literal[1, 2] = 1
    padding: Padding = "mask"
    name: str = "infersent"

    def __post_init__(self) -> None:
        self.network = read_infersent(self.weights).to(self.device)
        self.dim = 2 * self.network.hidden_size
        self._vectors = WordVectorFile(self.vectors)
        self._tokenize = tokenizer_called(self.tokenizer)

    def prepare(self, sentences: Sequence[str]) -> None:
        """Read the vectors of all words of these sentences, so that later calls need not read the file."""
        self._tokens(sentences)

    def _tokens(self, sentences: Sequence[str]) -> list[list[str]]:
        """The words that have a vector; the end mark for a sentence without any."""
        begin, end = MARKS[self.version]
        marked = []
        for sentence in sentences:
            words = list(self._tokenize(sentence))
            if self.version == 2:  # fastText's words: "don 't", not "do n't"
                words = " ".join(words).replace(" n't ", "n 't ").split()
            marked.append([begin, *words, end])
        by_word = self._vectors.of(chain.from_iterable(marked))
        width = self._vectors.width
        if width not in (None, self.network.input_size):
            raise WeightsError(
                f"{self._vectors.path}: vectors of {width} numbers; the model takes {self.network.input_size}"
            )
        known = []
        for words in marked:
            with_vectors = [word for word in words if word in by_word]
            known.append(with_vectors or words[-1:])
        return known

    def _encode_batch(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        by_word = self._vectors.of(chain.from_iterable(sentences))
        lengths = torch.tensor([len(words) for words in sentences])
        values = np.zeros((len(sentences), int(lengths.max()), self.network.input_size), dtype=np.float32)
        for row, words in enumerate(sentences):
            for at, word in enumerate(words):
                values[row, at] = by_word.get(word, 0.0)
        outputs, _ = run(self.network, torch.from_numpy(values).to(self.device), lengths)
        return largest(outputs, lengths, self.padding)
