"""The JSON Schema of policy files, for docs/reference: `python -m docs.tools.policy_schema`."""

from __future__ import annotations

import json
import os

import django


def text() -> str:
    """The schema as a file."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
    django.setup()
    from gluebench.leaderboard.apps.limits.policy_schema import policy_schema

    return json.dumps(policy_schema(), indent=2, ensure_ascii=False)


if __name__ == "__main__":
    print(text())
