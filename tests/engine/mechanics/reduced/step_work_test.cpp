// The counted work of a step against the operations that its kernels carry out, with a scalar that counts them.
#include "engine/mechanics/reduced/step_work.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/elements/reduced_tile.hpp"

namespace supple {

namespace step_work {

long operations;

struct Counted {
  double value;
  Counted() = default;
  Counted(double v) : value(v) {}
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
  Counted operator-() const { return {-value}; }
  friend Counted operator+(Counted a, Counted b) { return ++operations, Counted(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return ++operations, Counted(a.value - b.value); }
  friend Counted operator*(Counted a, Counted b) { return ++operations, Counted(a.value * b.value); }
  friend bool operator<(Counted a, Counted b) { return a.value < b.value; }
  friend Counted sqrt(Counted a) { return {std::sqrt(a.value)}; }
};

struct CountingTeam : SingleTeam {};

}  // namespace step_work

template <>
struct Lanes<step_work::Counted, step_work::CountingTeam> {
  using type = step_work::Counted;
  static constexpr int width = 1;
};

namespace step_work {
namespace {

// One tile of points, no cables, no mapped points.
ReducedModel one_tile(int modes, LawId law) {
  ReducedModel model;
  model.modes = modes;
  ReducedField field;
  field.law = law;
  field.weight.assign(tile_size, 1.0);
  model.fields.push_back(field);
  return model;
}

struct Tile {
  explicit Tile(int r)
      : modes(static_cast<std::size_t>(r)),
        G(modes * tile_rows, 0.5),
        alpha(modes, 0.1),
        F(tile_rows),
        P(tile_rows, 1.0),
        C(81 * tile_size, 0.25),
        X((modes + most_rank_breadth) * tile_rows),
        Y((modes + most_rank_breadth) * tile_rows),
        f(modes, 0.0),
        magnitude(modes, 0.0),
        sums(stiffness_sums<double>(r), 0.0) {
    for (int l = 0; l < tile_size; ++l) C[9 * tile_size + static_cast<std::size_t>(l)] = -1.0;
    operations = 0;
  }
  std::size_t modes;
  std::vector<Counted> G, alpha, F, P, C, X, Y, f, magnitude, sums;
};

constexpr CountingTeam team;

double four_row_operations(int r) {
  Tile t(r);
  tile_gradient(team, r, t.G.data(), t.alpha.data(), t.F.data());
  const TileForces<Counted> forces{t.P.data(), t.f.data(), t.magnitude.data()};
  tile_four_rows<RowForm::squares>(team, r, t.G.data(), t.C.data(), t.X.data(), t.Y.data(), forces);
  tile_rank_update(team, r, RankRows{.plus = 1, .minus = 3}, t.X.data(), t.X.data(), t.sums.data());
  return static_cast<double>(operations);
}

double nine_row_operations(int r) {
  Tile t(r);
  tile_gradient(team, r, t.G.data(), t.alpha.data(), t.F.data());
  tile_forces(team, r, t.G.data(), TileForces<Counted>{t.P.data(), t.f.data(), t.magnitude.data()});
  tile_tangent_rows(team, r, t.G.data(), t.C.data(), t.Y.data());
  tile_rank_update(team, r, RankRows{.plus = gradient_components}, t.G.data(), t.Y.data(), t.sums.data());
  return static_cast<double>(operations);
}

// Blocks of K reach beyond its diagonal, by less than their height and breadth in columns of a row.
double excess(int r) {
  return 1 + static_cast<double>(rank_height + rank_breadth(rank_height)) / r;
}

TEST(StepWork, IsWhatTheKernelsCompute) {
  for (const int r : {2 * rank_height, 6 * rank_height, 12 * rank_height}) {
    const double four = reduced_step_work(one_tile(r, LawId::corotational)).forces - 2 * r * r;
    EXPECT_GE(four_row_operations(r), four) << r;
    EXPECT_LE(four_row_operations(r), 1.05 * excess(r) * four) << r;
    const double nine = reduced_step_work(one_tile(r, LawId::mooney_rivlin)).forces - 2 * r * r;
    EXPECT_GE(nine_row_operations(r), nine) << r;
    EXPECT_LE(nine_row_operations(r), 1.05 * excess(r) * nine) << r;
  }
}

TEST(StepWork, GrowsWithPointsRowsAndModes) {
  ReducedModel model = one_tile(34, LawId::corotational);
  const StepWork one = reduced_step_work(model);
  EXPECT_EQ(one.gradient_bytes, 8.0 * 288 * 34);
  EXPECT_EQ(one.rows, 0);
  EXPECT_EQ(one.outputs, 0);
  EXPECT_DOUBLE_EQ(one.solve, 2.0 * 34 * 34);
  EXPECT_NEAR(one.factor, 34.0 * 34 * 34 / 3, 0.25 * one.factor);
  model.fields[0].weight.assign(376, 1.0);
  const StepWork diamond = reduced_step_work(model);
  const double springs = 2 * 34 * 34;
  EXPECT_DOUBLE_EQ((diamond.forces - springs) * tile_size, (one.forces - springs) * 376);
  EXPECT_NEAR(diamond.forces, 3e6, 0.1e6);
  EXPECT_NEAR(diamond.gradient_bytes, 0.92e6, 0.03e6);
  model.robot.actuators.resize(4);
  for (ActuatorRow& cable : model.robot.actuators) cable.point_count = 1;
  model.robot.rest_points.resize(5);
  const StepWork with_rows = reduced_step_work(model);
  EXPECT_DOUBLE_EQ(with_rows.solve, 5 * one.solve);
  EXPECT_DOUBLE_EQ(with_rows.outputs, 2.0 * 34 * (15 + 12));
  EXPECT_GT(with_rows.rows, 0);
  EXPECT_DOUBLE_EQ(with_rows.total(),
                   with_rows.outputs + with_rows.forces + with_rows.factor + with_rows.solve + with_rows.rows);
}

}  // namespace
}  // namespace step_work
}  // namespace supple
