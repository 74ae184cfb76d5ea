// Fish: the tail of a fish, a body of elliptic section that tapers towards the tail fin. A plate stands upright in its
// middle and ends in the fin. Units: mm; z is up, the front at x = 0, the fin at +x.
// Made by generate.sh:  gmsh fish.geo -3 -setnumber size 6.7
SetFactory("OpenCASCADE");

DefineConstant[
  size  = 6.7,  // target edge length
  plate = 3     // thickness of the plate
];

// The body: half widths and half heights of its sections.
xs() = {0,  40, 80, 115, 145};
ys() = {21, 19, 14, 10,  7};
zs() = {32, 30, 22, 14,  9};
loops() = {};
For k In {0:#xs() - 1}
  l = newl;
  Ellipse(l) = {0, 0, 0, zs(k), ys(k)};  // in the xy-plane, its long axis along x
  Rotate { {0, 1, 0}, {0, 0, 0}, -Pi/2 } { Curve{l}; }
  Translate {xs(k), 0, 0} { Curve{l}; }
  c = newll; Curve Loop(c) = {l};
  loops() += c;
EndFor
v = newv; ThruSections(v) = {loops()};
body = v;

// The plate: from the front to the fin, in the body well below its skin.
px() = {0,   80,  120, 145, 195, 180, 195, 145, 120, 80,  0};
pz() = {-20, -13, -7,  -7,  -36, 0,   36,  7,   7,   13,  20};
p = newp; l = newl; n = #px();
For i In {0:n - 1}
  Point(p + i) = {px(i), -plate/2, pz(i)};
EndFor
For i In {0:n - 1}
  Line(l + i) = {p + i, p + (i + 1)%n};
EndFor
c = newll; Curve Loop(c) = {l:l + n - 1};
s = news; Plane Surface(s) = {c};
spine() = Extrude {0, plate, 0} { Surface{s}; };
soft() = BooleanDifference{ Volume{body}; Delete; }{ Volume{spine(1)}; };
all() = BooleanFragments{ Volume{soft()}; Delete; }{ Volume{spine(1)}; Delete; };

front() = Surface In BoundingBox {-0.01, -100, -100, 0.01, 100, 100};
Physical Surface("front") = {front()};
Physical Volume("body") = {soft()};
Physical Volume("plate") = {spine(1)};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
