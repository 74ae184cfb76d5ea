#include "engine/mechanics/full/full_elements.hpp"

#include <algorithm>
#include <utility>

#include "kernels/array/launch.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/element_ops.hpp"
#include "kernels/elements/turned_ops.hpp"
#include "kernels/elements/viscous_ops.hpp"

namespace supple {

namespace {

bool has_four_rows(const ElementField& field) {
  return visit_law(field.law, [](auto law) { return four_rows_law<decltype(law)>; });
}

// Numbers of one robot.
struct Sizes {
  std::size_t blocks = 0, corners = 0, rows = 0, tiles = 0, points = 0;
  std::size_t lists = 0;  // bytes of CornerLists
};

Sizes sizes_of(const FullModel& model) {
  Sizes sizes;
  sizes.lists = (model.free_nodes.size() + 1) * sizeof(int);
  sizes.blocks = 9 * static_cast<std::size_t>(element_block_offsets(model).back());
  for (const ElementField& field : model.fields) {
    const std::size_t points = extent(padded(field.points()));
    sizes.corners += extent(field.points(), field.nodes_per_element, 3);
    sizes.tiles += 9 * points;
    sizes.points += points;
    if (has_four_rows(field)) sizes.rows = std::max(sizes.rows, points * four_row_components);
    const auto free =
        std::ranges::count_if(field.node, [&](int node) { return model.node_unknown[extent(node)] >= 0; });
    sizes.lists += static_cast<std::size_t>(free) * extent(field.points_per_element) * sizeof(long);
  }
  return sizes;
}

CornerLists corner_lists(const FullModel& model) {
  std::vector<std::vector<long>> by_node(model.free_nodes.size());
  long corner = 0;
  for (const ElementField& field : model.fields)
    for (int p = 0; p < field.points(); ++p)
      for (int a = 0; a < field.nodes_per_element; ++a, ++corner) {
        const int e = p / field.points_per_element;
        const int unknown = model.node_unknown[extent(field.node[extent(e, field.nodes_per_element) + extent(a)])];
        if (unknown >= 0) by_node[extent(unknown)].push_back(corner);
      }
  CornerLists lists{{0}, {}};
  for (const std::vector<long>& list : by_node) {
    lists.corner.insert(lists.corner.end(), list.begin(), list.end());
    lists.start.push_back(static_cast<int>(lists.corner.size()));
  }
  return lists;
}

}  // namespace

FullElements::Field::Field(const ElementField& field, const Device& device, std::size_t corner, std::size_t block,
                           int robots)
    : elements(&field),
      node(device, field.node),
      region(device, field.region),
      gradient(device, field.gradient),
      volume(device, field.volume),
      parameters(device, field.parameters),
      edges(device, field.edges),
      first_corner(corner),
      first_block(block),
      F(device, extent(robots, padded(field.points()), 9)),
      P(device, F.size()),
      status(device, extent(robots, padded(field.points()))) {}

PointField<double> FullElements::Field::points(bool viscous_step) const {
  const bool own = viscous_step && elements->viscosity.terms > 0;
  return {.points = elements->points(),
          .weight = volume.data(),
          .region = region.data(),
          .parameters = parameters.data(),
          .edges = elements->edges.empty() ? nullptr : edges.data(),
          .held_stress = own ? held_stress.data() : nullptr,
          .in_step = own ? of_step.in_step.data() : nullptr,
          .added = own ? of_step.added.data() : nullptr};
}

FullElements::FullElements(const FullModel& model, const NodePattern& pattern, const Device& device, int robots)
    : device_(device),
      robots_(robots),
      nodes_(static_cast<int>(model.free_nodes.size())),
      mesh_nodes_(static_cast<int>(model.mesh.nodes.size())),
      nonzeros_(pattern.scalar.row.size()),
      corners_(corner_lists(model)),
      corner_start_(device, corners_.start),
      corner_(device, corners_.corner),
      column_start_(device, pattern.column_start),
      contribution_start_(device, pattern.contribution_start),
      scalar_start_(device, pattern.scalar.column_start),
      source_(device, pattern.source) {
  SUPPLE_EXPECT(robots >= 0);
  const Sizes sizes = sizes_of(model);
  block_numbers_ = sizes.blocks;
  corner_numbers_ = sizes.corners;
  row_numbers_ = sizes.rows;
  const std::vector<long> offset = element_block_offsets(model);
  std::size_t corner = 0;
  for (std::size_t k = 0; k < model.fields.size(); ++k) {
    const ElementField& field = model.fields[k];
    fields_.emplace_back(field, device, corner, 9 * static_cast<std::size_t>(offset[k]), robots);
    corner += extent(field.points(), field.nodes_per_element, 3);
  }
  viscous_ = extent(viscous_numbers(model.fields));
  corner_forces_ = Array<double>(device, extent(robots) * corner_numbers_);
  if (device != cpu()) reserve_tangent();
}

void FullElements::reserve_tangent() {
  if (blocks_.size() == extent(robots_) * block_numbers_ && blocks_.device() == device_) return;
  blocks_ = Array<double>(device_, extent(robots_) * block_numbers_);
  rows_ = Array<double>(device_, extent(robots_) * row_numbers_);
}

FullElements::Memory FullElements::memory(const FullModel& model, const NodePattern& pattern, const Device& device) {
  const auto of = [](const auto&... list) { return (std::size_t{0} + ... + (list.size() * sizeof(list[0]))); };
  const Sizes sizes = sizes_of(model);
  Memory memory{sizes.lists, sizes.points};
  memory.of_robot += sizeof(double) * (sizes.blocks + sizes.corners + sizes.rows + 2 * sizes.tiles);
  if (device == cpu()) return memory;
  memory.shared += of(pattern.column_start, pattern.contribution_start, pattern.scalar.column_start, pattern.source);
  for (const ElementField& field : model.fields)
    memory.shared += of(field.node, field.region, field.gradient, field.volume, field.parameters, field.edges);
  return memory;
}

std::size_t FullElements::bytes() const {
  const auto of = [](const auto&... list) { return (std::size_t{0} + ... + list.bytes()); };
  std::size_t sum = corners_.start.size() * sizeof(int) + corners_.corner.size() * sizeof(long);
  sum += of(column_start_, contribution_start_, scalar_start_, source_);
  std::size_t numbers = corner_forces_.size() + extent(robots_) * (block_numbers_ + row_numbers_);
  for (const Field& field : fields_) {
    sum += of(field.node, field.region, field.gradient, field.volume, field.parameters, field.edges);
    sum += field.status.size();
    numbers += field.F.size() + field.P.size() + field.held_stress.size() + 2 * field.turned_F.size();
  }
  return sum + numbers * sizeof(double);
}

void FullElements::find_gradients(Field& field, int robots, const double* u) {
  const ElementField& elements = *field.elements;
  launch(device_, robots * padded(elements.points()),
         GatherGradientOp<double>{elements.points(), elements.nodes_per_element, elements.points_per_element,
                                  field.node.data(), field.gradient.data(), u, field.F.data(), extent(3, mesh_nodes_)});
}

void FullElements::begin_viscous_step(double h, std::span<const double> viscous) {
  SUPPLE_EXPECT(device_ == cpu() && viscous.size() == extent(robots_) * viscous_);
  in_step_ = true;
  const double* z = viscous.data();
  for (Field& field : fields_) {
    const ElementField& elements = *field.elements;
    const FieldViscosity& viscosity = elements.viscosity;
    if (viscosity.terms == 0) continue;
    if (field.step != h) field.of_step = step_parameters(elements.law, elements.parameters, viscosity, h);
    field.step = h;
    const int padded_points = robots_ * padded(elements.points());
    field.held_stress.resize(extent(padded_points, symmetric_components));
    launch_cpu(padded_points, HeldStressOp<double>{elements.points(), viscosity.terms, elements.region.data(),
                                                   viscosity.viscosity.data(), viscosity.time.data(), h, z, viscous_,
                                                   field.held_stress.data()});
    z += viscosity.numbers(elements.points());
  }
}

void FullElements::parameters_changed() {
  SUPPLE_EXPECT(device_ == cpu());
  for (Field& field : fields_) {
    field.step = -1;
    field.of_shape.clear();
  }
}

double FullElements::step_factor() const {
  double factor = 1;
  for (const Field& field : fields_)
    if (in_step_) factor = std::max(factor, field.of_step.factor);
  return factor;
}

void FullElements::end_viscous_step(double h, const double* u, std::span<const unsigned char> moved,
                                    std::span<double> viscous) {
  SUPPLE_EXPECT(device_ == cpu() && viscous.size() == extent(robots_) * viscous_);
  in_step_ = false;
  double* z = viscous.data();
  for (Field& field : fields_) {
    const ElementField& elements = *field.elements;
    const FieldViscosity& viscosity = elements.viscosity;
    if (viscosity.terms == 0) continue;
    if (field.of_shape.empty())
      for (const MaterialParameters<double>& m : elements.parameters)
        field.of_shape.push_back(shape_parameters(elements.law, m));
    find_gradients(field, robots_, u);
    PointField<double> points = field.points(/*viscous_step=*/false);
    points.parameters = field.of_shape.data();
    visit_law(elements.law, [&](auto law) {
      launch_cpu(
          robots_ * padded(elements.points()),
          RelaxOp<decltype(law), double>{points, viscosity.terms, viscosity.viscosity.data(), viscosity.time.data(), h,
                                         moved.empty() ? nullptr : moved.data(), field.F.data(), z, viscous_});
    });
    z += viscosity.numbers(elements.points());
  }
}

void FullElements::evaluate_field(Field& field, int robots, const double* u, TangentKind kind) {
  const ElementField& elements = *field.elements;
  const int points = elements.points(), padded_points = robots * padded(points), nodes = elements.nodes_per_element,
            points_per_element = elements.points_per_element;
  const double* gradient = field.gradient.data();
  double *F = field.F.data(), *P = field.P.data();
  unsigned char* status = field.status.data();
  const PointField<double> at = field.points(in_step_);
  find_gradients(field, robots, u);
  visit_law(elements.law, [&](auto law) {
    using Law = decltype(law);
    double* blocks = blocks_.data() + field.first_block;
    const int count = elements.elements();
    if constexpr (four_rows_law<Law>) {
      if (kind != TangentKind::none && !at.held_stress) {
        double* rows = rows_.data();
        launch(device_, padded_points, StressFourRowOp<Law, double>{at, kind, F, P, status, rows});
        launch(
            device_, robots * count,
            FourRowStiffnessOp<double>{at, count, nodes, points_per_element, gradient, rows, blocks, block_numbers_});
        return;
      }
    }
    launch(device_, padded_points, StressOp<Law, double>{at, F, P, status});
    if constexpr (four_rows_law<Law>) {
      if (kind != TangentKind::none)  // of a viscous step, which is the CPU's
        launch_cpu(robots * count, ElementStiffnessOp<Law, double>{at, kind, count, nodes, points_per_element, gradient,
                                                                   F, blocks, block_numbers_});
    } else if (kind != TangentKind::none) {
      launch(device_, robots * count,
             ElementStiffnessOp<Law, double>{at, kind, count, nodes, points_per_element, gradient, F, blocks,
                                             block_numbers_});
    }
  });
  launch(
      device_, robots * points,
      CornerForceOp<double>{points, nodes, gradient, P, corner_forces_.data() + field.first_corner, corner_numbers_});
}

void FullElements::report(const Field& field, std::span<PointReport> reports) const {
  const ElementField& elements = *field.elements;
  const int stride = padded(elements.points());
  const unsigned char* status = field.status.data();
  std::vector<unsigned char> copy;
  if (device_ != cpu()) {
    copy.resize(reports.size() * extent(stride));
    field.status.download(copy);
    status = copy.data();
  }
  for (PointReport& report : reports) {
    for (int p = 0; p < elements.points(); ++p) {
      const auto point = static_cast<PointStatus>(status[p]);
      if (point == PointStatus::inverted) ++report.inverted;
      if (point != PointStatus::undefined) continue;
      if (report.undefined++ == 0) report.first_undefined = elements.element[extent(p / elements.points_per_element)];
    }
    status += stride;
  }
}

void FullElements::sum_corners(int robots, double* f, double* magnitude) {
  launch(device_, robots * nodes_,
         NodeForceOp<double>{nodes_, corner_start_.data(), corner_.data(), corner_forces_.data(), f, magnitude,
                             corner_numbers_});
}

double FullElements::turn(const double* u, const double* du, double* right) {
  SUPPLE_EXPECT(device_ == cpu() && robots_ == 1);
  double largest = 0;
  std::vector<double> turn, magnitude(3 * extent(nodes_));
  for (Field& field : fields_) {
    const ElementField& elements = *field.elements;
    const int points = elements.points(), padded_points = padded(points);
    const auto gradients_of = [&](const double* of, AlignedVector<double>& to) {
      find_gradients(field, 1, of);
      to.assign(field.F.data(), field.F.data() + field.F.size());
    };
    gradients_of(du, field.turned_D);
    for (int p = 0; p < padded_points; ++p)
      for (const int c : {0, 4, 8}) field.turned_D[tile_index(p, c, 9)] -= 1;
    gradients_of(u, field.turned_F);
    turn.assign(extent(padded_points), 0.0);
    // The points of an element tell how it turns, not its mean.
    if (elements.part == LawPart::mean)
      std::fill(field.P.data(), field.P.data() + field.P.size(), 0.0);
    else
      visit_law(elements.law, [&](auto law) {
        launch_cpu(padded_points,
                   TurnOp<decltype(law), double>{field.points(/*viscous_step=*/false), field.turned_F.data(),
                                                 field.turned_D.data(), field.P.data(), turn.data()});
      });
    for (int p = 0; p < points; ++p) largest = std::max(largest, turn[extent(p)]);
    launch_cpu(points, CornerForceOp<double>{points, elements.nodes_per_element, field.gradient.data(), field.P.data(),
                                             corner_forces_.data() + field.first_corner, corner_numbers_});
  }
  sum_corners(1, right, magnitude.data());
  return largest;
}

void FullElements::add_linear_stress(const double* u, double* stiffness, double* blocks) {
  SUPPLE_EXPECT(device_ == cpu() && robots_ == 1);
  std::vector<double> own(block_numbers_, 0.0), sum(nonzeros_);
  for (Field& field : fields_) {
    const ElementField& elements = *field.elements;
    find_gradients(field, 1, u);
    visit_law(elements.law, [&](auto law) {
      launch_cpu(elements.elements(),
                 LinearStressStiffnessOp<decltype(law), double>{
                     field.points(/*viscous_step=*/false), elements.nodes_per_element, elements.points_per_element,
                     field.gradient.data(), field.F.data(), field.turned_F.data(), field.turned_D.data(),
                     own.data() + field.first_block});
    });
  }
  launch_cpu(nodes_, AssembleOp<double>{nodes_, column_start_.data(), contribution_start_.data(), source_.data(),
                                        own.data(), scalar_start_.data(), sum.data(), block_numbers_, nonzeros_});
  for (std::size_t k = 0; k < nonzeros_; ++k) stiffness[k] += sum[k];
  for (std::size_t k = 0; k < block_numbers_ && blocks; ++k) blocks[k] += own[k];
}

std::vector<double> FullElements::turn_blocks() const {
  SUPPLE_EXPECT(device_ == cpu() && robots_ == 1);
  std::vector<double> blocks(block_numbers_, 0.0);
  for (const Field& field : fields_) {
    const ElementField& elements = *field.elements;
    if (elements.part == LawPart::mean) continue;
    visit_law(elements.law, [&](auto law) {
      launch_cpu(elements.elements(),
                 TurnBlocksOp<decltype(law), double>{field.points(/*viscous_step=*/false), elements.nodes_per_element,
                                                     elements.points_per_element, field.gradient.data(),
                                                     blocks.data() + field.first_block});
    });
  }
  return blocks;
}

void FullElements::evaluate(int robots, const double* u, TangentKind kind, double* f, double* magnitude,
                            double* stiffness, std::span<PointReport> reports) {
  SUPPLE_EXPECT(robots <= robots_ && reports.size() == extent(robots));
  const bool tangent = kind != TangentKind::none;
  if (tangent) reserve_tangent();
  for (Field& field : fields_) evaluate_field(field, robots, u, kind);
  sum_corners(robots, f, magnitude);
  if (tangent)
    launch(device_, robots * nodes_,
           AssembleOp<double>{nodes_, column_start_.data(), contribution_start_.data(), source_.data(), blocks_.data(),
                              scalar_start_.data(), stiffness, block_numbers_, nonzeros_});
  std::ranges::fill(reports, PointReport{});
  for (const Field& field : fields_) report(field, reports);
}

}  // namespace supple
