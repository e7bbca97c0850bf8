"""Send a request to an address that a user named, and never to one inside the site's network."""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPSConnection
from urllib.parse import SplitResult, urlsplit

PORT = 443
SECONDS = 10
"""The longest that a request takes in all, once the name is resolved."""
TLS = ssl.create_default_context()
_UNICAST = ipaddress.ip_network("2000::/3")
_ALSO = [ipaddress.ip_network(net) for net in ("192.0.0.0/24", "192.88.99.0/24", "2002::/16", "3fff::/20")]
"""Not of the public internet, which only newer versions of Python know, or which embed an IPv4 address."""


def parts_of(url: str) -> SplitResult:
    """The parts of an address that events may be sent to. Raises ValueError."""
    parts = urlsplit(url)
    usual = parts.port in (None, PORT)
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc or not usual:
        raise ValueError("Give an address as https://example.org/path: no user, password or port in it.")
    if not _may_be_public(parts.hostname):
        raise ValueError(f"{parts.hostname} is not a name or an address on the public internet.")
    return parts


def _may_be_public(host: str) -> bool:
    """Whether a host is a public IP address, or a name that may have one."""
    try:
        return is_public(host)
    except ValueError:
        return "." in host.strip(".") and host.isascii() and host == host.strip() and ".." not in host


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, and no form that embeds another address."""
    ip = ipaddress.ip_address(address)
    usual = ip.version == 4 or ip in _UNICAST
    return (
        usual and ip.is_global and not (ip.is_multicast or ip.is_reserved or any(ip in net for net in _ALSO))
    )


def post(url: str, headers: Mapping[str, str], body: bytes) -> int:
    """Send a POST request and return the status of the answer, whose rest is not read.

    The name is resolved once, and the connection goes to that address. Redirects are not followed. Raises
    OSError, HTTPException, or ValueError for an address that is refused.
    """
    parts = parts_of(url)
    host = str(parts.hostname)
    addresses: list[str] = []
    with suppress(OSError):  # a name of the inside is answered as one that does not exist
        addresses = [str(entry[4][0]) for entry in socket.getaddrinfo(host, PORT, type=socket.SOCK_STREAM)]
    if not addresses or not all(map(is_public, addresses)):
        raise ValueError(f"{host} has no address on the public internet.")
    plain = socket.create_connection((addresses[0], PORT), SECONDS)
    with TLS.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False) as secure:
        watchdog = threading.Timer(SECONDS, _shut, (secure,))
        watchdog.start()
        try:
            secure.do_handshake()
            connection = HTTPSConnection(host, PORT, context=TLS)
            connection.sock = secure
            target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
            connection.request("POST", target, body, dict(headers))
            return connection.getresponse().status
        finally:
            watchdog.cancel()


def _shut(secure: ssl.SSLSocket) -> None:
    """End whatever waits for this socket; its own method would change it under that thread."""
    with suppress(OSError):
        socket.socket.shutdown(secure, socket.SHUT_RDWR)
