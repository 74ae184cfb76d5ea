#!/usr/bin/env bash
# Re-creates the meshes of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../mesh.sh

mesh multigait_coarse size=4.1 floor_layers=1 cavity_layers=2 ceiling_layers=1
mesh multigait_fine size=2.02 floor_layers=2 cavity_layers=4 ceiling_layers=2
