"""The page that shows the interface and lets one try it, from files of this site alone."""

from __future__ import annotations

from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger
from ninja.openapi.docs import render_template as render

# The small pictures of its style sheet are written into it.
with_pictures = csp_update({"img-src": ["data:"]})


class Page(Swagger):
    """Swagger's page with a language, a heading and the way back."""

    template = "api/docs.html"

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """The page; a session's calls carry its CSRF token."""
        context = {"openapi_url": self.get_openapi_url(api, kwargs), "api": api}
        return render(request, self.template, self.template_cdn, context)
