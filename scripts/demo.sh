#!/usr/bin/env bash
# The main job on the coarse diamond robot: installs what is missing, builds, then full model -> snapshots -> POD -> reduced integration
# domain -> validation on actuation it never saw, a table, plots, and a recording for ParaView.
#   scripts/demo.sh              results in out/diamond/
#   scripts/demo.sh --fine       the robot at the size of the paper (about 15 thousand nodes): some five minutes
#   scripts/demo.sh --no-setup   no apt: everything is installed already
# SUPPLE_CUDA=AUTO in the environment also builds device code (not needed here).
set -euo pipefail
cd "$(dirname "$0")/.."

scene=assets/diamond/scene.toml
out=out/diamond
setup=true
for argument in "$@"; do
  case "$argument" in
    --fine) scene=assets/diamond/fine.toml; out=out/diamond-fine ;;
    --no-setup) setup=false ;;
    -h | --help) sed -n '2,7p' scripts/demo.sh | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "demo.sh: unknown option '$argument' (try --help)" >&2; exit 2 ;;
  esac
done

if $setup; then scripts/setup.sh; fi
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSUPPLE_CUDA="${SUPPLE_CUDA:-OFF}" >build-demo.log 2>&1 ||
  { cat build-demo.log; exit 1; }
rm -f build-demo.log
cmake --build build --parallel "$(nproc)" --target supple
supple=build/engine/supple

mkdir -p "$out"
start=$SECONDS
echo
echo "== $scene: from a scene to a verified reduced model"
"$supple" reduce "$scene" -o "$out/model.rom.h5" --jobs "$(nproc)" --force --json "$out/reduce.json" --plots "$out/plots"
echo
echo "== the reduced model driven along a path it never saw, beside the full model"
"$supple" run "$out/model.rom.h5" --steps 200 --compare "$scene" -o "$out/run" --force --json "$out/run.json"
echo
echo "done in $((SECONDS - start)) s. See:"
echo "  $out/plots/*.png          POD spectrum, elements against error, error against rate"
echo "  $out/run/result.pvd       open in ParaView: the robot, moving"
echo "  $out/reduce.json          every number of the table"
