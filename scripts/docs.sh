#!/usr/bin/env bash
# Builds the documentation site in build-docs/site: MkDocs, and the pages of the C++ libraries where Doxygen is installed.
#   scripts/docs.sh            build; open build-docs/site/index.html
#   scripts/docs.sh --check    for CI: scripts/check_words.py, and links; a warning is an error; without the C++ pages
# Python packages are installed once, into build-docs/venv (docs/requirements.txt); after that no network is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
for argument in "$@"; do
  case "$argument" in
    --check) check=true ;;
    -h | --help) sed -n '2,5p' scripts/docs.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "docs.sh: unknown option '$argument' (try --help)" >&2; exit 2 ;;
  esac
done

venv=build-docs/venv
if ! cmp -s docs/requirements.txt "$venv/requirements.txt"; then
  command -v python3 >/dev/null || { echo "docs.sh: python3 is missing: apt-get install python3-venv" >&2; exit 3; }
  mkdir -p build-docs
  python3 -m venv "$venv" || { echo "docs.sh: no venv (apt-get install python3-venv)" >&2; exit 3; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r docs/requirements.txt ||
    { echo "docs.sh: pip could not install docs/requirements.txt" >&2; exit 3; }
  cp docs/requirements.txt "$venv/requirements.txt"
fi

if $check; then python3 scripts/check_words.py; fi
# Not with --quiet, under which warnings are not counted.
if ! NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict --site-dir build-docs/site >build-docs/mkdocs.log 2>&1; then
  grep -E "WARNING|ERROR|Aborted" build-docs/mkdocs.log >&2 || cat build-docs/mkdocs.log >&2
  exit 1
fi
if $check; then
  echo "docs.sh: words and links are right"
  exit 0
fi

if command -v doxygen >/dev/null; then
  doxygen -q docs/Doxyfile 2>build-docs/doxygen.log
  echo "docs.sh: built build-docs/site/index.html and build-docs/site/api/index.html (warnings: build-docs/doxygen.log)"
else
  echo "docs.sh: built build-docs/site/index.html; without the C++ pages: apt-get install doxygen"
fi
