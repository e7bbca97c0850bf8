"""What organizers do in the browser, for programs: each address is its page's own, fed with JSON or a form.

So roles, checks, throttles and the log are the page's. Only a token with the scope "organize" may do this: a
session does it on the page, which asks for the CSRF token.
"""

import re
from collections.abc import Mapping
from copy import copy
from typing import Annotated, Any, NamedTuple

from django import forms
from django.contrib.messages import ERROR, get_messages
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import resolve
from django.utils.datastructures import MultiValueDict
from ninja import Path, Router
from ninja.utils import contribute_operation_args
from pydantic import BeforeValidator, TypeAdapter, ValidationError

from gluebench.leaderboard.accounts.models import Scope
from gluebench.leaderboard.api import schemas
from gluebench.leaderboard.api.callers import BearerToken, user_with
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.problems import FieldError, ProblemError, invalid
from gluebench.leaderboard.limits.forms import OverrideForm, PolicyForm, RemovalForm
from gluebench.leaderboard.limits.phase_forms import ExtensionForm, PhaseForm
from gluebench.leaderboard.news.views import AnnouncementForm
from gluebench.leaderboard.organizing import forms as own
from gluebench.leaderboard.organizing.copies import FrozenForm
from gluebench.leaderboard.phases.models import Phase
from gluebench.leaderboard.results.views import AnnounceForm, TakeBackForm
from gluebench.leaderboard.submissions.forms import FilterForm, ReasonForm
from gluebench.leaderboard.submissions.views import FORMS, forms_of

router = Router(tags=["Organizing"], auth=[BearerToken()])
ROOT = "/benchmarks/{slug:name}/organize"
NOT_VALUES = "Expected a JSON object of texts, numbers, true, false and null, or a form."
KINDS = {forms.BooleanField: "boolean", forms.FloatField: "number", forms.IntegerField: "integer"}
"""Types of fields in the OpenAPI document; a float's is also an integer's. Others are texts."""


class Act(NamedTuple):
    """A button of an organizer's page, whose address is below `ROOT` unless it begins with /organize.

    The address of the act ends in the button's name, which it sends to the page unless it `sends` another.
    GET answers with the fields and what it `reads` of the page's context, unless that is None.
    """

    page: str
    button: str
    does: str
    form: forms.BaseForm = forms.Form()
    sends: Mapping[str, str] = {}
    reads: str | None = None


class AccountForm(forms.Form):
    """The number of an account that has the role."""

    account = forms.IntegerField()


LATER = Phase(pk=0, benchmark=Benchmark(pk=0))
NEW, PHASE, NEWS = "/organize/new/{slug:token}", "/phases/{int:pk}", "/news/{int:pk}"
PUBLISH, TAKE_BACK = {"action": "publish"}, {"action": "take back"}
ACTS = (
    Act("/organize/new", "", "Send the files of a new benchmark; `url` is its preview.", own.NewForm()),
    Act(NEW, "", "Create or replace it as previewed.", sends={"act": "create"}, reads="summary"),
    Act(NEW, "drop", "Delete the files of a preview."),
    Act("/replace", "", "Send files that replace some; `url` is the preview.", own.ReplaceForm()),
    Act("/duplicate", "", "Make a draft that is a copy.", own.CopyForm()),
    Act("/dry-run", "", "Start a dry run."),
    Act("/opening", "open", "Show a draft to everybody."),
    Act("/opening", "draft", "Make it a draft again.", sends={"draft": "1"}),
    Act("/texts", "", "Edit its title and texts.", own.TextsForm(), {"act": "save"}, reads=""),
    Act("/looks", "", "Edit its logo, colors, links and contact.", own.LooksForm(), reads=""),
    Act("/limits", "", "Edit its policy; open or close it.", PolicyForm(Benchmark()), reads=""),
    Act("/limits/exceptions", "", "Add an exception from the policy.", OverrideForm()),
    Act("/limits/exceptions/{int:pk}/remove", "", "Remove an exception.", RemovalForm()),
    Act("/phases", "", "Add a phase.", PhaseForm(instance=LATER), reads=""),
    Act(PHASE, "", "Change a phase.", PhaseForm(instance=LATER), reads=""),
    Act(PHASE, "extend", "Extend a deadline for all, a person or a team.", ExtensionForm(LATER)),
    Act(PHASE, "delete", "Delete a phase.", RemovalForm()),
    Act(PHASE, "settle", "Show the results of a phase although files wait to be graded.", RemovalForm()),
    Act("/news", "", "Publish an announcement.", AnnouncementForm(), PUBLISH),
    Act(NEWS, "", "Change an announcement.", AnnouncementForm(), PUBLISH, reads=""),
    Act(NEWS, "take-back", "Take an announcement back.", sends=TAKE_BACK),
    Act("/roles", "", "Give a person a role.", own.RoleForm(), {"act": "add"}, reads="people"),
    Act("/roles", "remove-organizer", "Remove an organizer.", AccountForm(), {"act": "organizer"}),
    Act("/roles", "remove-reviewer", "Remove a reviewer.", AccountForm(), {"act": "reviewer"}),
    Act("/regrade", "", "Grade all submissions again.", ReasonForm()),
    *(
        Act("/submissions/{slug:key}", name, f"{name.capitalize()} it.", form(), reads="")
        for name, form in FORMS.items()
    ),
    Act("/results", "announce", "Take no more submissions, and make the final results.", AnnounceForm()),
    Act("/results", "take-back", "Remove the final results.", TakeBackForm()),
    Act("/copy", "", "Make a frozen copy.", FrozenForm(), {"act": "make"}, reads=""),
    Act("/copy", "delete", "Delete the frozen copy."),
)


def _run(request: HttpRequest, act: Act) -> HttpResponse:
    """Show the page, or press the button with what was sent. Raises ProblemError."""
    user_with(request, Scope.ORGANIZE)
    files, sent = request.FILES, _sent(request)  # in this order: reading the files would undo another POST
    match, form = resolve(request.path_info.removeprefix("/api/v1").removesuffix(f"/{act.button}")), act.form
    if act.reads is not None:
        look: Any = copy(request)
        look.method, look.POST, look._files = "GET", QueryDict(), MultiValueDict()
        page = match.func(look, **match.kwargs)
        context = getattr(page, "context_data", {})
        form = next((each for each in forms_of(context) if type(each) is type(form)), form)
        if request.method == "GET":
            shown = {name: context[name] for name in act.reads.split()}
            return JsonResponse({"fields": _current(form), **shown}) if context else page
    takes = {name: isinstance(field, forms.FileField) for name, field in form.fields.items()}
    unknown = [name for name in sent if takes.get(name) is not False]
    if unknown := [*unknown, *(name for name in files if not takes.get(name))]:
        raise invalid([FieldError(field=name, message="There is no such field.") for name in unknown])
    post = QueryDict(mutable=True)
    values = {form.add_prefix(name): value for name, value in {**_current(form), **sent}.items()}
    post.update({"act": act.button, **act.sends, **values})
    request.POST = post  # type: ignore[assignment]
    return JsonResponse(_result(request, match.func(request, **match.kwargs)))


def _sent(request: HttpRequest) -> dict[str, str]:
    if request.content_type != "application/json":
        return {name: str(value) for name, value in request.POST.items()}
    try:
        return VALUES.validate_json(request.body or b"{}")
    except ValidationError:
        raise ProblemError(400, "request", NOT_VALUES) from None


def _text(value: Any) -> Any:
    """A number, true, false or null as a browser's form would send it."""
    if isinstance(value, bool | float | int):
        return str(value).lower()
    return "" if value is None else value


VALUES = TypeAdapter(dict[str, Annotated[str, BeforeValidator(_text)]])


def _current(form: forms.BaseForm) -> dict[str, str]:
    """The values of a form as a browser would send them."""
    values = {}
    for name, field in form.fields.items():
        if not isinstance(field, forms.FileField):
            value = form[name].value()
            shown = value if isinstance(value, bool) else field.widget.format_value(value)
            values[name] = _text(shown[0] if isinstance(shown, list) else shown)
    return values


def _result(request: HttpRequest, answer: HttpResponse) -> dict[str, Any]:
    """What was done. Raises ProblemError with the errors that the page shows."""
    notes, context = list(get_messages(request)), getattr(answer, "context_data", {})
    wrong = [*(str(note) for note in notes if note.level >= ERROR), *context.get("problems", ())]
    errors = [FieldError(field="", message=text) for text in wrong]
    for form in forms_of(context):
        for name, texts in form.errors.items():
            field = "" if name == "__all__" else name
            errors += [FieldError(field=field, message=str(text)) for text in texts]
    if errors or answer.status_code != 302:
        raise invalid(errors)
    return {"message": " ".join(map(str, notes)), "url": answer["Location"]}


def _body(form: forms.BaseForm) -> dict[str, Any]:
    """What the OpenAPI document says of a form."""
    fields = {name: _shape(field) for name, field in form.fields.items()}
    schema = {"type": "object", "properties": fields, "additionalProperties": False}
    kinds = ["multipart/form-data"] if form.is_multipart() else ["application/json", "multipart/form-data"]
    return {"requestBody": {"content": {kind: {"schema": schema} for kind in kinds}}}


def _shape(field: Any) -> dict[str, Any]:
    shape: dict[str, Any] = {"type": next((KINDS[of] for of in KINDS if isinstance(field, of)), "string")}
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        shape["enum"] = [value for value, _ in choices]
    if isinstance(field, forms.FileField):
        shape["format"] = "binary"
    shape = {"type": "array", "items": shape} if isinstance(field, own.FilesField) else shape
    return {**shape, "title": field.label or "", "description": field.help_text}


def _register(act: Act, method: str, shape: Any, **options: Any) -> None:
    """Register the operation, whose parameters are those of its address."""

    def operation(request: HttpRequest, **_: Any) -> Any:
        return _run(request, act)

    below = f"{act.page}/{act.button}".removesuffix("/")
    address, kinds = below if below.startswith("/organize/") else ROOT + below, {"slug": str, "int": int}
    for kind, name in re.findall(r"{(\w+):(\w+)}", address):
        contribute_operation_args(operation, name, kinds[kind], Path(...))  # type: ignore[type-arg]
    options["operation_id"] = re.sub(r"\W+", "_", f"{method.lower()}_organize{below}").strip("_")
    response = schemas.answers(shape, 400, 403, 404, 413, 422)
    router.add_api_operation(address, [method], operation, response=response, summary=act.does, **options)


_FILTERS = [
    {"in": "query", "name": name, "schema": _shape(field), "required": False}
    for name, field in FilterForm.base_fields.items()
]
for _file, _does, _parameters in (
    ("/submissions.csv", "All submissions, narrowed as on the page.", _FILTERS),
    ("/copy.zip", "The frozen copy; while another is made, the earlier one.", []),
):
    _register(Act(_file, "", _does, reads=""), "GET", None, openapi_extra={"parameters": _parameters})
for _act in ACTS:
    _register(_act, "POST", schemas.Done, openapi_extra=_body(_act.form))
    if _act.reads is not None:
        _register(_act, "GET", schemas.Open)
