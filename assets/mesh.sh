# Sourced by the generate.sh of each robot: mesh NAME [VARIABLE=VALUE ...] makes NAME.msh from the folder's only .geo file
# (gmsh format 4.1, ASCII, coordinates shortened to ten digits).
# Meshes were made with gmsh 4.8.4; other versions give equivalent, not equal, meshes.

mesh() {
  local name=$1 raw variable
  local options=()
  shift
  for variable in "$@"; do options+=(-setnumber "${variable%%=*}" "${variable#*=}"); done
  raw=$(mktemp --suffix=.msh)
  gmsh ./*.geo -3 -nt 1 -v 2 -format msh41 -o "$raw" "${options[@]}"
  awk '/^\$/ { nodes = ($0 == "$Nodes") }
       nodes && NF == 3 { for (i = 1; i <= 3; ++i) $i = sprintf("%.10g", $i * $i < 1e-24 ? 0 : $i) }
       { print }' "$raw" > "$name.msh"
  rm "$raw"
}
