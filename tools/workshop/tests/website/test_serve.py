import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from workshop.website import serve

PATIENCE = 600.0  # seconds, for what would else hang


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "walk").mkdir(parents=True)
    (site / "pictures").mkdir()
    (site / "index.html").write_text("home")
    (site / "404.html").write_text("no such page: ö", encoding="utf-8")
    (site / "walk" / "index.html").write_text("the walk")
    (site / "pictures" / "secret.svg").write_text("<svg/>")
    return site


@contextmanager
def serving(site: Path, prefix: str = "") -> Iterator[int]:
    with serve.serving(site, prefix) as address:
        assert address.endswith(prefix)
        yield int(re.findall(r":(\d+)", address)[0])


def ask(port: int, path: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(serve.HOST, port, timeout=PATIENCE)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body


@pytest.fixture
def taken() -> Iterator[str]:
    with socket.create_server((serve.HOST, 0)) as other:
        yield str(other.getsockname()[1])


@pytest.fixture
def never_served(monkeypatch: pytest.MonkeyPatch) -> None:
    def served(server: ThreadingHTTPServer) -> None:
        raise AssertionError("the site was served")

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", served)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build that leaves the environment it saw in a file."""
    seen = tmp_path / "seen"
    monkeypatch.setattr(serve, "PREVIEW", tmp_path / "preview")
    code = f"import pathlib;pathlib.Path({str(seen)!r}).write_text('built')"
    monkeypatch.setattr(serve, "BUILD", (sys.executable, "-c", code))
    return seen


def test_pages_are_served_and_never_kept_by_the_browser(
    site: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(site) as port:
        for path, text in {"/": "home", "/walk/": "the walk"}.items():
            status, headers, body = ask(port, path)
            assert (status, body) == (200, text)
            assert headers["cache-control"] == "no-cache"
        status, headers, _ = ask(port, "/walk")
        assert (status, headers["location"]) == (301, "/walk/")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("path", ["/absent", "/walk/absent.css", "/pictures/"])
def test_a_missing_page_gets_the_site_s_own_404(site: Path, path: str) -> None:
    with serving(site) as port:
        status, headers, body = ask(port, path)
        assert (status, body) == (404, "no such page: ö")
        assert headers["content-type"] == "text/html; charset=utf-8"
        assert headers["cache-control"] == "no-cache"
        assert headers["content-length"] == str(len("no such page: ö".encode()))


def test_an_answer_to_head_has_no_body(site: Path) -> None:
    with serving(site) as port, socket.create_connection((serve.HOST, port)) as browser:
        browser.sendall(b"HEAD /absent HTTP/1.0\r\n\r\n")
        answer = browser.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.0 404 ")
    assert b"Content-Length: 16\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_without_a_404_page_the_answer_is_still_404(site: Path) -> None:
    (site / "404.html").unlink()
    with serving(site) as port:
        status, _, body = ask(port, "/pictures/")
    assert status == 404
    assert "secret" not in body


def test_other_errors_are_not_called_404(site: Path) -> None:
    with serving(site) as port:
        status, _, body = ask(port, "/", "POST")
    assert status == 501
    assert "no such page" not in body


def test_a_browser_may_hang_up(site: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (site / "large").write_bytes(bytes(64_000_000))
    with serving(site) as port:
        browser = socket.create_connection((serve.HOST, port))
        browser.sendall(b"GET /large HTTP/1.0\r\n\r\n")
        browser.recv(1)
        # Lingering for 0 seconds resets the connection.
        browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        browser.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("path", ["/", "/walk/", "/booking/", "/book"])
def test_below_a_prefix_and_nowhere_else(site: Path, path: str) -> None:
    with serving(site, "/book") as port:
        assert ask(port, "/book/walk/")[2] == "the walk"
        assert ask(port, "/book/walk")[1]["location"] == "/book/walk/"
        assert ask(port, path)[0] == 404


# ---- A site that is not whole yet ----


@contextmanager
def previewing(preview: serve.Preview) -> Iterator[int]:
    with serve.bind("0", preview) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def command(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_page_waits_only_until_the_whole_site_is_built(
    site: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("index", "404"):
        (site / f"{name}.html").write_text("<head></head>" + name)
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / "index.html").write_text("<head></head>whole")
    preview = serve.Preview(site)
    waiting = f'<head><script src="{serve.SCRIPT}" defer></script></head>'
    with previewing(preview) as port:
        preview.building = True
        for path in ("/", "/index.html", "/?q=1"):
            assert ask(port, path)[2] == waiting + "index"
        assert ask(port, "/pictures/secret.svg")[2] == "<svg/>"
        assert ask(port, "/gone/")[::2] == (404, "<head></head>404")
        assert json.loads(ask(port, serve.STATE)[2]) == {
            "building": True,
            "failed": False,
        }
        status, headers, script = ask(port, serve.SCRIPT)
        assert (status, headers["content-type"].partition(";")[0]) == (
            200,
            "text/javascript",
        )
        assert serve.STATE in script
        preview.start(whole, command("print('built')")).join()
        assert json.loads(ask(port, serve.STATE)[2]) == {
            "building": False,
            "failed": False,
        }
        assert ask(port, "/")[2] == "<head></head>whole"
    assert capfd.readouterr().err == ""


def test_a_site_that_cannot_be_completed_says_so(
    site: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (site / "index.html").write_text("<head></head>first")
    preview = serve.Preview(site)
    with previewing(preview) as port:
        preview.start(Path("never"), command("raise SystemExit('no memory')")).join()
        assert json.loads(ask(port, serve.STATE)[2]) == {
            "building": False,
            "failed": True,
        }
        assert ask(port, "/")[2].endswith("first")
    assert capfd.readouterr().err == (
        "no memory\nThe site lacks what could not be computed.\n"
    )


def test_who_leaves_does_not_wait_for_the_whole_site(
    site: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    preview = serve.Preview(site)
    thread = preview.start(Path("never"), command("import time; time.sleep(3600)"))
    preview.stop()
    thread.join(PATIENCE)
    assert preview.process is not None
    assert preview.process.returncode == -signal.SIGTERM
    assert capfd.readouterr() == ("", "")


# ---- The command ----


@pytest.mark.usefixtures("never_served")
def test_a_taken_port_gets_one_sentence_before_anything_is_built(
    taken: str, built: Path
) -> None:
    sentence = (
        f"PORT must be free; got PORT={taken} (Address already in use). "
        "Name another one: make serve PORT=NUMBER."
    )
    for arguments in (["--port", taken], ["--port", taken, "--check"]):
        with pytest.raises(SystemExit) as exit_:
            serve.main(arguments)
        assert exit_.value.code == sentence  # Python prints it and ends with status 1
    assert not built.exists()


@pytest.mark.usefixtures("never_served")
@pytest.mark.parametrize("port", ["", "http", "-1", "80.5", "65536"])
def test_a_port_is_a_number(port: str, built: Path) -> None:
    with pytest.raises(SystemExit) as exit_:
        serve.main([f"--port={port}"])
    assert exit_.value.code == (
        f"PORT must be a number from 0 to 65535; got PORT={port}."
    )
    assert not built.exists()


@pytest.mark.usefixtures("never_served")
def test_check_builds_nothing_and_gives_the_port_back(
    built: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    bound, bind = [], serve.bind

    def kept(port: str, preview: serve.Preview) -> ThreadingHTTPServer:
        bound.append(bind(port, preview))
        return bound[-1]

    monkeypatch.setattr(serve, "bind", kept)
    serve.main(["--port", "0", "--check"])
    assert [server.fileno() for server in bound] == [-1]  # it is closed
    assert not built.exists()
    assert capfd.readouterr() == ("", "")


def test_the_address_is_printed_after_the_build_and_ctrl_c_is_quiet(
    built: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    printed, started = [], []

    def interrupted(server: ThreadingHTTPServer) -> None:
        printed.append((server.server_port, built.read_text(), capfd.readouterr().out))
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", interrupted)
    monkeypatch.setattr(serve.Preview, "start", lambda _, *given: started.append(given))
    serve.main(["--port", "0", "--site", "whole"])
    assert started == [(Path("whole"), [*serve.BUILD, "--site-dir", "whole"])]
    [(port, seen, out)] = printed
    assert seen == "built"
    assert out == f"http://127.0.0.1:{port}\n"
    assert capfd.readouterr() == ("\n", "")


@pytest.mark.usefixtures("never_served")
def test_a_failed_build_is_not_served(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "BUILD", (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(SystemExit) as exit_:
        serve.main(["--port", "0"])
    assert exit_.value.code == 3
    assert capfd.readouterr().out == ""


def test_the_command_builds_strictly_and_serves_the_site(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A page\n\nIt was *built*.\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: A site\n")
    command = [sys.executable, "-m", "workshop", "serve", "--port", "0"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    patience = threading.Timer(PATIENCE, process.kill)
    patience.start()
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
        port = int(address.rpartition(":")[2])
        assert "It was <em>built</em>." in ask(port, "/")[2]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    finally:
        patience.cancel()
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert "Traceback" not in err

    # A warning is an error: nothing is served.
    (tmp_path / "docs" / "index.md").write_text("[nowhere](absent.md)\n")
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 1
    assert "http://" not in result.stdout
    assert "absent.md" in result.stderr
