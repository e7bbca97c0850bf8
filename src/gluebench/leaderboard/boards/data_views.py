"""The Data page: what a participant downloads of a benchmark, as a page, as JSON, and the files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.core.files.base import ContentFile, File
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.data_files import SAMPLE, linked_tasks, named_for_commands
from gluebench.leaderboard.benchmarks.models import Benchmark, live
from gluebench.leaderboard.ranks.views import in_form

EXAMPLES = 3
"""Examples that a task's page shows."""
LOOKED_AT = 200
"""Rows among which they are chosen."""
MANIFEST = "manifest.toml"
_REST = re.compile(r"bytes=(\d{1,18})-")


@require_safe
def data(request: HttpRequest, name: str, form: str = "") -> HttpResponse:
    """Everything to download of a benchmark, task by task."""
    address = request.build_absolute_uri(reverse("board", args=[name]))
    return in_form(
        request,
        live(name),
        form,
        _facts if form else partial(_page, address=address),
        what=f"data {address}",
        template="boards/data.html",
    )


@require_safe
def data_file(request: HttpRequest, name: str, path: str) -> HttpResponseBase:
    """One of the files; the rest of it for who has its beginning."""
    benchmark = live(name).benchmark()
    texts = _manifests(benchmark)
    content: File[bytes]
    if path in texts:
        content, digest = ContentFile(texts[path]), hashlib.sha256(texts[path]).hexdigest()
    else:
        file = benchmark.data_files.filter(path=path).first()
        if file is None:
            raise Http404(f"The Data page of {name} has no file {path}.")
        content, digest = storages["data"].open(file.file), file.sha256
    etag = f'"{digest}"'
    return get_conditional_response(request, etag=etag) or _sent(request, content, path, etag=etag)


def _sent(request: HttpRequest, content: File[bytes], path: str, *, etag: str) -> HttpResponseBase:
    """The whole file, or its rest from a byte on if the request asks for that of this content."""
    kind = "application/zip" if path.endswith(".zip") else "text/plain; charset=utf-8"
    size = content.size
    rest = _REST.fullmatch(request.headers.get("Range", ""))
    start = int(rest[1]) if rest and request.headers.get("If-Range", etag) == etag else 0
    content.seek(start if start < size else 0)
    response = FileResponse(content, as_attachment=True, filename=path.replace("/", "-"), content_type=kind)
    if 0 < start < size:
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
    response["ETag"], response["Accept-Ranges"] = etag, "bytes"
    return response


def files_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    """The files of the Data page, in its order."""
    files: list[Any] = [
        {"path": path, "task": "", "split": "", "rows": 0} | _sums(text)
        for path, text in _manifests(benchmark).items()
    ]
    files += benchmark.data_files.values("path", "task", "split", "rows", "size", "sha256")
    return [{**file, "url": reverse("data-file", args=[benchmark.name, file["path"]])} for file in files]


def _manifests(benchmark: Benchmark) -> dict[str, bytes]:
    """The manifest as the organizer gave it, and the files that it extends."""
    parents = {f"parent-{at}.toml": text.encode() for at, text in enumerate(benchmark.parents, start=1)}
    return {MANIFEST: benchmark.manifest.encode(), **parents}


def _sums(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _facts(benchmark: Benchmark) -> dict[str, Any]:
    record, linked = benchmark.record, linked_tasks(benchmark.record)
    sources = [
        {"task": task.name, "published_elsewhere": task.name in linked, **task.source._asdict()}
        for task in record.tasks
    ]
    return {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "url": benchmark.get_absolute_url(),
        "files": files_of(benchmark),
        "sources": sources,
    }


def _page(benchmark: Benchmark, address: str) -> dict[str, Any]:
    files, linked = files_of(benchmark), linked_tasks(benchmark.record)
    record = benchmark.record
    return {
        "general": [file for file in files if not file["task"]],
        "sample": any(file["path"] == SAMPLE for file in files),
        "tasks": [
            (task, [file for file in files if file["task"] == task.name], linked.get(task.name))
            for task in (*record.tasks, *record.auxiliary)
        ],
        "published": any(file["task"] for file in files),
        "linked": sorted(set(linked.values())),
        "address": address,
        "named": named_for_commands(benchmark, address),
        "here": "data",
    }


def task_data(benchmark: Benchmark, task: Task) -> dict[str, Any]:
    """What a task's page shows of its data."""
    return {
        "files": [file for file in files_of(benchmark) if file["task"] == task.name],
        "linked": linked_tasks(benchmark.record).get(task.name),
        "examples": _examples(benchmark, task),
    }


def _examples(benchmark: Benchmark, task: Task) -> dict[str, Any] | None:
    """Published examples with labels, of different labels first; None where there are none."""
    tests = {file.splits["test"].name for file in task.files if "test" in file.splits}
    for file in benchmark.data_files.filter(task=task.name).exclude(split__in=tests):
        with storages["data"].open(file.file) as opened:
            header, *rows = list(_rows(opened))
        if header[-1] == "label":
            first = {row[-1]: row for row in reversed(rows)}.values()
            chosen = [*sorted(first, key=rows.index), *(row for row in rows if row not in first)][:EXAMPLES]
            return {"split": file.split, "columns": header[1:], "rows": [row[1:] for row in chosen]}
    return None


def _rows(opened: Any) -> Iterator[list[str]]:
    """The header and the first rows."""
    for _ in range(LOOKED_AT + 1):
        if line := opened.readline():
            yield line.decode().rstrip("\n").split("\t")
