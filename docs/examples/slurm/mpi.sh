#!/bin/bash
# From a scene to a reduced model in ranks of MPI: they share the states and the modes, the first chooses the elements.
#   sbatch --ntasks=64 docs/examples/slurm/mpi.sh assets/diamond diamond.rom.h5
#SBATCH --job-name=supple-reduce
#SBATCH --cpus-per-task=1
#SBATCH --output=supple-%j.log
set -euo pipefail
scene=${1:?scene}
model=${2:?file of the model}
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} OPENBLAS_NUM_THREADS=1
mpirun -n "$SLURM_NTASKS" "${SUPPLE_MPI:-supple-mpi}" reduce "$scene" -o "$model"
