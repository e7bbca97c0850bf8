"""The site as a WSGI application, for the bundled server or another."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
application = get_wsgi_application()
