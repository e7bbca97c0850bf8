"""The folder that is a site: its parts, who may read them, its secret key. Independent of Django."""

import os
import pwd
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from gluebench.benchmark.atomic import replacing

VARIABLE = "GLUEBENCH_SITE"
"""Environment variable that names the folder to the web and worker processes."""
STORAGE = "GLUEBENCH_STORAGE"
"""Environment variable that names where submitted files and labels are kept, if not in the folder."""

METRICS = "GLUEBENCH_METRICS"
"""Environment variable with the folder in which the processes of a machine share their counters."""

TEXTS = Path(__file__).parent / "texts"
PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
FOLDERS_KEPT = 4
"""Unfinished uploads of an account that are kept: one for each of several browser tabs."""


class SiteError(Exception):
    """A problem that the operator of the site can fix; the message says how."""


class SiteFolder:
    """A site's files. All of it is private to the account that runs the site."""

    def __init__(self, root: Path, shared: Path | None = None) -> None:
        """`shared`: a folder for the files that several machines share; by default `root`."""
        self.root = root
        self.database = root / "site.sqlite3"
        """Accounts, submissions and scores (SQLite)."""
        self.submissions = (shared or root) / "submissions"
        """The submitted files."""
        self.uploads = root / "uploads"
        """Uploads on their way in, on the same disk as the submissions."""
        self.labels = (shared or root) / "labels"
        """Gold folders, one for each benchmark and version; only the grader's process reads them.

        Where they are kept in a bucket, this holds copies of those that were graded on here."""
        self.rank_caches = root / "rank-caches"
        """What the grader keeps of each board's systems; it tells which answers are right."""
        self.data = (shared or root) / "data"
        """Files that anybody may download, by benchmark and content."""
        self.manifests = root / "manifests"
        """The benchmarks' manifests as files; the database has them too."""
        self.pages = root / "pages"
        """Terms and privacy as Markdown files, where they are not written in the browser."""
        self.mail = root / "mail"
        """Mail that was not sent, because no mail server is set."""
        self.metrics = root / "metrics"
        """Counters of the running processes, for /metrics; each start resets them."""
        self.address_file = root / "address"
        """The address that the site last answered at."""
        self.static = root / "static"
        """Style sheet and scripts as served; the only part that is public."""
        self.key_file = root / "secret-key"
        """Where the secret key is kept."""
        self.password_file = root / "admin-password"
        """The file for an admin's new password if there is no terminal."""

    @property
    def database_files(self) -> list[Path]:
        """The files of SQLite: the database, and beside it the latest writes."""
        return [self.database.with_name(self.database.name + end) for end in ("", "-wal", "-shm")]

    def secret_key(self) -> str:
        """The key that signs sessions; empty, which Django refuses, before `create`."""
        if not self.key_file.is_file():
            return ""
        return self.key_file.read_text()

    def create(self) -> None:
        """Create the folder and its missing parts; existing ones stay. Raises SiteError."""
        if not self.key_file.exists() and self.root.is_dir() and any(self.root.iterdir()):
            raise SiteError(f"{self.root} is not empty and not a site. Name a new or empty folder.")
        make_private(self.root)
        for path in (self.submissions, self.uploads, self.labels, self.rank_caches, self.data):
            make_private(path)
        for path in (self.manifests, self.pages, self.mail):
            make_private(path)
        self.static.mkdir(exist_ok=True)
        self.make_key()
        self.require()

    def make_key(self) -> None:
        """Make a secret key, unless there is one."""
        if not self.key_file.exists():
            write_private(self.key_file, secrets.token_urlsafe(48).encode())

    def read_page(self, name: str) -> str:
        """The Markdown of "terms" or "privacy", its title first: the site's own, else the default."""
        own = self.pages / f"{name}.md"
        if own.is_file() and (text := own.read_text(encoding="utf-8")):
            return text
        return (TEXTS / own.name).read_text(encoding="utf-8")

    def require(self) -> None:
        """Raise SiteError unless this is a site. Make the database files private."""
        if not self.key_file.is_file():
            raise SiteError(
                f"{self.root} is not a leaderboard. "
                f"Create one with: gluebench leaderboard init --site {self.root}"
            )
        for path in self.database_files:
            with suppress(FileNotFoundError, PermissionError):  # another account's: the checks report it
                path.chmod(PRIVATE_FILE)


def _allows(folder: Path, mode: int) -> bool:
    """Whether this account may use a folder so; true for what is not there or no folder."""
    return not folder.is_dir() or os.access(folder, mode)


def require_readable(folder: Path) -> None:
    """Raise SiteError, which names the cure, for a folder of labels that this account may not read."""
    place = folder.absolute()
    # From the root: what is in a folder that may not be entered seems not to be there.
    closed = next((path for path in reversed(place.parents) if not _allows(path, os.X_OK)), None)
    if closed is None and not place.is_dir():
        raise SiteError(f"There is no folder {folder}.")
    if closed is None and not _allows(place, os.R_OK | os.X_OK):
        closed = place
    if closed is None:
        closed = next((path for path in place.iterdir() if not os.access(path, os.R_OK)), None)
    if closed is not None:
        account = pwd.getpwuid(os.geteuid()).pw_name
        copy = Path("/var/tmp", f"{place.name}-for-{account}")
        raise SiteError(
            f"This account ({account}) may not read {closed}. Do not open labels to everybody: give it "
            f"a copy, name that with --gold, and delete it afterwards. Run: sudo cp -rp {folder} {copy} "
            f"&& sudo chown -R {account} {copy}"
        )


def need(module: str, extra: str, variable: str) -> None:
    """Raise SiteError if the module that a setting requires is not installed."""
    if find_spec(module) is None:
        raise SiteError(f"{variable} needs more packages: pip install 'gluebench[{extra}]'")


def make_private(folder: Path) -> None:
    """Create a folder that only its owner may enter."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    folder.chmod(PRIVATE_FOLDER)


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    with replacing(path, mode=PRIVATE_FILE) as file:
        file.write(data)


def files_below(folder: Path) -> list[Path]:
    """All files of a folder and its folders, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def remove_all_but_last(folders: Iterable[Path], last_file: str) -> None:
    """Remove complete folders, which have the file `last_file`, apart from the latest `FOLDERS_KEPT`.

    Others are being written by another request, or removed by it.
    """
    complete = []
    for folder in folders:
        with suppress(FileNotFoundError):
            complete.append(((folder / last_file).stat().st_mtime_ns, folder))
    for _, folder in sorted(complete)[:-FOLDERS_KEPT]:
        shutil.rmtree(folder, ignore_errors=True)


def from_environment() -> SiteFolder:
    """The site that the environment names, else `gluebench-site` in the current folder."""
    return site_in(os.environ.get(VARIABLE, "gluebench-site"))


def site_in(root: str | os.PathLike[str]) -> SiteFolder:
    """The site in a folder, with the shared folder that the environment names."""
    place = Path(root).absolute()
    shared = os.environ.get(STORAGE, "").strip()
    if not shared or "://" in shared:
        return SiteFolder(place)
    return SiteFolder(place, Path(shared).absolute())
