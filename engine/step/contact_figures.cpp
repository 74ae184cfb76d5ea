#include "engine/step/contact_figures.hpp"

#include <algorithm>

namespace supple {

bool ContactFigures::take(const ContactReport& solved) {
  ++solves;
  if (solved.status == ContactStatus::not_finite) return false;
  if (solved.status == ContactStatus::infeasible) {
    ++softened;
  } else {
    residual = std::max(residual, solved.residual);
    if (!(solved.residual <= loose_residual)) return false;
    if (solved.residual > tight_residual) ++loose;
  }
  violation = std::max(violation, solved.displacement);
  return true;
}

void ContactFigures::add(const ContactFigures& robot) {
  rows += robot.rows;
  touching += robot.touching;
  solves += robot.solves;
  softened += robot.softened;
  loose += robot.loose;
  too_many = too_many || robot.too_many;
  residual = std::max(residual, robot.residual);
  violation = std::max(violation, robot.violation);
  on_device += robot.on_device;
  on_host += robot.on_host;
  sweeps += robot.sweeps;
  newton_steps += robot.newton_steps;
}

void ContactFigures::include(const ContactFigures& step) {
  const int most_rows = std::max(rows, step.rows), most_touching = std::max(touching, step.touching);
  add(step);
  rows = most_rows;
  touching = most_touching;
}

}  // namespace supple
