// Wheel: a rim on curved spokes around a hub. Units: mm; z is up, the axle along y, the wheel's middle in the origin.
// Made by generate.sh:  gmsh wheel.geo -3 -setnumber size 6.7 -setnumber layers 2
SetFactory("OpenCASCADE");

DefineConstant[
  size   = 6.7,  // target edge length in the side view
  layers = 2,    // elements over half the width
  radius = 60,
  rim    = 6,    // thickness of the rim
  hub    = 18,   // radius of the hub
  bore   = 11,   // and of the hole in it
  width  = 22,
  spokes = 5,
  spoke  = 4.5,  // thickness of a spoke
  twist  = 54,   // angle between its ends, seen from the axle [degrees]
  pieces = 5     // straight pieces of a spoke
];

// Side view in the xz-plane. A spoke is a strip from the hub to the rim whose angle grows with r; the first ends at the ground.
Macro Ring  // radii ring_out, ring_in
  d1 = news; Disk(d1) = {0, 0, 0, ring_out};
  d2 = news; Disk(d2) = {0, 0, 0, ring_in};
  ring() = BooleanDifference{ Surface{d1}; Delete; }{ Surface{d2}; Delete; };
  parts() += ring(0);
Return
parts() = {};
ring_out = radius; ring_in = radius - rim; Call Ring;
ring_out = hub; ring_in = bore; Call Ring;
r0 = hub - 2; r1 = radius - rim/2;
For k In {0:spokes - 1}
  p = newp;
  For i In {0:pieces}
    s = i/pieces;
    r = r0 + s*(r1 - r0);
    a = -Pi/2 + 2*Pi*k/spokes + (s - 1)*twist*Pi/180;
    // Across the strip: the normal to its middle line, whose direction is (dr, r da).
    b = Atan2(r*twist*Pi/180, r1 - r0) + a + Pi/2;
    Point(p + i) = {r*Cos(a) + spoke/2*Cos(b), r*Sin(a) + spoke/2*Sin(b), 0};
    Point(p + 2*pieces + 1 - i) = {r*Cos(a) - spoke/2*Cos(b), r*Sin(a) - spoke/2*Sin(b), 0};
  EndFor
  n = 2*pieces + 2;
  l = newl;
  For i In {0:n - 1}
    Line(l + i) = {p + i, p + (i + 1)%n};
  EndFor
  c = newll; Curve Loop(c) = {l:l + n - 1};
  f = news; Plane Surface(f) = {c};
  parts() += f;
EndFor
side() = BooleanUnion{ Surface{parts(0)}; Delete; }{ Surface{parts({1:#parts() - 1})}; Delete; };
Rotate { {1, 0, 0}, {0, 0, 0}, Pi/2 } { Surface{side()}; }
// Both ways from the middle, so that the mesh is symmetric.
left() = Extrude {0, width/2, 0} { Surface{side()}; Layers{layers}; };
right() = Extrude {0, -width/2, 0} { Surface{side()}; Layers{layers}; };

r = bore + 0.1;
hole() = Surface In BoundingBox {-r, -width, -r, r, width, r};
Physical Surface("bore") = {hole()};
body() = Volume In BoundingBox {-100, -100, -100, 100, 100, 100};
Physical Volume("body") = {body()};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
