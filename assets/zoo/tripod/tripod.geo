// Tripod: three bent legs at 120 degrees that carry a round plate. Units: mm; z is up, the feet stand on z = 0.
// Made by generate.sh:  gmsh tripod.geo -3 -setnumber size 5.6
SetFactory("OpenCASCADE");

DefineConstant[
  size      = 5.6,   // target edge length
  foot      = 60,   // distance of a foot's middle from the axis
  knee      = 75,   // of a knee's, farther out
  knee_z    = 45,   // its height
  plate     = 20,   // radius of the plate
  plate_z   = 60,   // height of its underside
  plate_t   = 7,    // its thickness
  thickness = 6,    // of a leg, in its plane
  width     = 20    // of a leg
];

// A leg in the xz-plane along +x: up and out to the knee, then in to the plate, which it meets level.
h = thickness/2;
xs() = {foot - h, foot + h, knee + h, knee - h,           plate + 4,         plate - 4,         plate - 4, plate + 4, knee - 2.2*h};
zs() = {0,        0,        knee_z,   knee_z + 2.2*h, plate_z + plate_t, plate_z + plate_t, plate_z,   plate_z,   knee_z};
p = newp; l = newl;
For i In {0:8}
  Point(p + i) = {xs(i), -width/2, zs(i)};
EndFor
For i In {0:8}
  Line(l + i) = {p + i, p + (i + 1)%9};
EndFor
Curve Loop(1) = {l:l + 8};
Plane Surface(1) = {1};
leg() = Extrude {0, width, 0} { Surface{1}; };
legs() = {leg(1)};
For k In {1:2}
  copy() = Rotate { {0, 0, 1}, {0, 0, 0}, 2*Pi*k/3 } { Duplicata { Volume{leg(1)}; } };
  legs() += copy(0);
EndFor
v = newv; Cylinder(v) = {0, 0, plate_z, 0, 0, plate_t, plate};
body() = BooleanUnion{ Volume{v}; Delete; }{ Volume{legs()}; Delete; };

feet() = Surface In BoundingBox {-2*knee, -2*knee, -0.01, 2*knee, 2*knee, 0.01};
Physical Surface("feet") = {feet()};
Physical Volume("body") = {body()};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
