// Finger: a tapered silicone block hanging from its base, six notches on the palm side (+x). Units: mm; z is up.
// Made by generate.sh:  gmsh finger.geo -3 -setnumber size 3.4
SetFactory("OpenCASCADE");

DefineConstant[
  size         = 3.4,  // target edge length
  length       = 100,
  width_base   = 20,   // over y
  width_tip    = 15,
  depth_base   = 14,   // over x, from the flat palm at x = 0 to the back
  depth_tip    = 11,
  first_notch  = 21,   // distance of the first notch's middle from the base
  pitch        = 12,   // between notches
  notches      = 6,
  notch_mouth  = 5,    // width of a notch at the palm
  notch_root   = 2.5,  // width at its bottom
  spine        = 5     // thickness left behind a notch
];

// Side view in the xz-plane: palm with notches going down, round tip, back going up.
p = newp; Point(p) = {0, 0, 0};
first = p; previous = p;
outline[] = {};
Macro ToPoint
  q = newp; Point(q) = {to_x, 0, to_z};
  l = newl; Line(l) = {previous, q};
  outline[] += l; previous = q;
Return
For k In {0:notches-1}
  z = -(first_notch + k*pitch);
  back = -(depth_base + (depth_tip - depth_base)*(-z)/length);
  to_x = 0;            to_z = z + notch_mouth/2; Call ToPoint;
  to_x = back + spine; to_z = z + notch_root/2;  Call ToPoint;
  to_x = back + spine; to_z = z - notch_root/2;  Call ToPoint;
  to_x = 0;            to_z = z - notch_mouth/2; Call ToPoint;
EndFor
to_x = 0; to_z = -(length - depth_tip/2); Call ToPoint;
q = newp; Point(q) = {-depth_tip/2, 0, -(length - depth_tip/2)};
q = newp; Point(q) = {-depth_tip/2, 0, -length};
l = newl; Circle(l) = {previous, q - 1, q}; outline[] += l; previous = q;
q = newp; Point(q) = {-depth_tip, 0, -(length - depth_tip/2)};
l = newl; Circle(l) = {previous, q - 2, q}; outline[] += l; previous = q;
to_x = -depth_base; to_z = 0; Call ToPoint;
l = newl; Line(l) = {previous, first}; outline[] += l;
Curve Loop(1) = outline[];
Plane Surface(1) = {1};
Translate {0, -width_base/2, 0} { Surface{1}; }
side() = Extrude {0, width_base, 0} { Surface{1}; };

// Taper over the width: intersection with a trapezium in the yz-plane, extruded over x.
p = newp;
Point(p)     = {-2*depth_base, -width_base/2, 0};
Point(p + 1) = {-2*depth_base,  width_base/2, 0};
Point(p + 2) = {-2*depth_base,  width_tip/2, -length};
Point(p + 3) = {-2*depth_base, -width_tip/2, -length};
l = newl;
Line(l) = {p, p + 1}; Line(l + 1) = {p + 1, p + 2}; Line(l + 2) = {p + 2, p + 3}; Line(l + 3) = {p + 3, p};
Curve Loop(1000) = {l, l + 1, l + 2, l + 3};
Plane Surface(1000) = {1000};
taper() = Extrude {3*depth_base, 0, 0} { Surface{1000}; };
body() = BooleanIntersection{ Volume{side(1)}; Delete; }{ Volume{taper(1)}; Delete; };

base() = Surface In BoundingBox {-2*depth_base, -width_base, -0.01, depth_base, width_base, 0.01};
Physical Surface("base") = {base()};
Physical Volume("body") = {body()};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;    // frontal-Delaunay
Mesh.Algorithm3D = 1;  // Delaunay
Mesh.Optimize = 1;
