from __future__ import annotations

from hypothesis import settings

# A shared machine may stall any single example; how long things take is measured in bench/, not here.
settings.register_profile("gluebench", deadline=None)
settings.load_profile("gluebench")
