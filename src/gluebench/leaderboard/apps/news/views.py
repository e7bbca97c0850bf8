"""Pages of announcements: the public list and its feed, the organizer's, and the mail of an account."""

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, ActModelForm, OrganizerPage
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.pages import account_page, form_page, redirect_with_success
from gluebench.leaderboard.apps.common.text import markdown
from gluebench.leaderboard.apps.news import delivery
from gluebench.leaderboard.apps.news.models import Announcement, MailChoice, MailFrequency, choose, subscriber
from gluebench.leaderboard.apps.ranks.views import in_form
from gluebench.leaderboard.serving.environment import site_address

FEED = 50
"""Newest announcements that the feed has."""


class AnnouncementForm(ActModelForm):
    """An announcement."""

    class Meta:
        model = Announcement
        fields = ["title", "text"]
        help_texts = {"text": "Markdown. Everybody can read it."}


class MailForm(forms.ModelForm):  # type: ignore[type-arg]
    """When an account gets mail."""

    class Meta:
        model = MailChoice
        fields = ["pace", "results"]
        labels = {
            "pace": "Mail about benchmarks that you take part in",
            "results": "Mail when your submission is graded, fails, is graded again, approved or declined",
        }
        widgets = {"pace": forms.RadioSelect, "results": forms.RadioSelect}


@require_safe
def news(request: HttpRequest, name: str, form: str = "") -> HttpResponseBase:
    """The announcements of a benchmark, newest first: a page, or a feed."""
    root = request.build_absolute_uri("/").rstrip("/") if form else ""

    def make(benchmark: Benchmark) -> Any:
        if form:
            return _feed(benchmark, root)
        rows = [(row, markdown(row.text)) for row in benchmark.announcements.all()]
        return {"announcements": rows, "mail_is_sent": settings.MAIL_IS_SENT, "here": "news"}

    return in_form(request, name, form, make, cache_key=f"news {root}", template="news/news.html")


def _feed(benchmark: Benchmark, root: str) -> str:
    page = f"{root}{reverse('news', args=[benchmark.name])}"
    rows = benchmark.announcements.all()[:FEED]
    feed = Atom1Feed(title=f"News of {benchmark.title}", link=page, description=None, feed_url=f"{page}.atom")
    for row in rows:
        feed.add_item(
            title=row.title,
            link=f"{page}#a{row.pk}",
            unique_id=f"{page}#a{row.pk}",
            description=markdown(row.text),
            pubdate=row.at,
            updateddate=row.changed or row.at,
        )
    return feed.writeString("utf-8")


def _announcements_context(row: Announcement, viewer: User) -> Values:
    return {"editing": row.pk, "announcements": delivery.tallies(row.benchmark)}


def _preview(form: Any) -> Values:
    return {"preview": markdown(form.cleaned_data["text"])}


NEWS = OrganizerPage.from_toml(
    "organize-news",
    {"": (delivery.publish, AnnouncementForm)},
    find=lambda request, benchmark: Announcement(
        benchmark=benchmark, site=site_address(settings.RUNNING, settings.FOLDER)
    ),
    context=_announcements_context,
    preview=_preview,
)
ANNOUNCEMENT = OrganizerPage.from_toml(
    "organize-announcement",
    {"": (delivery.change, AnnouncementForm), "take-back": (delivery.take_back, ActForm)},
    find=lambda request, benchmark, pk: get_object_or_404(benchmark.announcements, pk=pk),
    context=_announcements_context,
    preview=_preview,
)


@account_page
def mail(request: SignedInRequest) -> HttpResponse:
    """When one gets mail about benchmarks, and about one's own submissions."""
    choice = MailChoice.objects.filter(user=request.user).first()
    form = MailForm(request.POST or None, instance=choice)
    if form.is_valid():
        choose(
            request.user,
            MailFrequency(form.cleaned_data["pace"]),
            MailFrequency(form.cleaned_data["results"]),
        )
        return redirect_with_success(request, "Your choice holds from now on.", "account-mail")
    return render(request, "news/account.html", {"form": form}, status=422 if form.errors else 200)


@csrf_exempt
@form_page
def unsubscribe(request: HttpRequest, code: str) -> HttpResponse:
    """The page behind the link in a mail; a POST, which mail programs send too, ends the mail."""
    user = subscriber(code)
    if user is not None and request.method == "POST":
        choose(user, MailFrequency.NONE, MailFrequency.NONE)
    context = {"known": user is not None, "ended": request.method == "POST"}
    return render(request, "news/unsubscribe.html", context, status=200 if user else 404)
