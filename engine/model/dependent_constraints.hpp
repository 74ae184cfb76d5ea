#pragma once
// Hard constraints that depend on each other have no unique forces, and may be in conflict.

#include "engine/model/full_model.hpp"

namespace supple {

// The first hard, two-sided constraint whose gradient at rest is a sum of multiples of those before it, to 1e-5 of its
// length; -1: none.
int dependent_constraint(const FullModel& model);

}  // namespace supple
