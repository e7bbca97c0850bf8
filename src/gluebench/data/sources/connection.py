"""Asking servers for files: proxies, redirects, time limits, and which hosts cannot be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gluebench.data.errors import DataError
from gluebench.data.sources.address import host, proxy
from gluebench.data.sources.faults import Again, Fault, of_connection
from gluebench.version import __version__

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

REDIRECTS = 5
HEADERS = {
    "User-Agent": f"gluebench/{__version__}",
    "Accept-Encoding": "identity",  # what is counted, ranged over and hashed is the file itself
}


class Connections:
    """Connections that are kept from one file to the next."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._pools: dict[str, PoolManager] = {}
        self._unreachable: dict[str, str] = {}
        """Hosts that were given up, and why: their other files are not waited for again."""

    def expect_answer(self, address: str) -> None:
        """Raises DataError for a host that was given up before."""
        if gone := self._unreachable.get(host(address)):
            raise DataError([gone])

    def ask(self, address: str, headers: dict[str, str]) -> BaseHTTPResponse:
        """The answer, its body not yet read. Raises Again or DataError."""
        from urllib3 import Retry, Timeout
        from urllib3.exceptions import HTTPError

        self.expect_answer(address)
        once = Retry(None, connect=0, read=0, status=0, other=0, redirect=REDIRECTS)
        once.respect_retry_after_header = False  # whoever asked decides how long to wait
        try:
            response = self._pool(address).request(
                "GET",
                address,
                headers={**HEADERS, **headers},
                preload_content=False,
                decode_content=False,
                timeout=Timeout(self._timeout, self._timeout),
                retries=once,
            )
        except HTTPError as error:
            raise self.fault(of_connection(error, address), address) from error
        if address.startswith("https:") and (response.geturl() or "").startswith("http:"):
            response.close()
            raise DataError([f"{address}: leads on to {response.geturl()}, where anyone may change it"])
        return response

    def fault(self, fault: Fault, address: str) -> Again | DataError:
        """What to raise for it."""
        return Again(fault) if fault.passing else self.given_up(fault, address)

    def given_up(self, fault: Fault, address: str) -> DataError:
        """What to raise for a fault that did not pass."""
        if fault.unreachable:
            self._unreachable[host(address)] = fault.told
        return DataError([fault.told])

    def _pool(self, address: str) -> PoolManager:
        import urllib3

        through = proxy(address)
        if through not in self._pools:
            if not through:
                self._pools[through] = urllib3.PoolManager()
            elif not through.startswith(("http://", "https://")):
                raise DataError([f"{host(through)}: a proxy of this kind is not supported; expected http://"])
            else:
                auth = urllib3.util.parse_url(through).auth
                headers = urllib3.make_headers(proxy_basic_auth=auth) if auth else None
                self._pools[through] = urllib3.ProxyManager(through, proxy_headers=headers)
        return self._pools[through]
