#pragma once
// Hard constraints that depend on each other linearly have no unique forces, and may be infeasible together.

#include "engine/model/full_model.hpp"

namespace supple {

// The first hard, two-sided constraint whose gradient at rest is a sum of multiples of those before it, to 1e-5 of its
// length; -1: none.
int dependent_constraint(const FullModel& model);

}  // namespace supple
