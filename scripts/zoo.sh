#!/usr/bin/env bash
# Reduces every robot of assets/zoo with defaults alone and prints a table: nodes, modes, elements, errors on unseen
# equilibria (mean and largest, of tip and shape), in motion, other equilibria found for test commands, steps per second on one
# thread, time to the model, and what was expected of it before.
#   scripts/zoo.sh [-o DIR] [ROBOT...]     models, states and reports go to DIR (out/zoo)
# Exit code 1: a robot's model was refused. A robot that is there already is not reduced again.
set -uo pipefail
cd "$(dirname "$0")/.."

out=out/zoo robots=()
while [ $# -gt 0 ]; do
  case "$1" in
    -o) out=${2:?-o needs a folder}; shift ;;
    -h | --help) sed -n '2,6p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    -*) echo "zoo.sh: unknown option '$1' (try --help)" >&2; exit 2 ;;
    *) robots+=("$1") ;;
  esac
  shift
done
supple=${SUPPLE:-build/engine/supple}
[ -x "$supple" ] || { echo "zoo.sh: no program at $supple: scripts/demo.sh builds it" >&2; exit 3; }
if [ ${#robots[@]} -eq 0 ]; then for scene in assets/zoo/*/scene.toml; do robots+=("$(basename "$(dirname "$scene")")"); done; fi
mkdir -p "$out"

failed=0
for robot in "${robots[@]}"; do
  [ -f "assets/zoo/$robot/scene.toml" ] || { echo "zoo.sh: no robot '$robot' in assets/zoo" >&2; exit 2; }
  [ -f "$out/$robot.json" ] ||
    "$supple" reduce "assets/zoo/$robot" -o "$out/$robot.rom.h5" --snapshots "$out/$robot.snapshots" \
      --json "$out/$robot.json" >"$out/$robot.log" 2>&1 || failed=1
done

python3 - "$out" "${robots[@]}" <<'TABLE' || failed=1
import json, sys
print(f'{"robot":10} {"nodes":>6} {"modes":>6} {"elements":>8} {"tip mean":>9} {"largest":>8} {"shape mean":>10} {"largest":>8} '
      f'{"in motion":>9} {"branches":>8} {"steps/s":>9} {"time":>7} {"expected":>8}')
refused = []
for robot in sys.argv[2:]:
    try:
        r = json.load(open(f'{sys.argv[1]}/{robot}.json'))
    except FileNotFoundError:
        refused.append(f'{robot}: no report, see {sys.argv[1]}/{robot}.log')
        continue
    v = r['validation']
    percent = lambda x: '-' if x is None else f'{100 * x:.2f} %'
    elements = sum(f['elements'] for f in r['rid'].values())
    print(f'{robot:10} {r["nodes"]:6} {r["modes"]:6} {elements:8} {percent(v["goal_error_mean"]):>9} '
          f'{percent(v["goal_error_max"]):>8} {percent(v["shape_error_mean"]):>10} {percent(v["shape_error_max"]):>8} '
          f'{percent(v["dynamic_goal_error_mean"]):>9} {len(r["branches"]):8} {r["speed"]["hrom_steps_per_s"]:9.3g} '
          f'{r["seconds"]["total"]:5.0f} s {r["expected"]["seconds"]:6.0f} s')
    if r['refused']:
        refused.append(f'{robot}: refused, {r["refused"]}; limited by {r["limited_by"]}')
print(*refused, sep='\n')
sys.exit(bool(refused))
TABLE
exit $failed
