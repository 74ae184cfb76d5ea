// Cantilever: a square beam along x, structured mesh. Units: m; z is up.
// Made by generate.sh:  gmsh cantilever.geo -3 -setnumber along 20 -setnumber across 4 -setnumber hexahedra 1
SetFactory("OpenCASCADE");

DefineConstant[
  length    = 1.0,
  side      = 0.1,
  along     = 20,  // cells along the beam
  across    = 4,   // cells over each side
  hexahedra = 1    // 0: six tetrahedra a cell
];

Box(1) = {0, -side/2, -side/2, length, side, side};
For c In {1:12}
  box() = BoundingBox Curve{c};
  Transfinite Curve{c} = (box(3) - box(0) > length/2 ? along : across) + 1;
EndFor
Transfinite Surface{1:6};
If (hexahedra)
  Recombine Surface{1:6};
EndIf
Transfinite Volume{1};
Physical Volume("body") = {1};
