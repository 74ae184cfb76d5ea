#!/usr/bin/env bash
# Re-creates the mesh of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../mesh.sh

mesh continuum size=6.5
