// A soft cube about the origin, structured mesh of hexahedra. Units: m; z is up.
// Made by generate.sh:  gmsh cube.geo -3
SetFactory("OpenCASCADE");

DefineConstant[
  side  = 0.04,
  cells = 5     // over each side
];

Box(1) = {-side/2, -side/2, -side/2, side, side, side};
Transfinite Curve{1:12} = cells + 1;
Transfinite Surface{1:6};
Recombine Surface{1:6};
Transfinite Volume{1};
Physical Volume("body") = {1};
