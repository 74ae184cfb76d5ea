// Pneumatic finger: a row of hollow blocks on a flat strip, clamped at x = 0. Air pushes the blocks apart, the strip keeps its
// length, the finger bends down. Units: mm; z is up, x along the finger.
// Made by generate.sh:  gmsh pneumatic_finger.geo -3 -setnumber size 5.1 -setnumber chamber_layers 2
//
// A plan, divided by the outlines of blocks, chambers and channel, is extruded in five slabs. What is air inside is meshed with
// the rest, so that the slabs fit each other, and left out of the body.

DefineConstant[
  size           = 5.1,  // target edge length in the plan
  strip_layers   = 1,    // elements over the height of each slab
  channel_layers = 1,
  roof_layers    = 1,
  chamber_layers = 2,
  ceiling_layers = 1,
  strip          = 2.5,  // heights of the slabs: floor,
  channel        = 2,    // the lower part of the chambers, which the channel joins,
  roof           = 2,    // over the channel,
  chamber        = 8,    // the chambers above the gaps' ground,
  ceiling        = 2.5   // and what closes them
];
slabs() = {strip, channel, roof, chamber, ceiling};
layers() = {strip_layers, channel_layers, roof_layers, chamber_layers, ceiling_layers};
DefineConstant[
  blocks         = 6,
  chamber_length = 5,
  wall           = 2.5,  // of a block, before and behind its chamber
  gap            = 2,    // between two blocks
  root           = 10,   // solid ends
  tip            = 5,
  width          = 18,
  inside         = 12,   // width of the chambers
  channel_width  = 4
];
tiny = 0.01;
far = 1000;
w = width/2; h = inside/2; c = channel_width/2;
block = chamber_length + 2*wall;
total = root + blocks*block + (blocks - 1)*gap + tip;

// Kinds of pieces: solid, chamber, passage through a wall, gap, passage under a gap.
plan() = {};
kind() = {};
Macro Piece  // polygon xs, ys of a kind: anticlockwise
  first = newp;
  lines() = {};
  For i In {0:#xs() - 1}
    Point(first + i) = {xs(i), ys(i), 0};
  EndFor
  For i In {0:#xs() - 1}
    l = newl; Line(l) = {first + i, first + ((i + 1) % #xs())};
    lines() += l;
  EndFor
  l = newll; Curve Loop(l) = {lines()};
  s = news; Plane Surface(s) = {l};
  plan() += s;
  kind() += this;
Return

xs() = {0, root, root, root, root, 0}; ys() = {-w, -w, -c, c, w, w}; this = 0; Call Piece;
xs() = {total - tip, total, total, total - tip, total - tip, total - tip}; ys() = {-w, -w, w, w, c, -c}; Call Piece;
For k In {0:blocks - 1}
  a = root + k*(block + gap); b = a + wall; d = b + chamber_length; e = d + wall;
  this = 0;
  xs() = {a, b, b, d, d, e, e, a}; ys() = {c, c, h, h, c, c, w, w}; Call Piece;
  xs() = {a, e, e, d, d, b, b, a}; ys() = {-w, -w, -c, -c, -h, -h, -c, -c}; Call Piece;
  this = 1;
  xs() = {b, d, d, d, d, b, b, b}; ys() = {-h, -h, -c, c, h, h, c, -c}; Call Piece;
  this = (k == 0) ? 0 : 2;
  xs() = {a, b, b, a}; ys() = {-c, -c, c, c}; Call Piece;
  this = (k == blocks - 1) ? 0 : 2;
  xs() = {d, e, e, d}; Call Piece;
  If (k < blocks - 1)
    xs() = {e, e + gap, e + gap, e};
    this = 4; Call Piece;
    this = 3;
    ys() = {c, c, w, w}; Call Piece;
    ys() = {-w, -w, -c, -c}; Call Piece;
  EndIf
EndFor
Coherence;

// Each extrusion gives {top, volume, sides}. Gaps end with the roof.
body() = {};
air() = {};
For k In {0:#plan() - 1}
  of = kind(k);
  base_of = plan(k);
  For slab In {0:(of > 2) ? 2 : 4}
    made() = Extrude {0, 0, slabs(slab)} { Surface{base_of}; Layers{layers(slab)}; };
    base_of = made(0);
    If ((of == 1 && slab > 0 && slab < 4) || ((of == 2 || of == 4) && slab == 1))
      air() += made(1);
    Else
      body() += made(1);
    EndIf
  EndFor
EndFor

bottom() = plan();
base() = Surface In BoundingBox {-tiny, -far, -far, tiny, far, far};
end() = Surface In BoundingBox {total - tiny, -far, -far, total + tiny, far, far};
Physical Volume("body") = {body()};
Physical Surface("bottom") = {bottom()};
Physical Surface("base") = {base()};
Physical Surface("tip") = {end()};
cavity() = CombinedBoundary{ Volume{air()}; };
Physical Surface("cavity") = {Abs(cavity())};

// Normals: out of the body at its outer faces, out of the cavity.
outer() = {bottom(), base(), end()};
skin() = CombinedBoundary{ Volume{body()}; };
For k In {0:#cavity() - 1}
  If (cavity(k) < 0)
    ReverseMesh Surface{-cavity(k)};
  EndIf
EndFor
For k In {0:#skin() - 1}
  For i In {0:#outer() - 1}
    If (skin(k) == -outer(i))
      ReverseMesh Surface{outer(i)};
    EndIf
  EndFor
EndFor

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
