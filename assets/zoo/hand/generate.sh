#!/usr/bin/env bash
# Re-creates the mesh of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../../mesh.sh

mesh hand size=6.4 size_joint=4
