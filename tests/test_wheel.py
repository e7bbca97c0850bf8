"""What is installed is what was built: the wheel, in an environment outside the tree, serves a site."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "DJANGO_SETTINGS_MODULE")
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, env=OUTSIDE)
    return next(folder.glob("*.whl"))


def installed(wheel: Path, folder: Path, *, extra: str = "") -> Path:
    """The bin folder of a new environment with the wheel and its own requirements only."""
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--constraint", ROOT / "constraints.txt", f"{wheel}{extra}"], check=True, env=OUTSIDE
    )
    return folder / "bin"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_light_install_checks_and_grades_with_numpy_and_click_alone(wheel: Path, tmp_path: Path) -> None:
    binaries = installed(wheel, tmp_path / "light")
    frozen = subprocess.run(
        [binaries / "python", "-m", "pip", "freeze"], check=True, capture_output=True, text=True, env=OUTSIDE
    ).stdout
    names = {line.partition("==")[0].partition(" ")[0].lower() for line in frozen.splitlines()}
    assert names == {"gluebench", "numpy", "click"}
    shown = subprocess.run(
        [binaries / "gluebench", "benchmark", "show", "glue"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "MNLI" in shown.stdout


def test_init_and_serve_work_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    binaries = installed(wheel, tmp_path / "site-env", extra="[leaderboard]")
    site, port = tmp_path / "site", free_port()
    command = [binaries / "gluebench", "leaderboard"]
    subprocess.run([*command, "init", "--site", site], check=True, env=OUTSIDE, cwd=tmp_path)
    server = subprocess.Popen(
        [*command, "serve", "--site", site, "--port", str(port)],
        env=OUTSIDE,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert b"<h1" in page(f"http://127.0.0.1:{port}/", server)
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0


def page(url: str, server: subprocess.Popen[bytes]) -> bytes:
    """The page, once the server answers."""
    for _ in range(300):
        assert server.poll() is None, server.stdout and server.stdout.read()
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                body: bytes = answer.read()
                return body
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer in 30 seconds")
