"""The Data page: a benchmark's files to download, as a page, as JSON, as Croissant, and each by itself."""

import hashlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.core.files.base import ContentFile, File
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from gluebench.benchmark import Task
from gluebench.leaderboard.apps.benchmarks.contents import SAMPLE, fetchable_tasks
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, find_version
from gluebench.leaderboard.apps.boards.exports import croissant_json
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.page_cache import as_download
from gluebench.leaderboard.apps.phases.models import PhaseFile, whole
from gluebench.leaderboard.apps.phases.wording import describe_phases
from gluebench.leaderboard.apps.ranks.views import in_form

MANIFEST = "manifest.toml"
EXAMPLES = 3
"""Examples that a page shows of a task."""
LOOKED_AT = 200
"""Rows among which these are chosen."""
MOST_ZIPPED = 2 * 1024**3
"""Bytes of files that one zip has at most; a command fetches larger data, and can go on after a break."""
CHUNK = 256 * 1024
"""Bytes that are read of a file at a time."""
_REST = re.compile(r"bytes=(\d{1,18})-")


@require_safe
def data(request: HttpRequest, name: str, form: str = "") -> HttpResponseBase:
    """The Data page: the files of a benchmark to download, task by task."""
    address = request.build_absolute_uri(reverse("board", args=[name]))
    make: Callable[[Benchmark], Values] = partial(_data_context, address=address)
    if form:
        make = _data_json
    return in_form(request, name, form, make, cache_key=f"data {address}", template="boards/data.html")


@require_safe
def croissant(request: HttpRequest, name: str) -> HttpResponseBase:
    """The files of the Data page as Croissant, for catalogs of data sets."""
    address = request.build_absolute_uri(reverse("board", args=[name]))
    make = partial(croissant_json, address=address)
    return in_form(request, name, "json", make, cache_key=f"croissant {address}")


@require_safe
def data_file(request: HttpRequest, name: str, path: str) -> HttpResponseBase:
    """One file of the Data page, whole or from a byte on."""
    return send_data_file(request, find_version(name, request.user).benchmark(), path, request.user)


def send_data_file(request: HttpRequest, benchmark: Benchmark, path: str, user: Any) -> HttpResponseBase:
    """A file of the Data page as this person sees it. Raises Http404."""
    texts = _manifests(benchmark)
    content: File[bytes]
    if path in texts:
        content = ContentFile(texts[path])
        digest = hashlib.sha256(texts[path]).hexdigest()
    else:
        file = benchmark.data_files.filter(path=path).first() or _of_phase(benchmark, path, user)
        if file is None:
            raise Http404(f"The Data page of {benchmark.name} has no file {path}.")
        content = storages["data"].open(file.file)
        digest = file.sha256
    etag = f'"{digest}"'
    return get_conditional_response(request, etag=etag) or _file_response(request, content, path, etag=etag)


@require_safe
def data_zip(request: HttpRequest, name: str) -> HttpResponseBase:
    """All files of the Data page as one zip."""
    benchmark = whole(find_version(name, request.user).benchmark())
    files = files_of(benchmark)
    if size_of(files) > MOST_ZIPPED:
        raise Http404(f"The files are too large for one zip: gluebench data get {name} fetches them.")
    response = StreamingHttpResponse(_zip_pieces(benchmark, files), content_type="application/zip")
    return as_download(response, f"{name}-data.zip")


def size_of(files: Sequence[Values]) -> int:
    """The bytes of these files."""
    return sum(file["size"] for file in files)


class _Pieces(io.RawIOBase):
    """What a zip is written to; what was written is taken away piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def drain(self) -> bytes:
        """All that was written since the last time."""
        piece = b"".join(self._pieces)
        self._pieces.clear()
        return piece


def _zip_pieces(benchmark: Benchmark, files: Sequence[Values]) -> Iterator[bytes]:
    texts = _manifests(benchmark)
    stored = dict(benchmark.data_files.values_list("path", "file"))
    stored |= dict(benchmark.phase_files.values_list("path", "file"))
    pieces = _Pieces()
    with ZipFile(pieces, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for file in files:
            path = file["path"]
            entry = ZipInfo(f"{benchmark.name}-data/{path}")
            entry.compress_type = ZIP_DEFLATED
            entry.file_size = file["size"]  # tells which form of zip it needs
            content: File[bytes]
            if path in texts:
                content = ContentFile(texts[path])
            else:
                content = storages["data"].open(stored[path])
            with content, archive.open(entry, "w") as target:
                while chunk := content.read(CHUNK):
                    target.write(chunk)
                    yield pieces.drain()
    yield pieces.drain()


def _of_phase(benchmark: Benchmark, path: str, user: Any) -> PhaseFile | None:
    """A file of a phase; before its release for organizers alone, as if it were not there."""
    file = benchmark.phase_files.select_related("phase").filter(path=path).first()
    if file is None or file.is_released() or benchmark.has_organizer(user):
        return file
    return None


def _file_response(request: HttpRequest, content: File[bytes], path: str, *, etag: str) -> HttpResponseBase:
    """Return the whole file, or the part from a byte on that a request for the same content asks for."""
    kind = "text/plain; charset=utf-8"
    if path.endswith(".zip"):
        kind = "application/zip"
    size = content.size
    start = 0
    rest = _REST.fullmatch(request.headers.get("Range", ""))
    if rest and request.headers.get("If-Range", etag) == etag:
        start = int(rest[1])
    if start >= size:  # there is no such part: the whole file is the answer
        start = 0

    content.seek(start)
    response = FileResponse(content, as_attachment=True, filename=path.replace("/", "-"), content_type=kind)
    if start > 0:
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
    response["ETag"] = etag
    response["Accept-Ranges"] = "bytes"
    return response


def files_of(benchmark: Benchmark) -> list[Values]:
    """The files of the Data page, in its order: of phases, those that are released."""
    no_task = {"path": "", "task": "", "split": "", "rows": 0, "phase": None}
    files: list[Values] = []
    for path, text in _manifests(benchmark).items():
        facts = {"path": path, "size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        files.append(no_task | facts)
    for file in benchmark.data_files.values("path", "task", "split", "rows", "size", "sha256"):
        files.append({**file, "phase": None})
    for row in benchmark.phase_files.select_related("phase"):
        if row.is_released():
            facts = {"path": row.path, "size": row.size, "sha256": row.sha256, "phase": row.phase.name}
            files.append(no_task | facts)
    for values in files:
        values["url"] = reverse("data-file", args=[benchmark.name, values["path"]])
    return files


def coming_files(benchmark: Benchmark) -> list[Values]:
    """The files of phases that are not released yet: only their names, and when they come."""
    phases = [line["phase"].pk for line in describe_phases(benchmark)]
    files = []
    for row in benchmark.phase_files.select_related("phase").filter(phase__in=phases):
        if not row.is_released():
            file: Values = {"path": row.path, "phase": row.phase.name}
            files.append(file | {"released": row.due, "when": row.release_text})
    return files


def data_elsewhere(benchmark: Benchmark) -> list[Values]:
    """The phases that use another benchmark's tasks, with that one's name, title and Data page."""
    lines = []
    for line in describe_phases(benchmark):
        owner = line["phase"].tasks_of
        if owner is not None:
            url = reverse("data", args=[owner.name])
            lines.append(
                {"phase": line["phase"].name, "benchmark": owner.name, "title": owner.title, "url": url}
            )
    return lines


def _manifests(benchmark: Benchmark) -> dict[str, bytes]:
    """The manifest as the organizer gave it, and the files that it extends."""
    parents = {f"parent-{at}.toml": text.encode() for at, text in enumerate(benchmark.parents, start=1)}
    return {MANIFEST: benchmark.manifest.encode(), **parents}


def _data_json(benchmark: Benchmark) -> Values:
    benchmark = whole(benchmark)
    linked = fetchable_tasks(benchmark.record)
    sources = []
    for task in benchmark.record.tasks:
        is_linked = task.name in linked
        sources.append({"task": task.name, "published_elsewhere": is_linked, **task.source._asdict()})
    return {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "url": benchmark.get_absolute_url(),
        "files": files_of(benchmark),
        "coming": coming_files(benchmark),
        "elsewhere": data_elsewhere(benchmark),
        "sources": sources,
    }


def _data_context(benchmark: Benchmark, address: str) -> Values:
    benchmark = whole(benchmark)
    record = benchmark.record
    linked = fetchable_tasks(record)
    files = files_of(benchmark)
    files_of_task: dict[str, list[Values]] = {}
    for file in files:
        files_of_task.setdefault(file["task"], []).append(file)

    tasks = record.tasks + record.auxiliary
    lines = []
    previews = []
    for task in tasks:
        lines.append((task, files_of_task.get(task.name, []), linked.get(task.name)))
        examples = examples_of(benchmark, task)
        if examples is not None:
            previews.append((task, examples))

    # What all tasks have in common is said once.
    licenses = {(task.source.license, task.source.url) for task in tasks}
    corpora = {task.source.corpus for task in tasks}
    one_license = None
    one_corpus = ""
    if len(licenses) == 1:
        one_license = tasks[0].source
        if len(tasks) > 1 and len(corpora) == 1:
            one_corpus = one_license.corpus
    size = size_of(files)
    return {
        "all_files": {"size": size, "number": len(files)} if size <= MOST_ZIPPED else None,
        "one_license": one_license,
        "one_corpus": one_corpus,
        "previews": previews,
        "general": [file for file in files if not file["task"] and not file["phase"]],
        "of_phases": [file for file in files if file["phase"]],
        "coming": coming_files(benchmark),
        "elsewhere": data_elsewhere(benchmark),
        "sample": any(file["path"] == SAMPLE for file in files),
        "tasks": lines,
        "published": any(file["task"] for file in files),
        "linked": sorted(set(linked.values())),
        "address": address,
        "named": benchmark.command_line_name(address),
        "here": "data",
    }


def examples_of(benchmark: Benchmark, task: Task) -> dict[str, Any] | None:
    """Published labeled examples, one of each label first; None if there are none."""
    tests = {file.splits["test"].name for file in task.files if "test" in file.splits}
    for file in benchmark.data_files.filter(task=task.name).exclude(split__in=tests):
        with storages["data"].open(file.file) as opened:
            lines = islice(iter(opened.readline, b""), LOOKED_AT + 1)
            header, *rows = [line.decode().rstrip("\n").split("\t") for line in lines]
        if header[-1] == "label":
            labels = set()
            firsts = []
            others = []
            for row in rows:
                if row[-1] in labels:
                    others.append(row[1:])
                else:
                    labels.add(row[-1])
                    firsts.append(row[1:])
            examples = (firsts + others)[:EXAMPLES]
            return {"split": file.split, "columns": header[1:], "rows": examples}
    return None
