#!/bin/bash
# Full-order states of one robot as a Slurm array: each task computes one part, k mod n = i, into the same folder, which all
# nodes see. Submitting it again goes on with what is missing; PARTS is for some of the parts only.
#   sbatch --array=0-15 docs/examples/slurm/array.sh assets/diamond diamond.snapshots
#   PARTS=16 sbatch --array=3,7 docs/examples/slurm/array.sh assets/diamond diamond.snapshots
# With WORKERS=1 the tasks share all paths instead, whoever is free takes the next one: for paths of unequal length.
#SBATCH --job-name=supple-states
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --output=supple-%A_%a.log
#SBATCH --open-mode=append
#SBATCH --requeue
# Slurm says so two minutes before the time is over: Supple then ends after the state in flight, and the task is queued again.
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@120
set -euo pipefail
scene=${1:?scene}
folder=${2:?folder of the states}
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} OPENBLAS_NUM_THREADS=1

part=(--shard "$SLURM_ARRAY_TASK_ID/${PARTS:-$SLURM_ARRAY_TASK_COUNT}")
if [ "${WORKERS:-0}" = 1 ]; then part=(--worker); fi

# In the background, so that the shell hears the signal and passes it on.
code=0
"${SUPPLE:-supple}" snapshots "$scene" -o "$folder" --resume --with-validation --quiet "${part[@]}" &
trap 'kill -TERM $!' TERM
wait $! || code=$?
# A wait that a signal broke off says nothing of the program.
if kill -0 $! 2>/dev/null; then code=0; wait $! || code=$?; fi
if [ "$code" -eq 130 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
