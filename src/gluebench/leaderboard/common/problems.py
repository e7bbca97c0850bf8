"""A refusal as an answer for programs, `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus

from django.http import HttpResponse
from ninja import Schema
from pydantic import AwareDatetime

JSON = "application/problem+json"
BEARER = 'Bearer realm="gluebench"'


class FieldError(Schema):
    """What is wrong with one value that was sent."""

    field: str
    message: str


class Problem(Schema):
    """Why a request was refused. `type` is for programs, `detail` for people."""

    type: str
    """ "urn:gluebench:" and a word: "quota", "rate", "retry-key", "field" and so on."""
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []
    next: AwareDatetime | None = None
    """When the same request will be taken, where that is known."""


class ProblemError(Exception):
    """A refusal, raised anywhere below an operation."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        next: datetime | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.errors = errors
        self.next = next
        self.headers = headers or {}

    def response(self) -> HttpResponse:
        """It as an answer."""
        body = {
            "type": f"urn:gluebench:{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "errors": [error.dict() for error in self.errors],
            "next": self.next.isoformat() if self.next else None,
        }
        return HttpResponse(json.dumps(body), status=self.status, content_type=JSON, headers=self.headers)


def unauthorized(detail: str = "") -> ProblemError:
    """Nobody is signed in."""
    detail = (
        detail or "Send a token of yours as `Authorization: Bearer gluebench_...`; /account/tokens makes one."
    )
    return ProblemError(401, "sign-in", detail, headers={"WWW-Authenticate": BEARER})


def not_found(detail: str) -> ProblemError:
    """It is not there, or not for this caller to know of."""
    return ProblemError(404, "not-found", detail or "There is nothing at this address.")


def invalid(errors: Sequence[FieldError]) -> ProblemError:
    """Values that cannot be taken, all of them."""
    texts = (f"{error.field}: {error.message}" if error.field else error.message for error in errors)
    return ProblemError(422, "field", "; ".join(texts), errors=errors)
