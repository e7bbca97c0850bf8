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
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from gluebench.leaderboard.accounts.models import SignedInRequest, User
from gluebench.leaderboard.accounts.trust import may_create
from gluebench.leaderboard.benchmarks.adding import require_few, store
from gluebench.leaderboard.benchmarks.contents import Manifest, Prepared, PublicFile
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.kinds import Facts, Values
from gluebench.leaderboard.common.pages import account_page, redirect_with_error, redirect_with_success
from gluebench.leaderboard.common.problems import ProblemError
from gluebench.leaderboard.folder import SiteError, make_private, remove_all_but_last, write_private
from gluebench.leaderboard.organizing.forms import FilesForm, NewForm, ReplaceForm
from gluebench.leaderboard.submissions.process import GraderError, run_build
from gluebench.leaderboard.submissions.views import for_organizers, render_tab

PARTS = {"manifest": "in/_manifest.toml", "gold": "in/gold.zip", "examples": "in/data.zip"}
"""Where uploads are put in their folder; several tables go to "in/tables", parents to "in"."""


@account_page
def new(request: SignedInRequest) -> HttpResponse:
    """The form of a new benchmark; its files lead to the preview."""
    if not may_create(request.user):
        raise PermissionDenied
    form = NewForm(request.POST or None, request.FILES or None)
    problems, token = _built(request.user, form, {"replaces": "", "reason": ""})
    context = {"form": form, "problems": problems, "here": "mine"}
    status = 422 if problems or form.errors else 200
    page = TemplateResponse(request, "organize/new.html", context, status=status)
    return redirect("organize-preview", token) if token else page


@for_organizers()
def replace(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Replace labels, manifest or data; its files lead to the preview."""
    form = ReplaceForm(request.POST or None, request.FILES or None)
    about = {"name": benchmark.name, "title": benchmark.title, "replaces": benchmark.name}
    about |= {"manifest": str(benchmark.manifest_path), "gold": str(benchmark.gold_path)}
    problems, token = _built(request.user, form, about)
    page = render_tab(request, benchmark, "replace", {"form": form, "problems": problems})
    return redirect("organize-preview", token) if token else page


@account_page
def preview(request: SignedInRequest, token: str) -> HttpResponse:
    """What was detected and linted; storing it, or giving it up."""
    folder = _folder(request.user, token)
    with _locked(folder):
        return _previewed(request, folder, token)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
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


def _previewed(request: SignedInRequest, folder: Path, token: str) -> HttpResponse:
    summary = json.loads((folder / "summary.json").read_text())
    if "stored" in summary:
        return redirect("organize-setup", summary["stored"])
    benchmark = Benchmark.objects.filter(name=summary["replaces"]).first() if summary["replaces"] else None
    allowed = benchmark.organized_by(request.user) if benchmark else may_create(request.user)
    if not allowed:
        raise PermissionDenied
    if request.method != "POST":
        context = {"summary": summary, "benchmark": benchmark, "here": "mine"}
        return TemplateResponse(request, "organize/preview.html", context)
    if request.POST.get("act") != "create":
        shutil.rmtree(folder)
        message = "The files are deleted, and nothing was changed."
        return redirect_with_success(request, message, "my-submissions")
    try:
        row = _stored(request.user, folder, summary)
    except SiteError as error:
        return redirect_with_error(request, str(error), "organize-preview", token)
    shutil.rmtree(folder / "out")
    write_private(folder / "summary.json", json.dumps({"stored": row.name}).encode())
    message = f"{row.title} is {'replaced' if benchmark else 'created, as a draft'}."
    return redirect_with_success(request, message, "organize-setup", row.name)


def _stored(user: User, folder: Path, summary: Facts) -> Benchmark:
    """Store what was built. Raises SiteError if its name was taken meanwhile."""
    out, former = folder / "out", Benchmark.objects.filter(name=summary["replaces"]).first()
    gold = out / "labels"
    if former is not None and not gold.is_dir():
        gold = former.gold_path
    files = [
        PublicFile(file["path"], (out / str(number)).read_bytes(), file["task"], file["split"], file["rows"])
        for number, file in enumerate(summary["files"])
    ]
    manifest = Manifest(summary["manifest"], tuple(summary["parents"]))
    ready = Prepared(summary["name"], summary["title"], manifest, gold, files, summary["has_examples"])
    return store(ready, by=user, reason=summary["reason"], draft=True, must_be_new=not summary["replaces"])


def _folder(user: User, token: str) -> Path:
    """The folder of an upload, which only its sender can name; it is deleted after a day."""
    return Path(settings.FOLDER.uploads, f"organize-{user.pk}-{token}")


def _built(user: User, form: FilesForm, about: Mapping[str, str]) -> tuple[list[str], str]:
    """Keep the files of a form, if it is valid, and build them: the problems, or the token of the preview."""
    if not form.is_valid():
        return [], ""
    token = secrets.token_hex(8)
    folder = _folder(user, token)
    _keep(folder, form)
    given = [name for name in ("name", "title", "reason") if name in form.cleaned_data]
    job: Values = {**about, **{name: form.cleaned_data[name] for name in given}}
    try:
        if not about["replaces"]:
            require_few(user, more=1)
        built = run_build({**job, "folder": str(folder), "choices": form.choices}, account=user.pk)
    except (GraderError, ProblemError, SiteError) as error:
        built = {"problems": [str(error)]}
    result = {**job, **built, "gold": None}
    problems: list[str] = result.get("problems") or _misnamed(result)
    if problems:
        shutil.rmtree(folder)
        return problems, ""
    write_private(folder / "summary.json", json.dumps(result).encode())
    shutil.rmtree(folder / "in")
    remove_all_but_last(folder.parent.glob(f"organize-{user.pk}-*"), "summary.json")
    return [], token


def _misnamed(result: Facts) -> list[str]:
    """Problems of a manifest's name: it is another benchmark's, or not the one that is replaced."""
    name, replaces = result["name"], result["replaces"]
    if not replaces and Benchmark.objects.filter(name=name).exists():
        return [f'The name "{name}" is taken. Choose another in the manifest.']
    wrong = replaces and name != replaces
    return [f'The manifest is of "{name}"; expected name = "{replaces}".'] if wrong else []


def _keep(folder: Path, form: FilesForm) -> None:
    """Write the uploads, unread, for nobody but the site's account."""
    make_private(folder)
    make_private(folder / "in")
    values, home = form.cleaned_data, folder / "in"
    if values["tables"]:
        make_private(home / "tables")
    files = {folder / place: values[name] for name, place in PARTS.items() if values[name]}
    files |= {home / _own_name(file): file for file in values["parents"]}
    files |= {home / "tables" / _own_name(file): file for file in values["tables"]}
    for path, file in files.items():
        with path.open("wb") as target:
            path.chmod(0o600)
            shutil.copyfileobj(file, target)


def _own_name(file: UploadedFile[Any]) -> str:
    """The name that its sender gave it, as a name in one folder."""
    return re.sub(r"[^\w.-]", "_", Path(str(file.name)).name)[-80:].lstrip(".") or "file"
