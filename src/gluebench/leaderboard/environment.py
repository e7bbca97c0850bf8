"""What the environment says about how a site runs (docs/deploy.md). Knows no Django.

`read` takes what it can and lists what is wrong; `require` insists on all of it.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from gluebench.leaderboard.folder import STORAGE, SiteError

PROCESSES = 64
STOP_SECONDS = 3600
REQUESTS = 1_000_000_000
KEY_LENGTH = 40
NEW_KEY = 'python3 -c "import secrets; print(secrets.token_urlsafe(48))"'
_HOST = re.compile(r"\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\]")
_WELL_KNOWN = re.compile(
    r"django-insecure|change.?me|secret|password|example|insecure|default", re.IGNORECASE
)
_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


class Mail(NamedTuple):
    """A mail server, and whom mail comes from."""

    scheme: str
    host: str
    port: int
    user: str
    password: str
    sender: str


class Bucket(NamedTuple):
    """A bucket of an S3 service, and where in it a site's files are."""

    name: str
    prefix: str
    endpoint: str | None
    region: str | None


class Running(NamedTuple):
    """How a site runs. Without any variable: one web process, one worker, for this machine's browser."""

    hosts: tuple[str, ...] = ()
    https: bool = False
    proxy: str = "127.0.0.1"
    web: int = 1
    workers: int = 1
    key: str = ""
    database: str = ""
    bucket: Bucket | None = None
    mail: Mail | None = None
    api_per_minute: int = 300
    stop_seconds: int = 360
    metrics_token: str = ""
    log_format: str = "text"
    log_level: str = "warning"

    @property
    def several(self) -> bool:
        """Whether more than one web process may answer, here or elsewhere."""
        return self.web > 1 or bool(self.database)


def require(environ: Mapping[str, str] = os.environ) -> Running:
    """What the environment says. Raises SiteError with everything that is wrong in it."""
    running, problems = read(environ)
    if problems:
        raise SiteError("\n".join(problems))
    return running


def read(environ: Mapping[str, str] = os.environ) -> tuple[Running, list[str]]:
    """What the environment says, with the usual values in place of wrong ones, and what is wrong."""
    reader = _Reader(environ)
    hosts = reader.hosts()
    https = reader.switch("GLUEBENCH_HTTPS")
    reader.refuse_debug()
    running = Running(
        hosts=hosts,
        https=https,
        proxy=reader.proxy(https),
        web=reader.count("GLUEBENCH_WEB", "processes", most=PROCESSES),
        workers=reader.count("GLUEBENCH_WORKERS", "processes", most=PROCESSES),
        key=reader.key(),
        database=reader.database(),
        bucket=reader.bucket(),
        mail=reader.mail(),
        api_per_minute=reader.count(
            "GLUEBENCH_API_PER_MINUTE", "requests", most=REQUESTS, usual=Running().api_per_minute
        ),
        stop_seconds=reader.count(
            "GLUEBENCH_STOP_SECONDS", "seconds", most=STOP_SECONDS, usual=Running().stop_seconds
        ),
        metrics_token=reader.token("GLUEBENCH_METRICS_TOKEN"),
        log_format=reader.choice("GLUEBENCH_LOG_FORMAT", "text", "json"),
        log_level=reader.choice("GLUEBENCH_LOG_LEVEL", "warning", "info"),
    )
    if https and not hosts:
        reader.problems.append(
            "GLUEBENCH_HTTPS is 1 but GLUEBENCH_HOSTS is empty: forms sent over HTTPS would be refused. "
            "Set it to the site's name, as in GLUEBENCH_HOSTS=board.example.org."
        )
    return running, reader.problems


class _Reader:
    """Reads one variable after the other and keeps what is wrong. Secrets are never part of a message."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.problems: list[str] = []

    def _get(self, variable: str) -> str:
        return self._environ.get(variable, "").strip()

    def hosts(self) -> tuple[str, ...]:
        named = [name.strip() for name in self._get("GLUEBENCH_HOSTS").split(",") if name.strip()]
        for name in named:
            if not _HOST.fullmatch(name):
                self.problems.append(
                    f"GLUEBENCH_HOSTS has {name!r}, which is no host name. "
                    "Write names alone, without https://, port or *, as in board.example.org,www.example.org."
                )
        return tuple(name for name in named if _HOST.fullmatch(name))

    def switch(self, variable: str) -> bool:
        value = self._get(variable)
        if value not in ("", "0", "1"):
            self.problems.append(f"{variable} is {value!r}. Write 1 for yes, or leave it out.")
        return value == "1"

    def choice(self, variable: str, usual: str, other: str) -> str:
        value = self._get(variable) or usual
        if value in (usual, other):
            return value
        self.problems.append(f"{variable} is {value!r}. Write {usual} or {other}.")
        return usual

    def token(self, variable: str) -> str:
        value = self._get(variable)
        if value and (weak := weakness(value)):
            self.problems.append(f"{variable} {weak}. Make one with: {NEW_KEY}")
        return value

    def count(self, variable: str, what: str, *, most: int, usual: int = 1) -> int:
        value = self._get(variable) or str(usual)
        if value.isdecimal() and len(value) <= len(str(most)) and 1 <= int(value) <= most:
            return int(value)
        self.problems.append(f"{variable} is {value!r}. Write how many {what}, from 1 to {most}.")
        return usual

    def refuse_debug(self) -> None:
        for variable in ("GLUEBENCH_DEBUG", "DJANGO_DEBUG"):
            if self._get(variable).casefold() not in ("", "0", "false", "no", "off"):
                self.problems.append(f"{variable} is set, and a leaderboard has no debug mode. Unset it.")

    def proxy(self, https: bool) -> str:
        value = self._get("GLUEBENCH_PROXY") or Running().proxy
        if self._get("GLUEBENCH_PROXY") and not https:
            self.problems.append(
                "GLUEBENCH_PROXY is set but GLUEBENCH_HTTPS is not 1, so no proxy would be believed. "
                "Set GLUEBENCH_HTTPS=1 too, or unset GLUEBENCH_PROXY."
            )
        try:
            return value if value == "*" else str(ipaddress.ip_address(value))
        except ValueError:
            self.problems.append(
                f"GLUEBENCH_PROXY is {value!r}, which is no IP address. Write the proxy's, as in 10.0.0.5; "
                "or * where nothing but the proxy can reach the site's port."
            )
            return Running().proxy

    def key(self) -> str:
        given, file = self._get("GLUEBENCH_SECRET_KEY"), self._get("GLUEBENCH_SECRET_KEY_FILE")
        if given and file:
            self.problems.append(
                "GLUEBENCH_SECRET_KEY and GLUEBENCH_SECRET_KEY_FILE are both set. Unset one."
            )
        if file:
            try:
                given = Path(file).read_text().strip()
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or "it is no text"
                self.problems.append(f"GLUEBENCH_SECRET_KEY_FILE: {file} cannot be read: {why}.")
                return ""
            if Path(file).stat().st_mode & 0o007:
                self.problems.append(
                    f"{file} holds the secret key and everybody may open it. Run: chmod o= {file}"
                )
        weak = weakness(given) if given or file else ""
        if weak:
            variable = "GLUEBENCH_SECRET_KEY_FILE" if file else "GLUEBENCH_SECRET_KEY"
            self.problems.append(f"The key from {variable} {weak}. Make one with: {NEW_KEY}")
        return given

    def database(self) -> str:
        value = self._get("GLUEBENCH_DATABASE")
        if not value or value.startswith(("postgres://", "postgresql://")):
            try:
                _ = urlsplit(value).port
                return value
            except ValueError as error:
                self.problems.append(f"GLUEBENCH_DATABASE cannot be read: {error}.")
                return ""
        self.problems.append(
            f"GLUEBENCH_DATABASE does not begin with postgres:// (its {len(value)} characters are not shown "
            "here). Write postgres://user:password@host:5432/database, or leave it out for SQLite in the "
            "site's folder."
        )
        return ""

    def bucket(self) -> Bucket | None:
        value = self._get(STORAGE)
        parts = urlsplit(value)
        if not parts.scheme:
            if value and not Path(value).is_absolute():
                self.problems.append(
                    f"{STORAGE} is {value!r}. Write the folder from the root, as in /srv/board."
                )
            return None
        options = dict(parse_qsl(parts.query))
        unknown = sorted(options.keys() - {"endpoint", "region"})
        if parts.scheme != "s3" or not parts.hostname or "@" in parts.netloc or unknown:
            self.problems.append(
                f"{STORAGE} is neither a folder nor s3://bucket/prefix?endpoint=https://…&region=…, where "
                "all after the bucket may be left out. The keys are for AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY."
            )
            return None
        return Bucket(parts.netloc, parts.path.strip("/"), options.get("endpoint"), options.get("region"))

    def mail(self) -> Mail | None:
        value = self._get("GLUEBENCH_SMTP")
        if not value:
            return None
        wrong = "GLUEBENCH_SMTP is not as smtp+tls://user:password@host:587?from=board@example.org"
        try:
            parts = urlsplit(value)
            port = parts.port or _MAIL_PORTS[parts.scheme]
        except (ValueError, KeyError):
            self.problems.append(
                f"{wrong}: it begins with smtp://, smtp+tls:// or smtps:// and a port is a number."
            )
            return None
        sender = dict(parse_qsl(parts.query)).get("from", "")
        if not parts.hostname or "@" not in sender:
            self.problems.append(
                f"{wrong}: it needs a host, and after ?from= the address that mail comes from."
            )
            return None
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if password and parts.scheme == "smtp" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            self.problems.append(
                f"GLUEBENCH_SMTP would send its password unencrypted to {parts.hostname}. Begin it with "
                "smtp+tls:// (STARTTLS, port 587) or smtps:// (TLS, port 465)."
            )
        return Mail(parts.scheme, parts.hostname, port, user, password, sender)


def weakness(key: str) -> str:
    """Why a secret key is none, as the end of a sentence; empty if it will do."""
    if len(key) < KEY_LENGTH:
        return f"has {len(key)} characters and needs at least {KEY_LENGTH}"
    if _WELL_KNOWN.search(key) or len(set(key)) < 10:
        return "looks like one out of a manual"
    return ""
