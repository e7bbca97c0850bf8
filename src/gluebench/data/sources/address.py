"""Where a file is really fetched from: mirrors, the hub's own variable, proxies of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote, urlsplit, urlunsplit

from gluebench.data.errors import DataError

MIRROR = "GLUEBENCH_MIRROR"
HUB_ENDPOINT = "HF_ENDPOINT"
"""The variable by which the hub's own tools are pointed at a mirror of it."""
THE_HUB = "https://huggingface.co"
SCHEMES = ("http", "https")


def base(address: str, *, what: str) -> str:
    """An address that others are built on, without a slash at its end. Raises DataError."""
    parts = urlsplit(address)
    if parts.scheme not in SCHEMES or not parts.hostname or parts.query or parts.fragment:
        raise DataError(
            [f"{what}: {address!r}; expected http://HOST or https://HOST, with a path if need be"]
        )
    if "@" in parts.netloc:
        raise DataError([f"{what}: names and passwords in an address are not supported; leave them out"])
    return address.rstrip("/")


def mirrored(address: str, mirror: str) -> str:
    """The address at the mirror: its scheme, host and path before the address's own path; "" is no mirror.

    >>> mirrored("https://example.org/glue/CoLA.zip", "http://files.lab/copies")
    'http://files.lab/copies/glue/CoLA.zip'
    """
    if not mirror:
        return address
    _, _, path, query, _ = urlsplit(address)
    return base(mirror, what="mirror") + urlunsplit(("", "", path, query, ""))


def hub_endpoint(endpoint: str, environment: Mapping[str, str] = os.environ) -> str:
    """The hub's address, or what the environment names in place of the public hub."""
    other = environment.get(HUB_ENDPOINT, "")
    if other and endpoint.rstrip("/") == THE_HUB:
        return base(other, what=HUB_ENDPOINT)
    return endpoint.rstrip("/")


def hub_address(endpoint: str, repository: str, revision: str, path: str) -> str:
    """The address of one file of a data set's repository, at one commit."""
    return f"{endpoint}/datasets/{quote(repository)}/resolve/{quote(revision)}/{quote(path)}"


def host(address: str) -> str:
    """Host and port of an address, as a reader is told of it."""
    return urlsplit(address).netloc.rpartition("@")[2]


def proxy(address: str) -> str:
    """The proxy that the environment names for the address; empty where it is to be reached directly."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(address)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    found = getproxies()
    named = found.get(parts.scheme) or found.get("all") or ""
    return named if "://" in named or not named else f"http://{named}"
