#pragma once
// Inertial coupling between a soft body and the frame that carries it; X is the rest shape of the body.

#include <span>
#include <vector>

#include "engine/model/pose.hpp"

namespace supple {

struct FullModel;
struct ReducedModel;

struct BodyInertia {
  std::vector<double> translation;  // [nv][3] sum m phi_j . e_k [kg]
  std::vector<double> rotation;     // [nv][3] sum m phi_j . (e_k x X) [kg m]; empty: not known
  RigidInertia rest;                // without mass: not known
};

BodyInertia body_inertia(const FullModel& model);
// Imported models and older files know the translations alone.
BodyInertia body_inertia(const ReducedModel& model);
// Of a model with these modes (column-major [nv][modes]).
BodyInertia project_inertia(const BodyInertia& full, std::span<const double> basis, int modes);

}  // namespace supple
