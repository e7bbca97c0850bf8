"""Splitting paragraphs into sentences by punctuation, in any script, with statistics of the corpus.

A sentence ends after a full stop, question or exclamation mark and the quotes, brackets and notes (`[3]`,
`:77`) attached to it, if white space and a likely first word follow. The marks of scripts without spaces
between words (。！？) need nothing after them. A blank line always ends a sentence, and so does a line break
after a mark.

Whether "U.S." or "J." ends a sentence depends on the next word, as in Punkt (Kiss and Strunk 2006): in the
corpus, "The" often begins a sentence and also occurs in lower case, but a name does not.

Two quirks of the released QNLI's splitter are options: it did not know some abbreviations (`RELEASED`), and
kept some opening quotation marks in the sentence before (`strays`). The evidence is in
docs/explanation/recipes.md.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

TITLES = (
    "adm brig capt cmdr col cpl dr fr gen gov hon lt maj messrs mgr mlle mme mr mrs ms msgr mt pharm pres"
    " prof ps rep rev sen sgt st ste supt"
)
REFERENCES = "approx ca cf ed eds eg est fl ie par sec tr trans ver viz vs"
NAMES = "al ave bros co corp dept div inc jr ltd plc sr univ"
ENGLISH = frozenset(f"{TITLES} {REFERENCES} {NAMES}".split())
"""Abbreviations of English, in small letters and without the last full stop; `a.b.` needs no list."""
RELEASED = ENGLISH - {"al", "approx", "ca"}
"""Those that the release's splitter probably knew: it splits "ca. / 40 m" and "et al. / 1998"."""
NUMBERED = frozenset({"art", "ch", "chap", "fig", "figs", "no", "nos", "op", "p", "pp", "vol", "vols"})
"""Abbreviations only before a number; otherwise they are words ("the answer is no")."""
FREQUENT = 0.0008
"""Lowest share of sentences that begin with a word for it to count as one that begins sentences."""

_CLOSERS = r"\"'”’»›)\]}」』）〉》】"
_OPENERS = r"\"'“‘«‹„([{<#¿¡–—-"
_NOTES = r"(?:\[[^\[\]]{1,40}\]|:\d+(?:[,–-] ?\d+)*(?!\w))+"
_MARKS = ".!?…؟۔।॥։።။"
_END = re.compile(
    rf"(?P<wide>[。！？｡．]+)[{_CLOSERS}]*"
    r"|(?P<blank>(?=\n[^\S\n]*\n))"
    rf"|(?<![{_MARKS}])(?P<mark>[{_MARKS}]+)(?P<after>[{_CLOSERS}]*(?:{_NOTES}[{_CLOSERS}]*)?)(?=\s|\Z)"
    r"|(?<=[^\W\d_A-Z]{2})(?P<tight>[.!?…]+)(?=[A-Z][a-z])"
)
_BEFORE = re.compile(r"[^\s(\[{\"“‘«/—–-]*\Z")
_NEXT = re.compile(rf"(?P<space>\s*)[{re.escape(_OPENERS)}\s]*(?P<word>\w*)(?P<then>.?)")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_FIRST = re.compile(r"(?<![^\W\d_])[^\W\d_]{4,}[.!?] ([^\W\d_]+)")
_LETTERS = re.compile(r"[^\W\d_]+")
_STRAY = re.compile(r'(?<=[.!?])\s+"(?=[^\W\d_])[^"]*"[^"]*\w')


class Span(NamedTuple):
    """Position of a sentence in its paragraph, without white space around it."""

    start: int
    end: int


class Splitter:
    """Splits paragraphs into sentences, with statistics of their corpus."""

    def __init__(
        self, corpus: Iterable[str], *, abbreviations: Set[str] = ENGLISH, strays: bool = False
    ) -> None:
        """`strays` puts an opening `"` into the sentence before, as released; see `_move_opening_marks`."""
        self.abbreviations = abbreviations
        self.strays = strays
        first: Counter[str] = Counter()
        seen: set[str] = set()
        for text in corpus:
            first.update(_FIRST.findall(text))
            seen.update(_LETTERS.findall(text))
        least = FREQUENT * first.total()
        self.openings = {word for word, n in first.items() if n >= least and word.lower() in seen}
        """Words that often begin a sentence, capitalized as there."""

    def spans(self, text: str) -> list[Span]:
        """The sentences of one paragraph in order, with only white space between them."""
        sentences = list(self._spans(text))
        if self.strays:
            return _move_opening_marks(text, sentences)
        return sentences

    def _spans(self, text: str) -> Iterator[Span]:
        start = 0
        for mark in _END.finditer(text):
            if self._ends(text, mark):
                yield from _trim(text, start, mark.end())
                start = mark.end()
        yield from _trim(text, start, len(text))

    def _ends(self, text: str, mark: re.Match[str]) -> bool:
        if mark["wide"] or mark["blank"] is not None:
            return True
        following = _NEXT.match(text, mark.end())
        assert following is not None  # the pattern also matches the empty string
        word = following["word"]
        then = following["then"]
        if mark["tight"]:
            return word in self.openings
        if "\n" in following["space"] or (following.end() == len(text) and not word):
            return True
        if not word or (word[0].islower() and (len(word), then) != (1, "-")):
            return False  # no sentence begins in lower case, except as in "β-carotene"
        if mark["mark"] != "." or mark["after"]:
            return True
        # The word before the mark; abbreviations are shorter than 30 characters.
        before = _BEFORE.search(text, max(0, mark.start() - 30), mark.start())
        initial = len(word) == 1 and then == "."
        return self._full_stop(before[0] if before else "", word, initial=initial)

    def _full_stop(self, before: str, word: str, *, initial: bool) -> bool:
        """Whether the full stop in "before. Word" ends a sentence, not an abbreviation."""
        if before.lower() in NUMBERED and word[0].isdigit():
            return False
        if _DOTTED.match(before) or before.lower() in self.abbreviations:
            return word in self.openings and not initial
        return True


def _move_opening_marks(text: str, spans: Sequence[Span]) -> list[Span]:
    """Move a sentence's opening `"` to the sentence before, if the quotation ends within its sentence.

    `It rained. "Stay," she said.` gives `It rained. "` and `Stay," she said.`; a quotation that is the whole
    sentence, or continues after it, keeps its mark.
    """
    starts = [span.start for span in spans]
    ends = [span.end for span in spans]
    for number, (sentence, following) in enumerate(pairwise(spans)):
        if _STRAY.match(text, sentence.end, following.end):
            after_mark = following.start + 1
            ends[number] = after_mark
            starts[number + 1] = after_mark
    return [Span(start, end) for start, end in zip(starts, ends, strict=True)]


def _trim(text: str, start: int, end: int) -> Iterator[Span]:
    """The span without white space around it; none if nothing else is in it."""
    part = text[start:end]
    if part.strip():
        yield Span(start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()))
