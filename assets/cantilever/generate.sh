#!/usr/bin/env bash
# Re-creates the meshes of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../mesh.sh

mesh cantilever_hex_coarse along=20 across=4 hexahedra=1
mesh cantilever_hex_fine along=80 across=10 hexahedra=1
mesh cantilever_tet along=40 across=4 hexahedra=0
