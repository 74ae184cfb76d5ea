#include "engine/mechanics/reduced/step_work.hpp"

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "kernels/elements/tiles.hpp"

namespace supple {

StepWork reduced_step_work(const ReducedModel& model) {
  // G has further columns where prescribed motions strain the body.
  const double r = model.modes, c = model.columns(), n = model.robot.rows(), outputs = model.robot.outputs(),
               row_coordinates = row_layout(model.robot).gradients(), triangle = r * (r + 1) / 2,
               whole = c * (c + 1) / 2;
  StepWork work;
  // y = y_rest + L_r q; H = (d phi/dy) L_r
  work.outputs = 2 * r * (outputs + row_coordinates);
  // F = I + G q and f = G^T P: 18 r each; K += X Y^T over 4 or 9 kinds of rows
  for (const ReducedField& field : model.fields) {
    const double kinds = has_four_rows(field.law) ? 4 : 9, rows = has_four_rows(field.law) ? 58 * c : 162 * c;
    work.forces += field.points() * (36 * c + rows + 2 * kinds * whole);
    work.gradient_bytes += static_cast<double>(sizeof(double)) * tile_rows * tile_count(field.points()) * c;
  }
  // W = L + Q x, s = (L + W) x / 2, f = W^T s, K += W^T W + sum_k s_k Q_k
  for (const ReducedField& field : model.fields) {
    work.forces += field.strains.count * (2 * c * c + 3 * c + 2 * r + 4 * whole);
    work.gradient_bytes += static_cast<double>(sizeof(double)) * field.strains.count * whole;
  }
  work.forces += 2 * r * c;  // linear springs
  // A = s K + m M; A = L L^T
  work.factor = 3 * triangle + r * r * r / 3 + r * r / 2 + r / 6;
  // L L^T X = (r, H^T)
  work.solve = 2 * r * r * (n + 1);
  // H X: d and the triangle of W; u += X lambda
  work.rows = 2 * r * (n + n * (n + 1) / 2 + n);
  return work;
}

}  // namespace supple
