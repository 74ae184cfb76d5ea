// Tentacle: a tapered round rod hanging from its base at z = 0. Units: mm; z is up.
// Made by generate.sh:  gmsh tentacle.geo -3 -setnumber size 6.5
SetFactory("OpenCASCADE");

DefineConstant[
  size   = 6.5,  // target edge length
  length = 200,
  r_base = 12,
  r_tip  = 6
];

Cone(1) = {0, 0, 0, 0, 0, -length, r_base, r_tip};

base() = Surface In BoundingBox {-2*r_base, -2*r_base, -0.01, 2*r_base, 2*r_base, 0.01};
Physical Surface("base") = {base()};
Physical Volume("body") = {1};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
