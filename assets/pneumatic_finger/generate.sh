#!/usr/bin/env bash
# Re-creates the meshes of this folder. Needs gmsh.
set -euo pipefail
cd "$(dirname "$0")"
source ../mesh.sh

mesh pneumatic_finger_coarse size=5.1 strip_layers=1 channel_layers=1 roof_layers=1 chamber_layers=2 ceiling_layers=1
mesh pneumatic_finger_fine size=1.65 strip_layers=2 channel_layers=2 roof_layers=2 chamber_layers=4 ceiling_layers=2
