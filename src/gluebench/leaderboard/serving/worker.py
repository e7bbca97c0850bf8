"""The worker process: takes tasks from the queue, and runs maintenance tasks beside them."""

import logging
import secrets
import threading
from types import FrameType

import django

from gluebench.leaderboard.serving.supervisor import watch

POLL_SECONDS = 0.2


def main() -> None:
    """Run tasks until a signal stops the worker."""
    django.setup()
    watch()
    from django_tasks_db.management.commands.db_worker import Worker

    from gluebench.leaderboard.apps.submissions.grading import stopping

    class StoppableWorker(Worker):
        """Puts the submission that it is grading back in the queue on a signal, instead of finishing it."""

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
    for name in ("run_all", "send_all", "copy_all"):
        threading.Thread(target=_maintain, args=(stopping, name), daemon=True).start()
    worker.run()


def _maintain(stopping: threading.Event, name: str) -> None:
    from django.conf import settings
    from django.db import close_old_connections
    from django.urls import set_script_prefix

    from gluebench.leaderboard.apps.submissions.grading import SWEEP_SECONDS
    from gluebench.leaderboard.serving import maintenance

    set_script_prefix(f"{settings.RUNNING.path}/")  # Django keeps it by thread
    while not stopping.is_set():
        close_old_connections()
        getattr(maintenance, name)()
        stopping.wait(SWEEP_SECONDS)


if __name__ == "__main__":
    main()
