"""Signing in with a provider in Chromium, under the site's content policy and from a variable of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from browser import MARKS, Tab, axe_finds, shown
from leaderboard.served import Served

pytest.importorskip("jwt", reason="PyJWT is not installed")
from leaderboard import openid

pytestmark = MARKS


def test_a_button_leads_to_the_provider_and_back_to_the_account(chromium: Any, tmp_path: Path) -> None:
    with openid.running() as provider:
        where = urlsplit(provider.address).netloc
        entry = f"http://{openid.CLIENT}:{quote(openid.SECRET)}@{where}?name=ORCID"
        environment = {"GLUEBENCH_SIGN_IN": entry, "PYTHONPATH": os.pathsep.join(sys.path)}
        site = Served(tmp_path / "site", environment=environment)
        try:
            with Tab(chromium, site.url) as tab:
                page = tab.page
                page.goto("/account/login/")
                assert [shown(each) for each in axe_finds(page)] == []
                page.get_by_role("button", name="Sign in with ORCID").click()
                page.get_by_role("heading", name="Sign up with ORCID").wait_for()
                assert [shown(each) for each in axe_finds(page)] == []
                page.get_by_label("Email address").fill("ada@example.org")
                page.get_by_role("button", name="Sign up").click()
                page.get_by_role("heading", name="My submissions").wait_for()
                page.goto("/account/providers/")
                page.get_by_role("button", name="Disconnect ORCID").wait_for()
                assert [shown(each) for each in axe_finds(page)] == []
                assert tab.complaints == []
        finally:
            site.stop()
