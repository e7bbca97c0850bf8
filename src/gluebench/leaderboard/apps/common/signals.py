"""Signals by which an app calls apps that depend on it.

An app sends a signal from here, and others connect in their `models.py` or `apps.py`. An
exception of a receiver stops the sender, so that a transaction around it is rolled back.
"""

from django.dispatch import Signal

benchmark_changed = Signal()
"""A benchmark's labels or manifest changed; `benchmark`, `reason`, and the `act` of the table of acts.

In the transaction of the change."""

benchmark_due = Signal()
"""A moment has come at which a phase of a `benchmark` changes what is shown or graded."""

submissions_changed = Signal()
"""Rows of submissions changed that a board may show; `submissions`, their primary keys, at the end of the
transaction of the change. With `erased`, their names and texts were deleted for good."""

act_begun = Signal()
"""A person begins an act on a `submission`; `by`. Raise ActError to refuse, then nothing changes."""

submission_decided = Signal()
"""An organizer approved a `submission`, or declined it; `approved`. In the transaction of the act."""

registration_decided = Signal()
"""An organizer let a person take part, or refused it; the `registration`. In the transaction of the act."""

team_changed = Signal()
"""People came into `teams` (primary keys) or left them, by the `act` of the table of acts."""

files_deleted = Signal()
"""The files of submissions are deleted; `submissions`, their primary keys. In the same transaction."""

account_exported = Signal()
"""An account is exported; `user` and `archive`, a zip open for writing. Receivers return facts by name."""

account_deleted = Signal()
"""An account is deleted; `user`, whose row is locked. Raise SiteError to refuse, then nothing changes."""

maintenance_due = Signal()
"""Once a day, in a worker: delete what need not be kept."""
