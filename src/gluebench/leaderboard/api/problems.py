"""Every refusal of the interface as one JSON form, `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.exceptions import ValidationError as FieldsError
from django.core.signals import got_request_exception
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.utils import timezone
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from gluebench.leaderboard.common.problems import FieldError, ProblemError, invalid, not_found, unauthorized
from gluebench.leaderboard.limits.gate import ClosedError, QuotaError
from gluebench.leaderboard.middleware import DISK_FULL, DISK_FULL_STATUS, log_full_disk
from gluebench.leaderboard.storage import is_full

logger = logging.getLogger(__name__)


def install(api: NinjaAPI) -> None:
    """Answer every exception below an operation by a problem."""
    translations: list[tuple[type[Exception], Any]] = [
        (ProblemError, lambda error: error),
        (ClosedError, lambda error: ProblemError(403, "closed", str(error))),
        (QuotaError, _quota),
        (AuthenticationError, lambda error: unauthorized()),
        (HttpError, lambda error: ProblemError(error.status_code, "request", str(error))),
        (Http404, lambda error: not_found(str(error))),
        (ValidationError, lambda error: invalid(_pydantic(error))),
        (FieldsError, lambda error: invalid(_django(error))),
        (RequestDataTooBig, lambda error: ProblemError(413, "too-large", "The request is too large.")),
        (SuspiciousOperation, lambda error: ProblemError(400, "request", "The request cannot be read.")),
        (MultiPartParserError, lambda error: ProblemError(400, "request", f"Not a readable form: {error}")),
    ]
    for kind, translate in translations:
        api.add_exception_handler(kind, _handler(translate))
    api.add_exception_handler(Exception, _fault)


def _quota(error: QuotaError) -> ProblemError:
    """A limit: what it is, and when the next submission will be taken."""
    wait = max(1, math.ceil((error.next - timezone.now()).total_seconds())) if error.next else None
    headers = {"Retry-After": str(wait)} if wait else None
    return ProblemError(429, "quota", str(error), next=error.next, headers=headers)


def _handler(translate: Any) -> Any:
    return lambda request, error: translate(error).response()


def _fault(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """A fault of the site: into the log, and told without its text."""
    if isinstance(error, Exception) and is_full(error):
        full = ProblemError(DISK_FULL_STATUS, "disk-full", DISK_FULL)
        return log_full_disk(request, full.response())
    got_request_exception.send(sender=None, request=request)
    logger.error("%s %s failed", request.method, request.path, exc_info=True)
    return ProblemError(500, "fault", "The site failed; its log says where. Ask the organiser.").response()


def _pydantic(error: ValidationError) -> list[FieldError]:
    return [FieldError(field=_place(each["loc"]), message=each["msg"]) for each in error.errors]


def _place(location: Sequence[Any]) -> str:
    """The name of a value as its sender knows it: without where it was sent, and the names of the code."""
    names = [str(part) for part in location[1:]]
    return ".".join(name for name in names if name not in ("details", "changes")) or "body"


def _django(error: FieldsError) -> list[FieldError]:
    if not hasattr(error, "error_dict"):
        return [FieldError(field="", message=" ".join(error.messages))]
    return [
        FieldError(field=field, message=message)
        for field, messages in error.message_dict.items()
        for message in messages
    ]
