#pragma once
// Bodies with constraints, for the tests of them.

#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::constrained_bodies {

inline ConstraintScene constraint(const std::string& name, ConstraintKind kind, const std::vector<Vec3d>& points,
                                  double compliance = 0, ConstraintForm form = ConstraintForm::constraint) {
  ConstraintScene scene;
  scene.name = name;
  scene.kind = kind;
  scene.points = points;
  scene.compliance = compliance;
  scene.form = form;
  return scene;
}

// The bar of reduced_bodies with a constraint of every kind and form.
inline Scene constrained_bar(const Scene& bar) {
  Scene scene = bar;
  ConstraintScene strut = constraint("rod", ConstraintKind::distance, {{{0.08, 0.03, 0.02}}, {{0.22, 0.06, 0.07}}},
                                     2e-3, ConstraintForm::force);
  strut.length = 0.15;
  strut.damping_time = 0.01;
  ConstraintScene string = constraint("string", ConstraintKind::limit, {{{0.26, 0.05, 0.03}}});
  string.anchor = {{0.3, 0.05, 0.4}};
  ConstraintScene joint = constraint("joint", ConstraintKind::fixed_point, {{{0.18, 0.05, 0.05}}}, 1e-3);
  joint.directions = {{{0, 1, 0}}, {{0, 0.6, 0.8}}};
  joint.damping_time = 0.02;
  ConstraintScene slide = constraint("slide", ConstraintKind::plane, {{{0.24, 0.04, 0.06}}});
  slide.directions = {normalized(Vec3d{{1, -1, 0.2}})};
  ConstraintScene pin =
      constraint("pin", ConstraintKind::fixed_point, {{{0.12, 0.07, 0.04}}}, 5e-3, ConstraintForm::force);
  pin.position = {{0.12, 0.072, 0.041}};
  scene.constraints = {strut, string, joint, slide, pin};
  return scene;
}

}  // namespace supple::constrained_bodies
