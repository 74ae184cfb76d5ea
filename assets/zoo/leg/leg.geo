// Leg: a thin strut bent like an S, hanging from its base at z = 0. Units: mm; z is up, the S lies in the xz-plane.
// Made by generate.sh:  gmsh leg.geo -3
//
// The section is turned about one centre after the other.

DefineConstant[
  radius    = 34,   // of the bends, to the middle of the strut
  angle     = 65,   // of the first and the last bend; the two between turn back by twice as much [degrees]
  thickness = 10,   // in the plane of the S
  width     = 16,   // over y
  through   = 2,    // elements through the thickness
  across    = 3,    // over the width
  along     = 10,   // over the first or the last bend
  straight  = 8     // length of the straight ends
];

t = thickness/2; w = width/2; a = angle*Pi/180;
Point(1) = {-t, -w, 0}; Point(2) = {t, -w, 0}; Point(3) = {t, w, 0}; Point(4) = {-t, w, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 3} = through + 1;
Transfinite Curve{2, 4} = across + 1;
Transfinite Surface{1} Alternate;

// Down along -z, then out to +x, back to -x, and out to the vertical again. The next centre lies on the other side of the
// strut, twice the radius away.
one() = Extrude {0, 0, -straight} { Surface{1}; Layers{1}; };
x = radius; z = -straight;
two() = Extrude { {0, 1, 0}, {x, 0, z}, -a } { Surface{one(0)}; Layers{along}; };
x += -2*radius*Cos(a); z += -2*radius*Sin(a);
three() = Extrude { {0, 1, 0}, {x, 0, z}, 2*a } { Surface{two(0)}; Layers{2*along}; };
x += 2*radius*Cos(a); z += -2*radius*Sin(a);
four() = Extrude { {0, 1, 0}, {x, 0, z}, -2*a } { Surface{three(0)}; Layers{2*along}; };
x += -2*radius*Cos(a); z += -2*radius*Sin(a);
five() = Extrude { {0, 1, 0}, {x, 0, z}, a } { Surface{four(0)}; Layers{along}; };
six() = Extrude {0, 0, -straight} { Surface{five(0)}; Layers{1}; };

Physical Volume("body") = {one(1), two(1), three(1), four(1), five(1), six(1)};
Physical Surface("base") = {1};
Physical Surface("foot") = {six(0)};
