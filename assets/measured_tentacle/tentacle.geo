// Tapered silicone tentacle that hangs from its base: circular section, 305 mm long with a radius of 15.41 mm to 6.42 mm, then 55 mm
// to 4.80 mm. Units: mm; z is up. Made by generate.sh: hexahedra of second order with curved edges, in a core and four blocks
// around it, more than twice as long as wide, for it bends and does little else.
DefineConstant[
  across = 2,  // elements across the core and across the ring's quarter
  ring   = 1,  // elements from the core outwards
  body   = 26, // elements along the first part
  tip    = 5   // along the second
];

z[] = {0, -305, -360};
r[] = {15.41, 6.42, 4.80};
core = 0.5;  // of the radius: half diagonal of the core

// Section s: centre c[s], corners inside i[4 s + k] and outside o[4 s + k]; lines inside, spokes, arcs; surfaces.
For s In {0:2}
  p = newp; Point(p) = {0, 0, z[s]}; c[] += p;
  For k In {0:3}
    a = Pi/4 + k*Pi/2;
    p = newp; Point(p) = {core*r[s]*Cos(a), core*r[s]*Sin(a), z[s]}; i[] += p;
    p = newp; Point(p) = {r[s]*Cos(a), r[s]*Sin(a), z[s]}; o[] += p;
  EndFor
  For k In {0:3}
    n = (k + 1) % 4;
    l = newl; Line(l) = {i[4*s + k], i[4*s + n]}; inside[] += l;
    l = newl; Line(l) = {i[4*s + k], o[4*s + k]}; spoke[] += l;
    l = newl; Circle(l) = {o[4*s + k], c[s], o[4*s + n]}; arc[] += l;
    Transfinite Curve{inside[4*s + k], arc[4*s + k]} = across + 1;
    Transfinite Curve{spoke[4*s + k]} = ring + 1;
  EndFor
  l = newll; Curve Loop(l) = {inside[4*s], inside[4*s + 1], inside[4*s + 2], inside[4*s + 3]};
  f = news; Plane Surface(f) = {l}; middle[] += f; Transfinite Surface{f}; Recombine Surface{f};
  For k In {0:3}
    n = (k + 1) % 4;
    l = newll; Curve Loop(l) = {spoke[4*s + k], arc[4*s + k], -spoke[4*s + n], -inside[4*s + k]};
    f = news; Plane Surface(f) = {l}; quarter[] += f; Transfinite Surface{f}; Recombine Surface{f};
  EndFor
EndFor

// Between sections: lines along, then surfaces, then volumes.
For s In {0:1}
  layers = s == 0 ? body : tip;
  For k In {0:3}
    l = newl; Line(l) = {i[4*s + k], i[4*s + 4 + k]}; along_i[] += l; Transfinite Curve{l} = layers + 1;
    l = newl; Line(l) = {o[4*s + k], o[4*s + 4 + k]}; along_o[] += l; Transfinite Curve{l} = layers + 1;
  EndFor
  For k In {0:3}
    n = (k + 1) % 4;
    l = newll; Curve Loop(l) = {inside[4*s + k], along_i[4*s + n], -inside[4*s + 4 + k], -along_i[4*s + k]};
    f = news; Surface(f) = {l}; wall_i[] += f; Transfinite Surface{f}; Recombine Surface{f};
    l = newll; Curve Loop(l) = {spoke[4*s + k], along_o[4*s + k], -spoke[4*s + 4 + k], -along_i[4*s + k]};
    f = news; Surface(f) = {l}; wall_s[] += f; Transfinite Surface{f}; Recombine Surface{f};
    l = newll; Curve Loop(l) = {arc[4*s + k], along_o[4*s + n], -arc[4*s + 4 + k], -along_o[4*s + k]};
    f = news; Surface(f) = {l}; wall_o[] += f; Transfinite Surface{f}; Recombine Surface{f};
  EndFor
  l = newsl; Surface Loop(l) = {middle[s], middle[s + 1], wall_i[4*s], wall_i[4*s + 1], wall_i[4*s + 2], wall_i[4*s + 3]};
  v = newv; Volume(v) = {l}; volumes[] += v; Transfinite Volume{v};
  For k In {0:3}
    n = (k + 1) % 4;
    l = newsl; Surface Loop(l) = {quarter[4*s + k], quarter[4*s + 4 + k], wall_s[4*s + k], wall_s[4*s + n], wall_o[4*s + k], wall_i[4*s + k]};
    v = newv; Volume(v) = {l}; volumes[] += v; Transfinite Volume{v};
  EndFor
EndFor

Physical Volume("body") = volumes[];
Mesh.ElementOrder = 2;
Mesh.SecondOrderIncomplete = 1;
