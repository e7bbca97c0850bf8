"""A whole site as one archive, written while it serves, and a site made from one, on any database.

The tables are read as they are at one moment, and then the files that their rows name: a file is written
before its row and never changes, so that the archive is the site of that moment. Memory stays small.
"""

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from django.apps import apps
from django.conf import settings
from django.core import serializers
from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.files.storage import storages
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, connection, models, transaction
from django.db.models import F

from gluebench.benchmark.atomic import replacing
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.ledger.notes import read_key, read_sums
from gluebench.leaderboard.keeping import storage
from gluebench.leaderboard.keeping.folder import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    SiteError,
    SiteFolder,
    files_below,
    make_private,
)
from gluebench.version import __version__

FORMAT = "gluebench.site/1"
FACTS = "site.json"
SUMS = "SHA256SUMS"
SETTINGS = "settings.env"
TABLES = "tables"
PIECE = 4 * 1024**2
"""Bytes after which the rows of a table go on in another member of the archive."""
SECRET_TABLES = {
    "accounts.token",
    "account.emailconfirmation",
    "mfa.authenticator",
    "sessions.session",
    "usersessions.usersession",
}
"""Tables that are in an archive only with its secrets."""
SECRET_FIELDS = {"accounts.user": {"password": "!"}}
"""What stands in place of a field otherwise: nobody can sign in with such a password."""


class Transfer(NamedTuple):
    """What an archive holds."""

    files: int
    """Submitted files."""
    facts: Values
    problems: tuple[str, ...] = ()
    """What is wrong with the site that is in it."""


class _Encoder(DjangoJSONEncoder):
    """Django's, which would cut times to milliseconds; seals cover all of a time."""

    def default(self, o: Any) -> Any:
        if isinstance(o, datetime):
            return o.isoformat()
        return super().default(o)


class _Archive:
    """An archive that is being written, with the SHA-256 of each file so far in `sums`."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.sums: dict[str, str] = {}

    def add(self, name: str, file: IO[bytes] | bytes) -> str:
        """Add a file; returns its SHA-256."""
        if isinstance(file, bytes):
            file = io.BytesIO(file)
        info = tarfile.TarInfo(name)
        info.size = file.seek(0, os.SEEK_END)
        info.mode = PRIVATE_FILE
        info.mtime = int(time.time())
        file.seek(0)
        self.sums[name] = hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
        file.seek(0)
        self._tar.addfile(info, file)
        return self.sums[name]


def export_site(target: str, *, secrets: bool = False) -> Transfer:
    """Write the site that Django is set up on to a new file, or to the output, "-". Raises SiteError.

    With `secrets`, also its secret key, settings, passwords, tokens and sessions, so that nobody has to sign
    in again.
    """
    if target == "-":
        return _write(sys.stdout.buffer, secrets=secrets)
    file = Path(target)
    if file.exists():
        raise SiteError(f"{file} already exists, and an export replaces no file. Give another file name.")
    packed = file.suffix == ".gz"
    with (
        replacing(file, mode=PRIVATE_FILE) as opened,
        gzip.open(opened, "wb", 1) if packed else nullcontext(opened) as stream,
    ):
        return _write(cast(Any, stream), secrets=secrets)


def _write(stream: IO[bytes], *, secrets: bool) -> Transfer:
    from gluebench.leaderboard.apps.ledger.models import signer
    from gluebench.leaderboard.keeping.freeze import snapshot

    by = signer()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with snapshot(), tarfile.open(fileobj=stream, mode="w|") as tar:
        archive = _Archive(tar)
        facts = {"format": FORMAT, "gluebench": __version__, "at": now, "secrets": secrets}
        facts["key"] = str(by.key)
        archive.add(FACTS, json.dumps(facts).encode())
        for model in _tables():
            if secrets or model._meta.label_lower not in SECRET_TABLES:
                for number, rows in enumerate(_pieces(model, secrets=secrets)):
                    archive.add(f"{TABLES}/{model._meta.label_lower}/{number:06}.jsonl", rows)
        _add_site(archive, secrets=secrets)
        number = 0
        problems = []
        for key, part, name, sha256 in _files_of_rows():
            problem = _add_stored(archive, key, part, name, sha256)
            if problem:
                problems.append(problem)
            elif key:
                number += 1
        sums = "".join(f"{digest}  {name}\n" for name, digest in archive.sums.items())
        archive.add(SUMS, by.sign(f"{FORMAT}\n{now}\n{sums}").encode())
    return Transfer(number, facts, tuple(problems))


def _tables() -> list[type[models.Model]]:
    """Every table of the site; those of many-to-many relations too."""
    return [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]


def _pieces(model: type[models.Model], *, secrets: bool) -> Iterator[bytes]:
    """The rows of a table as JSON lines, in pieces."""
    fields = [field.name for field in model._meta.concrete_fields]
    hidden = {} if secrets else SECRET_FIELDS.get(model._meta.label_lower, {})
    piece = []
    size = 0
    for row in model._base_manager.order_by("pk").iterator(chunk_size=50):
        for name, value in hidden.items():
            setattr(row, name, value)
        piece.append(serializers.serialize("jsonl", [row], fields=fields, cls=_Encoder).encode())
        size += len(piece[-1])
        if size > PIECE:
            yield b"".join(piece)
            piece = []
            size = 0
    yield b"".join(piece)


def _add_site(archive: _Archive, *, secrets: bool) -> None:
    """Add the folders of the site, and with `secrets` its key and settings."""
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark, labels_at_hand

    site: SiteFolder = settings.FOLDER
    folders = [site.manifests, site.pages, site.labels]
    if secrets:
        archive.add(site.key_file.name, settings.SECRET_KEY.encode())
        # How the site runs, passwords too, but not where its folder is.
        lines = []
        for name, value in sorted(os.environ.items()):
            is_place_or_key = name.startswith(("GLUEBENCH_SITE", "GLUEBENCH_SECRET_KEY"))
            if name.startswith("GLUEBENCH_") and not is_place_or_key:
                lines.append(f"{name}={value}\n")
        archive.add(SETTINGS, "".join(lines).encode())
        folders.append(site.mail)
    for benchmark in Benchmark.objects.all():
        labels_at_hand(benchmark.gold)  # fetched where labels are in a bucket
    for folder in folders:
        for path in files_below(folder):
            with suppress(FileNotFoundError), open(path, "rb") as file:  # mail is deleted after a while
                archive.add(f"{folder.name}/{path.relative_to(folder)}", file)


def _files_of_rows() -> Iterator[tuple[str, str, str, str]]:
    """Files that rows name: key of the submission, storage, name and SHA-256."""
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.keeping.integrity import digests_of_data_files

    for name, sha256 in sorted(set(digests_of_data_files())):
        yield "", "data", name, sha256
    rows = Submission.objects.exclude(file="").values_list("key", "file", "sha256").order_by("file")
    for key, name, sha256 in rows:
        yield key, "submissions", name, sha256


def _add_stored(archive: _Archive, key: str, part: str, name: str, expected: str) -> str:
    """Add a file of a storage; return what is wrong with it, "" for nothing."""
    whose = f"{name} of the files to download"
    origin = "published"
    if key:
        whose = f"{name} of submission {key}"
        origin = "sent"
    try:
        with storages[part].open(name) as file:
            digest = archive.add(f"{part}/{name}", cast(IO[bytes], file))
    except FileNotFoundError:  # or it was deleted since the moment that the tables are of
        return f"{whose} is missing"
    if digest != expected:
        return f"{whose} is not what was {origin}"
    return ""


def read_archive(source: str, scratch: Path | None = None, *, key: str = "") -> Values:
    """Check every sum of an archive, a file or "-", and its signature; returns its facts. Raises SiteError.

    `scratch`: a folder to unpack it into. `key`: the public key that it must be signed with, if not its own.
    """
    sums = {}
    texts = {}
    try:
        for name, file in _members(source, scratch):
            if name in (FACTS, SUMS):
                texts[name] = file.read()
                sums[name] = hashlib.sha256(texts[name]).hexdigest()
            else:
                sums[name] = hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
        facts: Values = json.loads(texts[FACTS])
        expected = read_sums(texts[SUMS].decode(), read_key(key or facts["key"]))
        del sums[SUMS]
        if mismatches := sorted(sums.keys() ^ expected.keys()):
            raise ValueError(f"{mismatches[0]} is missing or was added")
        if damaged := sorted(name for name in sums if sums[name] != expected[name]):
            raise ValueError(f"{damaged[0]} is damaged")
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, KeyError) as error:
        raise SiteError(f"{source} is not a whole export: {error}. Nothing was imported.") from error
    return facts


def _members(source: str, scratch: Path | None) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of an archive, each with its name, also unpacked into `scratch`."""
    with ExitStack() as opened:
        stream: IO[bytes] = sys.stdin.buffer
        if source != "-":
            stream = opened.enter_context(open(source, "rb"))
        tar = opened.enter_context(tarfile.open(fileobj=stream, mode="r|*"))
        for info in tar:
            if info.isdir():
                continue
            if not info.isreg():
                raise ValueError(f"{info.name} is not a plain file")
            if scratch is None:
                yield info.name, cast(IO[bytes], tar.extractfile(info))
                continue
            tar.extract(info, scratch, filter="data")
            with open(scratch / info.name, "rb") as file:
                yield info.name, file


def import_site(
    site: SiteFolder, source: str, prepare: Callable[[], Any], *, replace: bool = False
) -> Transfer:
    """Make a site from an archive, once all of its sums are verified.

    `prepare` sets Django up on the site and makes its tables. A folder or database that is not empty is
    refused, unless `replace` says to move what is in the folder aside and to overwrite the database. Raises
    SiteError.
    """
    places = {site.root: None}  # an ordered set: by default, the others are within the first
    for part in storage.PARTS:
        places[getattr(site, part)] = None
    existing = next((path for path in places if path.is_dir() and any(path.iterdir())), None)
    if existing and not replace:
        raise SiteError(f"{existing} is not empty. Name a new folder, or add --replace to move it aside.")
    make_private(site.root)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=site.root) as name:
        scratch = Path(name)
        facts = read_archive(source, scratch)
        for folder in filter(Path.is_dir, scratch.rglob("*")):
            folder.chmod(PRIVATE_FOLDER)
        for place in places:
            _move_aside(place, scratch)
        for path in (site.key_file, site.root / SETTINGS, site.manifests, site.pages, site.mail):
            if (scratch / path.name).exists():
                (scratch / path.name).rename(path)
        site.make_key()
        site.create()
        prepare()
        from gluebench.leaderboard.apps.ledger import models as ledger
        from gluebench.leaderboard.keeping import integrity

        _load(scratch / TABLES, replace=replace)
        for part in storage.PARTS:
            _store(scratch / part, part)
        number = len(files_below(scratch / "submissions"))
    if not ledger.is_signed(read_key(facts["key"])):
        return Transfer(number, facts, (f"ledger: not as {facts['key']} signed it",))
    integrity.seal_inputs()
    if not facts["secrets"]:
        integrity.reseal("The site was imported, and has a new key.")
    return Transfer(number, facts)


def _move_aside(place: Path, scratch: Path) -> None:
    """Put what is in a folder into one within it; the folder itself may be a mount."""
    if place.is_dir():
        aside = place / f"before-{time.strftime('%Y%m%d-%H%M%S')}"
        for path in [path for path in place.iterdir() if path != scratch]:
            make_private(aside)
            path.rename(aside / path.name)


def _load(folder: Path, *, replace: bool) -> None:
    """Put the rows of an archive in place of those that there are, in one transaction."""
    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.ranks.models import Ranking

    if User.objects.exists() and not replace:
        raise SiteError("The database is not empty. Name an empty one, or add --replace to overwrite it.")
    quote = connection.ops.quote_name
    with connection.cursor() as cursor, transaction.atomic():
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA mmap_size=0")  # else its pages count as memory
        for model in _tables():
            cursor.execute(f"DELETE FROM {quote(model._meta.db_table)}")
        for path in sorted(folder.rglob("*.jsonl")):
            _insert(path)
        # Workers rank again what a version ranked that kept no systems beside the ranks.
        Ranking.objects.filter(systems=[], board__isnull=False).delete()
        _date_gradings()
        _record_teams(folder)
        for statement in connection.ops.sequence_reset_sql(no_style(), _tables()):
            cursor.execute(statement)


def _insert(path: Path) -> None:
    """Put the rows of a file into their table. Raises SiteError."""
    # What rows of another version, or damaged ones, fail on.
    wrong = (
        DeserializationError,
        ValidationError,
        DatabaseError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
    )
    try:
        with open(path, encoding="utf-8") as rows:
            for row in serializers.deserialize("jsonl", rows, ignorenonexistent=True):
                row.save(save_m2m=False, force_insert=True)
    except wrong as error:
        table = path.parent.name
        reason = f"{table}: these are not rows of this version of gluebench: {error!r:.200}"
        raise SiteError(f"{reason}. Nothing was imported into the database.") from error


def _date_gradings() -> None:
    """Let submissions have the moment of their last result, as `verify` expects.

    Versions before 27 November 2026 stored another one, less than a second before it.
    """
    from gluebench.leaderboard.apps.submissions.models import Result, Submission

    results = Result.objects.filter(submission=models.OuterRef("pk"))
    rows = Submission.objects.annotate(graded=models.Subquery(results.values("created")[:1]))
    earlier = rows.filter(finished__lt=F("graded"), finished__gt=F("graded") - timedelta(seconds=1))
    earlier.update(finished=F("graded"))


def _record_teams(folder: Path) -> None:
    """Record the present teams of an older site, whose rows of people may be the only ones that have them."""
    from gluebench.leaderboard.apps.accounts.models import Membership

    for path in sorted((folder / "accounts.user").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            team = row["fields"].get("team")
            if team is None or Membership.objects.filter(user=row["pk"], until=None).exists():
                continue
            since = row["fields"]["date_joined"]
            Membership.objects.create(user_id=row["pk"], team_id=team, since=since)


def _store(folder: Path, part: str) -> None:
    """Put the files of a storage where this machine's settings keep them."""
    for path in files_below(folder):
        with open(path, "rb") as file:
            storages[part].save(str(path.relative_to(folder)), File(file))
