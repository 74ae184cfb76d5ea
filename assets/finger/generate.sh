#!/usr/bin/env bash
# Re-creates the meshes of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../mesh.sh

mesh finger_coarse size=3.4
