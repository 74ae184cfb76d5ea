#!/usr/bin/env bash
# Makes dist/supple-<version>-<architecture>/ and its .tar.gz: programs, tests, assets and every shared library but glibc's, to run
# from any folder of a machine that has none of them.
#   scripts/bundle.sh                 builds in build-bundle/ for x86-64-v3, without CUDA
#   scripts/bundle.sh -D SUPPLE_CUDA=ON
#                                     with CUDA; its mathematical libraries (cuBLAS, ...) then come from the machine
#   scripts/bundle.sh -D NAME=VALUE   more options for cmake
set -euo pipefail
cd "$(dirname "$0")/.."

options=()
while [ $# -gt 0 ]; do
  case "$1" in
    -D) options+=("-D$2"); shift 2 ;;
    -D*) options+=("$1"); shift ;;
    -h | --help) sed -n '2,7p' scripts/bundle.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "bundle.sh: unknown option '$1' (try --help)" >&2; exit 2 ;;
  esac
done

build=build-bundle
limit_mib=60
# DT_RPATH, not RUNPATH: it holds for the libraries of libraries too. Tests look for files from the bundle's root.
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSUPPLE_ARCH=x86-64-v3 -DSUPPLE_CUDA=OFF -DSUPPLE_VIEWER=OFF -DSUPPLE_MPI=OFF \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH='$ORIGIN/../lib' \
  -DCMAKE_EXE_LINKER_FLAGS='-Wl,--disable-new-dtags -Wl,--as-needed' \
  -DSUPPLE_TEST_SOURCE_DIR=share/supple -DSUPPLE_TEST_BINARY=bin/supple "${options[@]}"
cmake --build $build --parallel "$(nproc)"

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' $build/CMakeCache.txt)
name=supple-$version-$(uname -m)
root=dist/$name
rm -rf "$root" "$root.tar.gz"
mkdir -p "$root"/{bin,lib,tests,share/supple,share/doc/supple,share/udunits}

for program in $build/engine/supple $build/engine/supple-* $build/viewer/supple-view; do
  if [ -f "$program" ] && [ -x "$program" ]; then cp "$program" "$root/bin/"; fi
done
# The layering tests need the sources, which a bundle does not have.
for program in $build/tests/test_*; do
  if [ -f "$program" ] && [ -x "$program" ] && [ "$(basename "$program")" != test_layering ]; then cp "$program" "$root/tests/"; fi
done
cp -r assets "$root/share/supple/"
cp -r docs "$root/share/supple/"
mkdir -p "$root/share/supple/tests/fuzz"
cp -r tests/fuzz/corpus "$root/share/supple/tests/fuzz/"
cp README.md LICENSE NOTICE CHANGELOG.md "$root/share/doc/supple/"
cp scripts/gpu.sh "$root/"
database=$(find /usr/share/xml/udunits /usr/share/udunits -name udunits2.xml 2>/dev/null | head -n 1 || true)
[ -n "$database" ] || { echo "bundle.sh: udunits2.xml is missing: scripts/setup.sh" >&2; exit 3; }
cp "$(dirname "$database")"/udunits2*.xml "$root/share/udunits/"

# Everything the programs load, but glibc, which must match the machine's loader.
glibc='^(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|resolv|util|nsl|anl|BrokenLocale|nss_.*))\.so(\..*)?$'
# CUDA's mathematical libraries are larger than all the rest together, and not Debian's.
cuda='^lib(cublas|cublasLt|cusolver|cusolverMg|cusparse|nvJitLink)\.so(\..*)?$'
shopt -s nullglob
programs=("$root"/bin/* "$root"/tests/test_*)
libraries=$(for program in "${programs[@]}"; do ldd "$program" 2>/dev/null || true; done | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u)
for library in $libraries; do
  soname=$(basename "$library")
  [[ "$soname" =~ $glibc || "$soname" =~ $cuda ]] && continue
  cp -L "$library" "$root/lib/$soname"
  # The licence of what is shipped goes with it.
  # (Debian lists some libraries under /lib, which is /usr/lib.)
  file=$(readlink -f "$library")
  package=$( (dpkg-query -S "$file" || dpkg-query -S "${file#/usr}") 2>/dev/null | head -n 1 | cut -d: -f1 || true)
  if [ -z "$package" ] || [ ! -f "/usr/share/doc/$package/copyright" ]; then
    echo "bundle.sh: no copyright file found for $library" >&2
    exit 1
  fi
  mkdir -p "$root/share/doc/$package"
  cp -L "/usr/share/doc/$package/copyright" "$root/share/doc/$package/copyright"
done
chmod u+w "$root"/lib/*
strip --strip-unneeded "$root"/lib/* "${programs[@]}" 2>/dev/null || true

cat > "$root/tests/run.sh" <<'RUN'
#!/bin/sh
# Runs the quick tests of this bundle; with --all the long ones too.
cd "$(dirname "$0")/.." || exit 1
filter='-Long*:*/Long*'
[ "$1" = "--all" ] && filter='*'
failed=0
for program in tests/test_*; do
  echo "== $program"
  OPENBLAS_NUM_THREADS=1 "$program" --gtest_brief=1 --gtest_filter="$filter" || failed=1
done
exit $failed
RUN
chmod +x "$root/tests/run.sh"

# Nothing may come from the machine but glibc and CUDA.
outside=$(for program in "${programs[@]}"; do ldd "$program"; done | awk '$2 == "=>" {print $1, $3}' | sort -u |
  while read -r soname path; do
    [[ "$soname" =~ $glibc || "$soname" =~ $cuda ]] || case "$path" in *"/$root/"*) ;; *) echo "$soname ($path)" ;; esac
  done)
if [ -n "$outside" ]; then
  printf 'bundle.sh: loaded from outside of the bundle:\n%s\n' "$outside" >&2
  exit 1
fi
if [ -x "$root/bin/supple" ]; then
  env -i PATH=/usr/bin "$root/bin/supple" --version
  env -i PATH=/usr/bin "$root/bin/supple" info "$root/share/supple/assets/finger" >/dev/null
else
  echo "bundle.sh: no program yet: $build/engine/supple"
fi

tar -C dist -czf "$root.tar.gz" "$name"
size=$(($(stat -c %s "$root.tar.gz") / 1048576))
echo "bundle.sh: $root.tar.gz, $size MiB ($(du -sm "$root" | cut -f1) MiB unpacked)"
if [ "$size" -ge $limit_mib ]; then
  echo "bundle.sh: larger than $limit_mib MiB" >&2
  exit 1
fi
