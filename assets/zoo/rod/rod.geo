// Rod: a soft cylinder hanging from its base at z = 0, with a stiff round rod in its core that ends in a stiff disc, the tip.
// Units: mm; z is up.
// Made by generate.sh:  gmsh rod.geo -3 -setnumber size 6 -setnumber layers 20
//
// A plan, divided by the outline of the core, is extruded: the soft length first, then the disc.

DefineConstant[
  size   = 6,   // target edge length in the plan
  layers = 20,  // elements over the soft length
  length = 140, // of the soft cylinder
  disc   = 6,   // thickness of the disc
  radius = 15,
  core   = 3.5  // radius of the rod
];

Point(1) = {0, 0, 0};
For k In {0:3}
  Point(2 + k) = {core*Cos(k*Pi/2), core*Sin(k*Pi/2), 0};
  Point(6 + k) = {radius*Cos(k*Pi/2), radius*Sin(k*Pi/2), 0};
EndFor
For k In {0:3}
  Circle(1 + k) = {2 + k, 1, 2 + (k + 1)%4};
  Circle(5 + k) = {6 + k, 1, 6 + (k + 1)%4};
EndFor
Transfinite Curve{1:4} = 3;
Transfinite Curve{5:8} = 5;
Curve Loop(1) = {1:4};
Curve Loop(2) = {5:8};
Plane Surface(1) = {1};
Plane Surface(2) = {2, -1};
Point{1} In Surface{1};
rod() = Extrude {0, 0, -length} { Surface{1}; Layers{layers}; };
soft() = Extrude {0, 0, -length} { Surface{2}; Layers{layers}; };
end() = Extrude {0, 0, -disc} { Surface{rod(0), soft(0)}; Layers{1}; };

Physical Volume("body") = {soft(1)};
Physical Volume("stiff") = {rod(1), end(1), end(7)};
Physical Surface("base") = {1, 2};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
