// Snake: a round rod of constant section hanging from its base at z = 0. Units: mm; z is up.
// Made by generate.sh:  gmsh snake.geo -3 -setnumber size 6 -setnumber layers 42

DefineConstant[
  size   = 6,   // target edge length in the section
  layers = 42,  // elements over the length
  length = 300,
  radius = 10
];

Point(1) = {0, 0, 0};
For k In {0:3}
  Point(2 + k) = {radius*Cos(k*Pi/2), radius*Sin(k*Pi/2), 0};
EndFor
For k In {0:3}
  Circle(1 + k) = {2 + k, 1, 2 + (k + 1)%4};
EndFor
Transfinite Curve{1:4} = 4;
Curve Loop(1) = {1:4};
Plane Surface(1) = {1};
body() = Extrude {0, 0, -length} { Surface{1}; Layers{layers}; };

Physical Volume("body") = {body(1)};
Physical Surface("base") = {1};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
