#!/usr/bin/env bash
# How fast full-order states and their modes are computed, by worker processes, by ranks of MPI and in batches. All counts are measured
# in turn, round by round, so that what else the machine does falls on all alike.
#   bench/offline.sh [options]
#     --scene SCENE      (assets/diamond)
#     --counts "1 2 4"   numbers of processes (1, 2, 4, ... up to the processors)
#     --batches "8 auto" also one process with --batch, for each of these numbers of robots
#     --device NAME      of the batches (cpu); there it has all threads, elsewhere a process has one
#     --rounds N         (3)
#     --reduce           also the whole way to a model, --rounds times for each number: the time of each stage
#     --states N         of training, instead of the scene's; without corners
#     --supple PROGRAM   the program (build/engine/supple); supple-mpi beside it
#     -o DIR             results (out/offline)
# Results: states.csv (states per second: median, least and most of all rounds; processor time of a state), stages.csv (medians),
# offline.json (all rounds of both, machine, commit, load), offline.gp (draws offline.png if there is gnuplot), machine.txt.
set -euo pipefail

fail() { echo "offline.sh: $1" >&2; exit "${2:-2}"; }

root=$(cd "$(dirname "$0")/.." && pwd)
supple=$root/build/engine/supple out=out/offline scene=$root/assets/diamond rounds=3 counts='' reduce=false batches='' device=cpu states=''
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,15p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --reduce) reduce=true; shift ;;
    --scene | --counts | --states | --rounds | --batches | --device | --supple | -o)
      [ $# -gt 1 ] || fail "$1 needs a value (try --help)"
      case "$1" in -o) out=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2 ;;
    *) fail "unknown option '$1' (try --help)" ;;
  esac
done
[ -x "$supple" ] || fail "there is no program '$supple' (build it, or --supple PROGRAM)"
if [ -z "$counts" ]; then
  for ((n = 1; n <= $(nproc); n *= 2)); do counts+="$n "; done
fi
ways=(jobs)
if [ -x "$supple-mpi" ] && command -v mpirun >/dev/null; then ways+=(ranks); else echo "offline.sh: no supple-mpi or no mpirun: only --jobs" >&2; fi
for batch in $batches; do
  [[ "$batch" =~ ^([1-9][0-9]*|auto)$ ]] || fail "--batches: '$batch' is neither a number of robots nor auto"
done
[ -z "$batches" ] || ways+=(batch)
[[ "$rounds" =~ ^[1-9][0-9]*$ ]] || fail "--rounds: '$rounds' is not a whole number from 1"
[[ "$states" =~ ^([1-9][0-9]*)?$ ]] || fail "--states: '$states' is not a whole number from 1"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/work-XXXXXX")
trap 'rm -rf "$work"' EXIT
processors=$(nproc)  # which would answer OMP_NUM_THREADS
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1
named=$scene
if [ -n "$states" ]; then
  [ ! -d "$scene" ] || scene=$scene/scene.toml
  [ -f "$scene" ] || fail "there is no scene '$scene'"
  printf 'include = "%s"\nname = "offline"\n\n[reduce]\nstates = %s\ncorners = false\n' "$(realpath "$scene")" "$states" >"$work/scene.toml"
  scene=$work/scene.toml
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# run WAY COUNT VERB...: what a user would type.
run() {
  local way=$1 count=$2
  shift 2
  case $way in
    jobs) "$supple" "$@" --jobs "$count" --threads 1 ;;
    ranks) mpirun --bind-to none -n "$count" "$supple-mpi" "$@" ;;
    batch)
      if [ "$device" = cpu ]; then
        "$supple" "$@" --threads 1 --batch "$count" --device cpu
      else
        env -u OMP_NUM_THREADS "$supple" "$@" --batch "$count" --device "$device"
      fi ;;
  esac
}

# The counts of a way: processes, or robots of a batch.
counts_of() { if [ "$1" = batch ]; then echo "$batches"; else echo "$counts"; fi; }

# A number of a report.
number() { sed -n "s/^ *\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" "$1" | head -n 1; }

# of FILE WAY COUNT FIELD: in order, of all rounds.
of() { awk -v w="$2" -v c="$3" -v f="$4" '$1 == w && $2 == c { print $f }' "$work/$1" | sort -g; }
median() { awk '{ v[NR] = $1 } END { print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) }'; }

TIMEFORMAT="%R %U %S"
{ lscpu | grep -E '^(Model name|CPU\(s\)|Thread)'; echo "load at the beginning: $(cut -d' ' -f1-3 /proc/loadavg)"; } >"$out/machine.txt"
began=$(cut -d' ' -f1 /proc/loadavg)
: >"$work/rates"
: >"$work/stages"
for ((round = 1; round <= rounds; ++round)); do
  for way in "${ways[@]}"; do
    for count in $(counts_of "$way"); do
      rm -rf "$work/states"
      { time run "$way" "$count" snapshots "$scene" -o "$work/states" --quiet --json "$work/report.json" --force 2>"$work/errors"; } \
        2>"$work/time" || fail "$way $count: $(cat "$work/errors")" 1
      found=$(number "$work/report.json" snapshots)
      read -r real user system <"$work/time"
      awk -v w="$way" -v c="$count" -v n="$found" -v r="$real" -v u="$user" -v s="$system" \
        'BEGIN { print w, c, n / r, 1000 * (u + s) / n, n, r }' | tee -a "$work/rates"
    done
  done
done
echo "load at the end: $(cut -d' ' -f1-3 /proc/loadavg)" >>"$out/machine.txt"
{
  echo "way,processes,states_per_s,least,most,processor_ms_per_state"
  for way in "${ways[@]}"; do
    for count in $(counts_of "$way"); do
      rates=$(of rates "$way" "$count" 3)
      echo "$way,$count,$(median <<<"$rates"),$(head -n 1 <<<"$rates"),$(tail -n 1 <<<"$rates"),$(of rates "$way" "$count" 4 | median)"
    done
  done
} >"$out/states.csv"
cp "$work/report.json" "$work/facts.json"

stages="snapshots pod training selection validation total"
if $reduce; then
  for ((round = 1; round <= rounds; ++round)); do
    for way in "${ways[@]}"; do
      for count in $(counts_of "$way"); do
        rm -rf "$work/states"
        run "$way" "$count" reduce "$scene" --snapshots "$work/states" -o "$work/model.rom.h5" --force --quiet --seconds "100 ms" \
          --json "$work/report.json" 2>"$work/errors" || fail "$way $count: $(cat "$work/errors")" 1
        line="$way $count"
        for stage in $stages; do
          line+=" $(sed -n '/"seconds": {/,/}/p' "$work/report.json" | sed -n "s/^ *\"$stage\": \([-0-9.e+]*\),\{0,1\}$/\1/p")"
        done
        echo "$line" | tee -a "$work/stages"
      done
    done
  done
  {
    echo "way,processes,snapshots_s,pod_s,training_s,selection_s,validation_s,total_s"
    for way in "${ways[@]}"; do
      for count in $(counts_of "$way"); do
        line="$way,$count"
        for field in 3 4 5 6 7 8; do line+=",$(of stages "$way" "$count" $field | median)"; done
        echo "$line"
      done
    done
  } >"$out/stages.csv"
fi

# All rounds, one object each.
rows() { awk -v keys="way count $1" 'BEGIN { n = split(keys, key, " ") }
  { line = "{"; for (i = 1; i <= n; ++i) line = line (i > 1 ? ", " : "") "\"" key[i] "\": " ($i ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ ? $i : "\"" $i "\"")
    printf "%s    %s}", (NR > 1 ? ",\n" : ""), line } END { if (NR) print "" }' "$work/$2"; }
{
  echo "{"
  for fact in machine isa build commit version; do grep -m1 "^  \"$fact\": " "$work/facts.json" | sed 's/,\{0,1\}$/,/'; done
  printf '  "scene": "%s",\n  "device_of_batches": "%s",\n  "processors": %s,\n' "${named##*assets/}" "$device" "$processors"
  printf '  "load": {"beginning": %s, "end": %s},\n' "$began" "$(cut -d' ' -f1 /proc/loadavg)"
  printf '  "states": [\n%s\n  ],\n' "$(rows "states_per_s processor_ms_per_state states seconds" rates)"
  printf '  "stages_s": [\n%s\n  ]\n}\n' "$(rows "$stages" stages)"
} >"$out/offline.json"

cat >"$out/offline.gp" <<PLOT
# gnuplot offline.gp
set terminal pngcairo size 800,560
set output "offline.png"
set datafile separator ","
set xlabel "processes; robots of a batch"
set ylabel "states per second, all together"
set key left top
set logscale xy 2
plot for [way in "${ways[*]}"] "< grep ^".way.", states.csv" using 2:3:4:5 with yerrorlines title way, \\
     "< grep ^jobs,1, states.csv" using 2:3 with points pointtype 7 title "one process"
PLOT
if command -v gnuplot >/dev/null; then (cd "$out" && gnuplot offline.gp); fi
cat "$out/states.csv"
