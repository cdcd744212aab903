"""Make an archive of a built site that works from a folder, without a server.

A browser that reads files does not look for the index.html of a folder, lets no script
read a file, and starts no worker. So each link names its file, the index of the search
becomes a script, and the worker of the search runs in a hidden frame.

What a page has between `<!-- online -->` and `<!-- end of online -->` is left out, and
so is its policy: no file is of the same origin as another. The bytes of the archive
depend on the site alone.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

LINK = re.compile(
    r'(?P<name>\b(?:href|src|action))="(?P<path>[^"#?:]*)(?P<rest>[^"]*)"'
)
ONLINE = re.compile(r"<!-- online -->.*?<!-- end of online -->", re.DOTALL)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
PRELOAD = re.compile(r'<link rel="preload"[^>]*>\s*')
BUNDLE = re.compile(r'<script src="(?P<path>[^"]*assets/javascripts/)bundle\.')
INDEX = "search/search_index"
WORKER = "assets/javascripts/worker.js"
# The files of a site that only servers and search engines need.
LEFT_OUT = {"404.html", "sitemap.xml", "sitemap.xml.gz"}
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that an archive can hold

FRAME = """\
// A worker in a hidden frame, for pages that are read from files.
window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inner = (this.inner = frame.contentWindow);
    const base = new URL(url, location);
    const load = (from) =>
      new Promise((resolve) => {
        const script = inner.document.createElement("script");
        script.src = new URL(from, base);
        script.onload = resolve;
        inner.document.body.append(script);
      });
    inner.postMessage = (data) =>
      this.dispatchEvent(new MessageEvent("message", { data }));
    inner.importScripts = (...urls) =>
      urls.reduce((last, next) => last.then(() => load(next)), Promise.resolve());
    this.ready = load(base);
  }
  postMessage(data) {
    this.ready.then(() =>
      this.inner.dispatchEvent(new MessageEvent("message", { data }))
    );
  }
};
"""


def with_file_name(path: str) -> str:
    """Return a path to a folder as the path to its page."""
    if path.endswith("/") or path.rpartition("/")[2] in (".", ".."):
        return f"{path.rstrip('/')}/index.html"
    return path


def from_files(html: str) -> str:
    """Return a page that works without a server."""

    def link(match: re.Match[str]) -> str:
        path, rest = match["path"], match["rest"]
        is_outside = rest.startswith(":") or path.startswith("/")
        return f'{match["name"]}="{path if is_outside else with_file_name(path)}{rest}"'

    for online in (ONLINE, POLICY, PRELOAD):
        html = online.sub("", html)
    worker = rf'<script src="\g<path>{Path(WORKER).name}"></script>\g<0>'
    return BUNDLE.sub(worker, LINK.sub(link, html))


def index_as_script(index: str) -> str:
    """Return the index of the search as a script."""
    whole = json.loads(index)
    for part in whole["docs"]:
        path, mark, anchor = part["location"].partition("#")
        part["location"] = (
            with_file_name(path or "./").removeprefix("./") + mark + anchor
        )
    return f"var __index = {json.dumps(whole, ensure_ascii=False)};\n"


def members(site: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the archive, by name."""
    for path in site.rglob("*"):
        name = path.relative_to(site).as_posix()
        if not path.is_file() or name in LEFT_OUT:
            continue
        if path.suffix == ".html":
            yield name, from_files(path.read_text(encoding="utf-8")).encode()
        elif name == f"{INDEX}.json":
            yield (
                f"{INDEX}.js",
                index_as_script(path.read_text(encoding="utf-8")).encode(),
            )
            yield WORKER, FRAME.encode()
        else:
            yield name, path.read_bytes()


def pack(site: Path, name: str) -> Path:
    """Write the archive of a site into it.

    Args:
        site: The folder that the site was built into.
        name: The name of the archive; its stem is the one folder in it.
    """
    archive = site / name
    found = sorted(members(site))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for path, content in found:
            info = zipfile.ZipInfo(f"{archive.stem}/{path}", DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # as on Unix, wherever it is made
            info.external_attr = 0o644 << 16
            file.writestr(info, content)
    return archive
