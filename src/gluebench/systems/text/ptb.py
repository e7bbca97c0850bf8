"""Words in the manner of the Penn Treebank, with nothing to download: what `nltk.word_tokenize` gives.

Text is parted into sentences first, since only a sentence's last full stop is a token of its own; marks
inside a word ("U.S.", "3.5", "a.m.") stay. Straight quotes become `` and '', clitics ("'s", "n't") and a few
contractions ("can|not", "gon|na") are parted, letter case stays as it is.
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.atomic import replacing
from gluebench.data.home import data_folder
from gluebench.data.recipes.sentences import ENGLISH, Splitter

OTHERS = "adm apr aug blvd cpl etc feb fig ft ie jan mar mt nov oct pfc ph pvt sep sept tel"
"""Abbreviations of news and addresses beside the splitter's own."""
BEGINNINGS = """
A After All Also Although An And As At Both But By During Each For From He Her His However I If In It Its
Many Most No On One Our She Since So Some That The Their Then There These They This Those Though To Two We
What When While With You
"""
"""Words that begin a sentence, rather than belong to a name, where an abbreviation stands before them."""

_SPLITTER = Splitter((), abbreviations=ENGLISH | frozenset(OTHERS.split()))
_SPLITTER.openings = set(BEGINNINGS.split())


def sentences(text: str) -> list[str]:
    """The sentences of a text, white space around them left out."""
    return [text[span.start : span.end] for span in _SPLITTER.spans(text)]


Tokenize = Callable[[str], list[str]]

_OPENERS = " ([{<"
_LAST_STOP = re.compile(r"(?<=[^.])\.(?=(?:[\])}>»”’\s]|'(?!')|(?<!\s)(?:\"|''))*\Z)")
_CLITIC = r"(?:re|ve|ll|m|t|s|d|n)\b"
_MARKS = re.compile(
    r"(?P<straight>\"|'')"
    r"|\.{2,}|--|`+"
    r"|[,:](?!\d)"
    r"|[;@#$%&?!*\[\](){}<>«»“”‘’„\u2012-\u2015]"
    rf"|(?<!\w)'(?=\w)(?!(?i:{_CLITIC}))"
)
_ENDINGS = (
    re.compile(r"(?<=[^'])(?:'[sSmMdD]?)\Z"),
    re.compile(r"(?<=[^'])(?:'(?:ll|LL|re|RE|ve|VE)|n't|N'T)\Z"),
)
_JOINED = re.compile(
    r"(?i)\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n))\b|\b(wan)(na)\Z"
)


def tokenize(text: str) -> list[str]:
    """The words and marks of a text of any number of sentences."""
    return [token for sentence in sentences(text) for token in words(sentence)]


def words(sentence: str) -> list[str]:
    """The words and marks of one sentence."""
    stop = _LAST_STOP.search(sentence)
    if stop is None:
        return _spaced(sentence)
    return [*_spaced(sentence[: stop.start()]), ".", *_spaced(sentence[stop.end() :], before=".")]


def tokenizer(name: str | Tokenize) -> Tokenize:
    """The tokenizer of that name: "ptb" (ours), "nltk" (with its data), "space"; or the function itself.

    Raises UnknownNameError.
    """
    if not isinstance(name, str):
        return name
    if name == "ptb":
        return tokenize
    if name == "space":
        return str.split
    if name == "nltk":
        # in no extra: only for exact agreement, and its punkt_tab data must be downloaded
        nltk_tokenize: Tokenize = import_module("nltk.tokenize").word_tokenize
        return nltk_tokenize
    raise UnknownNameError(name, ["ptb", "nltk", "space"], what="tokenizer")


def _spaced(text: str, *, before: str = "") -> list[str]:
    """Tokens of a stretch of text that has a character, or nothing, before it."""
    tokens: list[str] = []
    for chunk in text.split():
        tokens += _chunk(chunk, before)
        before = " "
    return tokens


@lru_cache(maxsize=100_000)
def _chunk(chunk: str, before: str) -> tuple[str, ...]:
    """Tokens of what stands between two spaces."""
    return (chunk,) if chunk.isalpha() and len(chunk) < 4 else tuple(_parts(chunk, before))


def _parts(chunk: str, before: str) -> Iterator[str]:
    start = 0
    for mark in _MARKS.finditer(chunk):
        yield from _word(chunk[start : mark.start()])
        previous = chunk[mark.start() - 1] if mark.start() else before
        yield _quote(mark[0], previous) if mark["straight"] else mark[0]
        start = mark.end()
    yield from _word(chunk[start:])


def _quote(mark: str, previous: str) -> str:
    """A straight quotation mark opens after a space or an opening bracket, and " where a sentence begins."""
    opens = previous in _OPENERS if previous else mark == '"'
    return "``" if opens else "''"


def _word(word: str) -> Iterator[str]:
    """A word without marks around it, its clitics apart."""
    tail: list[str] = []
    for ending in _ENDINGS:
        match = ending.search(word)
        if match:
            tail.insert(0, match[0])
            word = word[: match.start()]
    for part in [word, *tail]:
        yield from _JOINED.sub(_parted, part).split()


def _parted(match: re.Match[str]) -> str:
    return " ".join(["", *(part for part in match.groups() if part), ""])


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
            ids = file["ids"]
            ends = file["ends"]
            words = file["words"].tobytes().decode(errors="surrogatepass").split("\n")
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):  # not there yet, or damaged
        numbers: dict[str, int] = {}
        rows = [
            [numbers.setdefault(token, len(numbers)) for token in split(text)[:longest]] for text in places
        ]
        ids = np.array([number for row in rows for number in row], dtype=np.int32)
        ends = np.cumsum([0, *map(len, rows)])
        words = list(numbers)
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
    code = Path(__file__).read_bytes()
    version = import_module("nltk").__version__ if name == "nltk" else ""
    digest = hashlib.sha256(f"{name} {longest} {version} ".encode() + code)
    for text in texts:
        encoded = text.encode(errors="surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()[:32]
