// Multigait: a flat four-legged crawler with five air cavities, one in each leg and one in the spine. Units: mm; z is up, x ahead,
// y to the left. Made by generate.sh:  gmsh multigait.geo -3 -setnumber size 4.1 -setnumber cavity_layers 2
//
// A plan, divided by the outlines of the cavities, is extruded in three slabs: floor, cavities, ceiling. The middle of a cavity
// is meshed with the rest, so that floor and ceiling fit each other, and left out of the body.

DefineConstant[
  size           = 4.1,  // target edge length in the plan
  floor_layers   = 1,    // elements over the height of each slab
  cavity_layers  = 2,
  ceiling_layers = 1,
  floor          = 1.8,  // heights of the slabs
  cavity         = 3.6,
  ceiling        = 2,
  spine_width    = 20,
  spine_inside   = 10,   // width of its chambers
  spine_chambers = 5,
  hip_x          = 24,   // where the axis of a leg starts
  hip_y          = 7,
  leg_angle      = 30,   // between a leg and the spine [degrees]
  leg_length     = 45,
  leg_width      = 18,
  leg_inside     = 10,   // width of its chambers
  leg_chambers   = 5,
  leg_start      = 3,    // first chamber, from the hip
  chamber        = 4,    // length of a chamber along its limb
  rib            = 4,    // between two chambers
  channel        = 2     // width of the passage through the ribs
];

// The outline of a row of chambers joined by a channel, from (row_x, row_y) along row_angle, mirrored by side = -1 and end = -1:
// anticlockwise seen from above. Gives row_loop and row_surface.
Macro Row
  lines() = {};
  n = 4*row_chambers;  // corners on each long side: out to the wall, along it, back to the channel, along that
  first = newp;
  For k In {0:2*n - 1}
    i = (k < n) ? k : 2*n - 1 - k;  // there on the right, back on the left
    step = Floor(i/4);
    c = i - 4*step;
    along = row_start + step*(chamber + rib) + ((c > 1) ? chamber : 0);
    across = ((k < n) ? -1 : 1)*((c == 1 || c == 2) ? row_inside : channel)/2;
    Point(first + k) = {end*(row_x + along*Cos(row_angle) - across*Sin(row_angle)),
                        side*(row_y + along*Sin(row_angle) + across*Cos(row_angle)), 0};
  EndFor
  For k In {0:2*n - 1}
    l = newl; Line(l) = {first + k, first + ((k + 1) % (2*n))};
    lines() += l;
  EndFor
  row_loop = newll; Curve Loop(row_loop) = {side*end*lines()};
  row_surface = news; Plane Surface(row_surface) = {row_loop};
Return

row_x = 0; row_y = 0; row_angle = 0; end = 1; side = 1;
row_start = -(spine_chambers*(chamber + rib) - rib)/2; row_inside = spine_inside; row_chambers = spine_chambers;
Call Row;
holes() = row_loop;
cavities() = row_surface;
row_x = hip_x; row_y = hip_y; row_angle = leg_angle*Pi/180;
row_start = leg_start; row_inside = leg_inside; row_chambers = leg_chambers;
For quarter In {0:3}
  end = (quarter < 2) ? 1 : -1;
  side = (quarter % 2 == 0) ? 1 : -1;
  Call Row;
  holes() += row_loop;
  cavities() += row_surface;
EndFor

// The outline, anticlockwise from the crotch between the front legs: of each leg its two corners and where it leaves the spine.
cosine = Cos(row_angle); sine = Sin(row_angle); half = leg_width/2;
crotch = (half*cosine - hip_y)/sine;
waist = (spine_width/2 - hip_y - half*cosine)/sine;
corner_x() = {hip_x + crotch*cosine + half*sine, hip_x + leg_length*cosine + half*sine, hip_x + leg_length*cosine - half*sine,
              hip_x + waist*cosine - half*sine};
corner_y() = {0, hip_y + leg_length*sine - half*cosine, hip_y + leg_length*sine + half*cosine, spine_width/2};
first = newp;
For k In {0:13}
  i = (k < 4) ? k : (k < 8) ? 7 - k : (k < 11) ? k - 7 : 14 - k;
  Point(first + k) = {((k < 4 || k > 10) ? 1 : -1)*corner_x(i), ((k < 8) ? 1 : -1)*corner_y(i), 0};
EndFor
outline() = {};
For k In {0:13}
  l = newl; Line(l) = {first + k, first + ((k + 1) % 14)};
  outline() += l;
EndFor
outline_loop = newll; Curve Loop(outline_loop) = {outline()};
solid = news; Plane Surface(solid) = {outline_loop, -holes()};
plan() = {solid, cavities()};

// Each surface of a slab gives {its top, its volume, its sides}.
body() = {};
tops() = {};
For k In {0:5}
  lower() = Extrude {0, 0, floor} { Surface{plan(k)}; Layers{floor_layers}; };
  middle() = Extrude {0, 0, cavity} { Surface{lower(0)}; Layers{cavity_layers}; };
  upper() = Extrude {0, 0, ceiling} { Surface{middle(0)}; Layers{ceiling_layers}; };
  body() += {lower(1), upper(1)};
  If (k == 0)
    body() += middle(1);
  Else
    air(k - 1) = middle(1);
  EndIf
EndFor

Physical Volume("body") = {body()};
Physical Surface("bottom") = {plan()};
ReverseMesh Surface{plan()};  // normals down, out of the body
For k In {0:4}
  name = StrChoice(k == 0, "centre", StrCat(StrChoice(k < 3, "front", "rear"), StrChoice(k % 2 == 1, "_left", "_right")));
  wall() = Boundary{ Volume{air(k)}; };
  For i In {0:#wall() - 1}
    If (wall(i) < 0)
      ReverseMesh Surface{-wall(i)};  // normals out of the cavity
    EndIf
  EndFor
  Physical Surface(StrCat("cavity_", name)) = {Abs(wall())};
EndFor

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
