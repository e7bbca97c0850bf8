"""nginx and Caddy as servers of a test's own, with the blocks that docs/how-to/deploy.md prints."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "deploy.md").read_text()
HOST = "board.example.org"
NGINX = """pid {folder}/pid; error_log {folder}/log; daemon off; master_process off;
events {{ }}
http {{
access_log off;
{temporary}
{block}
}}
"""


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
        return port


def printed(language: str, start: str) -> str:
    """The block of the page that begins so."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    (block,) = [block for block in blocks if block.startswith(start)]
    return str(block)


def nginx(folder: Path, port: int, site: int, path: str) -> list[str]:
    """Write the configuration; returns the command. Of the block only addresses, path and TLS change."""
    block = printed("nginx", "limit_conn_zone").replace("location / {", f"location {path}/ {{")
    block = re.sub(r"listen 443 ssl;", f"listen 127.0.0.1:{port};", block)
    block = re.sub(r" +ssl_certificate.*\n", "", block)
    block = block.replace("127.0.0.1:8000", f"127.0.0.1:{site}").replace("$scheme", "https")
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, temporary=temporary, block=block))
    return ["nginx", "-e", f"{folder}/log", "-c", f"{folder}/nginx.conf"]


def caddy(folder: Path, port: int, site: int, path: str) -> list[str]:
    """Write the configuration; returns the command. Of the block only addresses, path and TLS change."""
    options = printed("text", "{\n    servers").replace("{\n", "{\n    admin off\n", 1)
    block = printed("text", HOST).replace(f"{HOST} {{", f"http://{HOST}:{port} {{", 1)
    block = block.replace("127.0.0.1:8000 {", f"127.0.0.1:{site} {{\n header_up X-Forwarded-Proto https")
    if path:
        block = block.replace("reverse_proxy ", f"redir {path} {path}/\n reverse_proxy {path}/* ")
    (folder / "Caddyfile").write_text(options + block)
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


@contextmanager
def running(name: str, folder: Path, site: int, path: str = "") -> Iterator[int]:
    """Start "nginx" or "caddy" before the site on that port, under a path; yields the port of the proxy."""
    port = free_port()
    folder.mkdir()
    command = {"nginx": nginx, "caddy": caddy}[name](folder, port, site, path)
    environment = {"HOME": str(folder), "PATH": str(Path(str(shutil.which(name))).parent)}
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        wait_for(port, process, folder / "output")
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_for(port: int, process: subprocess.Popen[bytes], output: Path) -> None:
    """Wait until a process listens."""
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(output.read_text())
