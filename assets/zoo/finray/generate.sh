#!/usr/bin/env bash
# Re-creates the mesh of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../../mesh.sh

mesh finray size=2.3 layers=1
