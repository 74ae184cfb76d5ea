#!/usr/bin/env bash
# Makes cube.msh from cube.geo. Needs gmsh (scripts/setup.sh --dev).
set -euo pipefail
cd "$(dirname "$0")"
source ../mesh.sh
mesh cube
