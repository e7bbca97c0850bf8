"""Pages of organizers: what each shows, and the acts on it, which browsers and programs do alike.

An act is a typed function. It takes what it is done to, the person, and the values of its form; it returns a
sentence that says what was done, or raises ProblemError with the reason why not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from gluebench.leaderboard.apps.accounts.models import SignedInRequest
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.parameters import takes
from gluebench.leaderboard.apps.common.problems import FieldError, ProblemError, invalid
from gluebench.leaderboard.apps.common.tables import toml_beside
from gluebench.leaderboard.serving.health import stall_reason

View = Callable[..., HttpResponseBase]
PAGES = toml_beside(__file__)
TABS = toml_beside(__file__, "tabs.toml")
"""Address, title and group of each tab of the organizer's pages."""
BELOW = {"one": "submissions", "replace": "setup"}
"""Pages without a tab of their own, and the tab that leads to them."""


class ActForm(forms.Form):
    """What a person says of an act: made for what it is done to, with what was sent."""

    def __init__(self, row: Any, data: Any = None, files: Any = None, **options: Any) -> None:
        self.row = row
        initial = {} if row is None else self.present(row)
        super().__init__(data, files, initial=initial, **options)

    def present(self, row: Any) -> Values:
        """The values as they are now."""
        return {}

    def arguments(self) -> tuple[Any, Values]:
        """What the act is done to, and the values of the valid form."""
        return self.row, self.cleaned_data


class ActModelForm(forms.ModelForm):  # type: ignore[type-arg]
    """The same for an act that stores the row that it is done to."""

    def __init__(self, row: Any, data: Any = None, files: Any = None, **options: Any) -> None:
        super().__init__(data, files, instance=row, **options)

    def arguments(self) -> tuple[Any, Values]:
        """The row with the values of the valid form, not stored yet."""
        return self.save(commit=False), {}


class ActResult(NamedTuple):
    """What an act did, as a sentence, and the page to go to."""

    message: str
    url: str


@dataclass(frozen=True)
class ActButton:
    """A button of an organizer's page, with an address of its own in the API (`organizer_pages.toml`)."""

    do: Callable[..., str | ActResult]
    form: Callable[..., Any]
    does: str
    shown: str = "form"
    to: str = ""
    reads: str | None = None
    reviewers: bool = False
    """Whether reviewers may do it too."""


@dataclass(frozen=True)
class OrganizerPage:
    """A page with acts by the names of their buttons; a button without a name is pressed for unknown ones."""

    name: str
    path: str
    acts: Mapping[str, ActButton]
    tab: str = ""
    template: str = ""
    find: Callable[..., Any] = lambda request, benchmark: benchmark
    """From the request and the rest of the address, what the acts are done to. Raises Http404."""
    context: Callable[..., Values] = lambda row, viewer, **query: {}
    """From what the acts are done to, the person, and the parameters of the address, what the page shows."""
    preview: Callable[[Any], Values] | None = None
    """From a valid form, what a preview shows more."""
    moved: Callable[[Any], str] = lambda row: ""
    """Where else the page is now."""
    parameters: tuple[str, ...] = ()
    """The parameters of its address."""
    buttons_only: bool = False
    """Whether it has no page of its own, and shows that of its tab where a form is not valid."""
    prefixed: bool = False
    """Whether the fields of each form begin with the name of its button."""

    @classmethod
    def from_toml(
        cls, name: str, acts: Mapping[str, tuple[Callable[..., str | ActResult], Any]], **options: Any
    ) -> OrganizerPage:
        """The page of that name in `organizer_pages.toml`, with the function and the form of each act."""
        facts = {"acts": {}, **PAGES[name]}
        words = facts.pop("acts")
        buttons = {button: ActButton(*acts[button], **words[button]) for button in words}
        return cls(name, acts=buttons, **facts, **options)

    @property
    def address(self) -> str:
        """Its address for Django."""
        if self.path.startswith("/organize/"):  # a page of the site, of no benchmark
            return self.path[1:]
        return f"benchmarks/<slug:name>/organize{self.path}"

    @property
    def view(self) -> View:
        """Its view, for people who are signed in."""
        methods = [] if self.buttons_only else ["GET", "HEAD"]
        if self.acts:
            methods.append("POST")
        return takes(*self.parameters)(login_required(require_http_methods(methods)(self._answer)))

    def find_target(
        self, request: HttpRequest, act: ActButton | None = None, *, name: str = "", **address: Any
    ) -> Any:
        """What an act is done to. Raises PermissionDenied for a person who may not do it, and Http404."""
        acts = list(self.acts.values()) if act is None else [act]
        benchmark = None
        if name:
            reviewers = any(one.reviewers for one in acts)
            benchmark = benchmark_for_organizer(request.user, name, reviewers=reviewers)
        return self.find(request, benchmark, **address)

    def press(self, request: HttpRequest, act: ActButton, form: Any, address: Values) -> ActResult:
        """Do an act. Raises ProblemError for a form that is not valid, and for an act that is refused."""
        insist_on_valid(form)
        row, values = form.arguments()
        done = act.do(row, request.user, **values)
        if isinstance(done, ActResult):
            return done
        if act.to:
            return ActResult(done, reverse(act.to, args=[address["name"]]))
        return ActResult(done, reverse(self.name, kwargs=address))

    def _answer(self, request: SignedInRequest, **address: Any) -> HttpResponse:
        button = request.POST.get("act", "")
        act = None
        if request.method == "POST":
            act = self.acts.get(button) or self.acts.get("")
        row = self.find_target(request, act, **address)
        if act is None:
            moved = self.moved(row)
            return redirect(moved) if moved else self._show(request, row)
        form = act.form(row, request.POST, request.FILES, prefix=self._prefix(button))
        if button == "preview" and self.preview is not None and form.is_valid():
            return self._show(request, row, **{act.shown: form}, **self.preview(form))
        try:
            done = self.press(request, act, form, address)
        except ProblemError as refusal:
            if refusal.errors and act.shown:
                if form.is_valid():
                    form.add_error(None, [error.message for error in refusal.errors])
                return self._show(request, row, **{act.shown: form})
            messages.error(request, str(refusal))
            if act.to:
                return redirect(act.to, address["name"])
            return redirect(request.path)
        if done.message:
            messages.success(request, done.message)
        return redirect(done.url)

    def _prefix(self, button: str) -> str | None:
        return button if self.prefixed else None

    def _show(self, request: SignedInRequest, row: Any, **more: Any) -> HttpResponse:
        context: Values = {}
        for button, act in self.acts.items():
            if act.shown not in {"", *more}:
                context[act.shown] = act.form(row, prefix=self._prefix(button))
        query = {name: request.GET.get(name, "") for name in self.parameters}
        context |= self.context(row, request.user, **query) | more
        if self.tab:
            return render_tab(request, benchmark_of(row), self.tab, context, self.template)
        return render(request, self.template, {"here": "organize", **context}, status=_status(context))


def insist_on_valid(form: Any) -> None:
    """Raise ProblemError with the errors of a form that is not valid."""
    if form.is_valid():
        return
    errors: list[FieldError] = []
    for name, texts in form.errors.items():
        field = "" if name == NON_FIELD_ERRORS else name
        errors += [FieldError(field=field, message=str(text)) for text in texts]
    raise invalid(errors)


@contextmanager
def refusals_shown(request: HttpRequest) -> Iterator[None]:
    """Show the reason of an act that is refused as a message."""
    try:
        yield
    except ProblemError as refusal:
        messages.error(request, str(refusal))


def benchmark_of(row: Any) -> Benchmark:
    """The benchmark that a row is, or belongs to."""
    benchmark: Benchmark = getattr(row, "benchmark", row)
    return benchmark


def benchmark_for_organizer(user: Any, name: str, *, reviewers: bool = False) -> Benchmark:
    """A benchmark, for its organizers, or `reviewers` too. Raises PermissionDenied and Http404."""
    benchmark = get_object_or_404(Benchmark.objects.visible_to(user), name=name)
    allowed = benchmark.has_reviewer if reviewers else benchmark.has_organizer
    if not allowed(user):
        raise PermissionDenied
    return benchmark


def for_organizers(
    methods: Callable[[View], View] = lambda view: view, *, reviewers: bool = False
) -> Callable[[View], View]:
    """Decorator of a page for organizers, which gets the row of the benchmark `name`.

    `methods`: Django's decorator that restricts the HTTP methods. `reviewers`: it is for reviewers too.
    """

    def decorate(view: View) -> View:
        @login_required
        @methods
        @wraps(view)
        def organizer_view(request: HttpRequest, name: str, **options: Any) -> HttpResponseBase:
            return view(request, benchmark_for_organizer(request.user, name, reviewers=reviewers), **options)

        return organizer_view

    return decorate


def render_tab(
    request: HttpRequest, benchmark: Benchmark, tab: str, context: Values, template: str = ""
) -> HttpResponse:
    """A page below a tab of the organizer's pages; its status is 422 if a form has errors.

    `template`: another one than the tab's.
    """
    organizes = benchmark.has_organizer(request.user)
    context |= {"benchmark": benchmark, "here": "organize", "tab": tab, "organizes": organizes}
    context |= {"tab_groups": _tab_groups(tab, all_tabs=organizes)}
    _, tab_title, _ = TABS.get(tab, ("", "", ""))
    context |= {"tab_title": tab_title, "stalled": stall_reason(benchmark)}
    return render(request, template or f"organize/{tab}.html", context, status=_status(context))


def _tab_groups(current: str, *, all_tabs: bool) -> list[Values]:
    """The groups of tabs, with the tabs of each; reviewers have one tab."""
    groups: dict[str, Values] = {}
    _, _, current_group = TABS[BELOW.get(current, current)]
    for name, (address, title, group) in TABS.items():
        if all_tabs or name == "submissions":
            entry = groups.setdefault(group, {"title": group, "tabs": [], "is_open": group == current_group})
            entry["tabs"].append({"name": name, "address": address, "title": title})
    return list(groups.values())


def _status(context: Values) -> int:
    for value in context.values():
        if isinstance(value, forms.BaseForm) and value.errors:
            return 422
    return 200
