#!/usr/bin/env bash
# The finger and the diamond in other engines beside ours: rates and errors against one fine full model, in one run.
#   bench/peers/run.sh [options]
#     --robots finger,diamond    only these
#     --cases supple,mujoco      only cases whose names begin with these (bench/peers/cases.py)
#     --rounds N                 only the first N commands
#     --truth                    compute the truth again: fine meshes, some 15 minutes of one core
#     --supple PROGRAM           the program (build/engine/supple)
#     --package FOLDER           the folder of the Python package (build/python)
#     -o DIR                     results (out/peers)
# Results: peers.md, peers.json, a picture of each robot. The peers come from PyPI into build/venv-peers
# (bench/peers/requirements.txt); one that cannot be installed is skipped, and named. Reduced models and fine meshes are
# kept in build/peers: the fine diamond is reduced in a quarter of an hour or more at the first run.
set -euo pipefail

fail() { echo "run.sh: $1" >&2; exit "${2:-2}"; }

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
supple=$root/build/engine/supple package=$root/build/python out=$root/out/peers truth=''
pass=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,13p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --truth) truth=yes; shift ;;
    --robots | --cases | --rounds | --supple | --package | -o)
      [ $# -gt 1 ] || fail "$1 needs a value (try --help)"
      case "$1" in
        -o) out=$2 ;;
        --supple) supple=$2 ;;
        --package) package=$2 ;;
        *) pass+=("$1" "$2") ;;
      esac
      shift 2 ;;
    *) fail "unknown option '$1' (try --help)" ;;
  esac
done
[ -x "$supple" ] || fail "there is no program '$supple' (build it, or --supple PROGRAM)"
[ -d "$package/supple" ] || fail "there is no package in '$package' (build it, or --package FOLDER)"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=$package

venv=$root/build/venv-peers kept=$root/build/peers
mkdir -p "$kept"
if [ ! -x "$venv/bin/python" ]; then python3 -m venv "$venv"; fi
while read -r line; do
  "$venv/bin/python" -m pip install --quiet "$line" || echo "skipped: $line cannot be installed here" >&2
done <"$here/requirements.txt"
python=$venv/bin/python

# A mesh of a robot with another size of its elements [mm], by the gmsh of the system or of PyPI: numbers of elements differ a
# little from version to version.
mesh() {
  [ -f "$kept/$1_$2.msh" ] || "$(command -v gmsh || echo "$venv/bin/gmsh")" "$root/assets/$1/$1.geo" -3 -nt 1 -v 2 -format msh41 \
    -setnumber size "$2" -o "$kept/$1_$2.msh"
}

reduce() { [ -f "$kept/$2" ] || "$supple" reduce "$1" -o "$kept/$2" --snapshots "$kept/${2%.rom.h5}.snapshots"; }

mesh finger 1.7
sed -e "s#finger_coarse.msh#$kept/finger_1.7.msh#" -e 's#type = "cable"#&\nattachment_radius = "3 mm"#' \
  "$root/assets/finger/scene.toml" >"$kept/finger_fine.toml"
reduce "$root/assets/finger" finger.rom.h5
reduce "$kept/finger_fine.toml" finger_fine.rom.h5
reduce "$root/assets/diamond" diamond.rom.h5
reduce "$root/assets/diamond/fine.toml" diamond_fine.rom.h5

known=$root/bench/results/peers-truth-2026-11-26
if [ -n "$truth" ]; then
  for size in 1.2 0.9; do mesh finger "$size"; done
  mesh diamond 2.2
  "$python" "$here/truth.py" finger "$kept"/finger_{1.7,1.2,0.9}.msh --increments 1 --spread 3 -o "$known/finger.json"
  "$python" "$here/truth.py" diamond "$root"/assets/diamond/diamond_{coarse,fine}.msh "$kept/diamond_2.2.msh" \
    --spread 8 -o "$known/diamond.json"
fi
"$python" "$here/compare.py" "${pass[@]}" -o "$out"
