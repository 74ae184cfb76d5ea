#!/usr/bin/env bash
# Table III of Goury & Duriez (2018) from the published fine mesh of the multigait robot, which is not part of this
# project: reduced models beside the full one along a gait on the floor with friction, the layer by modes of its strains.
#   bench/crawler.sh FOLDER [options]       FOLDER holds full_quadriped_fine.vtk, quadriped_*-cavity_finer.stl and
#                                           quadriped_collision.stl
#     --pressure 30                         of legs in kPa; the spine has four fifths. The published ranges are unknown
#     --states 160                          random commands that models learn from, corners apart
#     --modes "98:0.008 63 33"              of the models, the six rigid ones among them; after a colon the tolerance of
#                                           the choice of elements (0.015)
#     --cycles 3                            of the gait, two seconds each
#     --spacing "5 mm"                      what touches: nodes of the sole so far apart, instead of the 54 corners of
#                                           the sole of the published collision surface
#     --jobs N                              worker processes for the states (all processors)
#     --supple PROGRAM                      the program (build/engine/supple)
#     -o DIR                                results (out/crawler); a stopped run goes on there
# Results: table.md, N.txt of each reduction (the model of all elements among others), and what each run wrote. Shape:
# mean distance of the skin from the full model's along one cycle, the rigid motion between them taken out, by its mean
# displacement. steps/s on one thread: along the gait, and in one run with the full model, whose steps empty the caches
# in between.
set -euo pipefail

fail() { echo "crawler.sh: $1" >&2; exit "${2:-2}"; }

root=$(cd "$(dirname "$0")/.." && pwd)
supple=$root/build/engine/supple out=out/crawler folder='' jobs=$(nproc) pressure=30 states=160 modes="98:0.008 63 33" cycles=3 spacing=''
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,19p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --pressure | --states | --modes | --cycles | --spacing | --jobs | --supple | -o)
      [ $# -gt 1 ] || fail "$1 needs a value (try --help)"
      case "$1" in -o) out=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2 ;;
    -*) fail "unknown option '$1' (try --help)" ;;
    *) [ -z "$folder" ] || fail "one folder only (try --help)"; folder=$1; shift ;;
  esac
done
[ -n "$folder" ] || fail "the folder of the mesh is missing (try --help)"
[[ $modes =~ ^[0-9]+(:[0-9.]+)?(\ [0-9]+(:[0-9.]+)?)*$ ]] ||
  fail "--modes \"$modes\" is not a list of counts, each with a tolerance after a colon or without (try --help)"
[ -x "$supple" ] || fail "there is no program '$supple' (build it, or --supple PROGRAM)"
[ -z "$(tr ' ' '\n' <<<"$modes" | sort | uniq -d)" ] || fail "--modes \"$modes\" has the same model twice"
for file in full_quadriped_fine.vtk quadriped_collision.stl; do
  [ -f "$folder/$file" ] ||
    fail "'$folder/$file' is missing: the published meshes of the multigait robot are not part of this project"
done
folder=$(cd "$folder" && pwd)
mkdir -p "$out"
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive

# Writes stdin to a file unless it says so already: results newer than their scene are kept.
write() {
  cat >"$1.new"
  if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

if [ -n "$spacing" ]; then
  points="spacing = \"$spacing\""
else
  points="surface = {file = \"$folder/quadriped_collision.stl\", unit = \"mm\"}"
fi

# The body as the paper has it; damping, thickness of the layer and pressures are ours.
scene() {
  cat <<END
name = "multigait, published mesh"
gravity = [0, 0, "-9.81 m/s^2"]
time_step = "10 ms"

[body]
order = 1
mesh = {file = "$folder/full_quadriped_fine.vtk", unit = "mm"}
mass = "35 g"
rayleigh_mass = "2 Hz"
rayleigh_stiffness = "5 ms"

[[body.material]]
model = "corotational"
young = "70 kPa"
poisson = 0.05

[[body.membrane]]
box = [["-1 m", "-1 m", "-0.01 mm"], ["1 m", "1 m", "0.01 mm"]]
thickness = "1 mm"
young = "5 MPa"
poisson = 0.49

[[obstacle]]
name = "floor"
type = "plane"
friction = 0.7

[contact]
distance = "0.5 mm"
$points
box = [["-1 m", "-1 m", "-1 mm"], ["1 m", "1 m", "0.5 mm"]]

[reduce]
states = $states
sweep_steps = 15
friction = "own"
membranes = "strains"
elements_tolerance = 0.015

[[effector]]
name = "middle"
point = ["75 mm", "-53 mm", "0 mm"]
END
  local part
  for part in Center Front-Left Front-Right Rear-Left Rear-Right; do
    cat <<END

[[actuator]]
name = "$(tr 'A-Z-' 'a-z_' <<<"$part")"
type = "cavity"
surface = {file = "$folder/quadriped_$part-cavity_finer.stl", unit = "mm"}
range = ["0 kPa", "$pressure kPa"]
END
  done
}

# Hind legs, spine, forelegs; then let go in the same order.
gait() {
  echo "time [s],center [kPa],front_left [kPa],front_right [kPa],rear_left [kPa],rear_right [kPa]"
  echo "0,0,0,0,0,0"
  awk -v p="$pressure" -v cycles="$1" 'BEGIN {
    n = split("0 0 1,0.8 0 1,0.8 1 1,0.8 1 0,0 1 0,0 0 0", keys, ",")
    for (c = 0; c < cycles; ++c)
      for (k = 1; k <= n; ++k) {
        split(keys[k], v, " ")
        printf "%.6f,%g,%g,%g,%g,%g\n", 2 * c + k / 3, p * v[1], p * v[2], p * v[2], p * v[3], p * v[3]
      } }'
}

# Where the middle of the sole is along x [mm] after each cycle, from where it was after the step before.
advances() {
  awk -F, -v cycles="$cycles" '
    FNR == 1 { for (c = 1; c <= NF; ++c) if ($c ~ /^middle x/) column = c; next }
    { t = $1; x[FNR] = $column; at[FNR] = t }
    END { before = x[2]
      for (c = 1; c <= cycles; ++c) for (k = 2; k <= FNR; ++k) if (at[k] > 2 * c - 1e-6) { printf "%s%.2f", (c > 1 ? ", " : ""), x[k] - before; before = x[k]; break } }' "$1"
}
# Tetrahedra and modes of the layer's strains that a reduction kept.
kept() { awk '/"rid"/ { on = 1 } /"validation"/ { exit }
  on && $1 == "\"elements\":" && $2 + 0 > 0 { printf "%d", $2 } on && $1 == "\"strain_modes\":" { printf " + %d", $2 }' "$1"; }
# Of a JSON file the first, and the last: errors of a run stand after those of its model.
value() { awk -v key="\"$2\":" '$1 == key { sub(",", "", $2); print $2; exit }' "$1"; }
last() { awk -v key="\"$2\":" '$1 == key { sub(",", "", $2); found = $2 } END { print found }' "$1"; }

scene | write "$out/scene.toml"
gait "$cycles" | write "$out/gait.csv"
gait 1 | write "$out/cycle.csv"
newer() { [ -f "$1" ] && [ "$1" -nt "$out/scene.toml" ] && [ "$1" -nt "$out/gait.csv" ]; }

if ! newer "$out/full/state.h5"; then
  echo "== full model, $cycles cycles"
  "$supple" simulate "$out/scene.toml" --actuation "$out/gait.csv" --threads 1 --every 1000 --force -o "$out/full"
fi
for entry in $modes; do
  count=${entry%%:*} name=${entry/:/-} tolerance=()
  [ "$entry" = "$count" ] || tolerance=(--tolerance "${entry#*:}")
  model=$out/$name.rom.h5
  if ! newer "$model"; then
    echo "== $count modes"
    rm -f "$model"
    "$supple" reduce "$out/scene.toml" --modes $((count - 6)) "${tolerance[@]}" --snapshots "$out/snapshots" \
      --jobs "$jobs" --force --accept-errors -o "$model" --json "$out/$name.json" | tee "$out/$name.txt"
  fi
  if ! newer "$out/$name-cycle.json" || [ "$model" -nt "$out/$name-cycle.json" ]; then
    "$supple" run "$model" --actuation "$out/cycle.csv" --compare "$out/scene.toml" --threads 1 --every 1000 --force \
      -o "$out/$name-cycle" --json "$out/$name-cycle.json"
    "$supple" run "$model" --actuation "$out/gait.csv" --threads 1 --every 1000 --force -o "$out/$name-gait" \
      --json "$out/$name-gait.json"
  fi
done

{
  echo "| | tetrahedra, strain modes | shape | largest | centre astray | turned | ahead in each cycle | steps/s | beside the full model | full |"
  echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
  echo "| full | $(value "$out/$name.json" elements) | | | | | $(advances "$out/full/trajectory.csv") mm | | | |"
  for entry in $modes; do
    count=${entry%%:*} name=${entry/:/-}
    run=$out/$name-cycle.json
    awk -v name="$count modes" -v elements="$(kept "$out/$name.json")" -v mean="$(last "$run" shape_error_mean)" \
      -v most="$(last "$run" shape_error_max)" -v astray="$(value "$run" centre_strayed_m)" -v turned="$(value "$run" turned_rad)" \
      -v ahead="$(advances "$out/$name-gait/trajectory.csv")" -v rate="$(value "$out/$name-gait.json" steps_per_s)" \
      -v beside="$(value "$run" steps_per_s)" -v full="$(value "$run" full_steps_per_s)" 'BEGIN {
        printf "| %s | %s | %.1f %% | %.1f %% | %.2f mm | %.2f° | %s mm | %.0f | %.0f | %.2f |\n", name, elements, 100 * mean, 100 * most, 1e3 * astray, turned * 57.29578, ahead, rate, beside, full }'
  done
} | tee "$out/table.md"
