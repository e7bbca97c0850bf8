"""The tutorials: every command runs as it stands, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.tutorial_walks import follow_organizer, follow_student, follow_submitter


def test_the_tutorial_for_students_prints_what_it_shows(home: Path) -> None:
    follow_student(home)


@pytest.mark.slow
def test_the_tutorial_for_organizers_prints_what_it_shows(home: Path) -> None:
    follow_organizer(home)


@pytest.mark.slow
def test_the_tutorial_for_submitters_prints_what_it_shows(home: Path) -> None:
    follow_submitter(home)
