#!/usr/bin/env bash
# Tables I and II and figure 6 of Goury & Duriez (2018) from the diamond's published meshes, which are not part of this
# project: the error of coarser meshes, and of models reduced from the finest by the paper's recipe and by ours, against
# the finest full model, beside the rate of each.
#   bench/tables.sh FOLDER [options]        FOLDER holds diamond_4k_tet.vtu, diamond_34k_tet.vtu, diamond_70k_tet.vtu
#     --meshes 4k,34k,70k                   these, coarse to fine; the last one is the reference and is reduced
#     --laws corotational,mooney-rivlin     these laws
#     --ours "0.5 40/0.1"                   elements_acceptance of our models, a whole number: as many elements; before
#                                           a slash the number of modes (34)
#     --paper "0.1 0.05 0.03"               elements_tolerance of the models by the paper's recipe
#     --states 272                          states that ours learn from, corners apart
#     --jobs N                              worker processes for the states (all processors)
#     --rounds 3                            rounds of the rates, cases in turn, one thread
#     --steps N                             steps of a reduced model in each round (what 2 s allow)
#     --supple PROGRAM                      the program (build/engine/supple)
#     -o DIR                                results (out/tables); a stopped run goes on there
# Results: table.csv, tables.md, figure6.gnuplot (draws figure6.png). Errors: mean distance from the finest full model
# at the effector and at the four elbows, over 30 random equilibria, by its mean displacement.
set -euo pipefail

fail() { echo "tables.sh: $1" >&2; exit "${2:-2}"; }

root=$(cd "$(dirname "$0")/.." && pwd)
supple=$root/build/engine/supple out=out/tables folder='' jobs=$(nproc)
# shellcheck disable=SC2034  # ours and paper are read by name
meshes=4k,34k,70k laws=corotational,mooney-rivlin ours="0.5 40/0.1" paper="0.1 0.05 0.03" states=272 rounds=3 steps=''
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,19p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --meshes | --laws | --ours | --paper | --states | --jobs | --rounds | --steps | --supple | -o)
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
IFS=, read -ra laws <<<"$laws"
fine=${meshes[-1]}
for mesh in "${meshes[@]}"; do
  [ -f "$folder/diamond_${mesh}_tet.vtu" ] ||
    fail "'$folder/diamond_${mesh}_tet.vtu' is missing: the published meshes of the diamond are not part of this project"
done
folder=$(cd "$folder" && pwd)
mkdir -p "$out/robots" "$out/models"
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive

# Writes stdin to a file unless it says so already: results newer than their scene are kept.
write() {
  cat >"$1.new"
  if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

# A cable and the probe at its elbow: name, point, pull point.
cable() {
  cat <<END
[[actuator]]
name = "$1"
type = "cable"
points = [$2]
pull_point = $3
range = ["0 mm", "40 mm"]

[[probe]]
name = "elbow-$1"
set = "arms"
point = $2

END
}

# The diamond of a mesh and a law.
scene() {
  cat <<END
name = "$1-$2"
time_step = "10 ms"

[body]
order = 1
mesh = {file = "$folder/diamond_$1_tet.vtu", unit = "mm", rotation = ["90 deg", "0 deg", "0 deg"], translation = ["0 mm", "0 mm", "35 mm"]}
mass = "500 g"

[[body.material]]
model = "$2"
young = "450 kPa"
poisson = 0.45

[[fix]]
box = [["-15 mm", "-15 mm", "-40 mm"], ["15 mm", "15 mm", "10 mm"]]

END
  cable north '["0 mm", "97 mm", "45 mm"]' '["0 mm", "10 mm", "30 mm"]'
  cable west '["-97 mm", "0 mm", "45 mm"]' '["-10 mm", "0 mm", "30 mm"]'
  cable south '["0 mm", "-97 mm", "45 mm"]' '["0 mm", "-10 mm", "30 mm"]'
  cable east '["97 mm", "0 mm", "45 mm"]' '["10 mm", "0 mm", "30 mm"]'
  printf '[[effector]]\nname = "top"\ntype = "position"\npoint = ["0 mm", "0 mm", "125 mm"]\n'
}

# [reduce] by a recipe and its measure of elements.
recipe() {
  echo "[reduce]"
  case "$1" in
    ours)
      local modes=34 measure=${2#*/}
      case "$2" in */*) modes=${2%/*} ;; esac
      printf 'states = %s\nmodes_tolerance = 1e-4\nmax_modes = %s\n' "$states" "$modes"
      if [[ $measure =~ ^[0-9]+$ ]]; then echo "elements = $measure"; else echo "elements_acceptance = $measure"; fi ;;
    paper)
      printf 'sampling = "grid"\nconverged = false\nmodes_tolerance = 1e-3\n'
      printf 'selection = "lawson-hanson"\ntraining = "rerun"\nelements_tolerance = %s\n' "$2" ;;
  esac
}

# 30 commands in the whole box, the same everywhere.
commands() {
  local seed=2018 row
  echo "time [s],north [mm],west [mm],south [mm],east [mm]"
  echo "0,0,0,0,0"
  for row in {1..30}; do
    printf '0.%02d' "$row"
    for _ in 1 2 3 4; do
      seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
      printf ',%d.%03d' $(((seed >> 8) * 40000 / (1 << 23) / 1000)) $(((seed >> 8) * 40000 / (1 << 23) % 1000))
    done
    echo
  done
}

complete() { [ -f "$1" ] && [ "$(wc -l <"$1")" -eq 32 ]; }

# Equilibria under the commands: verb, scene or model, folder of results.
equilibria() {
  local done=$3/trajectory.csv
  if complete "$done" && [ "$done" -nt "$2" ] && [ "$done" -nt "$out/commands.csv" ]; then return; fi
  echo "== equilibria of $2"
  "$supple" "$1" "$2" --integrator quasi-static --actuation "$out/commands.csv" --steps 30 --every 1000 -o "$3" --force |
    sed -n 1p || [ "${PIPESTATUS[0]}" -eq 1 ] || exit 1
  complete "$done" || echo "tables.sh: $2 has no equilibrium under one of the commands, its errors are left out" >&2
}

# "goal arms": mean distance of the second file of trajectories from the first by the mean displacement of the first.
errors() {
  if ! complete "$1" || ! complete "$2"; then echo "- -"; return; fi
  awk -F, '
    FNR == 1 { for (c = 1; c <= NF; ++c) { if ($c ~ /^top [xyz] /) set[c] = "goal"; if ($c ~ /^elbow-/) set[c] = "arms" }; next }
    FNR == NR { for (c in set) x[FNR, c] = $c; next }
    { split("", error); split("", moved)
      for (c in set) { error[set[c]] += ($c - x[FNR, c]) ^ 2; moved[set[c]] += (x[FNR, c] - x[2, c]) ^ 2 }
      for (s in error) { sum[s] += sqrt(error[s]); displacement[s] += sqrt(moved[s]) } }
    END { printf "%.5f %.5f\n", sum["goal"] / displacement["goal"], sum["arms"] / displacement["arms"] }' "$1" "$2"
}

# steps/s of the case from that file.
rate_of() {
  awk -v file="\"$1\"," '$1 == "\"file\":" { here = $2 == file } here && $1 == "\"steps_per_s\":" { sub(",", "", $2); print $2; exit }' \
    "$out/bench.json"
}

# Numbers of a reduction: modes and elements of its model.
size_of() {
  awk '$1 == "\"modes\":" && !m { m = $2 + 0 } /"rid"/ { rid = 1 } rid && $1 == "\"elements\":" { print m, $2 + 0; exit }' "$1"
}

# "modes elements goal arms steps/s" of the model with all elements that a reduction passed through.
basis_only() {
  awk '/"label": "POD only"/ { on = 1 }
    on { gsub(",", "", $2); v[$1] = $2 }
    on && /"p50_us"/ {
      printf "%d %d %.5f %.5f %s\n", v["\"modes\":"], v["\"elements\":"], v["\"goal_error_mean\":"], v["\"arms\":"], v["\"steps_per_s\":"]
      exit }' "$1"
}

commands | write "$out/commands.csv"
models=()
for law in "${laws[@]}"; do
  for mesh in "${meshes[@]}"; do
    robot=$out/robots/$mesh-$law
    mkdir -p "$robot"
    scene "$mesh" "$law" | write "$robot/scene.toml"
    equilibria simulate "$robot/scene.toml" "$out/states/$mesh-$law"
  done
  for kind in paper ours; do
    for measure in ${!kind}; do
      name=$fine-$law-$kind-${measure/\//-}
      { scene "$fine" "$law"; recipe "$kind" "$measure"; } | write "$out/models/$name.toml"
      model=$out/models/$name.rom.h5
      if ! [ "$model" -nt "$out/models/$name.toml" ]; then
        echo "== $name"
        "$supple" reduce "$out/models/$name.toml" --snapshots "$out/$fine-$law-$kind.snapshots" -o "$model" --jobs "$jobs" \
          --threads 1 --force --json "$out/models/$name.json"
      fi
      equilibria run "$model" "$out/states/$name"
      models+=("$model")
    done
  done
done

echo "== rates"
arguments=()
for law in "${laws[@]}"; do
  arguments+=(--case "forward/$fine-$law")
  for mesh in "${meshes[@]}"; do arguments+=(--case "full/$mesh-$law"); done
done
for model in "${models[@]}"; do arguments+=(--model "$model"); done
"$supple" bench --assets "$out/robots" "${arguments[@]}" --rounds "$rounds" ${steps:+--steps "$steps"} --threads 1 --force --json "$out/bench.json"

# label, mesh, recipe, measure, modes, elements, goal, arms, rate
line() {
  awk -v law="$law" -v reference="$reference" -v rate="$9" -v start="$1,$2,$3,$4,$5,$6,$7,$8" \
    'BEGIN { printf "%s,%s,%.4g,%.4g\n", law, start, rate, rate / reference }'
}
{
  echo "law,model,mesh,recipe,measure,modes,elements,goal error,arms error,steps/s,times finest"
  for law in "${laws[@]}"; do
    truth=$out/states/$fine-$law/trajectory.csv
    reference=$(rate_of "$out/robots/$fine-$law/scene.toml")
    for mesh in "${meshes[@]}"; do
      read -r goal arms < <(errors "$truth" "$out/states/$mesh-$law/trajectory.csv")
      line full "$mesh" - - - - "$goal" "$arms" "$(rate_of "$out/robots/$mesh-$law/scene.toml")"
    done
    for kind in paper ours; do
      shown=0
      for measure in ${!kind}; do
        name=$fine-$law-$kind-${measure/\//-}
        read -r modes elements goal arms rate < <(basis_only "$out/models/$name.json")
        if [ "$modes" != "$shown" ]; then line basis "$fine" "$kind" - "$modes" "$elements" "$goal" "$arms" "$rate"; fi
        shown=$modes
        read -r modes elements < <(size_of "$out/models/$name.json")
        read -r goal arms < <(errors "$truth" "$out/states/$name/trajectory.csv")
        line hyper-reduced "$fine" "$kind" "$measure" "$modes" "$elements" "$goal" "$arms" \
          "$(rate_of "$out/models/$name.rom.h5")"
      done
    done
  done
} | write "$out/table.csv"

{
  for law in "${laws[@]}"; do
    printf '**Diamond, %s**: errors against the full model on the %s mesh, 30 random equilibria; steps/s on one thread\n\n' "$law" "$fine"
    echo "| model | modes | elements | goal error | arms error | steps/s | times finest |"
    echo "|---|--:|--:|--:|--:|--:|--:|"
    awk -F, -v law="$law" '$1 == law {
      name = $2 == "full" ? "full, " $3 : $2 == "basis" ? "modes alone¹, " $4 : "hyper-reduced, " $4 " " $5
      printf "| %s | %s | %s | %s | %s | %s | %s |\n", name, $6, $7, error($8), error($9), $10, $11 }
      function error(x) { return x == "-" ? x : sprintf("%.4f", x) }' "$out/table.csv"
    echo
  done
  cat <<'END'
The paper's own, on its meshes and machine, each with its own commands:

| model | goal error | arms error | steps/s | | model | goal error | arms error | steps/s |
|---|--:|--:|--:|---|---|--:|--:|--:|
| corotational, coarse | 0.034 | 0.061 | 45 | | Mooney-Rivlin, coarse | 0.036 | 0.048 | 22 |
| 34 modes, 275 elements | 0.015 | 0.014 | 50 | | 30 modes, 227 elements | 0.0060 | 0.0049 | 42 |
| 34 modes, 376 elements | 0.008 | 0.010 | 41 | | | | | |
| 34 modes alone | 0.003 | 0.008 | 0.8 | | 30 modes alone | 0.0050 | 0.0044 | 1.0 |
| fine | 0 | 0 | 0.7 | | fine | 0 | 0 | 0.6 |

END
  echo "¹ errors and rate as \`supple reduce\` measured them, on 30 other random equilibria"
  echo
  sed -n '/^ *"machine"/p; /^ *"isa"/p; /^ *"flags"/p; /^ *"commit"/p' "$out/bench.json" | sort -u | sed 's/^ */- /; s/,$//; s/"//g'
  awk '/"load"/ { on = 1; next } on && /\]/ { exit } on { gsub("[ ,]", ""); text = text " " sprintf("%.2f", $0) } END { print "- load:" text }' \
    "$out/bench.json"
} | write "$out/tables.md"

# Figure 6: one block of (rate, goal, arms) for each curve.
{
  for law in "${laws[@]}"; do
    for curve in full paper ours; do
      awk -F, -v law="$law" -v curve="$curve" 'BEGIN { print "\"" law ", " curve "\"" }
        $1 == law && (curve == "full" ? $2 == "full" : $2 == "hyper-reduced" && $4 == curve) { print $10, $8, $9 }' "$out/table.csv"
      printf '\n\n'
    done
  done
} | write "$out/figure6.dat"
write "$out/figure6.gnuplot" <<'END'
# gnuplot figure6.gnuplot
set terminal pngcairo size 1000,650
set output 'figure6.png'
set logscale x
set datafile missing '-'
set xlabel 'steps per second'
set ylabel 'relative displacement error'
set key outside
stats 'figure6.dat' using 1 nooutput
plot for [i=0:STATS_blocks-1] 'figure6.dat' index i using 1:2 with linespoints lc i+1 title columnheader(1).', goal', \
     for [i=0:STATS_blocks-1] 'figure6.dat' index i using 1:3 with linespoints lc i+1 dt 2 title columnheader(1).', arms'
END
if command -v gnuplot >/dev/null; then
  (cd "$out" && gnuplot figure6.gnuplot >/dev/null 2>&1) || echo "tables.sh: gnuplot could not draw figure6.gnuplot" >&2
fi
cat "$out/tables.md"
echo "written to $out: table.csv, tables.md, figure6.gnuplot"
