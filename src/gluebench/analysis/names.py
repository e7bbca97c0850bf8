"""What sentences call two systems that are compared."""

import os
import re
from collections.abc import Sequence

LETTERS = ("A", "B")
"""What tables call the two systems, and sentences where no short name tells one from the other."""
LONGEST_NAME = 40
"""Letters of the longest name in a sentence; a longer one loses its middle."""
PLACEHOLDERS = ("\ue000", "\ue001")
"""What sentences call two systems that are named only when they are shown: see `with_names`."""
_WORD = r"[\w.+/()-]+"
_PLAIN_NAME = re.compile(rf"[\ue000\ue001]|(?=.*[^\W\d]..?){_WORD}(?: {_WORD}){{0,4}}")
"""A name that reads as one in a sentence, without quotes: few words, and neither a number nor a letter."""

Names = tuple[str, str]
"""What sentences call the two systems."""


def short_names(a: Sequence[str], b: Sequence[str]) -> Names:
    """What sentences call two systems, from the files of the runs of each.

    The names have no ending, and folders only as far as they are needed to tell one from the other and to
    have letters; a system with several runs is called what the names of its runs begin with. `LETTERS` for
    equal names.
    """
    of_both = [_whole_name(runs).split("/") for runs in (a, b)]
    distinct = []
    for parts in range(1, max(map(len, of_both)) + 1):
        names = ["/".join(name[-parts:]) for name in of_both]
        if names[0] != names[1]:
            distinct.append(names)
    if not distinct:
        return LETTERS
    names = next((names for names in distinct if all(map(_PLAIN_NAME.fullmatch, names))), distinct[0])
    for side, runs in enumerate((a, b)):
        if len(runs) > 1:
            names[side] += f" ({len(runs)} runs)"
    return distinct_names(*names)


def _whole_name(runs: Sequence[str]) -> str:
    """The name of a system with its folders and without an ending; of several runs, how all begin."""
    names = [os.path.normpath(name).removesuffix(".zip") for name in runs]
    beginning = names[0].rstrip("0123456789-_. /")
    if len(names) > 1 and beginning and all(name.startswith(beginning) for name in names):
        return beginning
    return names[0]


def with_names(text: str, a: str, b: str) -> str:
    """A sentence with the names of two systems for its placeholders."""
    for placeholder, name in zip(PLACEHOLDERS, distinct_names(a, b), strict=True):
        text = text.replace(placeholder, name)
    return text


def distinct_names(a: str, b: str) -> Names:
    """Two names as sentences give them, or `LETTERS` where a reader could mix them up."""
    one = _in_sentence(a)
    other = _in_sentence(b)
    if one == other or {one, other} & set(LETTERS):
        return LETTERS
    return one, other


def _in_sentence(name: str) -> str:
    """A name cut to `LONGEST_NAME`, in quotes where a reader could take it for more than a name."""
    if len(name) > LONGEST_NAME:
        name = f"{name[:24]}…{name[-15:]}"
    if _PLAIN_NAME.fullmatch(name.replace("…", "")):
        return name
    return f"“{name}”"
