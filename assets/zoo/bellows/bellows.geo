// Bellows: a round bellows of a few folds, closed at both ends, hanging from its base at z = 0. Units: mm; z is up.
// Made by generate.sh:  gmsh bellows.geo -3
//
// The section of the wall, a zigzag, is turned about z in four quarters.

DefineConstant[
  folds   = 3,
  pitch   = 16,   // from fold to fold
  r_in    = 12,   // inner radius in the valleys, from the middle of the wall
  r_out   = 20,   // and on the ridges
  wall    = 3,    // thickness over the radius
  cap     = 4,    // thickness of the ends
  through = 2,    // elements through the wall
  slope   = 2,    // elements from a valley to a ridge
  quarter = 5,    // elements around a quarter
  size    = 8     // target edge length in the ends
];

half = wall/2;
n = 2*folds;  // slopes
// The wall: an inner and an outer zigzag joined by rungs.
p = 100;
For i In {0:n}
  r = (i % 2 == 0) ? r_in : r_out;
  z = -cap - i*pitch/2;
  Point(p + 2*i) = {r - half, 0, z};
  Point(p + 2*i + 1) = {r + half, 0, z};
  Line(1000 + i) = {p + 2*i, p + 2*i + 1};
  Transfinite Curve{1000 + i} = through + 1;
EndFor
faces() = {};
For i In {0:n - 1}
  Line(2000 + i) = {p + 2*i, p + 2*i + 2};
  Line(3000 + i) = {p + 2*i + 1, p + 2*i + 3};
  Transfinite Curve{2000 + i, 3000 + i} = slope + 1;
  Curve Loop(i + 1) = {1000 + i, 3000 + i, -(1001 + i), -(2000 + i)};
  Plane Surface(i + 1) = {i + 1};
  Transfinite Surface{i + 1};
  faces() += i + 1;
EndFor
// The ends' rings, above and below the wall.
low = -cap - n*pitch/2;
Point(2) = {r_in - half, 0, 0};         Point(3) = {r_in + half, 0, 0};
Point(6) = {r_in - half, 0, low - cap}; Point(7) = {r_in + half, 0, low - cap};
Line(1) = {2, 3};             Line(4) = {6, 7};
Transfinite Curve{1, 4} = through + 1;
Line(2) = {3, p + 1};         Line(3) = {2, p};
Line(5) = {p + 2*n + 1, 7};   Line(6) = {p + 2*n, 6};
Transfinite Curve{2, 3, 5, 6} = 2;
Curve Loop(101) = {1, 2, -1000, -3};      Plane Surface(101) = {101};
Curve Loop(102) = {1000 + n, 5, -4, -6};  Plane Surface(102) = {102};
Transfinite Surface{101, 102};
faces() += {101, 102};

// Each turn gives {the face it ends at, its volume, its sides in the order of the outline}.
body() = {};
cavity() = {};
For k In {0:#faces() - 1}
  made() = {faces(k)};
  For q In {0:3}
    made() = Extrude { {0, 0, 1}, {0, 0, 0}, Pi/2 } { Surface{made(0)}; Layers{quarter}; };
    body() += made(1);
    If (k < n)
      cavity() += made(5);
    EndIf
  EndFor
EndFor
// The discs in the rings.
For k In {0:1}
  z = (k == 0) ? 0 : low;
  first = newp;
  Point(first) = {0, 0, z};
  arcs() = {};
  For q In {0:3}
    Point(first + 1 + q) = {(r_in - half)*Cos(q*Pi/2), (r_in - half)*Sin(q*Pi/2), z};
  EndFor
  For q In {0:3}
    l = newl; Circle(l) = {first + 1 + q, first, first + 1 + (q + 1)%4};
    arcs() += l;
  EndFor
  Transfinite Curve{arcs()} = quarter + 1;
  l = newll; Curve Loop(l) = {arcs()};
  s = news; Plane Surface(s) = {l};
  made() = Extrude {0, 0, -cap} { Surface{s}; Layers{1}; };
  body() += made(1);
EndFor
Coherence;
Physical Volume("body") = {body()};
base() = Surface In BoundingBox {-100, -100, -0.01, 100, 100, 0.01};
Physical Surface("base") = {base()};
r = r_in - half + 0.01;
For k In {0:1}
  z = (k == 0) ? -cap : low;
  end() = Surface In BoundingBox {-r, -r, z - 0.01, r, r, z + 0.01};
  cavity() += end();
EndFor
Physical Surface("cavity") = {cavity()};

// Normals out of the cavity, into the body.
skin() = CombinedBoundary{ Volume{body()}; };
For k In {0:#skin() - 1}
  For i In {0:#cavity() - 1}
    If (skin(k) == cavity(i))
      ReverseMesh Surface{cavity(i)};
    EndIf
  EndFor
EndFor

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;  // frontal-Delaunay
