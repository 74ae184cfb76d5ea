// Point operations on packs of points: the same as point by point, also where a lane is inverted, flat or not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/array/aligned.hpp"
#include "kernels/elements/point_ops.hpp"
#include "kernels/materials/dispatch.hpp"

namespace supple {
namespace {

constexpr int points = 70;  // the last tile is not full

template <class S>
struct Points {
  std::vector<S> weight;
  std::vector<int> region;
  std::vector<MaterialParameters<S>> parameters{{{S(3), S(7), S(2), S(1.5), S(0.5), S(-2), S(4)}},
                                                {{S(5), S(4), S(9), S(3), S(0.3), S(4), S(3)}}};
  std::vector<Mat3<S>> edges;
  AlignedVector<S> F;

  Points() : F(static_cast<std::size_t>(padded(points)) * 9, S(0)) {
    std::mt19937 rng(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int p = 0; p < padded(points); ++p) {
      Mat3<S> f = Mat3<S>::identity(), e = Mat3<S>::identity();
      for (int c = 0; c < 9; ++c) {
        f[c] += static_cast<S>(0.4 * uniform(rng));
        e[c] += static_cast<S>(0.3 * uniform(rng));
      }
      if (p == 5) f = S(-1) * Mat3<S>::identity();              // inverted
      if (p == 13) f = Mat3<S>::zero();                         // no rotation at all
      if (p == 21) f[4] = std::numeric_limits<S>::quiet_NaN();  // undefined
      if (p == 38) f = {{1, 0, 0, 0, 1, 0, 0, 0, S(1e-9)}};     // flat
      if (p == 47) f[0] = std::numeric_limits<S>::infinity();   // undefined
      if (p >= points) f = Mat3<S>::identity();
      for (int c = 0; c < 9; ++c) F[tile_index(p, c, 9)] = f[c];
      if (p >= points) continue;
      weight.push_back(static_cast<S>(1 + uniform(rng) / 2));
      region.push_back(p % 3 == 0);
      edges.push_back(e);
    }
  }
  PointField<S> field() const { return {points, weight.data(), region.data(), parameters.data(), edges.data()}; }
};

// Contraction to fused products may differ between the two; stresses reach 100.
template <class S>
void expect_same(const AlignedVector<S>& a, const AlignedVector<S>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(std::isfinite(a[i])) << i;
    ASSERT_NEAR(a[i], b[i], 1000 * std::numeric_limits<S>::epsilon() * (1 + std::abs(b[i]))) << i;
  }
}

template <class S>
void compare(LawId id) {
  const Points<S> data;
  const auto count = static_cast<std::size_t>(padded(points));
  AlignedVector<S> one(9 * count), many(9 * count);
  std::vector<unsigned char> one_status(count, 9), many_status(count, 9);
  visit_law(id, [&](auto law) {
    using Law = decltype(law);
    StressOp<Law, S> op{data.field(), data.F.data(), one.data(), one_status.data()};
    for (int p = 0; p < padded(points); ++p) op(p);
    op.P = many.data();
    op.status = many_status.data();
    for (int p = 0; p < padded(points); p += op.lane_width) op.lanes(p);
    expect_same(many, one);
    EXPECT_EQ(many_status, one_status);
    EXPECT_EQ(one_status[21], static_cast<unsigned char>(PointStatus::undefined));
    if (solid(id)) {
      EXPECT_NE(one_status[5], static_cast<unsigned char>(PointStatus::regular));
    }
    for (const TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
      AlignedVector<S> one_tangent(81 * count), many_tangent(81 * count);
      TangentOp<Law, S> tangent{data.field(), kind, data.F.data(), one_tangent.data()};
      for (int p = 0; p < padded(points); ++p) tangent(p);
      tangent.C = many_tangent.data();
      for (int p = 0; p < padded(points); p += tangent.lane_width) tangent.lanes(p);
      expect_same(many_tangent, one_tangent);
    }
    if constexpr (four_rows_law<Law>)
      for (const TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
        AlignedVector<S> one_rows(four_row_components * count), many_rows(one_rows);
        StressFourRowOp<Law, S> rows{data.field(), kind, data.F.data(), one.data(), one_status.data(), one_rows.data()};
        for (int p = 0; p < padded(points); ++p) rows(p);
        rows.rows = many_rows.data();
        rows.P = many.data();
        rows.status = many_status.data();
        for (int p = 0; p < padded(points); p += rows.lane_width) rows.lanes(p);
        expect_same(many, one);
        expect_same(many_rows, one_rows);
        EXPECT_EQ(many_status, one_status);
      }
  });
}

TEST(PointLanes, EveryLawAgreesWithPointByPoint) {
  for (const LawId id :
       {LawId::corotational, LawId::corotational_edge_frame, LawId::corotational_edge_polar, LawId::st_venant_kirchhoff,
        LawId::stable_neo_hookean, LawId::mooney_rivlin, LawId::corotational_membrane, LawId::yeoh, LawId::gent,
        LawId::ogden, LawId::fibres, LawId::rod}) {
    SCOPED_TRACE(static_cast<int>(id));
    compare<double>(id);
    compare<float>(id);
  }
}

}  // namespace
}  // namespace supple
