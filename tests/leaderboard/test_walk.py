"""The walk of an upload in ARCHITECTURE.md is what a site does with one."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from leaderboard.test_submitting import DETAILS
from walks import expect_walk

from gluebench.leaderboard.apps.submissions.grading import grade
from gluebench.leaderboard.apps.submissions.models import Submission


def test_the_walk_of_an_upload(owner: Client, tiny: Any, good_zip: bytes) -> None:
    def send_and_grade() -> None:
        upload = SimpleUploadedFile("mine.zip", good_zip)
        owner.post("/benchmarks/tiny/submit", {**DETAILS, "action": "submit", "upload": upload})
        grade(Submission.objects.get().pk)

    expect_walk("Take an upload", send_and_grade)
