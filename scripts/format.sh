#!/usr/bin/env bash
# Formats every C++ and CUDA source with clang-format.
#   scripts/format.sh            rewrites
#   scripts/format.sh --check    names the files that would change, exit code 1 if there are any
#   scripts/format.sh FILE...    these files only
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
files=()
for argument in "$@"; do
  case "$argument" in
    --check) check=true ;;
    -h | --help) sed -n '2,5p' scripts/format.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
    -*) echo "format.sh: unknown option '$argument' (try --help)" >&2; exit 2 ;;
    *) files+=("$argument") ;;
  esac
done
command -v clang-format >/dev/null || { echo "format.sh: clang-format is missing: scripts/setup.sh --dev" >&2; exit 3; }
if [ ${#files[@]} -eq 0 ]; then
  for folder in kernels solvers engine python viewer tests bench docs/examples; do
    [ -d "$folder" ] || continue
    while IFS= read -r file; do files+=("$file"); done < <(
      find "$folder" -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) | sort)
  done
fi

if $check; then
  changed=()
  for file in "${files[@]}"; do
    clang-format --dry-run --Werror "$file" 2>/dev/null || changed+=("$file")
  done
  if [ ${#changed[@]} -gt 0 ]; then
    printf 'format.sh: %s\n' "${changed[@]}"
    exit 1
  fi
  echo "format.sh: ${#files[@]} files are formatted"
else
  clang-format -i "${files[@]}"
fi
