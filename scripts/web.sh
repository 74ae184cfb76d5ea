#!/usr/bin/env bash
# Compiles the runtime to WebAssembly and makes pages for browsers from it.
#   scripts/web.sh              installs what is missing (emscripten), makes build-web/robot.html, the page that build/engine/supple
#                               fills from then on (supple export --format page), and the diamond's: build-web/diamond.html
#   scripts/web.sh --test       also opens pages in headless Chromium, leads the robots there and looks at them
#   scripts/web.sh --no-setup   no apt, no pip: everything is installed already
# Exit code 0: the diamond's page is below 1.5 MB, and every test that ran has passed; 3: emscripten is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

setup=true test=false
for argument in "$@"; do
  case "$argument" in
    --test) test=true ;;
    --no-setup) setup=false ;;
    -h | --help) sed -n '2,7p' scripts/web.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "web.sh: unknown option '$argument' (try --help)" >&2; exit 2 ;;
  esac
done
if $setup; then scripts/setup.sh --web; fi
command -v emcc >/dev/null || { echo "web.sh: there is no emcc (apt-get install emscripten)" >&2; exit 3; }
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}  # where Debian has what emscripten's linker needs

mkdir -p build-web
: >build-web/log.txt
# Runs a command whose words are shown only if it fails.
quietly() { "$@" >>build-web/log.txt 2>&1 || { tail -n 40 build-web/log.txt >&2; echo "web.sh: $1 failed (build-web/log.txt)" >&2; exit 1; }; }

wasm=build-web/runtime
quietly cmake -S engine/runtime -B $wasm -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG" \
  -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DCMAKE_TOOLCHAIN_FILE=/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake
quietly cmake --build $wasm --parallel "$(nproc)"
cmp -s $wasm/robot.html build-web/robot.html || cp $wasm/robot.html build-web/robot.html
echo "web.sh: build-web/robot.html, $(stat -c %s build-web/robot.html) bytes"

new=()
if [ ! -f build/CMakeCache.txt ]; then new=(-G Ninja -DCMAKE_BUILD_TYPE=Release); fi
targets=(supple)
if $test; then targets+=(supple_python); fi
quietly cmake -S . -B build "${new[@]}" -DSUPPLE_PAGE=build-web/robot.html
quietly cmake --build build --parallel "$(nproc)" --target "${targets[@]}"
supple=build/engine/supple model=build-web/diamond.rom.h5
if [ -z "$(find $model -newer assets/diamond/scene.toml -newer assets/diamond/diamond_coarse.msh 2>/dev/null)" ]; then
  quietly $supple reduce assets/diamond -o $model --snapshots build-web/diamond.snapshots --force
fi
quietly $supple export $model --format page -o build-web/diamond.html --force
size=$(stat -c %s build-web/diamond.html) limit=1500000
echo "web.sh: build-web/diamond.html, $size bytes"
[ "$size" -lt $limit ] || { echo "web.sh: larger than $limit bytes" >&2; exit 1; }

if $test; then
  command -v chromium >/dev/null || { echo "web.sh: there is no chromium (apt-get install chromium)" >&2; exit 3; }
  PYTHONPATH=build/python build/venv/bin/python -m pytest -q -p no:cacheprovider tests/web
fi
