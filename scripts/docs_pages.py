"""MkDocs hook: pages that lie outside docs/, and links between them.

Every page is written for the source tree, where its links are relative paths of files. This hook brings the pages of assets/ and
bench/results/, CHANGELOG.md and CONTRIBUTING.md into the site, and turns links to them into links of the site. A link to a file
that is not in the site (source code, a mesh) becomes plain text; a link to a file that does not exist is a warning, which
`mkdocs build --strict` counts as an error.

Where scripts/web.sh has made the page of the diamond, the front page has that robot instead of its picture.
"""

import logging
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
log = logging.getLogger("mkdocs.hooks.docs_pages")


def outside_pages():
    """Path in the tree -> path in the site, of files that are not under docs/."""
    pages = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
    for folder, site in (("assets", "robots"), ("bench/results", "results")):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".md", ".png", ".gif"}:
                pages[path.relative_to(ROOT).as_posix()] = f"{site}/{path.relative_to(ROOT / folder).as_posix()}"
    return pages


PAGES = outside_pages()
ROBOT = ROOT / "build-web" / "diamond.html"
PICTURE = re.compile(r"^!\[[^\]]*\]\(pictures/circle\.gif\)$", re.MULTILINE)
FRAME = (
    '<iframe src="diamond.html" title="A reduced diamond, running in this page" '
    'style="width: 100%; height: 30rem; border: 0; border-radius: 0.4rem" loading="lazy"></iframe>'
)
TREE_PATH = {site: path for path, site in PAGES.items()}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\]\([^()]*\)|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"(?ms)^( *)(```|~~~).*?^\1\2[ \t]*$|`[^`\n]*`")


def on_files(files, config):
    for path, site in PAGES.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / path)))
    if ROBOT.exists():
        files.append(File.generated(config, "diamond.html", abs_src_path=str(ROBOT)))
    return files


def rewritten(text, page, site_of_page):
    """Links of `text`, which lies at the path `page` of the tree, as links from `site_of_page`."""

    def link(match):
        image, label, target = match.groups()
        label = LINK.sub(link, label)
        if re.match(r"[a-z]+:|#|/", target):
            return f"{image}[{label}]({target})"
        name, hash_, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
        if not (ROOT / path).exists():
            log.warning("%s: the link '%s' leads to no file of the tree", page, target)
            return f"{image}[{label}]({target})"
        if path in PAGES:
            site = PAGES[path]
        elif path.startswith("docs/") and path.endswith((".md", ".png", ".gif", ".ipynb")):
            site = path[len("docs/"):]
        elif path == "README.md":
            site = "index.md"
        elif f"{path}/README.md" in PAGES:
            site = PAGES[f"{path}/README.md"]
        else:
            return label
        return f"{image}[{label}]({posixpath.relpath(site, posixpath.dirname(site_of_page) or '.')}{hash_}{anchor})"

    parts, last = [], 0
    for code in CODE.finditer(text):
        # Inline code may stand in a label: only fenced code divides the text.
        if code.group(2):
            parts += [LINK.sub(link, text[last:code.start()]), code.group(0)]
            last = code.end()
    return "".join(parts) + LINK.sub(link, text[last:])


def on_page_markdown(markdown, page, config, files):
    site = page.file.src_uri
    if site == "index.md" and ROBOT.exists():
        markdown, count = PICTURE.subn(FRAME, markdown)
        if count != 1:
            log.warning("index.md has %d pictures for the robot to take the place of", count)
    return rewritten(markdown, TREE_PATH.get(site, f"docs/{site}"), site)
