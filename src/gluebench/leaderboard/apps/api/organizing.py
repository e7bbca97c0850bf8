"""Acts of organizers for programs: each is a page's own, with a JSON object or a form.

So roles, checks, throttles and the log are the page's. Only a token with the scope "organize" may do this: a
session does it on the page, which asks for the CSRF token.
"""

import re
from typing import Annotated, Any

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Path, Router
from ninja.utils import contribute_operation_args
from pydantic import BeforeValidator, TypeAdapter, ValidationError

from gluebench.leaderboard.apps.accounts.models import Scope
from gluebench.leaderboard.apps.api import schemas
from gluebench.leaderboard.apps.api.callers import BearerToken, user_with
from gluebench.leaderboard.apps.benchmarks.organizer_pages import OrganizerPage, benchmark_for_organizer
from gluebench.leaderboard.apps.common.inputs import FilesField
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.problems import FieldError, ProblemError, invalid
from gluebench.leaderboard.apps.limits import views as limits
from gluebench.leaderboard.apps.news import views as news
from gluebench.leaderboard.apps.organizing import copies, creating, texts
from gluebench.leaderboard.apps.organizing import views as organizing
from gluebench.leaderboard.apps.participants import pages as participants
from gluebench.leaderboard.apps.results.views import RESULTS
from gluebench.leaderboard.apps.submissions import views as submissions
from gluebench.leaderboard.apps.submissions.forms import FilterForm

router = Router(tags=["Organizing"], auth=[BearerToken()])
NOT_VALUES = "Expected a JSON object of texts, numbers, true, false and null, or a form."
KINDS = {forms.BooleanField: "boolean", forms.FloatField: "number", forms.IntegerField: "integer"}
"""Types of fields in the OpenAPI document; a float's is also an integer's. Others are texts."""
PAGES = (
    creating.NEW,
    creating.PREVIEW,
    creating.REPLACE,
    organizing.SETUP,
    organizing.DUPLICATE,
    organizing.DRY_RUN,
    organizing.OPENING,
    texts.TEXT_PAGE,
    texts.LOOKS_PAGE,
    limits.POLICY,
    limits.EXCEPTIONS,
    limits.EXCEPTION,
    limits.PHASES,
    limits.PHASE,
    limits.PHASE_FILES,
    limits.PHASE_FILE,
    participants.PARTICIPANTS,
    participants.PARTICIPANT,
    participants.INVITATION,
    news.NEWS,
    news.ANNOUNCEMENT,
    organizing.ROLES,
    submissions.REGRADE,
    submissions.ONE,
    RESULTS,
    copies.COPY,
)
"""The pages with acts."""


def _run(request: HttpRequest, page: OrganizerPage, button: str, address: Values) -> HttpResponse:
    """Show the present values, or do the act with what was sent. Raises ProblemError."""
    user = user_with(request, Scope.ORGANIZE)
    act = page.acts[button]
    if request.method == "GET":
        row = page.find_target(request, **address)
        present: Values = {}
        if act.reads:
            shown = page.context(row, user)
            present = {name: shown[name] for name in act.reads.split()}
        return JsonResponse({"fields": _present_values(act.form(row)), **present})
    files = request.FILES  # before what else was sent: reading the files reads the form
    sent = _read_values(request)
    row = page.find_target(request, act, **address)
    form = act.form(row)
    file_names = {name for name, field in form.fields.items() if isinstance(field, forms.FileField)}
    unknown = [name for name in sent if name not in form.fields or name in file_names]
    unknown += [name for name in files if name not in file_names]
    if unknown:
        raise invalid([FieldError(field=name, message="There is no such field.") for name in unknown])
    form = act.form(row, {**_present_values(form), **sent}, files)
    return JsonResponse(page.press(request, act, form, address)._asdict())


def _read_values(request: HttpRequest) -> dict[str, str]:
    if request.content_type != "application/json":
        return {name: str(value) for name, value in request.POST.items()}
    try:
        return VALUES.validate_json(request.body or b"{}")
    except ValidationError:
        raise ProblemError(400, "request", NOT_VALUES) from None


def _form_text(value: Any) -> Any:
    """A number, true, false or null as a browser's form would send it."""
    if isinstance(value, bool | float | int):
        return str(value).lower()
    return "" if value is None else value


VALUES = TypeAdapter(dict[str, Annotated[str, BeforeValidator(_form_text)]])


def _present_values(form: forms.BaseForm) -> dict[str, str]:
    """The values of a form as a browser would send them."""
    values = {}
    for name, field in form.fields.items():
        if not isinstance(field, forms.FileField):
            value = form[name].value()
            if not isinstance(value, bool):
                value = field.widget.format_value(value)
            if isinstance(value, list):
                value = value[0]
            values[name] = _form_text(value)
    return values


def _body(form: forms.BaseForm) -> Values:
    """What the OpenAPI document says of a form."""
    fields = {name: _shape(field) for name, field in form.fields.items()}
    schema = {"type": "object", "properties": fields, "additionalProperties": False}
    kinds = ["multipart/form-data"]
    if not form.is_multipart():
        kinds.insert(0, "application/json")
    return {"requestBody": {"content": {kind: {"schema": schema} for kind in kinds}}}


def _shape(field: Any) -> Values:
    shape: Values = {"type": next((KINDS[of] for of in KINDS if isinstance(field, of)), "string")}
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        if choices:  # others depend on the benchmark
            shape["enum"] = [value for value, _ in choices]
    if isinstance(field, forms.FileField):
        shape["format"] = "binary"
    if isinstance(field, FilesField):
        shape = {"type": "array", "items": shape}
    return {**shape, "title": field.label or "", "description": field.help_text}


def _register(address: str, method: str, run: Any, shape: Any, does: str, **extra: Any) -> None:
    """Register an operation, whose parameters are those of its address below the API, in Django's words."""

    def operation(request: HttpRequest, **parameters: Any) -> Any:
        return run(request, parameters)

    kinds = {"slug": str, "int": int}
    for kind, name in re.findall(r"<(\w+):(\w+)>", address):
        contribute_operation_args(operation, name, kinds[kind], Path(...))  # type: ignore[type-arg]
    below = address.partition("organize")[2] if address.startswith("benchmarks") else f"/{address}"
    identity = re.sub(r"\W+", "_", f"{method.lower()}_organize{below}").strip("_")
    path = "/" + address.replace("<", "{").replace(">", "}")
    response = schemas.answers(shape, 400, 403, 404, 409, 413, 422)
    router.add_api_operation(
        path,
        [method],
        operation,
        response=response,
        operation_id=identity,
        summary=does,
        openapi_extra=extra,
    )


def _submissions_csv(request: HttpRequest, address: Values) -> HttpResponse:
    user = user_with(request, Scope.ORGANIZE)
    return submissions.csv_response(request, benchmark_for_organizer(user, address["name"], reviewers=True))


def _participants_csv(request: HttpRequest, address: Values) -> HttpResponse:
    user = user_with(request, Scope.ORGANIZE)
    return participants.csv_response(request, benchmark_for_organizer(user, address["name"]))


def _frozen_copy(request: HttpRequest, address: Values) -> Any:
    return copies.copy_response(
        request, benchmark_for_organizer(user_with(request, Scope.ORGANIZE), address["name"])
    )


def _register_page(page: OrganizerPage) -> None:
    for button, act in page.acts.items():

        def run(request: HttpRequest, parameters: Values, button: str = button) -> HttpResponse:
            return _run(request, page, button, parameters)

        address = f"{page.address}/{button}".removesuffix("/")
        _register(address, "POST", run, schemas.ActionResult, act.does, **_body(act.form(None)))
        if act.reads is not None:
            _register(address, "GET", run, schemas.ExtensibleSchema, act.does)


_FILTERS = [
    {"in": "query", "name": name, "schema": _shape(field), "required": False}
    for name, field in FilterForm.base_fields.items()
]
_HERE = "benchmarks/<slug:name>/organize"
_LIST = "All submissions, narrowed as on the page."
_FILE = "The frozen copy; while another is made, the earlier one."
_register(f"{_HERE}/submissions.csv", "GET", _submissions_csv, None, _LIST, parameters=_FILTERS)
_register(f"{_HERE}/participants.csv", "GET", _participants_csv, None, "Everybody who takes part.")
_register(f"{_HERE}/copy.zip", "GET", _frozen_copy, None, _FILE)
for _page in PAGES:
    _register_page(_page)
