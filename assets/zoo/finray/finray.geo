// Fin ray: two walls that meet in the tip, joined by cross ribs, standing on its base at z = 0. Units: mm; z is up, the front
// wall at x = 0 upright, the back wall behind it (+x).
// Made by generate.sh:  gmsh finray.geo -3 -setnumber size 2.3 -setnumber layers 1
SetFactory("OpenCASCADE");

DefineConstant[
  size   = 2.3,  // target edge length in the side view
  layers = 1,    // elements over half the width
  height = 100,
  depth  = 36,   // of the base
  tip    = 5,    // depth of the tip
  width  = 14,
  foot   = 5,    // height of the solid base
  wall   = 3,
  rib    = 2,
  ribs   = 4,
  head   = 9     // height of the solid tip
];

// Side view in the xz-plane: the outline, less the windows between the ribs.
Macro Quad  // corners quad_x, quad_z
  p = newp;
  For i In {0:3}
    Point(p + i) = {quad_x(i), 0, quad_z(i)};
  EndFor
  l = newl;
  For i In {0:3}
    Line(l + i) = {p + i, p + (i + 1)%4};
  EndFor
  c = newll; Curve Loop(c) = {l, l + 1, l + 2, l + 3};
  s = news; Plane Surface(s) = {c};
Return
slope = (depth - tip)/height;
back = wall*Sqrt(1 + slope*slope);  // the back wall, measured over x
quad_x() = {0, depth, tip, 0}; quad_z() = {0, 0, height, height}; Call Quad;
outline = s;
windows() = {};
pitch = (height - foot - head + rib)/(ribs + 1);
For k In {0:ribs}
  low = foot + k*pitch;
  high = low + pitch - rib;
  quad_x() = {wall, depth - slope*low - back, depth - slope*high - back, wall}; quad_z() = {low, low, high, high}; Call Quad;
  windows() += s;
EndFor
side() = BooleanDifference{ Surface{outline}; Delete; }{ Surface{windows()}; Delete; };
// Both ways from the middle, so that the mesh is symmetric.
left() = Extrude {0, width/2, 0} { Surface{side(0)}; Layers{layers}; };
right() = Extrude {0, -width/2, 0} { Surface{side(0)}; Layers{layers}; };

base() = Surface In BoundingBox {-1, -width, -0.01, depth + 1, width, 0.01};
Physical Surface("base") = {base()};
Physical Volume("body") = {left(1), right(1)};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
