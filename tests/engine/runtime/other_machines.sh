#!/usr/bin/env bash
# Compiles the runtime on its own for other machines, and steps a model there: the same motion to 1e-12.
#   other_machines.sh SOURCE MODEL SCRATCH [NAME...]    NAME: clang m32 arm64 wasm; all of them by default
# A machine without its compiler is named and left out; exit code 77: none was there. MODEL: of `supple export --format runtime`.
set -euo pipefail
source=$1 model=$2 scratch=$3
shift 3
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(clang m32 arm64 wasm)

# The tips of four robots after 50 steps, with all digits.
mkdir -p "$scratch"
cat >"$scratch/tips.c" <<'C'
#include <stdio.h>
#include <supple.h>
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  supple_model* model = supple_model_load(argv[1]);
  supple_settings settings = supple_default_settings();
  settings.robots = 4;
  supple_simulation* robots = model ? supple_simulation_new(model, &settings) : NULL;
  if (!robots) return fprintf(stderr, "%s\n", supple_error()), 1;
  size_t shape[4];
  double* commands = supple_get_array(robots, SUPPLE_COMMANDS, shape);
  for (size_t b = 0; b < shape[0]; ++b) commands[b * shape[1]] = 0.001 * (double)b;
  if (supple_step(robots, 50) != SUPPLE_OK) return fprintf(stderr, "%s\n", supple_error()), 1;
  const double* tips = supple_get_array(robots, SUPPLE_EFFECTOR_VALUES, shape);
  for (size_t i = 0; i < shape[0] * shape[1] * shape[2]; ++i) printf("%.17g\n", tips[i]);
  return 0;
}
C

# build NAME C-COMPILER C++-COMPILER FLAGS RUN...
build() {
  local name=$1 cc=$2 cxx=$3 flags=$4
  shift 4
  local tools=(-DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags")
  local link="-static" end=.tips
  if [ "$name" = wasm ]; then
    tools=(-DCMAKE_TOOLCHAIN_FILE=/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
    link="-fwasm-exceptions -flto -sALLOW_MEMORY_GROWTH=1 -sNODERAWFS=1" end=.js
  fi
  cmake -S "$source/engine/runtime" -B "$scratch/$name" -G Ninja "${tools[@]}" >"$scratch/$name.log" 2>&1 &&
    cmake --build "$scratch/$name" --parallel 2 --target supple_runtime >>"$scratch/$name.log" 2>&1 || { tail -n 30 "$scratch/$name.log"; return 1; }
  if grep -n "warning:" "$scratch/$name.log"; then return 1; fi
  # shellcheck disable=SC2086
  "$cc" $flags -std=c99 -Wall -Wextra -Werror -pedantic -c "$scratch/tips.c" -I "$source/engine/runtime" -o "$scratch/$name.o"
  # shellcheck disable=SC2086
  "$cxx" $flags -O2 $link "$scratch/$name.o" "$scratch/$name/libsupple_runtime.a" -Wl,--gc-sections -o "$scratch/$name$end"
  "$@" "$scratch/$name$end" "$model" >"$scratch/$name.txt"
}

found=0
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}  # where Debian has what emscripten's linker needs
build native gcc g++ "" env
for name in "${names[@]}"; do
  case $name in
    clang) tools=(clang clang++ "" env) ;;
    m32) tools=(gcc g++ "-m32 -msse2 -mfpmath=sse -idirafter /usr/include/$(gcc -print-multiarch)" env) ;;  # asm/ is there alone
    arm64) tools=(aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ "" qemu-aarch64) ;;
    wasm) tools=(emcc em++ "" node --no-experimental-fetch) ;;  # the script that emscripten 3.1 makes takes fetch for a browser
    *) echo "other_machines.sh: no machine '$name'" >&2; exit 2 ;;
  esac
  if ! command -v "${tools[0]}" >/dev/null || ! command -v "${tools[3]}" >/dev/null ||
    ! echo 'int main(){}' | "${tools[1]}" ${tools[2]} -x c++ - -o "$scratch/try" 2>/dev/null; then
    echo "$name: no ${tools[1]} ${tools[2]} or ${tools[3]} here"
    continue
  fi
  found=1
  build "$name" "${tools[@]}"
  paste "$scratch/native.txt" "$scratch/$name.txt" | awk -v name="$name" '
    NF != 2 { bad = 1 }
    { d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d; s = $1 < 0 ? -$1 : $1; if (s > size) size = s }
    END { printf "%s: tips differ by at most %.2g m of %.2g m\n", name, most, size; exit bad || !(most <= 1e-12 * 1) }'
done
[ $found -eq 1 ] || exit 77
