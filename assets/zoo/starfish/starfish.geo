// Starfish: a flat star of five tapered arms. Units: mm; z is up, the underside at z = 0, the first arm along +x.
// Made by generate.sh:  gmsh starfish.geo -3 -setnumber size 7 -setnumber layers 3

DefineConstant[
  size    = 7,   // target edge length in the plan
  layers  = 3,   // elements over the thickness
  arms    = 5,
  length  = 100, // of an arm, from the axis to its tip
  width   = 20,  // of an arm where it leaves the centre
  tip     = 10,  // and at its tip
  thickness = 10
];

// The plan's outline, anticlockwise: crotch, arm's right corner, its left corner, next crotch.
a = Pi/arms;
crotch = width/2/Sin(a);  // distance of the crotches from the axis
first = newp;
For k In {0:arms - 1}
  turn = 2*a*k;
  Point(first + 3*k) = {crotch*Cos(turn - a), crotch*Sin(turn - a), 0};
  Point(first + 3*k + 1) = {length*Cos(turn) + tip/2*Sin(turn), length*Sin(turn) - tip/2*Cos(turn), 0};
  Point(first + 3*k + 2) = {length*Cos(turn) - tip/2*Sin(turn), length*Sin(turn) + tip/2*Cos(turn), 0};
EndFor
lines() = {};
For k In {0:3*arms - 1}
  l = newl; Line(l) = {first + k, first + (k + 1)%(3*arms)};
  lines() += l;
EndFor
Curve Loop(1) = {lines()};
Plane Surface(1) = {1};
body() = Extrude {0, 0, thickness} { Surface{1}; Layers{layers}; };

Physical Volume("body") = {body(1)};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
