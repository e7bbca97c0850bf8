"""Pages of the built site, read as a browser would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

COUNTED = ("h1", "h2", "h3", "h4", "li", "table", "tr", "pre", "img")
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
"""Elements that make a browser fetch something; of `link` only some kinds do."""
NOT_FETCHED = {"canonical", "prev", "next", "alternate", "describedby"}


class Page(HTMLParser):
    """What a page links to, fetches and contains."""

    def __init__(self, path: Path, html: str | None = None) -> None:
        super().__init__()
        self.path = path
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.navigation: set[str] = set()
        self.fetched: list[str] = []
        self.inline: list[str] = []
        """Scripts and styles within the page."""
        self.counts: Counter[str] = Counter()
        """Elements of the article, by their name."""
        self._article = 0
        self.feed(path.read_text("utf-8") if html is None else html)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
            if "md-nav__link" in values.get("class", ""):
                self.navigation.add(values["href"])
        source = values.get(FETCHED.get(tag, ""), "")
        if source and not NOT_FETCHED & {*values.get("rel", "").split()}:
            self.fetched.append(source)
        if tag == "style" or "style" in values or any(name.startswith("on") for name in values):
            self.inline.append(f"{tag} {values}")
        if tag == "script" and "src" not in values and values.get("type") != "application/json":
            self.inline.append("script")
        self._article += tag == "article"
        if self._article and tag in COUNTED:
            self.counts[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self._article -= tag == "article"


def local(link: str) -> bool:
    """Whether a link stays on the site."""
    parts = urlsplit(link)
    return not parts.scheme and not parts.netloc


def target(page: Page, link: str) -> tuple[Path, str]:
    """The file and the anchor that a local link of a page leads to."""
    parts = urlsplit(link)
    name = unquote(parts.path)
    if page.path.name == "404.html":  # which is served for any address, so that its links start at the top
        name = name.lstrip("/")
    path = (page.path.parent / name).resolve() if name else page.path
    return (path / "index.html" if path.is_dir() else path), unquote(parts.fragment)
