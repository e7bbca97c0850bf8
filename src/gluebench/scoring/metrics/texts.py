"""How well a text matches the valid answers.

A text is normalized as SQuAD's scorer does it: lower case, no ASCII punctuation, no English articles, single
spaces; or, where the manifest names its language, as MLQA's scorer does it. The gold of a text is a tuple of
valid answers, of which the best match counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from string import punctuation
from typing import TYPE_CHECKING
from unicodedata import category

from gluebench.benchmark.metrics import ARTICLES

if TYPE_CHECKING:
    from decimal import Decimal  # slow to import, as difflib is, and needed for two metrics

_NO_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLES = {language: re.compile(rf"\b({words})\b") for language, words in ARTICLES.items() if words}
_ARTICLES |= {"": _ARTICLES["en"], "ar": re.compile("ال")}
# The ranges are compiled at their first use: every command imports them, and that takes 3 ms.
_CHINESE = "[一-龥]"
_NO_CMRC_MARKS = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
"""The marks that CMRC 2018's scorer leaves out."""
_NUMBER = r"[+-]?(([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?"
_CMRC_TOKEN = r"""[一-龥]|[][(){}<>;@#$%&?!"]|,(?!\d)|\.(?=[一-龥]|$)"""
"""A Chinese character or a mark that is a token of its own, as a comma outside of a number."""


@lru_cache(maxsize=1 << 14)
def normalize(text: str, language: str = "") -> str:
    """The text in lower case without ASCII punctuation, articles and surplus spaces.

    In a language of MLQA, other punctuation goes too, and each Chinese character is a token. Of CMRC 2018's
    texts only some marks go, and the blanks stay.
    """
    text = text.lower()
    if language == "zh-CMRC":
        return text.strip().translate(_NO_CMRC_MARKS)
    text = text.translate(_NO_PUNCTUATION)
    if language not in ("", "ko"):
        text = "".join(letter for letter in text if not category(letter).startswith("P"))
    if language in _ARTICLES:
        text = _ARTICLES[language].sub(" ", text)
    if language == "zh":
        text = re.sub(_CHINESE, r" \g<0> ", text)
    return " ".join(text.split())


def exact_match(answers: Sequence[str], predicted: str, language: str = "") -> float:
    """1.0 if the normalized text is that of one of the answers; no answer means the empty text."""
    valid = {normalize(answer, language) for answer in answers or ("",)}
    return float(normalize(predicted, language) in valid)


def plain_exact_match(answers: Sequence[str], predicted: str, _language: str = "") -> float:
    """1.0 if the text is one of the answers, blanks at its ends aside; no answer means the empty text."""
    return float(predicted.strip() in {answer.strip() for answer in answers or ("",)})


def numeric_exact_match(answers: Sequence[str], predicted: str, _language: str = "") -> float:
    """1.0 if the text is one of the answers as a number, as 3.140 and 3.14; else as `plain_exact_match`."""
    value = number_of(predicted)
    return float(any(value == number_of(answer) for answer in answers or ("",)))


def number_of(text: str) -> Decimal | str:
    """The exact value of a plain decimal, which may have commas between thousands; else the text itself."""
    text = text.strip()
    if not re.fullmatch(_NUMBER, text):
        return text
    from decimal import Decimal

    return Decimal(text.replace(",", ""))


def token_f1(answers: Sequence[str], predicted: str, language: str = "", *, empty: float = 0.0) -> float:
    """The largest F1 of shared tokens over the answers; `empty` if both texts have no tokens."""
    tokens = tokens_of(predicted, language)
    return max(_token_f1(tokens_of(answer, language), tokens, empty) for answer in answers or ("",))


def tokens_of(text: str, language: str) -> list[str]:
    """The tokens of the normalized text."""
    text = normalize(text, language)
    if language == "zh-CMRC":
        text = re.sub(_CMRC_TOKEN, r" \g<0> ", text)
    return text.split()


def _token_f1(gold: Sequence[str], predicted: Sequence[str], empty: float) -> float:
    if not gold and not predicted:
        return empty
    shared = 0
    for token in set(gold) & set(predicted):
        shared += min(gold.count(token), predicted.count(token))
    return 2 * shared / (len(gold) + len(predicted))


def run_f1(
    answers: Sequence[str],
    predicted: str,
    language: str = "",
    *,
    parts: Callable[[str, str], Sequence[str]] = normalize,
) -> float:
    """The largest F1 over the answers, where the parts of the longest common run are the shared ones.

    The parts are characters, or those that `parts` gives; two texts without parts are equal. KLUE's scorer
    calls the F1 of characters ROUGE-W; unlike it, frequent characters of long answers count here too.
    """
    own = parts(predicted, language)
    return max(_run_f1(parts(answer, language), own) for answer in answers or ("",))


def _run_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    if gold == predicted:
        return 1.0
    from difflib import SequenceMatcher

    run = SequenceMatcher(None, predicted, gold, autojunk=False).find_longest_match()
    return 2 * run.size / (len(gold) + len(predicted))
