#!/usr/bin/env bash
# Installs what is missing, builds in build/ and runs the tests.
#   scripts/test.sh               the quick tests (label quick)
#   scripts/test.sh --all         also the long ones (label long)
#   scripts/test.sh --emulated    those of device code instead, on the emulated GPU (label emulated)
#   scripts/test.sh --no-setup    no apt, no pip: everything is installed already
# The Python module is built and tested with the packages of python/requirements.txt, in build/venv.
# Exit code 0: built and every test that ran has passed.
set -euo pipefail
cd "$(dirname "$0")/.."

labels='^quick$'
setup=true
for argument in "$@"; do
  case "$argument" in
    --all) labels='^(quick|long)$' ;;
    --emulated) labels='^emulated$' ;;
    --no-setup) setup=false ;;
    -h | --help) sed -n '2,8p' scripts/test.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "test.sh: unknown option '$argument' (try --help)" >&2; exit 2 ;;
  esac
done

venv=build/venv
if $setup; then
  scripts/setup.sh --python
  { [ -x $venv/bin/python ] || python3 -m venv $venv; } &&
    $venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements.txt ||
    echo "test.sh: the packages of python/requirements.txt cannot be installed" >&2
fi
python=(-DSUPPLE_PYTHON=OFF)
if $venv/bin/python -c 'import nanobind' 2>/dev/null; then
  python=(-DSUPPLE_PYTHON=ON "-DPython_EXECUTABLE=$PWD/$venv/bin/python")
else
  echo "test.sh: no nanobind in $venv: the Python module is not built and its tests do not run"
fi
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSUPPLE_TESTS=ON -DSUPPLE_CUDA="${SUPPLE_CUDA:-OFF}" "${python[@]}"
cmake --build build --parallel "$(nproc)"
ctest --test-dir build -L "$labels" -j2 --output-on-failure --no-tests=error
