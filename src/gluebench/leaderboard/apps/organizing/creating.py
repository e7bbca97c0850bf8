"""Create a benchmark in the browser, or replace its files: upload, preview, then store.

The web process never reads an upload: it may hold labels. It keeps the files in a private folder, where the
grader's process builds the benchmark (`building.py`); `benchmarks/adding.py` stores the result.
"""

import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest
from django.urls import reverse

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import may_create
from gluebench.leaderboard.apps.benchmarks.adding import require_few, store
from gluebench.leaderboard.apps.benchmarks.contents import Manifest, Prepared, PublicFile
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, ActResult, OrganizerPage
from gluebench.leaderboard.apps.common.problems import FieldError, ProblemError, invalid
from gluebench.leaderboard.apps.organizing.forms import NewForm, ReplaceForm
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.process import GraderError, run_build
from gluebench.leaderboard.keeping.folder import SiteError, make_private, remove_all_but_last, write_private

PARTS = {"manifest": "in/_manifest.toml", "gold": "in/gold.zip", "examples": "in/data.zip"}
"""Where uploads are put in their folder; several tables go to "in/tables", parents to "in"."""


class Upload(NamedTuple):
    """Files of an organizer that were built, and are not stored yet."""

    folder: Path
    summary: dict[str, Any]
    """What was detected and linted; once stored, the benchmark's name alone, as "stored"."""
    benchmark: Benchmark | None
    """The one that they replace."""


def _creator(request: HttpRequest, benchmark: None) -> None:
    assert isinstance(request.user, User)
    if not may_create(request.user):
        raise PermissionDenied


def _upload(request: HttpRequest, benchmark: None, token: str) -> Upload:
    assert isinstance(request.user, User)
    folder = _folder(request.user, token)
    with _lock_upload(folder):
        upload = _read(folder)
    if upload.benchmark is None:
        may_store = may_create(request.user)
    else:
        may_store = upload.benchmark.has_organizer(request.user)
    if not may_store and "stored" not in upload.summary:
        raise PermissionDenied
    return upload


def _read(folder: Path) -> Upload:
    summary = json.loads((folder / "summary.json").read_text())
    return Upload(folder, summary, Benchmark.objects.filter(name=summary.get("replaces")).first())


@contextmanager
def _lock_upload(folder: Path) -> Iterator[None]:
    """Let one request at a time use an upload, so that a double click stores it once. Raises Http404."""
    missing = Http404(
        "This upload is not kept here. It is kept for a day, by the machine that took it: "
        "load the page again if this site has several, else send the files again."
    )
    try:
        opened = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        raise missing from None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        if not (folder / "summary.json").is_file():
            raise missing
        yield
    finally:
        os.close(opened)


def drop(upload: Upload, actor: User) -> ActResult:
    """Delete the files, unless they were stored meanwhile."""
    with _lock_upload(upload.folder):
        stored_at = _page_of_stored(_read(upload.folder))
        if stored_at:
            return ActResult("", stored_at)
        shutil.rmtree(upload.folder)
    return ActResult("The files are deleted, and nothing was changed.", reverse("my-submissions"))


def create(upload: Upload, actor: User) -> ActResult:
    """Store the benchmark as previewed, once. Raises ActError if its name was taken meanwhile."""
    folder = upload.folder
    with _lock_upload(folder):
        upload = _read(folder)  # again: the other request of a double click may have stored it
        if "stored" in upload.summary:
            return ActResult("", _page_of_stored(upload))
        try:
            row = _store_benchmark(actor, folder, upload.summary)
        except SiteError as error:
            raise ActError(str(error), "name") from None
        shutil.rmtree(folder / "out")
        summary = {"stored": row.name}
        write_private(folder / "summary.json", json.dumps(summary).encode())
    done = "replaced" if upload.benchmark else "created, as a draft"
    return ActResult(f"{row.title} is {done}.", _page_of_stored(upload._replace(summary=summary)))


def _page_of_stored(upload: Upload) -> str:
    """The page of the benchmark that these files became; empty until they are stored."""
    name = upload.summary.get("stored")
    if not name:
        return ""
    return reverse("organize-setup", args=[name])


def _store_benchmark(user: User, folder: Path, summary: Mapping[str, Any]) -> Benchmark:
    """Store what was built. Raises SiteError if its name was taken meanwhile."""
    out = folder / "out"
    former = Benchmark.objects.filter(name=summary["replaces"]).first()
    gold = out / "labels"
    if former is not None and not gold.is_dir():
        gold = former.gold_path
    files = []
    for number, file in enumerate(summary["files"]):
        content = (out / str(number)).read_bytes()
        files.append(PublicFile(file["path"], content, file["task"], file["split"], file["rows"]))
    manifest = Manifest(summary["manifest"], tuple(summary["parents"]))
    ready = Prepared(summary["name"], summary["title"], manifest, gold, files, summary["has_examples"])
    return store(ready, by=user, reason=summary["reason"], draft=True, must_be_new=not summary["replaces"])


def _folder(user: User, token: str) -> Path:
    """The folder of an upload, which only its sender can name; it is deleted after a day."""
    return Path(settings.FOLDER.uploads, f"organize-{user.pk}-{token}")


def build(
    benchmark: Benchmark | None, actor: User, *, sent: Mapping[str, Any], choices: Mapping[str, Any]
) -> ActResult:
    """Keep what was sent and build it, for the preview. Raises ProblemError with all that is wrong.

    `benchmark`: the one that it replaces.
    """
    job: dict[str, Any] = {"replaces": "", "reason": ""}
    if benchmark is not None:
        job = {"name": benchmark.name, "title": benchmark.title, "replaces": benchmark.name}
        job |= {"manifest": str(benchmark.manifest_path), "gold": str(benchmark.gold_path)}
    for name in ("name", "title", "reason"):
        if name in sent:
            job[name] = sent[name]
    token = secrets.token_hex(8)
    folder = _folder(actor, token)
    _write_uploads(folder, sent)
    try:
        if benchmark is None:
            require_few(actor, more=1)
        built = run_build({**job, "folder": str(folder), "choices": choices}, account=actor.pk)
    except (GraderError, ProblemError, SiteError) as error:
        built = {"problems": [str(error)]}
    result = {**job, **built, "gold": None}
    problems: list[str] = result.get("problems") or _name_problems(result)
    if problems:
        shutil.rmtree(folder)
        raise invalid([FieldError(field="", message=problem) for problem in problems])
    write_private(folder / "summary.json", json.dumps(result).encode())
    shutil.rmtree(folder / "in")
    remove_all_but_last(folder.parent.glob(f"organize-{actor.pk}-*"), "summary.json")
    return ActResult("", reverse("organize-preview", args=[token]))


def _name_problems(result: Mapping[str, Any]) -> list[str]:
    """Problems of a manifest's name: it is another benchmark's, or not the one that is replaced."""
    name = result["name"]
    replaces = result["replaces"]
    if not replaces and Benchmark.objects.filter(name=name).exists():
        return [f'The name "{name}" is taken. Choose another in the manifest.']
    if replaces and name != replaces:
        return [f'The manifest is of "{name}"; expected name = "{replaces}".']
    return []


def _write_uploads(folder: Path, values: Mapping[str, Any]) -> None:
    """Write the uploads, unread, for nobody but the site's account."""
    make_private(folder)
    make_private(folder / "in")
    home = folder / "in"
    if values["tables"]:
        make_private(home / "tables")
    files = {}
    for name, place in PARTS.items():
        if values[name]:
            files[folder / place] = values[name]
    for file in values["parents"]:
        files[home / _own_name(file)] = file
    for file in values["tables"]:
        files[home / "tables" / _own_name(file)] = file
    for path, file in files.items():
        with path.open("wb") as target:
            path.chmod(0o600)
            shutil.copyfileobj(file, target)


def _own_name(file: UploadedFile[Any]) -> str:
    """The name that its sender gave it, as a name in one folder."""
    return re.sub(r"[^\w.-]", "_", Path(str(file.name)).name)[-80:].lstrip(".") or "file"


NEW = OrganizerPage.from_toml("organize-new", {"": (build, NewForm)}, find=_creator)
REPLACE = OrganizerPage.from_toml("organize-replace", {"": (build, ReplaceForm)})
PREVIEW = OrganizerPage.from_toml(
    "organize-preview",
    {"": (create, ActForm), "drop": (drop, ActForm)},
    find=_upload,
    context=lambda row, viewer: {"summary": row.summary, "benchmark": row.benchmark},
    moved=_page_of_stored,
)
