"""The page of an account's webhooks: add, test, restart and delete them, and read what was sent."""

import secrets
from datetime import timedelta
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.pages import account_page, redirect_with_error
from gluebench.leaderboard.apps.webhooks.models import Delivery, Event, Webhook

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
        webhook = get_object_or_404(request.user.webhooks, pk=pk)
        if request.method == "POST" and request.POST.get("action") == "delete":
            _log("webhook deleted", webhook)
            webhook.delete()
        elif request.method == "POST":
            minute = timezone.now() - timedelta(minutes=1)
            if webhook.deliveries.filter(event__startswith="test_", created__gt=minute).exists():
                return redirect_with_error(request, "You may test a webhook once a minute.", "webhooks")
            Webhook.objects.filter(pk=pk).update(failures=0)
            webhook.queue([Event("test", secrets.token_hex(8), timezone.now(), {}, webhook.owner_id)])
        return redirect("webhooks")
    form = WebhookForm(request.user, request.POST or None)
    context: dict[str, Any] = {
        "form": form,
        "log": Delivery.objects.filter(webhook__owner=request.user)[:LOG],
    }
    if form.is_valid():
        context |= {"secret": form.save().secret, "form": WebhookForm(request.user)}
        _log("webhook", form.instance)
    context["webhooks"] = request.user.webhooks.select_related("benchmark")
    return render(request, "webhooks/webhooks.html", context, status=422 if form.errors else 200)


def _log(action: str, webhook: Webhook) -> None:
    """Note it in the log, without the address, which may hold a secret."""
    record(action, actor=webhook.owner, benchmark=webhook.benchmark, webhook=webhook.pk)
