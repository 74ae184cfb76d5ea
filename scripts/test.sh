#!/usr/bin/env bash
# Installs what is missing, builds in build/ and runs the tests.
#   scripts/test.sh               the quick tests (label quick)
#   scripts/test.sh --all         also the long ones (label long)
#   scripts/test.sh --emulated    those of device code instead, on the emulated GPU (label emulated)
#   scripts/test.sh --no-setup    no apt: everything is installed already
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
    -h | --help) sed -n '2,7p' scripts/test.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "test.sh: unknown option '$argument' (try --help)" >&2; exit 2 ;;
  esac
done

if $setup; then scripts/setup.sh; fi
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSUPPLE_TESTS=ON -DSUPPLE_CUDA="${SUPPLE_CUDA:-OFF}"
cmake --build build --parallel "$(nproc)"
ctest --test-dir build -L "$labels" -j2 --output-on-failure --no-tests=error
