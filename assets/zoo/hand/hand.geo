// Hand: a palm with two fingers on its top and a thumb at its side. Notches on the inside of the fingers are their joints.
// Units: mm; z is up, the wrist at z = 0, the palm looks along +x.
// Made by generate.sh:  gmsh hand.geo -3 -setnumber size 6.4 -setnumber size_joint 4
SetFactory("OpenCASCADE");

DefineConstant[
  size       = 6.4, // target edge length
  size_joint = 4,   // and at the joints
  palm_t     = 16,  // palm: thickness, width and height
  palm_w     = 60,
  palm_h     = 60,
  thickness  = 14,  // of a finger
  width      = 14,
  joint      = 5,   // thickness of a joint
  root       = 8,   // length of a finger that is in the palm
  finger_y   = 18,  // distance of the fingers from the middle plane
  finger     = 80,  // length of a finger from the palm
  thumb      = 62,  // and of the thumb
  thumb_y    = -28, // where the thumb leaves the palm
  thumb_z    = 22,
  tilt       = 55,  // angle between thumb and fingers [degrees]
  turn       = 50   // angle that the thumb is turned by about its own axis, towards the fingers [degrees]
];

// A finger along z, its inside towards +x, its axis in the origin; joints() are the places of its joints.
joint_lines() = {};
Macro Finger  // long
  f = newv; Box(f) = {-thickness/2, -width/2, -root, thickness, width, root + long};
  cuts() = {};
  For i In {0:#joints() - 1}
    x0 = -thickness/2 + joint; x1 = thickness/2 + 1;
    p = newp; l = newl;
    Point(p) = {x0, -width, joints(i) - 1.5};     Point(p + 1) = {x1, -width, joints(i) - 6};
    Point(p + 2) = {x1, -width, joints(i) + 6};   Point(p + 3) = {x0, -width, joints(i) + 1.5};
    For j In {0:3}
      Line(l + j) = {p + j, p + (j + 1)%4};
    EndFor
    c = newll; Curve Loop(c) = {l:l + 3};
    s = news; Plane Surface(s) = {c};
    made() = Extrude {0, 2*width, 0} { Surface{s}; };
    cuts() += made(1);
  EndFor
  long_finger() = BooleanDifference{ Volume{f}; Delete; }{ Volume{cuts()}; Delete; };
Return

parts() = {};
For k In {-1:1:2}
  long = finger; joints() = {8, 32, 54}; Call Finger;
  Translate {thickness/2, k*finger_y, palm_h} { Volume{long_finger()}; }
  parts() += long_finger();
EndFor
long = thumb; joints() = {12, 36}; Call Finger;
Rotate { {0, 0, 1}, {0, 0, 0}, turn*Pi/180 } { Volume{long_finger()}; }
Rotate { {1, 0, 0}, {0, 0, 0}, tilt*Pi/180 } { Volume{long_finger()}; }
Translate {palm_t/2, thumb_y, thumb_z} { Volume{long_finger()}; }
parts() += long_finger();
v = newv; Box(v) = {0, -palm_w/2, 0, palm_t, palm_w, palm_h};
body() = BooleanUnion{ Volume{v}; Delete; }{ Volume{parts()}; Delete; };

wrist() = Surface In BoundingBox {-100, -100, -0.01, 100, 100, 0.01};
Physical Surface("wrist") = {wrist()};
Physical Volume("body") = {body()};

// Finer at the bottom of the notches: the short edges across a joint.
Mesh.MeshSizeMin = size_joint;
Mesh.MeshSizeMax = size;
points() = Point In BoundingBox {-200, -200, -200, 200, 200, 300};
MeshSize{points()} = size;
edges() = Curve In BoundingBox {-200, -200, -200, 200, 200, 300};
For i In {0:#edges() - 1}
  ends() = PointsOf{ Curve{edges(i)}; };
  a() = Point{ends(0)}; b() = Point{ends(1)};
  d = Sqrt((a(0) - b(0))^2 + (a(1) - b(1))^2 + (a(2) - b(2))^2);
  If (d < 3.5)
    MeshSize{ends()} = size_joint;
  EndIf
EndFor
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
