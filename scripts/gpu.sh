#!/usr/bin/env bash
# Everything that only a machine with a GPU can show, in less than ten minutes and three files: rates of batches, tests of every
# operation on the GPU against the CPU, compute-sanitizer on some of them. Needs a driver and the CUDA libraries; no packages where it
# runs from a bundle (scripts/bundle.sh -D SUPPLE_CUDA=ON), in which it is gpu.sh.
#   scripts/gpu.sh [options]
#     --bundle DIR|FILE    programs of this unpacked bundle, or of its .tar.gz; without it those beside this script, or a
#                          build in build-gpu/ (which needs the packages of scripts/setup.sh)
#     --models DIR         reduced models to use: diamond*.rom.h5 as `supple bench --models` keeps them, crawler.rom.h5
#                          (assets/multigait/crawl.toml with that name) and diamond-mooney-rivlin.rom.h5, made where they are missing,
#                          which takes minutes, and thrown away; diamond-34-376.rom.h5 (modes and elements of the paper) if it is there
#     --device NAME        cuda:0; cpu rehearses all but the sanitizer where there is no GPU
#     --emulated           programs of the emulated GPU in build/: rehearses all but the sanitizer, with device code
#     --minutes N          for all of it (9)
#     --only WORD          rates (of steps), tests, offline (states and reductions) or sanitizer
#     --quick              one small case of each kind
#     -o DIR               results ($OUT, or out/gpu): summary.txt, results.json, logs.tar.gz, written anew after every step
# A step that fails or takes too long is named at the end; the others are run all the same. Exit code 0: all passed;
# 1: some did not; 3: there is no GPU, or no program that could use it.
set -uo pipefail

fail() { echo "gpu.sh: $1" >&2; exit "${2:-2}"; }

here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-out/gpu} bundle='' models='' device=cuda:0 minutes=9 only='' quick=false emulated=''
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,18p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --quick) quick=true; shift ;;
    --emulated) emulated=_emulated; shift ;;
    --bundle | --models | --device | --minutes | --only | -o)
      [ $# -gt 1 ] || fail "$1 needs a value (try --help)"
      case "$1" in -o) out=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2 ;;
    *) fail "unknown option '$1' (try --help)" ;;
  esac
done
[[ "$minutes" =~ ^[1-9][0-9]*$ ]] || fail "--minutes '$minutes' is not a whole number of minutes"
[[ "$only" =~ ^(rates|tests|offline|sanitizer)?$ ]] || fail "--only '$only' is not rates, tests, offline or sanitizer"
mkdir -p "$out" || fail "cannot create the folder '$out'"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
logs=$work/logs
mkdir "$logs"
given=''
if [ -n "$models" ]; then given=$(cd "$models" && pwd) || fail "there is no folder '$models'"; fi
models=$work/models
mkdir "$models"
if [ -n "$given" ]; then cp "$given"/*.rom.h5 "$models/" || fail "there is no .rom.h5 in '$given'"; fi
deadline=$((SECONDS + 600))  # of a build
export OPENBLAS_NUM_THREADS=1

summary=() failed=0
wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }

# The three files, from what is there: a run that is interrupted leaves those of the last step.
record() {
  { printf '%s, %d s\n' "$device" $SECONDS; printf '  %s\n' "${summary[@]}"; } >"$out/summary.txt"
  {
    printf '{'
    local separator='' file
    for file in "$logs"/*.json; do
      [ -s "$file" ] || continue
      printf '%s\n"%s": ' "$separator" "$(basename "$file" .json)"
      cat "$file"
      separator=,
    done
    printf '}\n'
  } >"$out/results.json"
  tar -C "$work" -czf "$out/logs.tar.gz" logs
}
say() { summary+=("$(printf '%-24s %5s s   %s' "$1" - "$2")"); }

# step NAME LIMIT COMMAND...: output in NAME.txt, no longer than LIMIT seconds nor than what is left of all. Without time enough for a
# step that is `optional`, it is no failure.
optional=false
step() {
  local name=$1 limit=$2 start=$SECONDS left=$((deadline - SECONDS)) short=false code words
  shift 2
  if [ $left -lt 5 ]; then
    if $optional; then say "$name" "left out: no time left"; else failed=1; say "$name" "not run: no time left"; fi
    return 1
  fi
  [ "$limit" -le $left ] || { limit=$left; short=true; }
  timeout --kill-after=10 "$limit" "$@" >"$logs/$name.txt" 2>&1
  code=$?
  case $code in
    0) words=passed ;;
    124 | 137)
      words="STOPPED after $limit s"
      if $optional && $short; then words="left out: not done in the $limit s that were left" code=0; fi ;;
    *) words="FAILED (exit code $code): $(grep -av '^$' "$logs/$name.txt" | tail -n 1 | cut -c 1-120)" ;;
  esac
  [ $code -eq 0 ] || failed=1
  summary+=("$(printf '%-24s %5d s   %s' "$name" $((SECONDS - start)) "$words")")
  printf '== %s: %s, %d s\n' "$name" "$words" $((SECONDS - start))
  record
  return $code
}

report() {
  record
  cat "$out/summary.txt"
  echo "written to $out"
}

# Folders of the CUDA libraries that the program needs and the loader does not find: under the toolkit, or in Python's packages.
find_libraries() {
  local missing name folder
  for _ in 1 2 3; do
    missing=$(ldd "$supple" | awk '/not found/ {print $1}' | sort -u)
    [ -n "$missing" ] || return 0
    for name in $missing; do
      folder=$(timeout 30 find /usr/local /opt /usr/lib "${HOME:-/root}" -name "$name" -not -path '*/stubs/*' -print -quit 2>/dev/null)
      [ -n "$folder" ] || fail "the library $name is missing: it comes with the CUDA toolkit or NVIDIA's Python packages" 3
      LD_LIBRARY_PATH=$(dirname "$folder")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
      export LD_LIBRARY_PATH
    done
  done
}

# Where programs, tests and assets are.
# shellcheck disable=SC2317  # run by bash -c, under timeout
build() {
  cmake -S "$here/.." -B "$here/../build-gpu" -DCMAKE_BUILD_TYPE=Release -DSUPPLE_CUDA=ON -DSUPPLE_VIEWER=OFF \
    -DSUPPLE_CUDSS="${SUPPLE_CUDSS:-OFF}" \
    -DCMAKE_CUDA_ARCHITECTURES="${SUPPLE_CUDA_ARCHITECTURES:-native}" &&
    cmake --build "$here/../build-gpu" --parallel "$(nproc)" --target supple test_kernels test_solvers test_engine
}
export -f build
export here
if [ -f "$bundle" ]; then
  tar -xzf "$bundle" -C "$work" || fail "'$bundle' cannot be unpacked"
  bundle=$work/$(tar -tzf "$bundle" | head -n 1 | cut -d/ -f1)
elif [ -z "$bundle" ] && [ -x "$here/bin/supple" ]; then
  bundle=$here
fi
if [ -n "$bundle" ]; then
  bundle=$(cd "$bundle" && pwd) || fail "there is no bundle '$bundle'"
  supple=$bundle/bin/supple tests=$bundle/tests assets=$bundle/share/supple/assets from=$bundle
elif [ -n "$emulated" ]; then
  supple=$here/../build/engine/supple_emulated tests=$here/../build/tests assets=$here/../assets from=$here/..
else
  step build 480 bash -c build || { report; exit 1; }
  supple=$here/../build-gpu/engine/supple tests=$here/../build-gpu/tests assets=$here/../assets from=$here/..
fi
[ -x "$supple" ] || fail "there is no program '$supple'" 3
cd "$from" || fail "there is no folder '$from'"
find_libraries
deadline=$((SECONDS + 60 * minutes))

# The program says in one line what is missing.
"$supple" info --device "$device" >/dev/null || exit $?
# shellcheck disable=SC2317
machine() {
  "$supple" info --device "$device"
  nproc && grep -m1 'model name' /proc/cpuinfo
  if command -v nvidia-smi >/dev/null; then nvidia-smi; fi
}
export -f machine
export supple device
step machine 30 bash -c machine

kind=${device%%:*}
[ "$kind" = cpu ] || export SUPPLE_REQUIRE_CUDA=1
[ -z "$emulated" ] || export SUPPLE_EMULATION=now
# cuDSS where it is built in; elsewhere its cases are skipped.
tests() {
  step "tests-$1" 150 "$tests/test_$1$emulated" --gtest_filter="*/$kind:*_$kind:*/cudss" --gtest_brief=1
}
bench() {
  local name=$1 limit=$2
  shift 2
  step "$name" "$limit" "$supple" bench --models "$models" --quiet --json "$logs/$name.json" --force "$@"
}

if wanted tests; then tests kernels; fi

# Two rounds of as many steps must end in the same bits.
gpu=(--device "$device" --rounds 2)
forward() {
  local batch=$1 precision
  for precision in fp64 mixed fp32; do
    bench "forward-$precision-$batch" 60 "${diamond[@]}" --case forward/diamond "${gpu[@]}" --precision $precision --batch "$batch" --steps 30
  done
  # The same with states that stay on the device, with libraries and with teams of its own.
  bench "resident-$batch" 45 "${diamond[@]}" --case forward/diamond "${gpu[@]}" --resident --batch "$batch" --steps 30
  bench "resident-fp32-$batch" 45 "${diamond[@]}" --case forward/diamond "${gpu[@]}" --resident --precision fp32 --batch "$batch" --steps 30
  bench "resident-fused-$batch" 45 "${diamond[@]}" --case forward/diamond "${gpu[@]}" --resident --fused --batch "$batch" --steps 30
}
crawler=$models/crawler.rom.h5 hyperelastic=$models/diamond-mooney-rivlin.rom.h5
main_batches="65536 1024 1" batches="64 4096" inverse_batches="1 1024 16384" contact_batches="1 64 512" resident_contact_batches="64 512 4096" \
  hyperelastic_batches="65536 1024"
if $quick; then main_batches=16 batches='' inverse_batches=16 contact_batches='' resident_contact_batches=1 hyperelastic_batches=16; fi
if wanted rates; then
  diamond=(--assets "$assets")
  step models 180 "$supple" bench --assets "$assets" --models "$models" --case forward/diamond --steps 10
  for batch in $main_batches; do forward "$batch"; done
  # The sizes of the paper's model, where one was brought: 34 modes, 376 elements.
  paper=$models/diamond-34-376.rom.h5
  if [ -f "$paper" ]; then
    for batch in $main_batches; do
      for precision in fp64 fp32; do
        bench "paper-$precision-$batch" 60 --model "$paper" --case forward/diamond-34-376 "${gpu[@]}" --resident --precision $precision \
          --batch "$batch" --steps 30
      done
    done
  fi
fi

if wanted tests; then
  tests solvers
  tests engine
  # Whether a step could be a CUDA graph.
  [ "$kind$emulated" != cuda ] || step graphs 30 "$tests/test_solvers" --gtest_filter='Capture.*'
fi

if wanted rates; then
  # The crawler on its floor, from fewer states than it deserves: for rates in contact.
  if ! [ -f "$crawler" ] && ! $quick; then
    printf 'include = "%s/multigait/crawl.toml"\nname = "crawler"\n\n[reduce]\nstates = 32\nvalidation_states = 4\n' \
      "$assets" >"$models/crawler.toml"
    step models-crawler 240 "$supple" reduce "$models/crawler.toml" -o "$crawler" --snapshots "$models/crawler.snapshots" --force
  fi
  if ! [ -f "$hyperelastic" ] && ! $quick; then
    step models-hyperelastic 120 "$supple" reduce "$assets/diamond/mooney_rivlin.toml" -o "$hyperelastic" \
      --snapshots "$models/diamond-mooney-rivlin.snapshots" --force
  fi
  for batch in $batches; do forward "$batch"; done
  bench forward-cpu 60 "${diamond[@]}" --case forward/diamond --device cpu --batch 1,64,1024 --steps 30
  if [ -f "$hyperelastic" ]; then
    for batch in $hyperelastic_batches; do
      bench "hyperelastic-$batch" 60 --model "$hyperelastic" --case forward/diamond-mooney-rivlin "${gpu[@]}" --resident --batch "$batch" --steps 20
    done
  fi
  for batch in $inverse_batches; do
    bench "inverse-$batch" 60 "${diamond[@]}" --case inverse/diamond "${gpu[@]}" --precision fp64 --batch "$batch" --steps 15
    bench "resident-inverse-$batch" 45 "${diamond[@]}" --case inverse/diamond "${gpu[@]}" --resident --batch "$batch" --steps 15
  done
  if [ -f "$crawler" ]; then
    for batch in $contact_batches; do
      bench "contact-$batch" 45 --model "$crawler" --case forward/crawler "${gpu[@]}" --precision fp64 --batch "$batch" --steps 15
    done
    # The same with states, contacts and their forces on the device: `contact` of their JSON says how many problems it left to the host,
    # and after how many sweeps and Newton steps. Then by Gauss-Seidel alone, and by the host.
    for batch in $resident_contact_batches; do
      bench "resident-contact-$batch" 60 --model "$crawler" --case forward/crawler "${gpu[@]}" --resident --batch "$batch" --steps 15
    done
    for solver in sweep host; do
      $quick || bench "resident-$solver-contact-512" 45 --model "$crawler" --case forward/crawler "${gpu[@]}" --resident --$solver-contact \
        --batch 512 --steps 15
    done
  else
    say contact "left out: no crawler.rom.h5"
  fi
fi

# Full-order states, their elements and matrices on the GPU: the coarse diamond's, fewer of the fine one's; and the coarse ones one
# by one in worker processes, to compare with. Their reports say how long it took.
states() {
  local name=$1 limit=$2 scene=$3 count=$4
  shift 4
  printf 'include = "%s/%s"\nname = "states"\n\n[reduce]\nstates = %s\ncorners = false\n' "$assets" "$scene" "$count" >"$models/$name.toml"
  step "$name" "$limit" "$supple" snapshots "$models/$name.toml" -o "$models/$name.snapshots" --force --quiet --json "$logs/$name.json" "$@"
}
if wanted offline; then
  coarse_states=2048
  if $quick; then coarse_states=16; fi
  optional=true
  states states-coarse 60 diamond/scene.toml $coarse_states --device "$device" --batch auto
  states states-coarse-cpu 60 diamond/scene.toml $coarse_states --device cpu --jobs "$(nproc)"
  # A whole reduction: its states and the choice of its elements on the GPU.
  printf 'include = "%s/diamond/scene.toml"\nname = "diamond"\n\n[reduce]\nstates = 64\nvalidation_states = 8\n' "$assets" \
    >"$models/reduce-coarse.toml"
  step reduce-coarse 120 "$supple" reduce "$models/reduce-coarse.toml" -o "$models/reduce-coarse.rom.h5" --force --quiet \
    --seconds "100 ms" --device "$device" --batch auto --json "$logs/reduce-coarse.json"
  # The offline stage at its size: the fine diamond from its scene to its model, there and by this machine's processors; 256 states of
  # the tentacle's eight forces (its grid of 256 corners is one path, which nothing shares out).
  if ! $quick; then
    whole() {
      local name=$1
      shift
      step "$name" 240 "$supple" reduce "$assets/diamond/fine.toml" -o "$models/$name.rom.h5" --snapshots "$models/$name.snapshots" --force \
        --quiet --seconds "100 ms" --json "$logs/$name.json" "$@"
    }
    whole reduce-fine --device "$device" --batch auto
    states states-tentacle 90 tentacle/scene.toml 256 --device "$device" --batch auto
    if [ "$only" = offline ]; then
      states states-tentacle-cpu 90 tentacle/scene.toml 256 --device cpu --jobs "$(nproc)"
      whole reduce-fine-cpu --device cpu --jobs "$(nproc)"
    fi
  fi
  optional=false
fi

# Memory errors, and barriers that some threads of a team do not reach. Last: it is slow.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
sanitize() {
  local name=$1 limit=$2 tool=$3 program=$4 filter=$5 pattern
  local -a patterns
  IFS=: read -ra patterns <<<"$filter"
  for pattern in "${patterns[@]}"; do
    "$tests/test_$program" --gtest_list_tests --gtest_filter="$pattern" | grep -q '^  ' || { failed=1; say "sanitizer-$name" "no test '$pattern'"; }
  done
  step "sanitizer-$name" "$limit" "$sanitizer" --tool "$tool" --error-exitcode 9 "$tests/test_$program" --gtest_brief=1 --gtest_filter="$filter"
}
if wanted sanitizer && [ "$kind$emulated" = cuda ]; then
  optional=true
  if [ -z "$sanitizer" ]; then
    failed=1
    say sanitizer "not run: compute-sanitizer is not on PATH"
  else
    sanitize stiffness 30 racecheck kernels '*DeviceOps.ProjectedStiffness/cuda'
    sanitize engine 90 memcheck engine '*FullElementsOn.InLockstep*/cuda:*ReducedBatch.OneRobot/cuda:*BatchContacts.MoveAsStepper/cuda:*RobotsOfTheirOwn.Move*/cuda:*BatchSteps.MovesAsStepper*/cuda:*BatchFailure.*FusedAlgebra/cuda:*StrainBatch.StaysOn*/cuda'
    sanitize races 60 racecheck engine '*ReducedBatch.OneRobot/cuda:*BatchFailure.*FusedAlgebra/cuda:*BatchContacts.RobotsWithTooMany*/cuda'
    sanitize barriers 60 synccheck engine '*ReducedBatch.OneRobot/cuda:*BatchContacts.RobotsWithTooMany*/cuda:*StrainBatch.TakesTheShare*/cuda'
    sanitize barriers-contact 60 synccheck solvers '*ContactTeams.FindTheForces/cuda'
    sanitize solvers 60 memcheck solvers '*Batched*/cuda:*Lockstep*/cuda:*ContactTeams*/cuda'
    sanitize offline 60 memcheck engine '*DeviceTraining.*/cuda'
    sanitize pod 45 memcheck solvers '*PodOn.*/cuda'
  fi
fi
report
exit $failed
