"""Escaping and checks of text from users, for each format it is exported to."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import nh3
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from gluebench.benchmark import tables
from gluebench.leaderboard.keeping.folder import SiteError

_TAGS = {"p", "br", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "hr"}
_TAGS |= {"h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"}
_RUN = re.compile(r"[0-9]+|[^0-9]+")
_JOINS = re.compile(r"([+/_,:=@])(?=[^\s+/_,:=@])")
_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def plain(text: str) -> None:
    """Raise ValidationError for invisible characters, and those that reverse text."""
    if any(unicodedata.category(character) in _HIDDEN for character in text):
        raise ValidationError("Contains invisible control characters; type the text again without them.")


def require_fields(row: Model, names: Collection[str], *, what: str) -> None:
    """Raise SiteError with all problems of these fields of a row; `what` names it in the message."""
    try:
        row.clean_fields(exclude={field.name for field in row._meta.fields} - set(names))
    except ValidationError as error:
        problems = "; ".join(f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
        raise SiteError(f"{what} cannot be taken: {problems}") from None


def breakable(text: str) -> SafeString:
    """A name whose line may break after a sign that joins words, so that no word is cut: BiLSTM+ELMo+Attn."""
    return mark_safe(_JOINS.sub(r"\1<wbr>", escape(text)))


def markdown(text: str, *, demoted: int = 2) -> SafeString:
    """Markdown as HTML of a few harmless elements: no images, no raw HTML, links only to web and mail.

    Headings are `demoted` by so many levels, below those of the page, and never its first.
    """
    html = nh3.clean(
        _reader(demoted).render(text),
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener ugc",
    )
    return mark_safe(html)


@cache
def _reader(demoted: int) -> MarkdownIt:
    def heading(tag: str) -> str:
        return f"h{min(max(int(tag[1]) + demoted, 2), 6)}"

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    reader.add_render_rule("heading_open", lambda _self, tokens, at, *_: f"<{heading(tokens[at].tag)}>")
    reader.add_render_rule("heading_close", lambda _self, tokens, at, *_: f"</{heading(tokens[at].tag)}>\n")
    return reader


_FORMULA = "=+-@\t\r\n|%＝＋－＠"
"""What a spreadsheet may take for the start of a formula, in full width too."""


def csv_cell(text: str) -> str:
    """The text for a spreadsheet: what looks like a formula gets an apostrophe, which shows it as text."""
    starts = {text[:1], text.lstrip()[:1]} - {""}
    if any(sign in _FORMULA for sign in starts):
        return f"'{text}"
    return text


BYTE_ORDER_MARK = "\ufeff"
"""Begins a CSV that people open in Excel, which would read it in the code page of Windows without."""


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows for a spreadsheet, whatever their text."""
    return "".join(csv_lines(head, rows))


def csv_lines(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield the lines of `csv_text`."""

    def guard(row: Iterable[Any]) -> list[Any]:
        return [csv_cell(cell) if isinstance(cell, str) else cell for cell in row]

    return tables.csv_lines(guard(head), map(guard, rows))


def alphabetical(text: str) -> list[tuple[float, str]]:
    """A key by which names are sorted as people do: whatever case and accents, and numbers by their value."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    base = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return [(float(part), "") if part.isdecimal() else (math.inf, part) for part in _RUN.findall(base)]


def words_of(search: str) -> list[str]:
    """The words of a search, for `has_words`."""
    return search.casefold().split()


def has_words(words: Sequence[str], *texts: str) -> bool:
    """Whether each word of a search is in one of the texts, in capitals or not."""
    if not words:
        return True
    text = "\n".join(texts).casefold()
    return all(word in text for word in words)


def page_number(text: str) -> int:
    """Parse a page number; 1 if it is not valid."""
    if text.isascii() and text.isdigit() and len(text) < 7:
        return max(int(text), 1)
    return 1
