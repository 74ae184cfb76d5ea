// Continuum robot: a round rod of silicone hanging from its base at z = 0. The backbone is no part of the mesh. Units:
// mm; z is up. Made by generate.sh.
SetFactory("OpenCASCADE");

DefineConstant[
  size   = 6.5,  // target edge length
  length = 150,
  radius = 7
];

Cylinder(1) = {0, 0, 0, 0, 0, -length, radius};

base() = Surface In BoundingBox {-2*radius, -2*radius, -0.01, 2*radius, 2*radius, 0.01};
tip() = Surface In BoundingBox {-2*radius, -2*radius, -length - 0.01, 2*radius, 2*radius, -length + 0.01};
Physical Surface("base") = {base()};
Physical Surface("tip") = {tip()};
Physical Volume("body") = {1};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
Mesh.ElementOrder = 2;  // edges follow the round surface
Mesh.HighOrderOptimize = 2;
