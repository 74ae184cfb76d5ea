// Tile operations of the reduced model against loops written as the formulas are.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/array/aligned.hpp"
#include "kernels/elements/point_ops.hpp"
#include "kernels/elements/reduced_tile.hpp"
#include "kernels/materials/dispatch.hpp"
#include "tests/engine/bodies/boxes.hpp"

namespace supple {
namespace {

// Points that fill neither the last tile nor a vector.
constexpr int points = 45;

template <class S>
struct Field {
  int r;
  std::vector<S> dense;  // [points][9][r]
  AlignedVector<S> G;    // tiles
  std::vector<S> weight;
  std::vector<int> region;
  std::vector<MaterialParameters<S>> parameters{{{S(3), S(5), S(0)}}, {{S(2), S(1), S(0)}}};

  explicit Field(int modes) : r(modes), G(static_cast<std::size_t>(tile_count(points) * modes * tile_rows), S(0)) {
    boxes::Random random;
    for (int p = 0; p < points; ++p) {
      for (int c = 0; c < 9; ++c)
        for (int m = 0; m < r; ++m) {
          dense.push_back(static_cast<S>(random()));
          G[static_cast<std::size_t>(((p / tile_size * r + m) * 9 + c) * tile_size + p % tile_size)] = dense.back();
        }
      weight.push_back(static_cast<S>(1.5 + random()));
      region.push_back(p % 2);
    }
  }
  S g(int p, int c, int m) const { return dense[static_cast<std::size_t>((p * 9 + c) * r + m)]; }
  const S* tile(int t) const { return G.data() + t * r * tile_rows; }
  PointField<S> view(int t) const {
    const int first = t * tile_size;
    return {std::min(tile_size, points - first), weight.data() + first, region.data() + first, parameters.data(),
            nullptr};
  }
};

template <class S>
std::vector<S> modal(int r) {
  boxes::Random random;
  std::vector<S> alpha;
  for (int m = 0; m < r; ++m) alpha.push_back(static_cast<S>(0.05 * random()));
  return alpha;
}

template <class S>
class Tiles : public testing::Test {
 public:
  // A few hundred products of numbers of size one, summed in another order.
  static constexpr S tolerance = 1000 * std::numeric_limits<S>::epsilon();
};
using Scalars = testing::Types<double, float>;
TYPED_TEST_SUITE(Tiles, Scalars);

// Whole blocks of the rank update, and all that can be left over, for blocks of four and of five rows.
constexpr int all_modes[] = {1, 3, 4, 5, 7, 8, 13, 34};

TYPED_TEST(Tiles, GradientIsIdentityPlusGAlpha) {
  using S = TypeParam;
  for (const int r : all_modes) {
    const Field<S> field(r);
    const std::vector<S> alpha = modal<S>(r);
    for (int t = 0; t < tile_count(points); ++t) {
      AlignedVector<S> F(tile_rows);
      tile_gradient(SingleTeam{}, r, field.tile(t), alpha.data(), F.data());
      for (int l = 0; l < tile_size; ++l)
        for (int c = 0; c < 9; ++c) {
          S expected = c % 4 == 0 ? S(1) : S(0);
          const int p = t * tile_size + l;
          for (int m = 0; m < r && p < points; ++m) expected += field.g(p, c, m) * alpha[static_cast<std::size_t>(m)];
          ASSERT_NEAR(F[static_cast<std::size_t>(c * tile_size + l)], expected, this->tolerance) << r << " modes";
        }
    }
  }
}

TYPED_TEST(Tiles, ForcesAreGTransposedP) {
  using S = TypeParam;
  for (const int r : all_modes) {
    const Field<S> field(r);
    boxes::Random random;
    const auto n = static_cast<std::size_t>(r);
    std::vector<S> f(n, S(2)), magnitude(n, S(0)), expected(n, S(2)), largest(n, S(0));
    AlignedVector<S> lanes(n * Lanes<S, SingleTeam>::width, S(0)), sizes(lanes);
    for (int t = 0; t < tile_count(points); ++t) {
      AlignedVector<S> P(tile_rows, S(0));
      for (int l = 0; l < tile_size && t * tile_size + l < points; ++l)
        for (int c = 0; c < 9; ++c) P[static_cast<std::size_t>(c * tile_size + l)] = static_cast<S>(random());
      tile_forces(SingleTeam{}, r, field.tile(t), TileForces<S>{P.data(), lanes.data(), sizes.data()});
      for (int m = 0; m < r; ++m)
        for (int l = 0; l < tile_size && t * tile_size + l < points; ++l)
          for (int c = 0; c < 9; ++c) {
            const S term = field.g(t * tile_size + l, c, m) * P[static_cast<std::size_t>(c * tile_size + l)];
            expected[static_cast<std::size_t>(m)] += term;
            largest[static_cast<std::size_t>(m)] += std::abs(term);
          }
    }
    add_lanes(SingleTeam{}, r, lanes.data(), f.data());
    add_lanes(SingleTeam{}, r, sizes.data(), magnitude.data());
    for (std::size_t m = 0; m < n; ++m) {
      EXPECT_NEAR(f[m], expected[m], this->tolerance) << r << " modes";
      // A scale for residuals: not below what is left, not above the sum of all terms.
      EXPECT_GE(magnitude[m] * (1 + this->tolerance), std::abs(f[m] - S(2)));
      EXPECT_LE(magnitude[m], largest[m] * (1 + this->tolerance));
    }
  }
}

TYPED_TEST(Tiles, RankUpdateAddsXYTransposed) {
  using S = TypeParam;
  for (const int r : all_modes)
    for (const RankRows& rows : {RankRows{},
                                 {.plus = 4},
                                 {.plus = 1, .minus = 3},
                                 {.plus = 1, .minus = 3, .lanes = 16},
                                 {.plus = 9},
                                 {.plus = 9, .lanes = 16},
                                 {.stride = 48, .lanes = 48}}) {
      const auto n = static_cast<std::size_t>(r), columns = rows.length(), ld = n + 3;
      boxes::Random random;
      AlignedVector<S> X(n * columns), Y(static_cast<std::size_t>(rank_rows(r)) * columns);
      for (S& x : X) x = static_cast<S>(random());
      for (S& y : Y) y = static_cast<S>(random());
      AlignedVector<S> K(n * ld, S(7));
      AlignedVector<S> sums(stiffness_sums<S>(r), S(0));
      tile_rank_update(SingleTeam{}, r, rows, X.data(), Y.data(), sums.data());
      add_block_sums(SingleTeam{}, r, sums.data(), K.data(), static_cast<int>(ld));
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < ld; ++j) {
          S expected = 7;
          for (int kind = 0; kind < rows.plus + rows.minus && j <= i; ++kind)
            for (int lane = 0; lane < rows.lanes; ++lane) {
              const auto l = static_cast<std::size_t>(kind * rows.stride + lane);
              expected += (kind < rows.plus ? 1 : -1) * X[i * columns + l] * Y[j * columns + l];
            }
          ASSERT_NEAR(K[i * ld + j], expected, this->tolerance) << r << " modes, entry " << i << ", " << j;
        }
    }
}

// Projected stiffness of a whole field by tiles, dense: sum_p G_p^T (w C_p) G_p.
template <class Law, class S>
void expect_stiffness(int r, TangentKind kind, bool four_rows, S tolerance) {
  const Field<S> field(r);
  const std::vector<S> alpha = modal<S>(r);
  const auto n = static_cast<std::size_t>(r);
  std::vector<S> K(n * n, S(0)), expected(n * n, S(0)), from_squares(n * n, S(0));
  AlignedVector<S> sums(stiffness_sums<S>(r), S(0)), squares(sums);
  for (int t = 0; t < tile_count(points); ++t) {
    const auto kept = static_cast<std::size_t>(rank_rows(r));
    AlignedVector<S> F(tile_rows), C(81 * tile_size), X(kept * 4 * tile_size), Y(kept * tile_rows);
    // Of points beyond the last vector nothing counts.
    const int lanes = tile_lanes<S, SingleTeam>(points - t * tile_size);
    std::ranges::fill(X, std::numeric_limits<S>::quiet_NaN());
    std::ranges::fill(Y, std::numeric_limits<S>::quiet_NaN());
    tile_gradient(SingleTeam{}, r, field.tile(t), alpha.data(), F.data(), lanes);
    const PointField<S> view = field.view(t);
    if constexpr (requires { Law::template four_rows<S>; }) {
      if (four_rows) {
        AlignedVector<S> P(tile_rows), same(tile_rows);
        unsigned char status[tile_size];
        const StressFourRowOp<Law, S> op{view, kind, F.data(), P.data(), status, C.data()};
        const StressOp<Law, S> stress{view, F.data(), same.data(), status};
        run_tile(op, lanes);
        run_tile(stress, lanes);
        // The same arithmetic; the compiler may contract it differently in the two places. Stresses reach 30.
        for (std::size_t i = 0; i < tile_rows; ++i)
          if (static_cast<int>(i % tile_size) < lanes) {
            ASSERT_NEAR(P[i], same[i], 30 * tolerance);
          }
        const SingleTeam team;
        if (kind == TangentKind::safe) {
          tile_four_rows<RowForm::squares>(team, r, field.tile(t), C.data(), X.data(), Y.data(), NoForces{}, lanes);
          tile_rank_update(team, r, RankRows{.plus = 1, .minus = 3, .lanes = lanes}, X.data(), X.data(),
                           squares.data());
        }
        tile_four_rows<RowForm::general>(team, r, field.tile(t), C.data(), X.data(), Y.data(), NoForces{}, lanes);
        tile_rank_update(team, r, RankRows{.plus = 4, .lanes = lanes}, X.data(), Y.data(), sums.data());
      }
    }
    if (!four_rows) {
      const TangentOp<Law, S> op{view, kind, F.data(), C.data()};
      run_tile(op, lanes);
      tile_tangent_rows(SingleTeam{}, r, field.tile(t), C.data(), Y.data(), lanes);
      tile_rank_update(SingleTeam{}, r, RankRows{.plus = gradient_components, .lanes = lanes}, field.tile(t), Y.data(),
                       sums.data());
    }
    for (int l = 0; l < view.points; ++l) {
      const int p = t * tile_size + l;
      Mat3<S> f;
      for (int c = 0; c < 9; ++c) f[c] = F[static_cast<std::size_t>(c * tile_size + l)];
      const auto& m = field.parameters[static_cast<std::size_t>(field.region[static_cast<std::size_t>(p)])];
      S tangent[81];
      ASSERT_NE(Law::tangent(f, m, Mat3<S>::identity(), kind, tangent), PointStatus::undefined);
      // The four rows leave out the constant 2 mu |dF|^2.
      if (four_rows)
        for (int c = 0; c < 9; ++c) tangent[10 * c] -= 2 * m.p[0];
      for (int i = 0; i < r; ++i)
        for (int j = 0; j <= i; ++j)
          for (int c = 0; c < 9; ++c)
            for (int d = 0; d < 9; ++d)
              expected[static_cast<std::size_t>(i * r + j)] +=
                  field.weight[static_cast<std::size_t>(p)] * field.g(p, c, i) * tangent[9 * c + d] * field.g(p, d, j);
    }
  }
  add_block_sums(SingleTeam{}, r, sums.data(), K.data(), r);
  add_block_sums(SingleTeam{}, r, squares.data(), from_squares.data(), r);
  S scale = 0;
  for (S x : expected) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < n * n; ++i) {
    ASSERT_NEAR(K[i], expected[i], tolerance * scale) << r << " modes";
    if (four_rows && kind == TangentKind::safe) {
      ASSERT_NEAR(from_squares[i], expected[i], tolerance * scale) << r << " modes, as squares";
    }
  }
}

TYPED_TEST(Tiles, FourRowsAndGeneralTangentAreTheProjectedStiffness) {
  using S = TypeParam;
  for (const int r : {1, 5, 13})
    for (const TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
      expect_stiffness<Corotational<PolarOfGradient>, S>(r, kind, true, this->tolerance);
      expect_stiffness<Corotational<PolarOfGradient>, S>(r, kind, false, this->tolerance);
      expect_stiffness<StVenantKirchhoff, S>(r, kind, false, this->tolerance);
    }
}

}  // namespace
}  // namespace supple
