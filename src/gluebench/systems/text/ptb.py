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
    tokens: list[str] = []
    for sentence in sentences(text):
        tokens += words(sentence)
    return tokens


def words(sentence: str) -> list[str]:
    """The words and marks of one sentence."""
    stop = _LAST_STOP.search(sentence)
    if stop is None:
        return _split_stretch(sentence)
    tokens = _split_stretch(sentence[: stop.start()])
    tokens.append(".")
    tokens += _split_stretch(sentence[stop.end() :], before=".")
    return tokens


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


def _split_stretch(text: str, *, before: str = "") -> list[str]:
    """Tokens of a stretch of text that has a character, or nothing, before it."""
    tokens: list[str] = []
    for chunk in text.split():
        tokens += _chunk(chunk, before)
        before = " "
    return tokens


@lru_cache(maxsize=100_000)
def _chunk(chunk: str, before: str) -> tuple[str, ...]:
    """Tokens of what stands between two spaces."""
    if chunk.isalpha() and len(chunk) < 4:  # no clitic or contraction is so short
        return (chunk,)
    return tuple(_split_at_marks(chunk, before))


def _split_at_marks(chunk: str, before: str) -> Iterator[str]:
    start = 0
    for mark in _MARKS.finditer(chunk):
        yield from _split_word(chunk[start : mark.start()])
        if mark["straight"]:
            previous = chunk[mark.start() - 1] if mark.start() else before
            yield _quote(mark[0], previous)
        else:
            yield mark[0]
        start = mark.end()
    yield from _split_word(chunk[start:])


def _quote(mark: str, previous: str) -> str:
    """A straight quotation mark opens after a space or an opening bracket, and " where a sentence begins."""
    if (previous and previous in _OPENERS) or (not previous and mark == '"'):
        return "``"
    return "''"


def _split_word(word: str) -> Iterator[str]:
    """A word without marks around it, its clitics apart."""
    tail: list[str] = []
    for ending in _ENDINGS:
        match = ending.search(word)
        if match:
            tail.insert(0, match[0])
            word = word[: match.start()]
    yield from _JOINED.sub(_with_spaces, word).split()
    for part in tail:
        yield from _JOINED.sub(_with_spaces, part).split()


def _with_spaces(match: re.Match[str]) -> str:
    """The two words of a contraction, with spaces between and around them."""
    parts = " ".join(filter(None, match.groups()))
    return f" {parts} "


def cached_tokenizer(texts: Iterable[str], name: str, longest: int, *, cache: Path | None = None) -> Tokenize:
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
        all_ids: list[int] = []
        all_ends = [0]
        for text in places:
            all_ids += [numbers.setdefault(token, len(numbers)) for token in split(text)[:longest]]
            all_ends.append(len(all_ids))
        ids = np.array(all_ids, dtype=np.int32)
        ends = np.array(all_ends)
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
