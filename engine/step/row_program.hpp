#pragma once
// Rows as a GPU evaluates them: one shape for each (kernels/step/row_ops.hpp). The same values and gradients as
// engine/model/rows.hpp and effectors.hpp, to rounding; effectors without their goals.

#include <optional>
#include <span>

#include "engine/model/robot.hpp"
#include "kernels/array/array.hpp"
#include "kernels/step/row_ops.hpp"

namespace supple {

struct RowProgram {
  Array<RowShape> shapes;
  Array<double> coefficients;  // of the volumes' polynomials
};

// None: a row has no shape (a cavity without polynomial, an orientation), and rows are evaluated on the host.
std::optional<RowProgram> actuator_program(const Device& device, const Robot& robot);
std::optional<RowProgram> spring_program(const Device& device, const Robot& robot);
std::optional<RowProgram> effector_program(const Device& device, const Robot& robot);

// What the goals [3 x effectors] of one robot are in the effectors' rows [m]; not of orientations.
void goal_values(const Robot& robot, std::span<const double> goals, std::span<double> values);

}  // namespace supple
