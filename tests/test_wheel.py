"""What is installed is what was built: the wheel, in an environment outside the tree, serves a site."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sysconfig
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest
from fresh import OUTSIDE, installed, pip

from release.distribution import problems_of

pytestmark = pytest.mark.xdist_group("wheel")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_wheel_has_the_files_of_the_package_their_licenses_and_two_requirements(wheel: Path) -> None:
    """The short form of the installations below."""
    assert problems_of(wheel) == []
    with zipfile.ZipFile(wheel) as archive:
        (facts,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(facts).decode()
    required = re.findall(r"^Requires-Dist: ([\w.-]+)[^;\n]*$", metadata, re.MULTILINE)
    assert sorted(required) == ["click", "numpy"]


@pytest.mark.slow
def test_the_light_install_checks_and_grades_with_numpy_and_click_alone(wheel: Path, tmp_path: Path) -> None:
    binaries = installed(wheel, tmp_path / "light")
    frozen = pip(tmp_path / "light", "freeze")
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


@pytest.mark.slow
def test_a_site_is_served_from_the_files_of_the_wheel(wheel: Path, tmp_path: Path) -> None:
    binaries = installed(wheel, tmp_path / "site-env", "--no-deps")
    packages = next((tmp_path / "site-env").glob("lib/*/site-packages"))
    (packages / "requirements.pth").write_text(sysconfig.get_path("purelib"))  # behind the wheel in sys.path
    init_and_serve(binaries, tmp_path)


@pytest.mark.slow
def test_a_site_is_served_with_the_requirements_of_its_extra_alone(wheel: Path, tmp_path: Path) -> None:
    init_and_serve(installed(wheel, tmp_path / "site-env", extra="[leaderboard]"), tmp_path)


def init_and_serve(binaries: Path, tmp_path: Path) -> None:
    code = "import gluebench; print(gluebench.__file__)"
    home = subprocess.run(
        [binaries / "python", "-c", code], env=OUTSIDE, stdout=subprocess.PIPE, text=True
    ).stdout
    assert home.startswith(str(binaries.parent)), "not the tree's"
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
        assert server.wait(timeout=60) == 0


def page(url: str, server: subprocess.Popen[bytes]) -> bytes:
    """The page, once the server answers."""
    for _ in range(300):
        assert server.poll() is None, server.stdout and server.stdout.read()
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                body: bytes = answer.read()
                return body
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer in 30 seconds")
