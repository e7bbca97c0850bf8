"""The page of an account's webhooks: add, test, restart and delete them, and read what was sent."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.pages import account_page, redirect_with_error
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.webhooks.acts import add_webhook, delete_webhook, try_webhook
from gluebench.leaderboard.apps.webhooks.models import Delivery, Webhook

MOST = 10
LOG = 30
"""Deliveries that the page lists."""


class WebhookForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new webhook."""

    class Meta:
        model = Webhook
        fields = ["url", "benchmark"]
        labels = {"url": "Address", "benchmark": "Events"}

    def __init__(self, owner: User, data: Any = None) -> None:
        super().__init__(data, instance=Webhook(owner=owner))
        field: Any = self.fields["benchmark"]
        field.empty_label = "Gradings of your own submissions"
        field.queryset = Benchmark.objects.all() if owner.is_superuser else owner.organized.all()
        field.label_from_instance = lambda benchmark: f"All of {benchmark.title}"

    def clean(self) -> dict[str, Any]:
        """Return the fields; raise ValidationError if the account has too many."""
        if self.instance.owner.webhooks.count() >= MOST:
            raise forms.ValidationError(f"You have {MOST} webhooks. Delete one first.")
        return super().clean() or self.cleaned_data


@account_page
def webhooks(request: SignedInRequest, pk: int | None = None) -> HttpResponse:
    """One's webhooks with their log, and a form for a new one, whose secret is shown in this answer alone."""
    if pk is not None:
        return _press(request, get_object_or_404(request.user.webhooks, pk=pk))
    form = WebhookForm(request.user, request.POST or None)
    context: dict[str, Any] = {
        "form": form,
        "log": Delivery.objects.filter(webhook__owner=request.user)[:LOG],
    }
    if form.is_valid():
        context |= {"secret": add_webhook(form.instance), "form": WebhookForm(request.user)}
    context["webhooks"] = request.user.webhooks.select_related("benchmark")
    return render(request, "webhooks/webhooks.html", context, status=422 if form.errors else 200)


def _press(request: SignedInRequest, webhook: Webhook) -> HttpResponse:
    """Do what a button of one webhook says."""
    if request.method == "POST" and request.POST.get("action") == "delete":
        delete_webhook(webhook)
    elif request.method == "POST":
        try:
            try_webhook(webhook)
        except ActError as error:
            return redirect_with_error(request, str(error), "webhooks")
    return redirect("webhooks")
