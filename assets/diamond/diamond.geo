// Diamond: a soft parallel robot of four bowed V-shaped silicone legs between a hub and a platform. Units: mm; z is up.
// Made by generate.sh:  gmsh diamond.geo -3 -setnumber size 8.6
//
// The bars are wide, thin and bowed outwards on purpose: four cables pulled together by 40 mm then fold the legs further in their own
// planes. Straight or square bars buckle sideways at about half of that, and the robot twists about its axis.
SetFactory("OpenCASCADE");

DefineConstant[
  size       = 8.6,  // target edge length
  elbow_r    = 96,   // distance of the elbows' centres from the axis
  elbow_z    = 45,   // height of the elbows
  elbow_ball = 8,    // radius of the elbow's round
  width      = 30,   // of a leg, tangential
  thickness  = 9,    // of a leg, in its plane
  foot_z     = -20,  // where the chord of the lower bars meets the axis
  head_z     = 110,  // where the chord of the upper bars meets the axis
  bow_low    = 22,   // sagitta of the lower bars
  bow_high   = 22,   // sagitta of the upper bars
  hub        = 38,   // side of the square hub
  hub_low    = -34,  // its lower and upper faces
  hub_high   = -10,
  plate_r    = 23,   // radius of the round platform
  plate_low  = 97,   // its lower and upper faces
  plate_high = 125
];

// One leg in the xz-plane: two circular bars from the axis to the elbow and the round of the elbow, extruded over the width.
For bar In {0:1}
  foot = (bar == 0) ? foot_z : head_z;
  bow  = (bar == 0) ? bow_low : bow_high;
  side = (bar == 0) ? 1 : -1;
  rise = elbow_z - foot;
  chord = Hypot(elbow_r, rise);
  radius = chord*chord/8/bow + bow/2;
  // The arc's centre: from the middle of the chord towards the inside of the diamond.
  centre_x = elbow_r/2 - side*rise/chord*(radius - bow);
  centre_z = foot + rise/2 + side*elbow_r/chord*(radius - bow);
  n = 1000*bar;
  Point(n + 1) = {centre_x, -width/2, centre_z};
  inner = 1 - thickness/2/radius;
  outer = 1 + thickness/2/radius;
  Point(n + 2) = {centre_x - inner*centre_x, -width/2, centre_z + inner*(foot - centre_z)};
  Point(n + 3) = {centre_x - outer*centre_x, -width/2, centre_z + outer*(foot - centre_z)};
  Point(n + 4) = {centre_x + outer*(elbow_r - centre_x), -width/2, centre_z + outer*(elbow_z - centre_z)};
  Point(n + 5) = {centre_x + inner*(elbow_r - centre_x), -width/2, centre_z + inner*(elbow_z - centre_z)};
  Line(n + 1) = {n + 2, n + 3};
  Circle(n + 2) = {n + 3, n + 1, n + 4};
  Line(n + 3) = {n + 4, n + 5};
  Circle(n + 4) = {n + 5, n + 1, n + 2};
  Curve Loop(n + 1) = {n + 1, n + 2, n + 3, n + 4};
  Plane Surface(n + 1) = {n + 1};
  swept() = Extrude {0, width, 0} { Surface{n + 1}; };
  bars(bar) = swept(1);
EndFor
elbow = newv;
Cylinder(elbow) = {elbow_r, -width/2, elbow_z, 0, width, 0, elbow_ball};
leg() = BooleanUnion{ Volume{bars(0)}; Delete; }{ Volume{bars(1), elbow}; Delete; };

legs() = leg();
For k In {1:3}
  copy() = Rotate {{0, 0, 1}, {0, 0, 0}, k*Pi/2} { Duplicata{ Volume{leg()}; } };
  legs() += copy();
EndFor
middle = newv;
Box(middle) = {-hub/2, -hub/2, hub_low, hub, hub, hub_high - hub_low};
plate = newv;
Cylinder(plate) = {0, 0, plate_low, 0, 0, plate_high - plate_low, plate_r};
body() = BooleanUnion{ Volume{middle}; Delete; }{ Volume{plate, legs()}; Delete; };

base() = Surface In BoundingBox {-hub, -hub, hub_low - 0.01, hub, hub, hub_low + 0.01};
Physical Surface("base") = {base()};
Physical Volume("body") = {body()};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
