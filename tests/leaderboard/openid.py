"""A provider of OpenID Connect on this machine, which answers what a test sets."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "board", "the client's secret"


class Provider:
    """One person is signed in to it. `token` and `userinfo` replace claims; None leaves one out."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.person: dict[str, Any] = {"sub": "0000-0001", "name": "Ada Lovelace", "picture": "p.png"}
        self.token: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}
        self.asked: dict[str, str] = {}
        """What the browser brought to the provider's own page."""
        self.refused = ""
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "jwks_uri": f"{self.address}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def redeem(self, form: dict[str, str]) -> dict[str, str]:
        """Answer with a token, to who has the secret, the code and what the challenge was made of."""
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        expected = (CLIENT, SECRET, "a code", self.asked["redirect_uri"], self.asked["code_challenge"])
        given = (form["client_id"], form["client_secret"], form["code"], form["redirect_uri"], challenge)
        if given != expected:
            self.refused = f"{given} is not {expected}"
            return {"error": "invalid_grant"}
        claims = {"iss": self.address, "aud": CLIENT, "exp": int(time.time()) + 60, **self.person}
        claims |= {"nonce": self.asked["nonce"], **self.token}
        signed = jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "an access token", "token_type": "Bearer", "id_token": signed}


@contextmanager
def running() -> Iterator[Provider]:
    """The provider, while it answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/userinfo":
                assert self.headers["Authorization"] == "Bearer an access token"
                self._answer({**provider.person, **provider.userinfo})
            elif urlsplit(self.path).path == "/authorize":  # for browsers: the person agrees at once
                provider.asked = dict(parse_qsl(urlsplit(self.path).query))
                self.send_response(302)
                back = f"{provider.asked['redirect_uri']}?code=a+code&state={provider.asked['state']}"
                self.send_header("Location", back)
                self.end_headers()
            else:
                self._answer(provider.configuration())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer(provider.redeem(dict(parse_qsl(body))))

        def _answer(self, facts: dict[str, Any]) -> None:
            body = json.dumps(facts).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
