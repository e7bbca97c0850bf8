"""Build the manual as a site without a network: `python -m docs.tools.site [--to FOLDER] [--version 0.1.0]`.

The pages of `docs/` and those at the top of the repository are copied to a scratch folder, with links for the
site, and Zensical makes HTML of them. The headings and links of `docs/README.md` are the navigation. Beside
each `PAGE.html` lies `PAGE.md`, the same as Markdown; `llms.txt` lists these, and `llms-full.txt` holds all.

With a version, the site is a folder of that name in FOLDER, beside those of other versions; its pages offer
these, and FOLDER's own page leads to the newest.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml

from docs.tools import api
from docs.tools.notebook import to_markdown

ROOT = Path(__file__).resolve().parents[2]
DOCS, TOOLS = ROOT / "docs", ROOT / "docs/tools"
INDEX = "docs/README.md"
PROJECT = {
    "README.md": "project/readme.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""Pages at the top of the repository, and where they are on the site."""
LEFT_OUT = ("docs/example/", "docs/tools/")
PAGES = (".md", ".ipynb")
COPIED = (".png", ".svg", ".webp", ".json")
"""Pictures and schemas, which the site has as they are."""
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)((?:#[^)\s]*)?)(?=\))")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK_TEXT = re.compile(r"\[([^\]]+)\]\([^)]*\)")
SCRIPT = re.compile(r"<script>(.+?)</script>", re.DOTALL)
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "style-src 'self' 'sha256-NwSx/R2V/U4jnW0Tq5pQ53Y/rzPVJ4dqE7D6UTA/J1k='; worker-src 'self'; "
    "form-action 'none'"
)
"""What a page may load: its own files alone. The hash is of the style that the theme gives its search."""


class SiteError(Exception):
    """Something that no site can be made of."""


class Entry(NamedTuple):
    """A line of the navigation."""

    sections: tuple[str, ...]
    """The headings above it, outermost first."""
    title: str
    place: str
    """The page's path on the site, as Markdown."""
    about: str
    """What the index says of the page."""


def main() -> None:
    """Build the site, and say where it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--to", type=Path, default=ROOT / "site", help="folder of the site, which is replaced"
    )
    parser.add_argument("--version", help="keep it in a folder of this name, beside other versions")
    options = parser.parse_args()
    target: Path = options.to
    if options.version:
        target = options.to / options.version
    try:
        count = build(target, version=options.version)
        if options.version:
            list_versions(options.to)
    except SiteError as error:
        sys.exit(f"error: {error}")
    print(f"{count} pages are in {target}. To read them: python -m http.server --directory {target}")


def build(target: Path, *, version: str | None = None) -> int:
    """Build the site in `target`, which is replaced, and return the number of pages.

    Pages of a version offer the others, which are in folders beside it. Raises SiteError for a page that the
    index lacks, a link to nothing and any warning of the generator.
    """
    places = find_pages()
    with tempfile.TemporaryDirectory() as scratch:
        pages, site = Path(scratch, "pages"), Path(scratch, "site")
        for name, place in places.items():
            stage(name, pages / place, places)
        index = read_index((pages / "index.md").read_text("utf-8"))
        markdown = [place for place in places.values() if place.endswith(".md")]
        if unlisted := sorted({*markdown} - {entry.place for entry in index} - {"index.md"}):
            raise SiteError(f"{INDEX} does not link to: {', '.join(unlisted)}")
        generate(Path(scratch), index, version=version)
        for place in markdown:
            shutil.copyfile(pages / place, site / place)
        for html in site.rglob("*.html"):
            finish(html, site)
        write_llms(site, index)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(site, target)
    return len(markdown)


def find_pages() -> dict[str, str]:
    """Each page, notebook, picture and schema of the repository, and its path on the site."""
    places = dict(PROJECT)
    for path in sorted(DOCS.rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in PAGES + COPIED and not name.startswith(LEFT_OUT):
            place = path.relative_to(DOCS)
            if path.suffix in PAGES:
                place = place.with_name("index.md") if place.name == "README.md" else place.with_suffix(".md")
            places[name] = place.as_posix()
    return places


def stage(name: str, target: Path, places: dict[str, str]) -> None:
    """Copy a file of the repository to `target`: a notebook as Markdown, a page with the site's links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / name
    if source.suffix in COPIED:
        shutil.copyfile(source, target)
    else:
        text = to_markdown(source, target) if source.suffix == ".ipynb" else source.read_text("utf-8")
        home, folder = os.path.dirname(name), os.path.dirname(places[name])
        plots = [path.name for path in target.parent.glob(f"{target.stem}-*") if path.suffix in COPIED]
        places = places | {f"{home}/{plot}": f"{folder}/{plot}" for plot in plots}
        target.write_text(api.expand(relink(text, name, places)), "utf-8")


def relink(text: str, name: str, places: dict[str, str]) -> str:
    """The page's text with links as the site needs them; code stays as it is.

    Raises SiteError for a link to a file that the site lacks.
    """

    def moved(link: re.Match[str]) -> str:
        file = os.path.normpath(os.path.join(os.path.dirname(name), link[1]))
        if link[1].startswith("data:"):
            return link[0]
        if file not in places:
            raise SiteError(f"{name} links to {link[1]}, which is not on the site")
        return os.path.relpath(places[file], os.path.dirname(places[name])) + link[2]

    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(moved, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, LINK.sub(moved, text[end:])])


def read_index(text: str) -> list[Entry]:
    """The navigation: every link of the index to a page, below its headings."""
    entries: list[Entry] = []
    sections: tuple[str, ...] = ()
    for line in text.splitlines():
        if heading := re.fullmatch(r"(##+) (.+)", line):
            sections = (*sections[: len(heading[1]) - 2], heading[2])
        if item := re.match(r"- \[(.+?)\]\(([^)#]+\.md)\):? ?(.*)", line):
            entries.append(Entry(sections, item[1], item[2], item[3]))
    return entries


VERSIONS = "versions.json"
"""The list of versions that the theme's pages read, in the form of mike."""
REDIRECT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>gluebench</title>
<meta http-equiv="refresh" content="0; url={version}/index.html"></head>
<body><a href="{version}/index.html">gluebench {version}</a></body></html>
"""


def list_versions(folder: Path) -> None:
    """Write the list of the versions in a folder, the newest first, and a page that leads to that one."""
    names = [path.name for path in folder.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", path.name)]
    names.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    entries = []
    for name in names:
        aliases = ["latest"] if name == names[0] else []
        entries.append({"version": name, "title": name, "aliases": aliases})
    (folder / VERSIONS).write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
    (folder / "index.html").write_text(REDIRECT.format(version=names[0]), "utf-8")


def generate(home: Path, index: list[Entry], *, version: str | None = None) -> None:
    """Run Zensical on `home/pages`, with every warning as an error; the site is then in `home/site`."""
    navigation: list[object] = [{"Home": "index.md"}]
    for entry in index:
        level = navigation
        for section in entry.sections:
            last = level[-1] if level else None
            if not isinstance(last, dict) or section not in last:
                level.append({section: []})
            level = level[-1][section]  # type: ignore[index]
        level.append({entry.title: entry.place})
    config = yaml.safe_load((TOOLS / "mkdocs.yml").read_text("utf-8"))
    config |= {"docs_dir": "pages", "site_dir": "site", "nav": navigation}
    if version:
        config["site_name"] += f" {version}"
        config["extra"] |= {"version": {"provider": "mike", "default": "latest"}}
    (home / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    for name in ("style.css", "tables.js", "icon.svg"):
        (home / "pages/assets").mkdir(exist_ok=True)
        shutil.copyfile(TOOLS / name, home / "pages/assets" / name)
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--strict",
        "--config-file",
        str(home / "mkdocs.yml"),
    ]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
    if result.returncode:
        raise SiteError(f"the generator complains:\n{result.stdout}{result.stderr}")


def finish(html: Path, site: Path) -> None:
    """Give the page its policy and a link to its Markdown; move its scripts to files, as the policy wants."""

    def to_file(script: re.Match[str]) -> str:
        file = site / "assets/javascripts" / f"inline.{hashlib.sha256(script[1].encode()).hexdigest()[:8]}.js"
        file.write_text(script[1], "utf-8")
        folder = "/" if html.name == "404.html" else ""
        return f'<script src="{folder}{os.path.relpath(file, html.parent)}"></script>'

    text = SCRIPT.sub(to_file, html.read_text("utf-8"))
    head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    if html.with_suffix(".md").exists():
        head += f'<link rel="alternate" type="text/markdown" href="{html.stem}.md">'
    html.write_text(text.replace("<head>", f"<head>{head}", 1), "utf-8")


def write_llms(site: Path, index: list[Entry]) -> None:
    """Write `llms.txt`, a list of the pages as Markdown, and `llms-full.txt`, all of them in one file."""
    home = (site / "index.md").read_text("utf-8")
    title, summary, *_ = home.split("\n\n")
    lines = [title, "", "> " + LINK_TEXT.sub(r"\1", summary.replace("\n", " "))]
    sections: tuple[str, ...] = ()
    for entry in index:
        if entry.sections != sections:
            sections = entry.sections
            lines += ["", f"## {': '.join(sections)}", ""]
        lines.append(f"- [{entry.title}]({entry.place})" + (f": {entry.about}" if entry.about else ""))
    (site / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
    listed = dict.fromkeys(["index.md", *(entry.place for entry in index)])
    texts = (f"<!-- {place} -->\n\n{(site / place).read_text('utf-8').strip()}\n" for place in listed)
    (site / "llms-full.txt").write_text("\n".join(texts), "utf-8")


if __name__ == "__main__":
    main()
