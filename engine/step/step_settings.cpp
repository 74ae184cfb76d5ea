#include "engine/step/step_settings.hpp"

#include <algorithm>

namespace supple {

const char* describe(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
      return "ok";
    case StepStatus::not_converged:
      return "Newton's method did not converge";
    case StepStatus::undefined_points:
      return "an element is inverted where its material has no stress";
    case StepStatus::singular:
      return "the system matrix is singular (is the body held anywhere?)";
    case StepStatus::not_positive:
      return "the system matrix is not positive definite";
    case StepStatus::out_of_memory:
      return "out of memory in the factorisation";
    case StepStatus::rows_unsolved:
      return "the forces of the actuators, constraints and contacts could not be found";
    case StepStatus::too_many_contacts:
      return "more points touch obstacles at once than can be solved for (of robots that stay on a device: than "
             "most_contacts has room for)";
    case StepStatus::loose_among_obstacles:
      return "equilibria of free-floating bodies, or of rigid ones that move freely, are not computed in contact "
             "with obstacles yet";
    case StepStatus::unbalanced:
      return "the forces on the free-floating body do not balance: it has no equilibrium";
  }
  return "";
}

void StepReport::add(const StepReport& part, int first_robot) {
  for (const RobotFailure& failure : part.failures)
    failures.push_back({first_robot + failure.robot, failure.status, failure.element});
  if (status == StepStatus::ok) {
    status = part.status;
    failed_element = part.failed_element;
  }
  iterations = std::max(iterations, part.iterations);
  residual = std::max(residual, part.residual);
  force_scale = std::max(force_scale, part.force_scale);
  inverted += part.inverted;
  negative_pivots = std::max(negative_pivots, part.negative_pivots);
  weakened += part.weakened;
  limited_commands += part.limited_commands;
  contact.add(part.contact);
  times += part.times;
}

}  // namespace supple
