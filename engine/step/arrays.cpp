#include "engine/step/arrays.hpp"

namespace supple {

MotionArrays::MotionArrays(const Device& device, const StepSize& size, bool contact)
    : q(device, extent(size.robots, size.nq)), y(device, extent(size.robots, size.outputs)) {
  for (Mirrored<double>* array :
       {&u, &du, &velocity, &inertia, &damping, &f, &p, &start_force, &r, &free_motion, &row_force})
    *array = Mirrored<double>(device, extent(size.robots, size.nv));
  if (!contact) return;
  for (Mirrored<double>* array : {&contact_force, &contact_motion})
    *array = Mirrored<double>(device, extent(size.robots, size.nv));
}

InputArrays::InputArrays(const Device& device, const StepSize& size) {
  for (Mirrored<double>* array : {&motions, &momentum, &velocity, &start, &start_velocity, &dc})
    *array = Mirrored<double>(device, extent(size.robots, size.motions));
}

RowArrays::RowArrays(const Device& device, const RowLayout& rows, const StepSize& size)
    : layout(rows),
      phi(device, extent(size.robots, rows.rows())),
      gradients(device, extent(size.robots, rows.gradients())),
      H(device, extent(size.robots, rows.rows(), size.nv)),
      H_c(device, extent(size.robots, rows.rows(), size.motions)),
      robots(size.robots),
      nv(size.nv),
      motions(size.motions) {}

SpaceArrays::SpaceArrays(const Device& device, const StepSize& size, int effector_rows, int moved)
    : robots(size.robots),
      rows(size.rows),
      effectors(effector_rows),
      inputs(moved),
      block(device, extent(robots, rows + effectors, rows + inputs + 2)),
      lambda(device, extent(robots, rows)),
      held(device, extent(robots, rows)),
      X(device, extent(robots, columns(), size.nv)),
      device_views_(views(block.data())),
      host_views_(views(block.host().data())) {}

SpaceViews SpaceArrays::views(double* next) const {
  const auto matrices = [&](int a, int b) {
    const Matrices view(next, robots, a, b);
    next += extent(robots, a, b);
    return view;
  };
  const auto vectors = [&](int a) {
    const Vectors view(next, robots, a);
    next += extent(robots, a);
    return view;
  };
  SpaceViews all;
  all.W = matrices(rows, rows);
  all.free = vectors(rows);
  all.B = matrices(rows, inputs);
  all.values = vectors(rows);
  all.effector_W = matrices(effectors, rows);
  all.effector_free = vectors(effectors);
  all.effector_B = matrices(effectors, inputs);
  all.effector_phi = vectors(effectors);
  return all;
}

ConstraintSpace SpaceArrays::seen_by_law(std::span<const double> moved, std::span<const double> compliance,
                                         std::span<const double> command_scale) const {
  const SpaceViews& all = on_host();
  const auto matrices = [](const Matrices& view) {
    return std::span<const double>(view.data, extent(view.size[0], view.size[1], view.size[2]));
  };
  const auto vectors = [](const Vectors& view) {
    return std::span<const double>(view.data, extent(view.size[0], view.size[1]));
  };
  return {.robots = robots,
          .rows = rows,
          .effector_rows = effectors,
          .motions = inputs,
          .phi = vectors(all.values),
          .free = vectors(all.free),
          .W = matrices(all.W),
          .B = matrices(all.B),
          .effector_phi = vectors(all.effector_phi),
          .effector_free = vectors(all.effector_free),
          .effector_W = matrices(all.effector_W),
          .effector_B = matrices(all.effector_B),
          .inputs = moved,
          .compliance = compliance,
          .command_scale = command_scale};
}

}  // namespace supple
