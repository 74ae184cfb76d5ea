#!/usr/bin/env bash
# The published diamond of SOFA's ModelOrderReduction plugin in our step: its full models, its reduced ones (modes,
# elements and weights as published) and our tentacle, forward and inversely, all in turn on one thread.
#   bench/peer.sh FOLDER [options]          FOLDER holds diamond_4k_tet.vtu and so on, published_elastic, published_hyperelastic
#     --meshes 4k,34k,70k                   full models on these
#     --rounds 3                            rounds of the rates, cases in turn
#     --steps 100000                        steps of a reduced model in each round
#     --supple PROGRAM                      the program (build/engine/supple)
#     -o DIR                                results (out/peer)
# Results: peer.md, peer.json. The last column is SOFA v25.12's own rate in such a scene, its release build on one
# thread of a two-core Zen 5; where two are given the second has its Jacobians declared constant, which no scene of its
# own does. It was measured on another day: a factor of 1.2 between the columns says nothing.
set -euo pipefail

fail() { echo "peer.sh: $1" >&2; exit "${2:-2}"; }

root=$(cd "$(dirname "$0")/.." && pwd)
supple=$root/build/engine/supple out=out/peer folder='' meshes=4k,34k,70k rounds=3 steps=100000
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,12p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --meshes | --rounds | --steps | --supple | -o)
      [ $# -gt 1 ] || fail "$1 needs a value (try --help)"
      case "$1" in -o) out=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2 ;;
    -*) fail "unknown option '$1' (try --help)" ;;
    *) [ -z "$folder" ] || fail "one folder of meshes only (try --help)"; folder=$1; shift ;;
  esac
done
[ -n "$folder" ] || fail "the folder of the meshes is missing (try --help)"
[ -x "$supple" ] || fail "there is no program '$supple' (build it, or --supple PROGRAM)"
IFS=, read -ra meshes <<<"$meshes"
for file in "${meshes[@]/%/_tet.vtu}"; do
  [ -f "$folder/diamond_$file" ] || fail "'$folder/diamond_$file' is missing: the published meshes are not part of this project"
done
folder=$(cd "$folder" && pwd)
mkdir -p "$out/robots"
out=$(cd "$out" && pwd)
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive

cable() {
  printf '[[actuator]]\nname = "%s"\ntype = "cable"\npoints = [%s]\npull_point = %s\nrange = ["0 mm", "20 mm"]\n\n' "$@"
}

# The diamond as SOFA has it: mass equally over the nodes, steps of 1 s, rotations by edge frames. Mesh, law.
diamond() {
  cat <<END
time_step = "1 s"

[body]
order = 1
mesh = {file = "$folder/diamond_$1_tet.vtu", unit = "mm", rotation = ["90 deg", "0 deg", "0 deg"], translation = ["0 mm", "0 mm", "35 mm"]}
mass = "500 g"
mass_distribution = "per-node"

[[body.material]]
model = "$2"
young = "450 kPa"
poisson = 0.45
END
  [ "$2" != corotational ] || echo 'rotation = "edge-frame"'
  printf '\n[[fix]]\nbox = [["-15 mm", "-15 mm", "-40 mm"], ["15 mm", "15 mm", "10 mm"]]\n\n'
  cable north '["0 mm", "97 mm", "45 mm"]' '["0 mm", "10 mm", "30 mm"]'
  cable west '["-97 mm", "0 mm", "45 mm"]' '["-10 mm", "0 mm", "30 mm"]'
  cable south '["0 mm", "-97 mm", "45 mm"]' '["0 mm", "-10 mm", "30 mm"]'
  cable east '["97 mm", "0 mm", "45 mm"]' '["10 mm", "0 mm", "30 mm"]'
  printf '[[effector]]\nname = "top"\ntype = "position"\npoint = ["0 mm", "0 mm", "125 mm"]\n'
}

# stdin is the scene of a robot of this name.
robot() {
  mkdir -p "$out/robots/$1"
  { printf 'name = "%s"\n' "$1"; cat; } >"$out/robots/$1/scene.toml"
}

for mesh in "${meshes[@]}"; do diamond "$mesh" corotational | robot "diamond-$mesh"; done
printf 'include = "%s/assets/tentacle/scene.toml"\n' "$root" | robot tentacle
cases=(--case full/diamond --case full/tentacle --case full-inverse/diamond-4k --case full-inverse/tentacle)
if [[ " ${meshes[*]} " == *" 4k "* ]]; then
  diamond 4k mooney-rivlin | robot diamond-4k-hyperelastic
  for pair in diamond-4k:published_elastic diamond-4k-hyperelastic:published_hyperelastic; do
    robot=${pair%%:*} published=$folder/${pair##*:}
    [ -d "$published" ] || fail "'$published' is missing: the published models are not part of this project"
    # Its springs on the fixed nodes have a pair of files of their own; those nodes are no unknowns here.
    "$supple" import-sofa "$out/robots/$robot" --modes "$published/modes.txt" --rid "$published/reducedFF_modelNode_0_RID.txt" \
      --weights "$published/reducedFF_modelNode_0_weight.txt" -o "$out/$robot.rom.h5" --force --quiet
    cases+=(--model "$out/$robot.rom.h5" --case "forward/$robot" --case "inverse/$robot")
  done
fi
"$supple" bench --assets "$out/robots" "${cases[@]}" --rounds "$rounds" --steps "$steps" --threads 1 --force \
  --json "$out/peer.json"

# case, modes, elements, steps/s, p99, p99.9 of each row, and SOFA's rates.
{
  echo "| case | modes | elements | steps/s | 99 % [µs] | 99.9 % [µs] | SOFA's steps/s | ratio |"
  echo "|---|--:|--:|--:|--:|--:|--:|--:|"
  awk '
    BEGIN {
      sofa["full/diamond-4k"] = "88"; sofa["full/diamond-34k"] = "2.7"; sofa["full/diamond-70k"] = "0.61"
      sofa["forward/diamond-4k"] = "228 667"; sofa["forward/diamond-4k-hyperelastic"] = "476 1786"
      sofa["full-inverse/diamond-4k"] = "57"; sofa["inverse/diamond-4k"] = "224 680"
      sofa["full-inverse/tentacle"] = "133, its trunk" }
    { gsub(/[",]/, "", $2) }
    $1 == "\"case\":" { name = $2 }
    $1 ~ /^"(modes|elements|steps_per_s|p99_us|p999_us)":$/ { v[$1] = $2 }
    /^    }/ || /^  }/ {
      if (name == "") next
      n = sofa[name] ~ /trunk/ ? 0 : split(sofa[name], rate, " "); text = sofa[name] == "" ? "-" : sofa[name]; times = "-"
      if (n) { text = rate[1]; times = sprintf("%.3g", v["\"steps_per_s\":"] / rate[1]) }
      if (n > 1) { text = text ", " rate[2]; times = times sprintf(", %.3g", v["\"steps_per_s\":"] / rate[2]) }
      reduced = v["\"modes\":"] > 0  # of full models there are too few steps for quantiles
      printf "| %s | %s | %d | %.4g | %s | %s | %s | %s |\n", name, reduced ? v["\"modes\":"] : "-", v["\"elements\":"],
        v["\"steps_per_s\":"], reduced ? sprintf("%.3g", v["\"p99_us\":"]) : "-", reduced ? sprintf("%.3g", v["\"p999_us\":"]) : "-",
        text, times
      name = ""; split("", v) }' "$out/peer.json"
  cat <<'END'

SOFA's: v25.12, release build, one thread of a two-core Zen 5, on another day; two rates: as its scenes are, and with
`areJacobiansConstant`. Its robot beside full-inverse/tentacle is its own trunk with eight cables, 1,972 tetrahedra.
END
} >"$out/peer.md"
cat "$out/peer.md"
