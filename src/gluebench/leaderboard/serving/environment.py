"""Settings of a site from environment variables (docs/how-to/deploy.md). Independent of Django.

`read` uses the valid variables and lists the problems of the others; `require` raises an error for them.
Messages never contain secrets.
"""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit

from gluebench.leaderboard.keeping.folder import STORAGE, SiteError, SiteFolder

PORT = 8000
"""The port to serve a site on, unless another is given."""
KEY_LENGTH = 40
NEW_KEY = 'python3 -c "import secrets; print(secrets.token_urlsafe(48))"'
_HOST = re.compile(r"\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\]")
_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
_WELL_KNOWN = re.compile(
    r"django-insecure|change.?me|secret|password|example|insecure|default", re.IGNORECASE
)
_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


class Mail(NamedTuple):
    """A mail server, and the sender's address."""

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


class Provider(NamedTuple):
    """A provider that people may sign in with."""

    key: str
    """Its part of the site's addresses, as in orcid-org."""
    name: str
    issuer: str
    """The issuer of OpenID Connect; empty for GitHub, which has a protocol of its own."""
    client: str
    secret: str


def _hosts(value: str) -> tuple[str, ...]:
    hosts = [name.strip() for name in value.split(",") if name.strip()]
    wrong = ", ".join(repr(name) for name in hosts if not _HOST.fullmatch(name))
    if wrong:
        raise ValueError(
            f"has {wrong}, which is not a host name. Write names alone, without https://, port or *, as in "
            "board.example.org,www.example.org."
        )
    return tuple(hosts)


def _path(value: str) -> str:
    if not _PATH.fullmatch(value):
        raise ValueError(
            f"is {value!r}. Write the path alone that the proxy forwards to the site, as in /leaderboard."
        )
    return value.rstrip("/")


def _switch(value: str) -> bool:
    if value not in ("0", "1"):
        raise ValueError(f"is {value!r}. Write 1 for yes, or leave it out.")
    return value == "1"


def _choice(words: Sequence[str], value: str) -> str:
    if value not in words:
        raise ValueError(f"is {value!r}. Write {' or '.join(words)}.")
    return value


def _count(what: str, most: int, value: str, *, least: int = 1) -> int:
    if value.isdecimal() and len(value) <= len(str(most)) and least <= int(value) <= most:
        return int(value)
    raise ValueError(f"is {value!r}. Set it to a number of {what} from {least} to {most}.")


def _proxy(value: str) -> str:
    try:
        return value if value == "*" else str(ipaddress.ip_address(value))
    except ValueError:
        raise ValueError(
            f"is {value!r}, which is not an IP address. Write the proxy's, as in 10.0.0.5; "
            "or * where nothing but the proxy can reach the site's port."
        ) from None


def _secret(value: str) -> str:
    weak = weakness(value)
    if weak:
        raise ValueError(f"{weak}. Make one with: {NEW_KEY}")
    return value


def _key_file(value: str) -> str:
    try:
        key = Path(value).read_text().strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise ValueError(f"names {value}, which cannot be read: {why}.") from None
    if Path(value).stat().st_mode & 0o007:
        raise ValueError(f"names {value}, and everybody may open it. Run: chmod o= {value}")
    try:
        return _secret(key)
    except ValueError as error:
        raise ValueError(f"names a key that {error}") from None


def _database(value: str) -> str:
    if not value.startswith(("postgres://", "postgresql://")):
        raise ValueError(
            f"does not begin with postgres:// (its {len(value)} characters are not shown here). Write "
            "postgres://user:password@host:5432/database, or leave it out for SQLite in the site's folder."
        )
    try:
        _ = urlsplit(value).port
    except ValueError as error:
        raise ValueError(f"cannot be read: {error}.") from None
    return value


def _bucket(value: str) -> Bucket | None:
    parts = urlsplit(value)
    if not parts.scheme:
        if not Path(value).is_absolute():
            raise ValueError(f"is {value!r}. Write the folder from the root, as in /srv/board.")
        return None
    options = dict(parse_qsl(parts.query))
    unknown = options.keys() - {"endpoint", "region"}
    if parts.scheme != "s3" or not parts.hostname or "@" in parts.netloc or unknown:
        raise ValueError(
            "is neither a folder nor s3://bucket/prefix?endpoint=https://…&region=…, where all after the "
            "bucket may be left out. The keys are for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    return Bucket(parts.netloc, parts.path.strip("/"), options.get("endpoint"), options.get("region"))


def _mail(value: str) -> Mail:
    wrong = "is not of the form smtp+tls://user:password@host:587?from=board@example.org"
    try:
        parts = urlsplit(value)
        port = parts.port or _MAIL_PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise ValueError(
            f"{wrong}. Begin it with smtp://, smtp+tls:// or smtps://, and write the port as a number."
        ) from None
    sender = dict(parse_qsl(parts.query)).get("from", "")
    if not parts.hostname or "@" not in sender:
        raise ValueError(f"{wrong}. Add the host, and after ?from= the address that mail comes from.")
    user = unquote(parts.username or "")
    password = unquote(parts.password or "")
    if password and parts.scheme == "smtp" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError(
            f"would send its password unencrypted to {parts.hostname}. Begin it with smtp+tls:// (STARTTLS, "
            "port 587) or smtps:// (TLS, port 465)."
        )
    return Mail(parts.scheme, parts.hostname, port, user, password, sender)


def _sign_in(value: str) -> tuple[Provider, ...]:
    providers: dict[str, Provider] = {}
    for number, address in enumerate(value.split(), 1):
        provider = _provider(f"entry {number}", address)
        if provider.key in providers:
            raise ValueError(f"has two entries for {provider.key}. Leave one out.")
        providers[provider.key] = provider
    return tuple(providers.values())


def _provider(which: str, address: str) -> Provider:
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts = urlsplit("")
        port = ""
    name = dict(parse_qsl(parts.query)).get("name", "")
    client = parts.username
    secret = parts.password
    if not (parts.hostname and name and client and secret):
        raise ValueError(
            f"has an {which} that is not of the form https://client-id:secret@issuer?name=Name (it is not "
            "shown here). Write special characters as in addresses, @ as %40; separate entries by spaces."
        )
    if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1"):
        raise ValueError(f"has an {which} that does not begin with https://.")
    place = f"{parts.hostname}{port}{parts.path}"
    key = re.sub(r"[^a-z0-9]+", "-", place.casefold()).strip("-")
    issuer = f"{parts.scheme}://{place}"
    if parts.hostname == "github.com":
        issuer = ""
    return Provider(key, name, issuer, unquote(client), unquote(secret))


def weakness(key: str) -> str:
    """Return why a secret key is too weak, as the end of a sentence; empty if it is strong enough."""
    if len(key) < KEY_LENGTH:
        return f"has {len(key)} characters and needs at least {KEY_LENGTH}"
    if _WELL_KNOWN.search(key) or len(set(key)) < 10:
        return "looks like one out of a manual"
    return ""


class Variable(NamedTuple):
    """An environment variable of a setting, and its parser, whose ValueError ends a sentence about it."""

    name: str
    parse: Callable[[str], Any]


class RunSettings(NamedTuple):
    """How a site runs. Without any variable: one web process, one worker, for this machine's browser."""

    hosts: Annotated[tuple[str, ...], Variable("GLUEBENCH_HOSTS", _hosts)] = ()
    path: Annotated[str, Variable("GLUEBENCH_PATH", _path)] = ""
    """What every path of the site begins with: "/leaderboard", or nothing."""
    https: Annotated[bool, Variable("GLUEBENCH_HTTPS", _switch)] = False
    proxy: Annotated[str, Variable("GLUEBENCH_PROXY", _proxy)] = "127.0.0.1"
    request_start: Annotated[bool, Variable("GLUEBENCH_REQUEST_START", _switch)] = False
    """Whether the proxy sets `X-Request-Start`: a client could send it through one that does not."""
    web: Annotated[int, Variable("GLUEBENCH_WEB", partial(_count, "processes", 64))] = 1
    workers: Annotated[int, Variable("GLUEBENCH_WORKERS", partial(_count, "processes", 64))] = 1
    key: Annotated[
        str, Variable("GLUEBENCH_SECRET_KEY", _secret), Variable("GLUEBENCH_SECRET_KEY_FILE", _key_file)
    ] = ""
    database: Annotated[str, Variable("GLUEBENCH_DATABASE", _database)] = ""
    bucket: Annotated[Bucket | None, Variable(STORAGE, _bucket)] = None
    mail: Annotated[Mail | None, Variable("GLUEBENCH_SMTP", _mail)] = None
    sign_in: Annotated[tuple[Provider, ...], Variable("GLUEBENCH_SIGN_IN", _sign_in)] = ()
    api_per_minute: Annotated[
        int, Variable("GLUEBENCH_API_PER_MINUTE", partial(_count, "requests", 1_000_000_000))
    ] = 300
    upload_mb: Annotated[int, Variable("GLUEBENCH_UPLOAD_MB", partial(_count, "MB", 1024))] = 16
    """Largest submission taken, in MiB; a full GLUE zip is about 1 MB."""
    grading_seconds: Annotated[
        int, Variable("GLUEBENCH_GRADING_SECONDS", partial(_count, "seconds", 86_400, least=10))
    ] = 120
    """Time that checking and grading a submission may take."""
    grading_mb: Annotated[
        int, Variable("GLUEBENCH_GRADING_MB", partial(_count, "MB", 1_000_000, least=512))
    ] = 2048
    """Address space of the process that checks and grades, in MiB."""
    stop_seconds: Annotated[int, Variable("GLUEBENCH_STOP_SECONDS", partial(_count, "seconds", 3600))] = 360
    metrics_token: Annotated[str, Variable("GLUEBENCH_METRICS_TOKEN", _secret)] = ""
    log_format: Annotated[str, Variable("GLUEBENCH_LOG_FORMAT", partial(_choice, ("text", "json")))] = "text"
    log_level: Annotated[str, Variable("GLUEBENCH_LOG_LEVEL", partial(_choice, ("warning", "info")))] = (
        "warning"
    )
    verify: Annotated[str, Variable("GLUEBENCH_VERIFY", partial(_choice, ("optional", "mandatory")))] = ""
    """Confirming one's address before signing in: "optional", or "mandatory", as usual where mail is sent."""
    create: Annotated[str, Variable("GLUEBENCH_CREATE", partial(_choice, ("admins", "accounts")))] = "admins"
    """Who may create benchmarks in the browser: "admins", or "accounts" whose address is confirmed."""
    keep_days: Annotated[int | None, Variable("GLUEBENCH_KEEP_DAYS", partial(_count, "days", 36_500))] = None
    """For how many days files of finished submissions are kept; None: for ever."""

    @property
    def several(self) -> bool:
        """Whether more than one web process may answer, here or elsewhere."""
        return self.web > 1 or bool(self.database)


def site_address(running: RunSettings, folder: SiteFolder) -> str:
    """Scheme and host by which people reach a site: as it is named, else as it was last served.

    The paths of its pages, which begin with `Running.path`, are put behind it.
    """
    name = running.hosts[0].strip(".") if running.hosts else ""
    if running.https:
        return f"https://{name}"
    last = f"http://127.0.0.1:{PORT}"
    if folder.address_file.is_file():
        last = folder.address_file.read_text()
    served = urlsplit(last)
    return f"http://{name}:{served.port}" if name else f"http://{served.netloc}"


def require(environ: Mapping[str, str] = os.environ) -> RunSettings:
    """Return the settings of the environment. Raises SiteError with all its problems."""
    running, problems = read(environ)
    if problems:
        raise SiteError("\n".join(problems))
    return running


def read(environ: Mapping[str, str] = os.environ) -> tuple[RunSettings, list[str]]:
    """Return the settings, with the default in place of each wrong value, and the problems."""
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    values: dict[str, Any] = {}
    problems = []
    for field, hint in get_type_hints(RunSettings, include_extras=True).items():
        for name, parse in hint.__metadata__:
            if name in given:
                try:
                    values[field] = parse(given[name])
                except ValueError as error:
                    problems.append(f"{name} {error}")
    running = RunSettings(**values)
    return running, problems + _contradictions(given, https=running.https)


def _contradictions(given: Mapping[str, str], *, https: bool) -> list[str]:
    """Problems of variables that contradict each other, and of those that may not be set at all."""
    problems = [
        f"{variable} is set, and a leaderboard has no debug mode. Unset it."
        for variable in ("GLUEBENCH_DEBUG", "DJANGO_DEBUG")
        if given.get(variable, "0").casefold() not in ("0", "false", "no", "off")
    ]
    if "GLUEBENCH_SECRET_KEY" in given and "GLUEBENCH_SECRET_KEY_FILE" in given:
        problems.append("GLUEBENCH_SECRET_KEY and GLUEBENCH_SECRET_KEY_FILE are both set. Unset one.")
    for variable in ("GLUEBENCH_PROXY", "GLUEBENCH_REQUEST_START"):
        if variable in given and not https:
            problems.append(
                f"{variable} is set but GLUEBENCH_HTTPS is not 1, so no proxy would be believed. "
                f"Set GLUEBENCH_HTTPS=1 too, or unset {variable}."
            )
    if https and "GLUEBENCH_HOSTS" not in given:
        problems.append(
            "GLUEBENCH_HTTPS is 1 but GLUEBENCH_HOSTS is empty: forms sent over HTTPS would be refused. "
            "Set it to the site's name, as in GLUEBENCH_HOSTS=board.example.org."
        )
    return problems
