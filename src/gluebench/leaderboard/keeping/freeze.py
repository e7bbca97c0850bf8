"""A copy of a site as static files for any file server, with its ledger and a signed list of the files."""

import html
import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urljoin, urlsplit

from django.conf import settings
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from gluebench.data.home import sha256_of
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.boards.exports import FORMATS
from gluebench.leaderboard.apps.ledger import models as ledger
from gluebench.leaderboard.apps.ledger import tree
from gluebench.leaderboard.apps.ledger.verify import RELEASE, SUMS, file_of
from gluebench.leaderboard.apps.ledger.views import current_rows, other_boards
from gluebench.leaderboard.apps.phases.models import on_board, phase_on_board, policy_at
from gluebench.leaderboard.apps.submissions.feedback import rows_to_grade
from gluebench.leaderboard.apps.submissions.grading import phases_due
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping.folder import SiteError, files_below

FORMAT = "gluebench.frozen/1"
KEPT = {"page", "rows", "view", "category", "phase"}
"""Parameters of addresses that are copied; pages that are sorted or searched are not."""
LEFT_OUT = ("account/", "admin/", "api/", "label/")
_LINK = re.compile(r'\s(href|src)="([^"]*)"')
_ACTS = (
    r'<script\b[^>]*></script>|<link rel="preload"[^>]*>|<form\b.*?</form>|<input\b[^>]*>|'
    r'<a\b[^>]*href="(?:{}account/[^"]*|[^"]*/submit|[^"]*/data\.zip)".*?</a>'
)
"""Scripts, hints, forms, and links to what needs the site; in braces, what its addresses begin with."""
_BOARD_SCRIPT = re.compile(r'<script type="module" (src="[^"]*/board[^"/]*\.js")></script>')
_BOARD_FORM = re.compile(r'<form role="search" method="get" id="board-search".*?</form>', re.DOTALL)
_BOARD_SEARCH = """<form role="search" id="board-search" data-copy hidden><span class="search">
<label class="hidden" for="q">Find a system by name, model or team</label>
<input type="search" id="q" name="q" placeholder="Find a system" autocomplete="off">
</span></form>"""
"""The search of a copied board: its script shows it, since nothing else answers it."""
_PLACE = "<!-- search -->"
"""What stands for the search while all other forms are taken out."""
_WAITING = re.compile(r'<noscript>.*?</noscript>|<div class="progress" id="progress".*?</div>', re.DOTALL)
"""What loads a page again once its ranks are there."""
_NOT_RANKED = "<p>“3 · …”: the rank sets were being computed when this copy was made.</p>"
_BENCHMARK = re.compile(r"benchmarks/([\w-]+)")
_CSS = re.compile(r"""url\(["']?([^"')]+)""")


@contextmanager
def snapshot() -> Iterator[None]:
    """Read the database as it is at one moment, while others write to it."""
    if connection.in_atomic_block:
        yield
        return
    database: Any = connection
    mode = getattr(database, "transaction_mode", None)
    database.transaction_mode = "DEFERRED"  # of SQLite: IMMEDIATE would keep writers out
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                else:
                    cursor.execute("PRAGMA mmap_size=0")  # else its pages count as memory
            yield
    finally:
        database.transaction_mode = mode


def freeze(
    folder: Path, release: Sequence[str] = (), *, only: str | None = None, most: int | None = None
) -> int:
    """Write a copy of all that visitors see into a new folder; returns its number of files. Raises SiteError.

    `release`: benchmarks whose labels, and the predictions of its public rows, are in the copy too. `only`:
    the benchmark that the copy is of, if not of all; its ledger is the whole one. `most`: bytes of pages.
    """
    if folder.exists() and any(folder.iterdir()):
        raise SiteError(f"{folder} is not empty. Name a new folder.")
    phases_due()  # it changes the board's phase, and writes into the ledger that is copied
    released = [Benchmark.objects.get_by_name(name) for name in release]
    one = Benchmark.objects.get_by_name(only) if only else None
    if one and not one.is_public:
        raise SiteError(f"{only} has no public pages to copy: it is a draft, or for its participants.")
    if one and set(release) - {only}:
        raise SiteError(f"The copy is of {only}: it releases no labels of other benchmarks.")
    if any(benchmark.names_hidden_until for benchmark in released):  # authors' files may name them
        raise SiteError("Names are hidden: release files once they are shown.")
    with snapshot():
        caches["pages"].clear()
        copy = _Copy(folder, one, most)
        copy.fetch_all(_seeds(one))
        if only:
            rows = json.dumps(current_rows(only)).encode()
            copy.write(reverse("ledger-rows"), "application/json", rows)
        copy.link_all()
        for benchmark in released:
            _release(benchmark, folder / RELEASE / benchmark.name)
        number = sign_files(folder, f"{FORMAT} {only}" if only else FORMAT)
    for path in [folder] + list(folder.rglob("*")):  # the site's umask keeps its files from other accounts
        path.chmod(0o755 if path.is_dir() else 0o644)
    for benchmark in released:
        record("labels released", benchmark=benchmark, reason="A frozen copy has them.")
    return number


def _seeds(only: Benchmark | None) -> list[str]:
    """Addresses that the copy begins with: pages, exports, and the ledger."""
    seeds = [reverse(name) for name in ("home", "ledger", "ledger-checkpoint", "ledger-rows")]
    benchmarks = Benchmark.objects.public()
    if only is not None:
        benchmarks = benchmarks.filter(pk=only.pk)
    for benchmark in benchmarks:
        names = ["board", "changes", "changes-json"] + [f"board-{ending}" for ending in FORMATS]
        seeds += [reverse(name, args=[benchmark.name]) for name in names]
    # `verify` reads these, and the page of a board without systems has no link to its JSON.
    for name, phases in other_boards(only.name if only else "").items():
        seeds += [f"{reverse('board-json', args=[name])}?phase={number}" for number in phases]

    last = ledger.Leaf.objects.exclude(note="").first()
    if last is None:
        return seeds
    size = last.index + 1
    tiles = reverse("ledger")
    seeds += [f"{tiles}/{tree.tile_path(tree.ENTRIES, *place)}" for place in tree.tiles_of(size)]
    level = 0
    while size:
        seeds += [f"{tiles}/{tree.tile_path(level, *place)}" for place in tree.tiles_of(size)]
        level += 1
        size //= tree.WIDTH
    return seeds


class _Copy:
    """The copy that is being written: the file of each address, as it is linked to."""

    def __init__(self, folder: Path, only: Benchmark | None, most: int | None) -> None:
        self.folder = folder
        self._only = only
        self._most = most
        self._bytes = 0
        self.files: dict[str, str] = {}
        self._root = reverse("home")
        """What the addresses of the site begin with, and those of the files do not."""
        self._pages: dict[str, str] = {}
        """Of the files that are HTML, their addresses."""
        host = "localhost"
        if settings.RUNNING.hosts:
            host = settings.RUNNING.hosts[0].lstrip(".")
        self._client = Client(SERVER_NAME=host)

    def fetch_all(self, addresses: Sequence[str]) -> None:
        """Write all that can be reached from these addresses, with the links as they are."""
        waiting = list(addresses)
        seen = set(addresses)
        while waiting:
            address = waiting.pop()
            page = address
            if self._only is not None and address == self._root:  # its board is the front page of the copy
                page = self._only.get_absolute_url()
            answer = self._client.get(f"/{page.removeprefix(self._root)}", secure=settings.HTTPS)
            if answer.status_code != 200:
                continue
            kind = answer.headers["Content-Type"].partition(";")[0]
            body = b"".join(answer)
            if kind == "text/css":  # Without its hint, which no file can have, the font comes too late.
                body = body.replace(b"font-display: optional", b"font-display: swap")
            self.write(address, kind, body)
            for link in _links(address, kind, body):
                if link not in seen and self._has(link):
                    waiting.append(link)
                    seen.add(link)

    def _has(self, link: str) -> bool:
        """Whether the copy has the page at this address."""
        path = link.removeprefix(self._root)
        if not link.startswith(self._root) or path.startswith(LEFT_OUT) or path.endswith("/data.zip"):
            return False
        benchmark = _BENCHMARK.match(path)
        return self._only is None or benchmark is None or benchmark[1] == self._only.name

    def write(self, address: str, kind: str, body: bytes) -> None:
        """Write the file of an address."""
        self._bytes += len(body)
        if self._most is not None and self._bytes > self._most:
            raise SiteError(f"The copy has more than {self._most / 1024**3:g} GiB.")
        parts = urlsplit(address)
        path = unquote(parts.path.removeprefix(self._root)).strip("/")
        name = path or "index"
        if kind == "text/html":
            name += ".html"
        name = file_of(f"{name}?{parts.query}")
        if kind == "text/html":
            self._pages[name] = address
        self.files[address] = name
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)

    def link_all(self) -> None:
        """Make links relative; those to what is not in the copy become text."""
        date = time.strftime("%Y-%m-%d", time.gmtime())
        about = f'<p class="legend">A copy of {date}: forms and accounts are not in it.</p>'
        root = re.escape(self._root)
        acts = re.compile(_ACTS.format(root), re.DOTALL)
        for name, address in self._pages.items():
            file = self.folder / name
            text = file.read_text(encoding="utf-8")
            script = _BOARD_SCRIPT.search(text)
            text = acts.sub("", _BOARD_FORM.sub(_PLACE, text))
            if script and _PLACE in text:
                # Not a module: browsers load none from a file.
                text = text.replace("</body>", f"<script defer {script[1]}></script></body>")
            text = text.replace(_PLACE, _BOARD_SEARCH)
            text, waiting = _WAITING.subn("", text)
            if waiting:
                text = text.replace("</main>", f"{_NOT_RANKED}</main>", 1)
            text = re.sub(r"(<main[^>]*>)", rf"\1{about}", text, count=1)
            file.write_text(_LINK.sub(partial(self._link, name, address), text), encoding="utf-8")

    def _link(self, name: str, address: str, link: re.Match[str]) -> str:
        target = html.unescape(link[2])
        parts = urlsplit(urljoin(address, target))
        if target.startswith("#") or parts.netloc or parts.scheme:
            return link[0]
        if {"sort", "order"} & {name for name, _ in parse_qsl(parts.query)}:  # the script sorts
            return ""
        file = self.files.get(_plain(parts.path, parts.query))
        if file is None:
            return ""
        relative = quote(os.path.relpath(file, PurePosixPath(name).parent), safe="/@=&")
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        return f' {link[1]}="{html.escape(relative)}{fragment}"'


def _plain(path: str, query: str) -> str:
    """The address that a link is copied under."""
    names = {name for name, _ in parse_qsl(query)}
    if not query or names - KEPT:
        return path
    return f"{path}?{query}"


def _links(address: str, kind: str, body: bytes) -> list[str]:
    """The addresses of this site that a page or style sheet refers to."""
    targets: list[str] = []
    if kind == "text/html":
        targets = [match[2] for match in _LINK.finditer(body.decode())]
    elif kind == "text/css":
        targets = _CSS.findall(body.decode())
    links = []
    for target in targets:
        parts = urlsplit(urljoin(address, html.unescape(target)))
        if not parts.scheme and not parts.netloc:
            links.append(_plain(parts.path, parts.query))
    return links


def _release(benchmark: Benchmark, home: Path) -> None:
    """Write labels, manifest and the predictions of the public rows, for `verify --recompute`."""
    home.mkdir(parents=True)
    benchmark = on_board(benchmark)
    for source, target in ((benchmark.gold_path, home / "gold"), (benchmark.manifest_path.parent, home)):
        target.mkdir(exist_ok=True)
        for path in filter(Path.is_file, source.iterdir()):
            (target / path.name).write_bytes(path.read_bytes())
    filenames: dict[str, str] = {}
    (home / "predictions").mkdir()
    rows = Submission.objects.public().filter(benchmark=benchmark).exclude(file="")
    for submission in rows.defer("report", "problems"):
        if not submission.filename.casefold().endswith(".zip"):
            filenames[submission.key] = Path(submission.filename).name
        with submission.file.open("rb") as file:
            (home / "predictions" / submission.key).write_bytes(file.read())
    phase = phase_on_board(benchmark)
    about: dict[str, Any] = {"rows": None, **rows_to_grade(benchmark, phase), "filenames": filenames}
    about["ladder"] = policy_at(benchmark, phase).feedback == "ladder"
    (home / "release.json").write_text(json.dumps(about))


def sign_files(folder: Path, form: str) -> int:
    """Write the signed list of the files of a folder; returns how many there are."""
    lines = [f"{sha256_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in files_below(folder)]
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    note = ledger.signer().sign(f"{form}\n{now}\n{''.join(lines)}")
    (folder / SUMS).write_text(note, encoding="utf-8")
    return len(lines)
