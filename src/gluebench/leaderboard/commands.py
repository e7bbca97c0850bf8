"""What the command line does with a site. Django is imported inside, when a command needs it."""

from __future__ import annotations

import os
from pathlib import Path

from gluebench.leaderboard import folder as folders
from gluebench.leaderboard.folder import SiteError, SiteFolder

__all__ = ["SiteError", "add", "init", "serve", "submit_local", "submitted_models"]


def init(folder: str | os.PathLike[str]) -> SiteFolder:
    """Make a site in a new or empty folder; one that is there is brought up to date and keeps all it has.

    Raises SiteError if the folder holds something else.
    """
    from gluebench.leaderboard.supervisor import prepare

    site = _site(folder)
    site.create()
    prepare(site)
    return site


def add(
    folder: str | os.PathLike[str], manifest_name_or_path: str, gold_folder: str | os.PathLike[str]
) -> str:
    """Take a benchmark into a site, with a copy of its labels that only the grader opens; returns its name.

    The same again changes nothing. Another manifest or other labels under the same name replace them, and
    every submission is graded anew. Raises SiteError, ManifestError, or scoring's error about the labels.
    """
    _open(folder)
    from gluebench.leaderboard.benchmarks.adding import add_benchmark

    return add_benchmark(manifest_name_or_path, Path(gold_folder))


def serve(
    folder: str | os.PathLike[str], *, host: str = "127.0.0.1", port: int = 8000, open: bool = False
) -> None:
    """Run a site until SIGINT or SIGTERM; prints its address when it answers. Raises SiteError."""
    from gluebench.leaderboard.supervisor import Address, listen, prepare, run

    site = _site(folder)
    site.require()

    def ready(address: Address) -> None:
        print(f"The leaderboard is at {address.url} (stop it with Ctrl-C)", flush=True)
        if open:
            import webbrowser

            webbrowser.open(address.url)

    with listen(host, port) as listening:
        prepare(site)
        run(site, listening, ready=ready)


def submit_local(
    folder: str | os.PathLike[str],
    benchmark: str,
    user_email: str,
    zip_path: str | os.PathLike[str],
    *,
    model: str,
    name: str,
    description: str = "",
    regime: str = "other",
    parameters: int | None = None,
    shared_parameters: int | None = None,
    team: str = "",
    link: str = "",
    public: bool = True,
) -> str:
    """Submit a file as the page would, grade it, and return the key of its page.

    The account is made if there is none, without a password. The same file under the same name again is
    the submission that is there. Raises SiteError for an unknown benchmark or for values the form refuses.
    """
    _open(folder)
    from gluebench.leaderboard.submissions.local import submit_file

    details = {
        "model": model,
        "name": name,
        "description": description,
        "regime": regime,
        "parameters": parameters,
        "shared_parameters": shared_parameters,
        "team": team,
        "link": link,
        "public": public,
    }
    return submit_file(benchmark, user_email, Path(zip_path), details=details)


def submitted_models(folder: str | os.PathLike[str], benchmark: str, user_email: str) -> frozenset[str]:
    """The models that an account has submitted to a benchmark. Raises SiteError."""
    _open(folder)
    from gluebench.leaderboard.submissions.models import Submission

    rows = Submission.objects.filter(benchmark__name=benchmark, owner__email=user_email)
    return frozenset(rows.values_list("model", flat=True))


def _site(folder: str | os.PathLike[str]) -> SiteFolder:
    return SiteFolder(Path(folder).absolute())


def _open(folder: str | os.PathLike[str]) -> None:
    """Set Django up on this site. One process works on one site. Raises SiteError."""
    site = _site(folder)
    site.require()
    os.environ.setdefault(folders.VARIABLE, str(site.root))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
    import django
    from django.conf import settings

    if site != settings.FOLDER:
        raise SiteError(f"This process already works on the site {settings.FOLDER.root}, not {site.root}.")
    django.setup()
