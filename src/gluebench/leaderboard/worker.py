"""The worker process: takes tasks from the queue, and sweeps up what another worker left behind."""

from __future__ import annotations

import logging
import secrets
import threading
from datetime import timedelta
from types import FrameType

import django

from gluebench.leaderboard.supervisor import watch

POLL_SECONDS = 0.2
TASKS_KEPT = timedelta(days=1)

logger = logging.getLogger(__name__)


def main() -> None:
    """Work until told to stop."""
    django.setup()
    watch()
    from django_tasks_db.management.commands.db_worker import Worker

    from gluebench.leaderboard.submissions.grading import stopping

    class StoppableWorker(Worker):
        """Gives back what it is grading when it is told to stop, instead of finishing it first."""

        def shutdown(self, signum: int, frame: FrameType | None) -> None:
            stopping.set()
            super().shutdown(signum, frame)

    worker = StoppableWorker(
        queue_names=["default"],
        interval=POLL_SECONDS,
        batch=False,
        backend_name="default",
        startup_delay=False,
        max_tasks=None,
        worker_id=secrets.token_hex(16),
        excluded_queue_names=[],
    )
    worker.configure_signals()
    logging.getLogger("django_tasks_db").setLevel(logging.ERROR)
    threading.Thread(target=_sweep_for_ever, args=(stopping,), daemon=True).start()
    worker.run()


def _sweep_for_ever(stopping: threading.Event) -> None:
    from django.db import close_old_connections

    from gluebench.leaderboard.submissions import grading

    while not stopping.is_set():
        close_old_connections()
        sweep_once()
        stopping.wait(grading.SWEEP_SECONDS)


def sweep_once() -> None:
    """What a worker sees to beside its tasks. One that fails is logged, holds up no other and comes again."""
    from gluebench.leaderboard.accounts.chores import do_when_due
    from gluebench.leaderboard.health import beat
    from gluebench.leaderboard.ranks.renewing import look
    from gluebench.leaderboard.submissions.grading import reveal_due, sweep

    for duty in (beat, sweep, reveal_due, look, do_when_due, _forget_tasks):
        try:
            duty()
        except Exception:
            logger.exception("%s failed; it is tried again soon.", duty.__name__)


def _forget_tasks() -> None:
    from django.utils import timezone
    from django_tasks_db.models import DBTaskResult

    DBTaskResult.objects.finished().filter(finished_at__lt=timezone.now() - TASKS_KEPT).delete()


if __name__ == "__main__":
    main()
