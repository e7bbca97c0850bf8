"""The tokens of a corpus, kept on disk: texts are split once for all seeds and rows."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from gluebench.benchmark.atomic import replacing
from gluebench.data.home import data_folder
from gluebench.systems.text import ptb
from gluebench.systems.text.ptb import Tokenize, tokenizer


def kept_tokenizer(texts: Iterable[str], name: str, longest: int, *, cache: Path | None = None) -> Tokenize:
    """The tokenizer of that name, cut to `longest` tokens, which looks up these texts.

    Their tokens are read from the folder `cache` (tokens/ below the data folder), or split and left there,
    under a key of texts, tokenizer and length. Several processes may do so at once. Raises UnknownNameError.
    """
    import numpy as np

    split = tokenizer(name)
    places = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    path = (cache or data_folder() / "tokens") / f"{_key(places, name, longest)}.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            ids, ends = file["ids"], file["ends"]
            words = file["words"].tobytes().decode(errors="surrogatepass").split("\n")
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):  # not there yet, or damaged
        numbers: dict[str, int] = {}
        rows = [
            [numbers.setdefault(token, len(numbers)) for token in split(text)[:longest]] for text in places
        ]
        ids = np.array([number for row in rows for number in row], dtype=np.int32)
        ends, words = np.cumsum([0, *map(len, rows)]), list(numbers)
        path.parent.mkdir(parents=True, exist_ok=True)
        joined = np.frombuffer("\n".join(words).encode(errors="surrogatepass"), dtype=np.uint8)
        with replacing(path) as out:
            np.savez(out, ids=ids, ends=ends, words=joined)

    def tokens(text: str) -> list[str]:
        at = places.get(text)
        if at is None:
            return split(text)[:longest]
        return [words[number] for number in ids[ends[at] : ends[at + 1]].tolist()]

    return tokens


def _key(texts: Iterable[str], name: str, longest: int) -> str:
    """A digest of the texts, and of what splits them."""
    code = Path(ptb.__file__).read_bytes()
    version = import_module("nltk").__version__ if name == "nltk" else ""
    digest = hashlib.sha256(f"{name} {longest} {version} ".encode() + code)
    for text in texts:
        encoded = text.encode(errors="surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()[:32]
