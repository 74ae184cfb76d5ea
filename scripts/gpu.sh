#!/usr/bin/env bash
# Everything that only a machine with a GPU can show, recorded in one folder in less than 15 minutes: tests of every
# operation on the GPU against the CPU, compute-sanitizer on some of them, rates of batches. Needs a driver and the CUDA
# libraries; no packages where it runs from a bundle (scripts/bundle.sh -D SUPPLE_CUDA=ON), in which it is gpu.sh.
#   scripts/gpu.sh [options]
#     --bundle DIR|FILE    programs of this unpacked bundle, or of its .tar.gz; without it those beside this script, or a
#                          build in build-gpu/ (which needs the packages of scripts/setup.sh)
#     --models DIR         reduced models as `supple bench` keeps them, and crawler.rom.h5 (assets/multigait/crawl.toml with
#                          that name); what is missing is made there
#     --device NAME        cuda:0; cpu rehearses all but the sanitizer where there is no GPU
#     --minutes N          for all of it (14)
#     --only WORD          tests, rates (of steps) or offline (states and reductions), for machines that lend less time at once
#     --quick              one small case of each kind
#     -o DIR               results ($OUT, or out/gpu)
# A step that fails or takes too long is named at the end; the others are run all the same. Exit code 0: all passed;
# 1: some did not; 3: there is no GPU, or no program that could use it.
set -uo pipefail

fail() { echo "gpu.sh: $1" >&2; exit "${2:-2}"; }

here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-out/gpu} bundle='' models='' device=cuda:0 minutes=14 only='' quick=false
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,16p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --quick) quick=true; shift ;;
    --bundle | --models | --device | --minutes | --only | -o)
      [ $# -gt 1 ] || fail "$1 needs a value (try --help)"
      case "$1" in -o) out=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2 ;;
    *) fail "unknown option '$1' (try --help)" ;;
  esac
done
[[ "$minutes" =~ ^[1-9][0-9]*$ ]] || fail "--minutes '$minutes' is not a whole number of minutes"
[[ "$only" =~ ^(tests|rates|offline)?$ ]] || fail "--only '$only' is not tests, rates or offline"
mkdir -p "$out" || fail "cannot create the folder '$out'"
out=$(cd "$out" && pwd)
models=${models:-$out/models}
mkdir -p "$models" || fail "cannot create the folder '$models'"
models=$(cd "$models" && pwd)
deadline=$((SECONDS + 60 * minutes))
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive

summary=() failed=0
wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }
say() { summary+=("$(printf '%-22s %5s s   %s' "$1" - "$2")"); }
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
  printf '== %s\n' "$name"
  timeout --kill-after=10 "$limit" "$@" >"$out/$name.txt" 2>&1
  code=$?
  case $code in
    0) words=passed ;;
    124 | 137)
      words="STOPPED after $limit s"
      if $optional && $short; then words="left out: not done in the $limit s that were left" code=0; fi ;;
    *) words="FAILED (exit code $code): $(grep -av '^$' "$out/$name.txt" | tail -n 1 | cut -c 1-120)" ;;
  esac
  [ $code -eq 0 ] || failed=1
  summary+=("$(printf '%-22s %5d s   %s' "$name" $((SECONDS - start)) "$words")")
  printf '== %s: %s, %d s\n' "$name" "$words" $((SECONDS - start))
  return $code
}

report() {
  { printf '%s, %d s\n' "$device" $SECONDS; printf '  %s\n' "${summary[@]}"; } | tee "$out/summary.txt"
  echo "written to $out"
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
  tar -xzf "$bundle" -C "$out" || fail "'$bundle' cannot be unpacked"
  bundle=$out/$(tar -tzf "$bundle" | head -n 1 | cut -d/ -f1)
elif [ -z "$bundle" ] && [ -x "$here/bin/supple" ]; then
  bundle=$here
fi
if [ -n "$bundle" ]; then
  bundle=$(cd "$bundle" && pwd) || fail "there is no bundle '$bundle'"
  supple=$bundle/bin/supple tests=$bundle/tests assets=$bundle/share/supple/assets from=$bundle
else
  step build 480 bash -c build || { report; exit 1; }
  supple=$here/../build-gpu/engine/supple tests=$here/../build-gpu/tests assets=$here/../assets from=$here/..
fi
[ -x "$supple" ] || fail "there is no program '$supple'" 3
cd "$from" || fail "there is no folder '$from'"

# The program says in one line what is missing.
"$supple" info --device "$device" >/dev/null || exit $?
# shellcheck disable=SC2317
machine() {
  "$supple" info
  nproc && grep -m1 'model name' /proc/cpuinfo
  if command -v nvidia-smi >/dev/null; then nvidia-smi; fi
}
export -f machine
export supple
step machine 30 bash -c machine

kind=${device%%:*}
[ "$kind" = cpu ] || export SUPPLE_REQUIRE_CUDA=1
if wanted tests; then
  for name in kernels solvers engine; do
    # cuDSS where it is built in; elsewhere its cases are skipped.
    step "tests-$name" 150 "$tests/test_$name" --gtest_filter="*/$kind:*/cudss" --gtest_output="xml:$out/tests-$name.xml"
  done

  # Whether a step could be a CUDA graph.
  [ "$kind" = cpu ] || step graphs 30 "$tests/test_solvers" --gtest_filter='Capture.*'

  # Memory errors, and barriers that some threads of a team do not reach.
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  if [ "$kind" = cuda ]; then
    if [ -n "$sanitizer" ]; then
      step sanitizer-solvers 60 "$sanitizer" --tool memcheck --error-exitcode 9 "$tests/test_solvers" \
        --gtest_filter='*Batched*/cuda:*Lockstep*/cuda:*ContactTeams*/cuda'
      step sanitizer-engine 90 "$sanitizer" --tool memcheck --error-exitcode 9 "$tests/test_engine" \
        --gtest_filter='*FullElementsOn.InLockstep*/cuda:*FullElementsOn.ARobot*/cuda:*ReducedBatch.OneRobot/cuda:*BatchInContact*/cuda:*RobotsOfTheirOwn.Move*/cuda:*ResidentStep.Robots*/cuda:*ResidentFailure*/cuda:*ResidentContacts.MoveAsStepper/cuda:*FusedAlgebra*/cuda:*StrainBatch.StaysOn*/cuda'
      step sanitizer-barriers 60 "$sanitizer" --tool synccheck --error-exitcode 9 "$tests/test_engine" \
        --gtest_filter='*ReducedBatch.OneRobot/cuda:*ResidentContacts.RobotsWithTooManyFailAlone/cuda:*StrainBatch.TakesTheShare*/cuda'
      step sanitizer-barriers-contact 60 "$sanitizer" --tool synccheck --error-exitcode 9 "$tests/test_solvers" \
        --gtest_filter='*ContactTeams.FindTheForces/cuda'
      step sanitizer-offline 60 "$sanitizer" --tool memcheck --error-exitcode 9 "$tests/test_engine" --gtest_filter='*DeviceTraining.*/cuda'
      step sanitizer-pod 45 "$sanitizer" --tool memcheck --error-exitcode 9 "$tests/test_solvers" --gtest_filter='*PodOn.*/cuda'
    else
      failed=1
      say sanitizer "not run: compute-sanitizer is not on PATH"
    fi
  fi
fi

# Rates, a file for each batch: what takes too long takes no other number with it.
bench() {
  local name=$1 limit=$2
  shift 2
  step "$name" "$limit" "$supple" bench --models "$models" --quiet --json "$out/$name.json" --force "$@"
}
robot=diamond batches="1 64 1024 4096 65536" inverse_batches="1 64 1024 16384" contact_batches="1 64 512" resident_contact_batches="64 512 4096" \
  large_batches="1024 65536"
if $quick; then batches="1 64" large_batches=64 inverse_batches=16 contact_batches='' resident_contact_batches=16; fi
if wanted rates; then
  step models 180 "$supple" bench --assets "$assets" --models "$models" --case "forward/$robot" --steps 10
  # The crawler on its floor, from fewer states than it deserves: for rates in contact.
  crawler=$models/crawler.rom.h5
  if ! [ -f "$crawler" ] && ! $quick; then
    printf 'include = "%s/multigait/crawl.toml"\nname = "crawler"\n\n[reduce]\nstates = 32\nvalidation_states = 4\n' \
      "$assets" >"$models/crawler.toml"
    step models-crawler 240 "$supple" reduce "$models/crawler.toml" -o "$crawler" --snapshots "$models/crawler.snapshots" --force
  fi
  # Two rounds of as many steps must end in the same bits.
  gpu=(--device "$device" --rounds 2)
  for batch in $batches; do
    for precision in fp64 mixed fp32; do
      bench "forward-$precision-$batch" 60 --assets "$assets" --case "forward/$robot" "${gpu[@]}" --precision $precision --batch "$batch" \
        --steps 30
    done
  done
  bench forward-cpu 60 --assets "$assets" --case "forward/$robot" --device cpu --batch 1,64,1024 --steps 30
  # The same with states that stay on the device, with libraries and with teams of its own.
  for batch in $batches; do
    bench "resident-$batch" 45 --assets "$assets" --case "forward/$robot" "${gpu[@]}" --resident --batch "$batch" --steps 30
    bench "resident-fused-$batch" 45 --assets "$assets" --case "forward/$robot" "${gpu[@]}" --resident --fused --batch "$batch" --steps 30
  done
  # A hyperelastic robot, and single precision throughout.
  hyperelastic=$models/diamond-mooney-rivlin.rom.h5
  if ! [ -f "$hyperelastic" ] && ! $quick; then
    step models-hyperelastic 120 "$supple" reduce "$assets/diamond/mooney_rivlin.toml" -o "$hyperelastic" \
      --snapshots "$models/diamond-mooney-rivlin.snapshots" --force
  fi
  for batch in $large_batches; do
    if [ -f "$hyperelastic" ]; then
      bench "hyperelastic-$batch" 60 --model "$hyperelastic" --case forward/diamond-mooney-rivlin "${gpu[@]}" --resident --batch "$batch" --steps 20
    else
      say "hyperelastic-$batch" "left out: no model"
    fi
    bench "resident-fp32-$batch" 45 --assets "$assets" --case "forward/$robot" "${gpu[@]}" --resident --precision fp32 --batch "$batch" --steps 30
  done
  for batch in $inverse_batches; do
    bench "inverse-$batch" 60 --assets "$assets" --case "inverse/$robot" "${gpu[@]}" --precision fp64 --batch "$batch" --steps 15
    bench "resident-inverse-$batch" 45 --assets "$assets" --case "inverse/$robot" "${gpu[@]}" --resident --batch "$batch" --steps 15
  done
  for batch in $contact_batches; do
    [ -f "$crawler" ] || { failed=1; say contact "not run: no model"; break; }
    bench "contact-$batch" 45 --model "$crawler" --case forward/crawler "${gpu[@]}" --precision fp64 --batch "$batch" --steps 15
  done
  # The same with states, contacts and their forces on the device: `contact` of their JSON says how many problems it left to the host,
  # and after how many sweeps and Newton steps. Then by Gauss-Seidel alone, and by the host.
  for batch in $resident_contact_batches; do
    if ! [ -f "$crawler" ]; then
      $quick && say resident-contact "left out: no crawler.rom.h5, and --quick makes none"
      break
    fi
    bench "resident-contact-$batch" 60 --model "$crawler" --case forward/crawler "${gpu[@]}" --resident --batch "$batch" --steps 15
  done
  for solver in sweep host; do
    [ -f "$crawler" ] && ! $quick || break
    bench "resident-$solver-contact-64" 45 --model "$crawler" --case forward/crawler "${gpu[@]}" --resident --$solver-contact --batch 64 --steps 15
  done
  [ ! -f "$crawler" ] || $quick ||
    bench resident-host-contact-512 45 --model "$crawler" --case forward/crawler "${gpu[@]}" --resident --host-contact --batch 512 --steps 15
fi
wanted offline || { report; exit $failed; }
# Full-order states, their elements and matrices on the GPU: the coarse diamond's, fewer of the fine one's; and the coarse ones one
# by one in worker processes, to compare with. Their reports say how long it took.
states() {
  local name=$1 limit=$2 scene=$3 count=$4
  shift 4
  printf 'include = "%s/diamond/%s"\nname = "diamond"\n\n[reduce]\nstates = %s\ncorners = false\n' "$assets" "$scene" "$count" \
    >"$models/$name.toml"
  step "$name" "$limit" "$supple" snapshots "$models/$name.toml" -o "$models/$name.snapshots" --force --quiet --json "$out/$name.json" "$@"
}
coarse_states=2048 fine_states=512
if $quick; then coarse_states=16 fine_states=0; fi
states states-coarse 60 scene.toml $coarse_states --device "$device" --batch auto
states states-coarse-cpu 60 scene.toml $coarse_states --device cpu --jobs "$(nproc)"
if [ $fine_states -gt 0 ]; then
  states states-fine 120 fine.toml $fine_states --device "$device" --batch auto
fi
# A whole reduction: its states and the choice of its elements on the GPU.
printf 'include = "%s/diamond/scene.toml"\nname = "diamond"\n\n[reduce]\nstates = 64\nvalidation_states = 8\n' "$assets" >"$models/reduce-coarse.toml"
step reduce-coarse 120 "$supple" reduce "$models/reduce-coarse.toml" -o "$models/reduce-coarse.rom.h5" --force --quiet --seconds "100 ms" \
  --device "$device" --batch auto --json "$out/reduce-coarse.json"
# The offline stage at its size: 256 states of the tentacle's eight forces (its grid of 256 corners is one path, which nothing shares
# out), and the fine diamond from its scene to its model, there and by this machine's processors. Last, for what time is left.
if ! $quick; then
  optional=true
  printf 'include = "%s/tentacle/scene.toml"\nname = "tentacle"\n\n[reduce]\nstates = 256\ncorners = false\n' "$assets" >"$models/tentacle.toml"
  tentacle() {
    local name=$1
    shift
    step "$name" 90 "$supple" snapshots "$models/tentacle.toml" -o "$models/$name.snapshots" --force --quiet --json "$out/$name.json" "$@"
  }
  tentacle states-tentacle --device "$device" --batch auto
  tentacle states-tentacle-cpu --device cpu --jobs "$(nproc)"
  whole() {
    local name=$1
    shift
    rm -rf "$models/$name.snapshots"
    step "$name" 240 "$supple" reduce "$assets/diamond/fine.toml" -o "$models/$name.rom.h5" --snapshots "$models/$name.snapshots" --force --quiet \
      --seconds "100 ms" --json "$out/$name.json" "$@"
  }
  whole reduce-fine --device "$device" --batch auto
  whole reduce-fine-cpu --device cpu --jobs "$(nproc)"
fi
report
exit $failed
