#!/usr/bin/env bash
# Re-creates the meshes of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../mesh.sh

mesh tentacle_coarse size=5.7
mesh tentacle_fine size=2.08
