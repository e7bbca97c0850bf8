"""The app's entry in Django."""

from django.apps import AppConfig


class SimilarityConfig(AppConfig):
    """Near-duplicate submissions."""

    name = "gluebench.leaderboard.similarity"
    label = "similarity"

    def ready(self) -> None:
        """Samples of predictions go with the files that they were taken from."""
        from gluebench.leaderboard.common.signals import files_deleted
        from gluebench.leaderboard.similarity.similar import delete_samples

        files_deleted.connect(delete_samples)
