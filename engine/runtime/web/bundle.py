"""One HTML file of page.html, its style, its modules and supple.wasm; a robot's facts and model are still to be filled in.

bundle.py SUPPLE_WASM OUTPUT
"""

from __future__ import annotations

import base64
import gzip
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


def script(name: str, seen: set[str]) -> str:
    """A module after those that it imports, without the words for that."""
    if name in seen:
        return ""
    seen.add(name)
    text = (HERE / name).read_text()
    before = "".join(script(other, seen) for other in re.findall(r'^import .* from "\./(.*)";$', text, re.MULTILINE))
    text = re.sub(r"^import .*\n", "", text, flags=re.MULTILINE)
    return before + re.sub(r"^export ", "", text, flags=re.MULTILINE)


def main() -> None:
    wasm, output = sys.argv[1:]
    page = (HERE / "page.html").read_text()
    packed = base64.b64encode(gzip.compress(Path(wasm).read_bytes(), 9, mtime=0)).decode()
    parts = {
        '<link rel="stylesheet" href="page.css">': f"<style>\n{(HERE / 'page.css').read_text()}</style>",
        '<script type="module" src="page.mjs"></script>': f'<script type="module">\n{script("page.mjs", set())}</script>',
        "@SUPPLE_RUNTIME@": packed,
    }
    for place, what in parts.items():
        if page.count(place) != 1:
            sys.exit(f"bundle.py: page.html has {page.count(place)} times {place}")
        page = page.replace(place, what)
    Path(output).write_text(page)


if __name__ == "__main__":
    main()
