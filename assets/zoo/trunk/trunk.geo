// Trunk: discs joined by narrow necks, tapered, hanging from its base at z = 0. Units: mm; z is up.
// Made by generate.sh:  gmsh trunk.geo -3 -setnumber size 7
SetFactory("OpenCASCADE");

DefineConstant[
  size   = 7,    // target edge length
  discs  = 10,
  pitch  = 20,   // from disc to disc
  disc   = 10,   // thickness of a disc
  r_base = 20,   // radius of the first disc
  r_tip  = 10,   // and of the last
  neck   = 0.4   // radius of the necks in that of their disc
];

parts[] = {};
For k In {0 : discs - 1}
  r = r_base + (r_tip - r_base) * k / (discs - 1);
  disc_k = newv; Cylinder(disc_k) = {0, 0, -k * pitch, 0, 0, -disc, r};
  parts[] += disc_k;
  If (k < discs - 1)
    neck_k = newv; Cylinder(neck_k) = {0, 0, -k * pitch - disc / 2, 0, 0, -pitch, neck * r};
    parts[] += neck_k;
  EndIf
EndFor
all[] = BooleanUnion{ Volume{parts[0]}; Delete; }{ Volume{parts[{1 : #parts[] - 1}]}; Delete; };
Physical Volume("body") = {all[]};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
