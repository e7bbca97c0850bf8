"""Addresses below /account/: the site's own and the library's."""

from __future__ import annotations

from django.urls import include, path

from gluebench.leaderboard.accounts import views

urlpatterns = [
    path("", views.overview, name="account"),
    path("tokens", views.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke", views.revoke, name="token-revoke"),
    path("export", views.data, name="account-export"),
    path("delete", views.delete, name="account-delete"),
    path("two-factor/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
    path("", include("allauth.account.urls")),
]
