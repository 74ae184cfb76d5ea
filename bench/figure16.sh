#!/usr/bin/env bash
# Figure 16 of Goury & Duriez (2018) with our tentacle: the coarse full model, the fine full model and the model reduced
# from the fine one are led to the same goals; their commands are then run on the fine full model.
#   bench/figure16.sh [options]
#     --model FILE       the reduced fine tentacle; without it one is made here (half an hour on two cores)
#     --states N         states that it learns from (500)
#     --modes N          at most so many modes (48)
#     --jobs N           worker processes for the states (all processors)
#     --supple PROGRAM   the program (build/engine/supple)
#     -o DIR             results (out/figure16); a stopped run goes on there
# Results: table.csv, table.md, figure16.gp (draws figure16.png). All states are converged equilibria. Goals: eight far
# from each other, each in one step, and 24 on a circle of 30 mm.
set -euo pipefail

fail() { echo "figure16.sh: $1" >&2; exit "${2:-2}"; }

root=$(cd "$(dirname "$0")/.." && pwd)
supple=$root/build/engine/supple out=out/figure16 model='' states=500 modes=48 jobs=$(nproc)
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,13p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    --model | --states | --modes | --jobs | --supple | -o)
      [ $# -gt 1 ] || fail "$1 needs a value (try --help)"
      case "$1" in -o) out=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2 ;;
    *) fail "unknown option '$1' (try --help)" ;;
  esac
done
[ -x "$supple" ] || fail "there is no program '$supple' (build it, or --supple PROGRAM)"
[ -z "$model" ] || [ -f "$model" ] || fail "there is no model '$model' (supple reduce makes one)"
mkdir -p "$out/robots"
out=$(cd "$out" && pwd)
export OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive

# Writes stdin to a file unless it says so already: results newer than what they were made from are kept.
write() {
  cat >"$1.new"
  if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

# Points of the axis, by which shapes are drawn and compared: z in mm, from the base to the tip.
axis="-20 -40 -60 -80 -100 -120 -140 -160 -180"

# A robot of assets/tentacle with these points.
robot() {
  printf 'include = "%s/assets/tentacle/%s.toml"\n\n' "$root" "$1"
  for z in $axis; do
    printf '[[probe]]\nname = "axis%s"\nset = "axis"\npoint = ["0 mm", "0 mm", "%s mm"]\n\n' "$z" "$z"
  done
}
robot scene | write "$out/robots/coarse.toml"
robot fine | write "$out/robots/fine.toml"
{ robot fine; printf '[reduce]\nstates = %s\nmodes_tolerance = 2e-4\nmax_modes = %s\n' "$states" "$modes"; } |
  write "$out/robots/reduced.toml"
if [ -z "$model" ]; then
  model=$out/reduced.rom.h5
  if ! [ "$model" -nt "$out/robots/reduced.toml" ]; then
    "$supple" reduce "$out/robots/reduced.toml" --snapshots "$out/reduced.snapshots" -o "$model" --jobs "$jobs" --threads 1 \
      --force --json "$out/reduced.json"
  fi
fi

header="time [s],tip x [mm],tip y [mm],tip z [mm]"
write "$out/goals.csv" <<END
$header
0,0,0,-199
0.01,62,0,-182
0.02,30,76,-166
0.03,-36,38,-178
0.04,-47,104,-122
0.05,-90,0,-148
0.06,-44,-44,-175
0.07,43,-76,-157
0.08,0,0,-186
END
awk -v header="$header" 'BEGIN {
  print header; print "0,0,0,-199"; turn = 8 * atan2(1, 1)
  for (k = 1; k <= 24; ++k) printf "%.2f,%.4f,%.4f,-190\n", k / 100, 30 * cos(turn * (k - 1) / 24), 30 * sin(turn * (k - 1) / 24)
}' | write "$out/circle.csv"

file_of() { if [ "$1" = reduced ]; then echo "$model"; else echo "$out/robots/$1.toml"; fi; }

# Commands by which a model reaches the goals: model, goals.
lead() {
  local folder=$out/$1-$2 file
  file=$(file_of "$1")
  if [ "$folder/tracking.csv" -nt "$file" ] && [ "$folder/tracking.csv" -nt "$out/$2.csv" ]; then return; fi
  echo "== $1 model to $2"
  "$supple" inverse "$file" --goal "$out/$2.csv" --integrator quasi-static --threads 1 -o "$folder" --force | sed -n 1,3p
}

# What a model does under the commands found with another: model, whose commands, goals.
follow() {
  local folder=$out/$2-$3-on-$1 commands=$out/$2-$3/commands.csv file steps
  file=$(file_of "$1")
  if [ "$folder/trajectory.csv" -nt "$commands" ] && [ "$folder/trajectory.csv" -nt "$file" ]; then return; fi
  steps=$(($(wc -l <"$commands") - 2))
  echo "== $1 model under the commands of the $2 one, $3"
  "$supple" "$([ "$1" = reduced ] && echo run || echo simulate)" "$file" --actuation "$commands" --integrator quasi-static \
    --steps "$steps" --every 1000 --threads 1 -o "$folder" --force | sed -n 1p
}

for goals in goals circle; do
  for who in coarse fine reduced; do lead "$who" "$goals"; done
  for who in coarse reduced; do
    follow fine "$who" "$goals"
    follow "$who" "$who" "$goals"
  done
done
follow fine fine goals

# "mean largest" of the distance of the tip from its goals [mm]: trajectory, goals.
missed() {
  awk -F, '
    FNR == 1 { for (c = 1; c <= NF; ++c) if ($c ~ /^tip [xyz] /) at[FILENAME, substr($c, 5, 1)] = c; next }
    { for (i = 1; i <= 3; ++i) p[i] = $at[FILENAME, substr("xyz", i, 1)] }
    FNR == NR { for (i = 1; i <= 3; ++i) goal[FNR, i] = p[i]; next }
    FNR > 2 { d = 0; for (i = 1; i <= 3; ++i) d += (p[i] - goal[FNR, i]) ^ 2; d = sqrt(d); sum += d; n++; if (d > largest) largest = d }
    END { printf "%.3g %.3g\n", sum / n, largest }' "$2" "$1"
}

# "mean largest" of the distance between two trajectories over the points of the axis and the tip [mm].
apart() {
  awk -F, '
    FNR == 1 { for (c = 1; c <= NF; ++c) if ($c ~ /^(tip|axis.*) x \[/) at[FILENAME, ++count[FILENAME]] = c; next }
    FNR == NR { for (k = 1; k <= count[FILENAME]; ++k) for (i = 0; i < 3; ++i) x[FNR, k, i] = $(at[FILENAME, k] + i); next }
    FNR > 2 { for (k = 1; k <= count[FILENAME]; ++k) {
      d = 0; for (i = 0; i < 3; ++i) d += ($(at[FILENAME, k] + i) - x[FNR, k, i]) ^ 2
      d = sqrt(d); sum += d; n++; if (d > largest) largest = d } }
    END { printf "%.3g %.3g\n", sum / n, largest }' "$1" "$2"
}

# "mean largest" of a model's own distance [mm]: its tracking.csv.
own() { awk -F, 'NR > 2 { sum += $2; n++; if ($2 > largest) largest = $2 } END { printf "%.2g %.2g\n", sum / n, largest }' "$1"; }

{
  echo "goals,model,own mean [mm],own largest [mm],on the fine model mean [mm],largest [mm],axis apart mean [mm],largest [mm]"
  for goals in goals circle; do
    echo "$goals,fine,$(own "$out/fine-$goals/tracking.csv" | tr ' ' ,),,,,"
    for who in coarse reduced; do
      there=$out/$who-$goals-on-fine/trajectory.csv
      echo "$goals,$who,$(own "$out/$who-$goals/tracking.csv" | tr ' ' ,),$(missed "$there" "$out/$goals.csv" | tr ' ' ,),$(
        apart "$there" "$out/$who-$goals-on-$who/trajectory.csv" | tr ' ' ,)"
    done
  done
} | write "$out/table.csv"
{
  echo "| goals | model | own distance, mean | largest | on the fine full model, mean | largest | axes apart¹, mean | largest |"
  echo "|---|---|--:|--:|--:|--:|--:|--:|"
  awk -F, 'NR > 1 { printf "| %s | %s |", $1 == "circle" ? "24 on a circle" : "8 far apart", $2
    for (c = 3; c <= 8; ++c) printf " %s |", $c == "" ? "-" : $c; print "" }' "$out/table.csv"
  printf '\n¹ distance between the model and the fine full one under the same commands, at the tip and nine points of the axis; all in mm\n'
} | write "$out/table.md"

# Axes of the fine model under the commands of each, one line of points for each goal: x y z in mm, from the base.
axes() {
  awk -F, '
    FNR == 1 { for (c = 1; c <= NF; ++c) { if ($c ~ /^axis.* x \[/) at[++n] = c; if ($c ~ /^tip x \[/) tip = c } at[++n] = tip; next }
    FNR > 2 { print "0 0 0"; for (k = 1; k <= n; ++k) print $at[k], $(at[k] + 1), $(at[k] + 2); printf "\n\n" }' "$1"
}
for who in coarse fine reduced; do axes "$out/$who-goals-on-fine/trajectory.csv" | write "$out/$who.dat"; done

# Distance of the tip of the fine model from each goal: number, coarse, reduced.
distances() {
  awk -F, '
    FNR == 1 { ++file; for (c = 1; c <= NF; ++c) if ($c ~ /^tip x \[/) at[file] = c; next }
    { for (i = 0; i < 3; ++i) x[file, FNR, i] = $(at[file] + i); rows = FNR }
    END { for (r = 3; r <= rows; ++r) { printf "%d", r - 2
      for (f = 2; f <= 3; ++f) { d = 0; for (i = 0; i < 3; ++i) d += (x[f, r, i] - x[1, r, i]) ^ 2; printf " %.5g", sqrt(d) }
      print "" } }' "$out/$1.csv" "$out/coarse-$1-on-fine/trajectory.csv" "$out/reduced-$1-on-fine/trajectory.csv"
}
distances goals | write "$out/goals.dat"
tips() { awk -F, 'FNR == 1 { for (c = 1; c <= NF; ++c) if ($c ~ /^tip x \[/) at = c; next } FNR > 2 { print $at, $(at + 1), $(at + 2) }' "$1"; }
for who in coarse reduced; do tips "$out/$who-circle-on-fine/trajectory.csv" | write "$out/$who-circle.dat"; done
tips "$out/circle.csv" | write "$out/circle.dat"

awk -F, 'NR > 2 { print NR - 2, $2, $3, $4 }' "$out/goals.csv" | write "$out/goal-places.dat"

write "$out/figure16.gp" <<'END'
# gnuplot figure16.gp
set terminal pngcairo size 1200,500 font 'DejaVu Sans,10'
set output 'figure16.png'
blue = '#1f6fb4'; orange = '#d9541e'; grey = '#b0b0b0'
set multiplot title "The fine full model under the commands by which each model reaches the goals"
set size ratio -1
set tics out nomirror
set border 3
set lmargin at screen 0.05; set rmargin at screen 0.37; set bmargin at screen 0.19; set tmargin at screen 0.88
set title 'side view, eight goals'
set xlabel 'x [mm]'; set ylabel 'z [mm]'
set xrange [-115:90]; set yrange [-205:5]
set key off
plot for [k=0:7] 'fine.dat' index k using 1:3 with lines lw 7 lc rgb grey, \
     for [k=0:7] 'coarse.dat' index k using 1:3 with lines lw 1.5 dt (8,4) lc rgb orange, \
     for [k=0:7] 'reduced.dat' index k using 1:3 with lines lw 1.5 lc rgb blue, \
     'goal-places.dat' using 2:4 with points pt 7 ps 1.1 lc rgb 'black', \
     '' using 2:4:1 with labels offset 0,-0.9 font ',9'
set lmargin at screen 0.42; set rmargin at screen 0.70
set title 'from above, a circle of 30 mm'
set ylabel 'y [mm]'
set xrange [-42:42]; set yrange [-42:42]
set key at 0,0 center center reverse Left samplen 2 title 'commands of'
plot NaN with lines lw 7 lc rgb grey title 'fine full model', \
     'coarse-circle.dat' using 1:2 with linespoints pt 7 ps 0.6 lw 1.5 dt (8,4) lc rgb orange title 'coarse full model', \
     'reduced-circle.dat' using 1:2 with linespoints pt 7 ps 0.6 lw 1.5 lc rgb blue title 'reduced fine model', \
     'circle.dat' using 1:2 with points pt 6 ps 1.1 lc rgb 'black' title 'goals'
set key off
set lmargin at screen 0.77; set rmargin at screen 0.985
set size noratio
set title 'distance of the tip from the eight goals'
set logscale y
set xlabel 'goal'; set ylabel 'mm' offset 1,0
set format y '%g'
set xrange [0.5:8.5]; set yrange [0.1:100]
set xtics 1
set grid y
plot 'goals.dat' using 1:2 with points pt 7 ps 1.2 lc rgb orange, '' using 1:3 with points pt 7 ps 1.2 lc rgb blue
END
if command -v gnuplot >/dev/null; then
  (cd "$out" && gnuplot figure16.gp >/dev/null 2>&1) || echo "figure16.sh: gnuplot could not draw figure16.gp" >&2
fi
cat "$out/table.md"
echo "written to $out: table.csv, table.md, figure16.gp"
