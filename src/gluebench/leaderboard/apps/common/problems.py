"""Errors for programs as `application/problem+json` (RFC 9457), and limits on their requests."""

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from http import HTTPStatus

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from pydantic import AwareDatetime, BaseModel

from gluebench.benchmark.figures import counted
from gluebench.leaderboard.serving.front import network_of

JSON = "application/problem+json"
BEARER = 'Bearer realm="gluebench"'


class FieldError(BaseModel):
    """What is wrong with one value that was sent."""

    field: str
    message: str


class Problem(BaseModel):
    """Why a request was refused. `type` is for programs, `detail` for people."""

    type: str
    """ "urn:gluebench:" and a word: "quota", "rate", "retry-key", "field" and so on."""
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []
    next: AwareDatetime | None = None
    """When the same request will be taken, where that is known."""


@dataclass(eq=False)
class ProblemError(Exception):
    """A refusal, raised anywhere below an operation; its fields are those of `Problem`."""

    status: int
    kind: str
    detail: str
    _: KW_ONLY
    errors: Sequence[FieldError] = ()
    next: datetime | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail

    def response(self) -> HttpResponse:
        """Return the HTTP response of this refusal."""
        body = {
            "type": f"urn:gluebench:{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "errors": [error.model_dump() for error in self.errors],
            "next": self.next.isoformat() if self.next else None,
        }
        return HttpResponse(json.dumps(body), status=self.status, content_type=JSON, headers=self.headers)

    def mark(self, page: HttpResponse) -> HttpResponse:
        """Give a page that explains this refusal its status and headers."""
        page.status_code = self.status
        for name, value in self.headers.items():
            page[name] = value
        return page


def unauthorized(detail: str = "") -> ProblemError:
    """Return the error of a request without a valid sign-in."""
    usual = f"Send a token of yours as `Authorization: Bearer gluebench_...`; {reverse('tokens')} makes one."
    return ProblemError(401, "sign-in", detail or usual, headers={"WWW-Authenticate": BEARER})


def not_found(detail: str) -> ProblemError:
    """Return the error of something missing, or hidden from this caller."""
    return ProblemError(404, "not-found", detail or "There is nothing at this address.")


def invalid(errors: Sequence[FieldError]) -> ProblemError:
    """Return the error of all values that are not valid."""
    texts = (f"{error.field}: {error.message}" if error.field else error.message for error in errors)
    return ProblemError(422, "field", "; ".join(texts), errors=errors)


MINUTE = 60


def spend(kind: str, whose: str) -> None:
    """Count one request of a kind. Raises ProblemError (429) when the minute's share is used up."""
    most = settings.API_PER_MINUTE[kind]
    minute, second = divmod(time.time(), MINUTE)
    name = f"api:{kind}:{int(minute)}:{hashlib.sha256(whose.encode()).hexdigest()[:32]}"
    counts = caches["rates"]
    counts.add(name, 0, 2 * MINUTE)
    try:
        used = counts.incr(name)
    except ValueError:  # dropped in between, as a full cache does
        return
    if used > most:
        wait = math.ceil(MINUTE - second)
        detail = f"More than {most} requests in a minute. Try again in {counted(wait, 'second')}."
        raise ProblemError(429, "rate", detail, headers={"Retry-After": str(wait)})


def address(request: HttpRequest) -> str:
    """Where a request comes from; the server has already decided whether to believe a proxy."""
    return network_of(str(request.META.get("REMOTE_ADDR", "")))
