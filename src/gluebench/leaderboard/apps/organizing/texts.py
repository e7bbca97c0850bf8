"""Texts and looks of a benchmark, and the texts of the site: editors with a preview, and pages."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.files.storage import storages
from django.db import transaction
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.adding import keep_public
from gluebench.leaderboard.apps.benchmarks.models import SECTIONS, Benchmark, find_version
from gluebench.leaderboard.apps.benchmarks.organizer_pages import OrganizerPage
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.page_cache import serve_from_cache
from gluebench.leaderboard.apps.common.pages import account_page, redirect_with_success
from gluebench.leaderboard.apps.common.text import markdown
from gluebench.leaderboard.apps.limits.models import SiteText, site_text
from gluebench.leaderboard.apps.organizing.forms import LooksForm, SiteTextForm, TextsForm
from gluebench.leaderboard.apps.ranks.views import in_form
from gluebench.leaderboard.keeping.folder import TEXTS


def save_texts(benchmark: Benchmark, actor: User, *, title: str, **texts: str) -> str:
    """Store the title and the texts that are not empty."""
    return _save(benchmark, actor, "texts", title=title, texts=_without_empty(texts))


def save_looks(
    benchmark: Benchmark, actor: User, *, logo: tuple[bytes, str] | None, without_logo: bool, **looks: Any
) -> str:
    """Store the looks; a logo that is not sent stays, unless it is to go. `logo`: bytes and content type."""
    if logo is not None:
        data, kind = logo
        looks["logo"] = {"file": keep_public(benchmark.name, data), "type": kind}
    elif not without_logo:
        looks["logo"] = benchmark.looks.get("logo")
    return _save(benchmark, actor, "looks", looks=_without_empty(looks))


def _sections(form: TextsForm) -> dict[str, Any]:
    texts = form.cleaned_data
    shown = []
    for name, title in SECTIONS.items():
        if texts[name]:
            shown.append((title, texts[name]))
    return {"shown": shown}


TEXT_PAGE = OrganizerPage.from_toml("organize-texts", {"": (save_texts, TextsForm)}, preview=_sections)
LOOKS_PAGE = OrganizerPage.from_toml("organize-looks", {"": (save_looks, LooksForm)})


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _save(benchmark: Benchmark, actor: User, action: str, **values: Any) -> str:
    """Write the columns, and to the log which of their parts changed."""
    with transaction.atomic():
        row = Benchmark.objects.lock(benchmark.pk)
        before = _flat({name: getattr(row, name) for name in values})
        after = _flat(values)
        changed = sorted(key for key in before.keys() | after if before.get(key) != after.get(key))
        if changed:
            Benchmark.objects.filter(pk=row.pk).touch(**values)
            seals = seals_of_parts(row, *values)
            record(action, actor=actor, benchmark=row, changed=", ".join(changed), sealed=seals)
    return "Saved." if changed else "Nothing was changed."


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """The values of columns, with the parts of those that are dictionaries by the parts' names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= value
        else:
            flat[name] = value
    return flat


@require_safe
def about_section(request: HttpRequest, name: str, section: str) -> HttpResponseBase:
    """One of a benchmark's texts."""
    benchmark = find_version(name, request.user).benchmark()
    if section not in SECTIONS or section not in benchmark.texts:
        raise Http404(f"{name} has no such text.")
    return in_form(
        request,
        benchmark,
        "",
        lambda row: {"title": SECTIONS[section], "text": row.texts[section], "at": section},
        cache_key=f"about {section}",
        template="organize/about.html",
    )


@require_safe
def logo(request: HttpRequest, name: str) -> HttpResponseBase:
    """The logo, of a type that was checked when it was sent."""
    own = find_version(name, request.user).benchmark().looks.get("logo")
    if own is None:
        raise Http404(f"{name} has no logo.")
    return FileResponse(storages["data"].open(own["file"]), content_type=own["type"])


@require_safe
def style(request: HttpRequest, name: str) -> HttpResponseBase:
    """The accent colors as a style sheet, since none is allowed within a page."""
    source = find_version(name, request.user)

    def make() -> str:
        own = source.benchmark().looks
        light = own.get("accent", "#0a655c")
        dark = own.get("accent_dark", "#74cdc0")
        return f":root {{ --accent: light-dark({light}, {dark}); }}\n"

    return serve_from_cache(
        request, name=f"style {name}", version=source.version, make=make, content_type="text/css"
    )


@require_safe
def site_page(request: HttpRequest, name: str) -> HttpResponseBase:
    """Terms or privacy."""
    text = site_text(name)
    is_default = text == (TEXTS / f"{name}.md").read_text(encoding="utf-8")
    title, _, rest = text.partition("\n")
    context = {"title": title.lstrip("# "), "html": markdown(rest, demoted=0), "here": name}
    return render(request, "accounts/page.html", {**context, "name": name, "is_default": is_default})


@account_page
def site_edit(request: SignedInRequest, name: str) -> HttpResponse:
    """The editor of terms or privacy, for admins."""
    if not request.user.is_superuser:
        raise PermissionDenied
    form = SiteTextForm(request.POST or None, initial={"text": site_text(name)})
    shown = ""
    if request.method == "POST" and form.is_valid():
        shown = form.cleaned_data["text"]
        if request.POST.get("act") == "save":
            with transaction.atomic():
                SiteText.objects.update_or_create(name=name, defaults={"text": shown})
                record("site text", actor=request.user, page=name)
            return redirect_with_success(request, "Saved.", name)
    context = {"form": form, "shown": [("", shown)] if shown else [], "name": name}
    return render(request, "organize/site.html", context, status=422 if form.errors else 200)
