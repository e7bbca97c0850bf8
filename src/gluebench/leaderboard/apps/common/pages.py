"""What pages with forms share: who may ask for them, and the answer once something is done or refused."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

View = TypeVar("View", bound=Callable[..., Any])
form_page = require_http_methods(["GET", "HEAD", "POST"])
"""Decorator of a page that shows a form and takes it."""


def account_page(view: View) -> View:
    """Decorate such a page for people who are signed in."""
    return login_required(form_page(view))


def redirect_with_success(request: HttpRequest, message: str, *page: Any) -> HttpResponse:
    """Lead to a page, which shows that an act succeeded; `page` as `redirect` takes it."""
    messages.success(request, message)
    return redirect(*page)


def redirect_with_error(request: HttpRequest, message: str, *page: Any) -> HttpResponse:
    """Lead to a page, which shows why an act was not done."""
    messages.error(request, message)
    return redirect(*page)
