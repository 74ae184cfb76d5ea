// Chambers: a round arm hanging from its base at z = 0, with three round air chambers along it. Units: mm; z is up.
// Made by generate.sh:  gmsh chambers.geo -3 -setnumber size 8
//
// A plan, divided by the outlines of the chambers, is extruded in slabs. The air is meshed with the rest, so that the
// slabs fit each other, and left out of the body.

DefineConstant[
  size           = 8,    // target edge length in the plan
  layers         = 15,   // elements over the length of the chambers
  around         = 3,    // elements on a third of a chamber's outline
  radius         = 17,
  length         = 200,
  cap_base       = 10,   // solid ends
  cap_tip        = 10,
  chamber        = 6,    // radius of a chamber
  chamber_middle = 9     // distance of its middle from the axis
];

// Circles in three arcs: plan_loops and the chambers' surfaces.
loops() = {};
Macro Circle3
  first = newp;
  Point(first) = {at_x, at_y, 0};
  For i In {0:2}
    Point(first + 1 + i) = {at_x + r*Cos(angle + 2*Pi*i/3), at_y + r*Sin(angle + 2*Pi*i/3), 0};
  EndFor
  arcs() = {};
  For i In {0:2}
    l = newl; Circle(l) = {first + 1 + i, first, first + 1 + (i + 1)%3};
    arcs() += l;
  EndFor
  l = newll; Curve Loop(l) = {arcs()};
  loops() += l;
Return
at_x = 0; at_y = 0; r = radius; angle = Pi/3; Call Circle3;
Transfinite Curve{arcs()} = 5;  // of the arm
chambers() = {};
For k In {0:2}
  angle = 2*Pi*k/3;
  at_x = chamber_middle*Cos(angle); at_y = chamber_middle*Sin(angle); r = chamber; Call Circle3;
  Transfinite Curve{arcs()} = around + 1;
  s = news; Plane Surface(s) = {loops(k + 1)};
  chambers() += s;
EndFor
s = news; Plane Surface(s) = {loops(0), -loops({1:3})};
plan() = {s, chambers()};

// Slab after slab down the arm; every other one of the middle has its chambers' walls wound with thread: rings.
body() = {};
rings() = {};
step = (length - cap_base - cap_tip)/layers;
For k In {0:3}
  made() = Extrude {0, 0, -cap_base} { Surface{plan(k)}; Layers{1}; };
  body() += made(1);
  air() = {};
  For i In {0:layers - 1}
    made() = Extrude {0, 0, -step} { Surface{made(0)}; Layers{1}; };
    If (k == 0)
      body() += made(1);
    Else
      air() += made(1);
      If (i%2 == 1)
        rings() += made({2:4});
      EndIf
    EndIf
  EndFor
  If (k > 0)
    wall() = CombinedBoundary{ Volume{air()}; };
    For i In {0:#wall() - 1}
      If (wall(i) < 0)
        ReverseMesh Surface{-wall(i)};  // normals out of the chamber
      EndIf
    EndFor
    Physical Surface(Sprintf("chamber-%g", 120*(k - 1))) = {Abs(wall())};
  EndIf
  made() = Extrude {0, 0, -cap_tip} { Surface{made(0)}; Layers{1}; };
  body() += made(1);
EndFor

Physical Volume("body") = {body()};
Physical Surface("base") = {plan()};
Physical Surface("rings") = {rings()};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
