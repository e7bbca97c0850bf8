"""The encoders of published weights by name, and the options of each (docs/reference/weights.md)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.data.recipes import Option, OptionError
from gluebench.systems.encoders.entry import EncoderEntry
from gluebench.systems.text.ptb import tokeniser

if TYPE_CHECKING:
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.protocols import SentenceEncoder

_TOKENISER = Option("tokeniser", str, "ptb", "ptb, nltk or space.")
_PADDING = Option("padding", str, "mask", "mask, or zero: padding counts, as in the paper's rows.")
_BATCH = Option("batch", int, 64, "Sentences at a time; with zero padding a vector depends on it.")


def _one_of(options: Mapping[str, Any], name: str, *allowed: object) -> Any:
    if options[name] not in allowed:
        listing = " or ".join(map(str, allowed))
        raise OptionError(f"{name} is {options[name]!r}; expected {listing}")
    return options[name]


def _given(options: Mapping[str, Any], name: str) -> Path:
    path: Path | None = options[name]
    if path is None:
        raise OptionError(
            f"{name} is not given; expected a path (docs/reference/weights.md says of which files)"
        )
    return path


def _infersent(options: Mapping[str, Any], corpus: Corpus, *, name: str) -> SentenceEncoder:
    from gluebench.systems.encoders.infersent import InferSentEncoder

    return InferSentEncoder(
        _given(options, "weights"),
        _given(options, "vectors"),
        tokeniser(options["tokeniser"]),
        version=_one_of(options, "version", 1, 2),
        padding=_one_of(options, "padding", "mask", "zero"),
        batch=options["batch"],
        name=name,
    )


def _skip_thought(options: Mapping[str, Any], corpus: Corpus) -> SentenceEncoder:
    from gluebench.systems.encoders.skip_thought import SkipThoughtEncoder

    return SkipThoughtEncoder(
        _given(options, "weights"),
        tokeniser(options["tokeniser"]),
        kind=_one_of(options, "kind", "combine", "uni", "bi"),
        eos=_one_of(options, "eos", "yes", "no") == "yes",
        batch=options["batch"],
    )


def _gensen(options: Mapping[str, Any], corpus: Corpus) -> SentenceEncoder:
    from gluebench.systems.encoders.gensen import GenSenEncoder

    folder = _given(options, "weights")
    names = [name for name in options["models"].split(",") if name]
    return GenSenEncoder(
        [(folder / f"{name}.model", folder / f"{name}_vocab.pkl") for name in names],
        tokeniser(options["tokeniser"]),
        vectors=options["vectors"],
        pooling=_one_of(options, "pooling", "last", "max"),
        padding=_one_of(options, "padding", "mask", "zero"),
        batch=options["batch"],
    )


_VECTORS = Option(
    "vectors", Path, None, "Word vectors as text: GloVe 840B, or fastText's for version 2; needed."
)
_INFERSENT = (
    Option("weights", Path, None, "The file of the model; needed."),
    _VECTORS,
    Option("version", int, 1, "1 (GloVe) or 2 (fastText)."),
    _TOKENISER,
    _PADDING,
    _BATCH,
)
ENTRIES: Mapping[str, EncoderEntry] = {
    entry.name: entry
    for entry in (
        EncoderEntry(
            "infersent",
            "InferSent: BiLSTM with max pooling, trained on NLI",
            partial(_infersent, name="infersent"),
            _INFERSENT,
            needs_files=True,
        ),
        EncoderEntry(
            "dissent",
            "DisSent: BiLSTM with max pooling, trained on discourse markers",
            partial(_infersent, name="dissent"),
            _INFERSENT,
            needs_files=True,
        ),
        EncoderEntry(
            "skip-thought",
            "Skip-Thought: GRUs trained to generate the neighbouring sentences",
            _skip_thought,
            (
                Option("weights", Path, None, "The folder of the published files; needed."),
                Option("kind", str, "combine", "combine, uni or bi."),
                Option("eos", str, "yes", "Whether a sentence ends in <eos>: yes or no."),
                _TOKENISER,
                _BATCH,
            ),
            needs_files=True,
        ),
        EncoderEntry(
            "gensen",
            "GenSen: GRUs trained on many tasks, two models side by side",
            _gensen,
            (
                Option("weights", Path, None, "The folder of the models; needed."),
                Option("models", str, "nli_large_bothskip_parse,nli_large_bothskip", "Parted by commas."),
                Option("vectors", Path, None, "GloVe as text, to add words that the models do not know."),
                Option("pooling", str, "last", "last or max."),
                _TOKENISER,
                _PADDING,
                _BATCH,
            ),
            needs_files=True,
        ),
    )
}
"""Name to what is known of the encoder."""
