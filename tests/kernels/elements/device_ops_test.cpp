// Every operation that kernels/cuda instantiates, on every device, against the same source called index by index on the
// host: field by field of what it writes.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/array/addresses.hpp"
#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/elements/batch_ops.hpp"
#include "kernels/elements/point_stiffness.hpp"
#include "kernels/materials/dispatch.hpp"
#include "tests/devices.hpp"

namespace supple {
namespace {

constexpr int robots = 3, points = 45, regions = 2, r = 6;
constexpr int stride = padded(points), all_points = robots * stride;

template <class S>
std::vector<S> random(int n, double size = 1, double about = 0) {
  static std::mt19937_64 generator(11);
  std::vector<S> values;
  for (int k = 0; k < n; ++k)
    values.push_back(static_cast<S>(about + size * (static_cast<double>(generator() >> 11) * 0x1.0p-52 - 1)));
  return values;
}

// A copy of host data on a device.
template <class T>
Array<T> on(const Device& device, const std::vector<T>& values) {
  return Array<T>(device, std::span<const T>(values));
}

template <class T>
std::vector<T> back(const Array<T>& array) {
  std::vector<T> values(array.size());
  array.download(values);
  return values;
}

// The device's compiler may fuse and vectorise elsewhere: some roundings of the largest number, through the inverse
// square roots of a rotation.
template <class S>
void expect_near(const std::vector<S>& found, const std::vector<S>& expected, const char* field,
                 double roundings = 256) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[k])));
    difference = std::max(difference, std::abs(static_cast<double>(found[k]) - static_cast<double>(expected[k])));
  }
  EXPECT_GT(largest, 0) << field;
  EXPECT_LE(difference, roundings * static_cast<double>(std::numeric_limits<S>::epsilon()) * largest) << field;
}

class DeviceOps : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceOps, test::every_device(), test::device_name);

// A field of points of a law and deformations near the identity.
template <class S>
struct Field {
  std::vector<S> weight = random<S>(points, 1, 2);
  std::vector<int> region;
  std::vector<MaterialParameters<S>> parameters{{{S(1), S(2), S(3), S(1.5), S(0.5), S(-2), S(4)}},
                                                {{S(2), S(1.5), S(1), S(3), S(0.3), S(4), S(3)}}};
  std::vector<Mat3<S>> edges;
  std::vector<S> scale = random<S>(robots * regions, 0.5, 1);
  std::vector<S> F = random<S>(all_points * 9, 0.1);

  Field() {
    for (int p = 0; p < points; ++p) {
      region.push_back(p % regions);
      Mat3<S> frame = Mat3<S>::identity();
      for (int c = 0; c < 9; ++c) frame[c] += S(0.1) * S((p + c) % 5);
      edges.push_back(frame);
    }
    for (int k = 0; k < all_points; ++k)
      for (int i = 0; i < 3; ++i)
        F[static_cast<std::size_t>(k / stride * stride * 9) + tile_index(k % stride, 4 * i, 9)] += S(1);
  }
};

template <class S>
struct FieldOn {
  Array<S> weight, scale, F;
  Array<int> region;
  Array<MaterialParameters<S>> parameters;
  Array<Mat3<S>> edges;
  FieldOn(const Device& device, const Field<S>& field)
      : weight(on(device, field.weight)),
        scale(on(device, field.scale)),
        F(on(device, field.F)),
        region(on(device, field.region)),
        parameters(on(device, field.parameters)),
        edges(on(device, field.edges)) {}
  PointField<S> view() const {
    return {points, weight.data(), region.data(), parameters.data(), edges.data(), scale.data(), regions};
  }
};

template <class Law, class S>
void compare_law(const Device& device) {
  const Field<S> field;
  const FieldOn<S> here(cpu(), field), there(device, field);
  const int n = all_points;
  for (const TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
    std::vector<S> P(static_cast<std::size_t>(9 * n)), C(static_cast<std::size_t>(81 * n)),
        rows(static_cast<std::size_t>(four_row_components * n));
    std::vector<unsigned char> status(static_cast<std::size_t>(n));
    Array<S> P_there(device, P.size()), C_there(device, C.size()), rows_there(device, rows.size());
    Array<unsigned char> status_there(device, status.size());
    const StressOp<Law, S> stress{here.view(), here.F.data(), P.data(), status.data()};
    const TangentOp<Law, S> tangent{here.view(), kind, here.F.data(), C.data()};
    for (int k = 0; k < n; ++k) {
      stress(k);
      tangent(k);
    }
    launch(device, n, StressOp<Law, S>{there.view(), there.F.data(), P_there.data(), status_there.data()});
    launch(device, n, TangentOp<Law, S>{there.view(), kind, there.F.data(), C_there.data()});
    expect_near(back(P_there), P, "P");
    expect_near(back(C_there), C, "dP/dF", 4096);
    EXPECT_EQ(back(status_there), status);
    if constexpr (requires { Law::template four_rows<S>; }) {
      const StressFourRowOp<Law, S> four{here.view(), kind, here.F.data(), P.data(), status.data(), rows.data()};
      for (int k = 0; k < n; ++k) four(k);
      launch(device, n,
             StressFourRowOp<Law, S>{there.view(), kind, there.F.data(), P_there.data(), status_there.data(),
                                     rows_there.data()});
      expect_near(back(P_there), P, "P beside four rows");
      expect_near(back(rows_there), rows, "four rows", 4096);
      EXPECT_EQ(back(status_there), status);
    }
  }
}

TEST_P(DeviceOps, PointsOfEveryLaw) {
  for (const LawId id :
       {LawId::corotational, LawId::corotational_edge_frame, LawId::corotational_edge_polar, LawId::st_venant_kirchhoff,
        LawId::stable_neo_hookean, LawId::mooney_rivlin, LawId::corotational_membrane, LawId::yeoh, LawId::gent,
        LawId::ogden, LawId::fibres, LawId::rod})
    visit_law(id, [&](auto law) {
      SCOPED_TRACE(static_cast<int>(id));
      compare_law<decltype(law), double>(GetParam());
      compare_law<decltype(law), float>(GetParam());
    });
}

// Runs an op on both sides: `make` gives it from a function that places host data on a device, and what it writes.
template <class T, class Make>
void compare(const Device& device, int n, const std::vector<T>& written, const char* field, const Make& make) {
  std::vector<T> expected = written;
  const auto host = [](const auto& values) { return values.data(); };
  const auto op = make(host, expected.data());
  for (int k = 0; k < n; ++k) op(k);
  Array<T> found = on(device, written);
  std::vector<std::shared_ptr<void>> kept;
  const auto place = [&](const auto& values) {
    using Value = std::remove_cvref_t<decltype(values[0])>;
    auto array = std::make_shared<Array<Value>>(on(device, values));
    kept.push_back(array);
    return static_cast<const Value*>(array->data());
  };
  launch(device, n, make(place, found.data()));
  if constexpr (std::is_floating_point_v<T>)
    expect_near(back(found), expected, field);
  else
    EXPECT_EQ(back(found), expected) << field;
}

template <class S>
void compare_batch_ops(const Device& device) {
  const int square = r * r, n = robots * square;
  const std::vector<S> K = random<S>(n), M = random<S>(square), zero(static_cast<std::size_t>(n)),
                       terms = random<S>((1 + regions) * square), scale = random<S>(robots * regions);
  const std::vector<double> v = random<double>(robots * r), outputs = random<double>(9 * r);
  const std::vector<float> sums = random<float>(n);
  compare<S>(device, n, zero, "repeated", [&](auto at, S* out) { return RepeatOp<S>{at(M), square, out}; });
  compare<S>(device, n, zero, "system", [&](auto at, S* out) {
    return SystemOp<S>{{.mass = 3, .stiffness = 2}, at(K), at(M), square, out};
  });
  const std::vector<RobotSystem> own{{1.5, 2, 3}, {0.5, 0, 1}, {2, 1, 0}};
  compare<S>(device, n, zero, "systems of their own", [&](auto at, S* out) {
    return SystemOp<S>{{.own = at(own), .inertia = 5, .implicit = 0.7, .rate = 0.2}, at(K), at(M), square, out};
  });
  compare<double>(device, robots * r, random<double>(robots * r), "damping", [&](auto at, double* out) {
    return DampingOp<S>{r, {1, 2, 3}, nullptr, at(K), at(v), out};
  });
  compare<double>(device, robots * r, random<double>(robots * r), "damping of their own",
                  [&](auto at, double* out) { return DampingOp<S>{r, {}, at(own), at(K), at(v), out}; });
  compare<double>(device, robots * r, random<double>(robots * r), "density", [&](auto at, double* out) {
    return DensityOp{at(own), r, out};
  });
  compare<S>(device, n, zero, "stiffness", [&](auto at, S* out) {
    return StiffnessSumOp<S>{{at(terms), square, at(scale), regions}, at(sums), out};
  });
  std::vector<PointStiffness> entries;
  for (const int robot : {0, 0, 2}) {
    PointStiffness entry{robot, static_cast<int>(entries.size()) % 3, 1, Mat3d::identity()};
    for (int c = 0; c < 9; ++c) entry.S[c] += 0.1 * c;
    entries.push_back(entry);
  }
  const std::vector<int> first{0, 2, 2, 3};
  compare<S>(device, robots * r, random<S>(n), "points", [&](auto at, S* out) {
    return PointStiffnessOp<S>{r, at(outputs), at(entries), at(first), out};
  });
}

TEST_P(DeviceOps, BatchesInBothPrecisions) {
  compare_batch_ops<double>(GetParam());
  compare_batch_ops<float>(GetParam());
}

TEST_P(DeviceOps, Casts) {
  const std::vector<double> wide = random<double>(robots * r);
  const std::vector<float> narrow = random<float>(robots * r);
  compare<float>(GetParam(), robots * r, std::vector<float>(wide.size()), "to single precision",
                 [&](auto at, float* out) {
                   return CastOp<double, float>{at(wide), out};
                 });
  compare<double>(GetParam(), robots * r, std::vector<double>(wide.size()), "to double precision",
                  [&](auto at, double* out) {
                    return CastOp<float, double>{at(narrow), out};
                  });
}

TEST_P(DeviceOps, Counts) {
  std::vector<unsigned char> status(static_cast<std::size_t>(all_points));
  for (std::size_t k = 0; k < status.size(); ++k) status[k] = static_cast<unsigned char>(k * k % 7 % 3);
  std::vector<int> element(static_cast<std::size_t>(points));
  for (std::size_t k = 0; k < element.size(); ++k) element[k] = 100 + static_cast<int>(k);
  std::vector<PointReport> expected(robots), found(robots);
  Array<PointReport> reports(GetParam(), robots);
  const Array<unsigned char> status_there = on(GetParam(), status);
  const Array<int> element_there = on(GetParam(), element);
  for (const bool begins : {true, false}) {
    const int per_element = begins ? 1 : 2;
    const PointCountOp op{status.data(), points, element.data(), per_element, begins, expected.data()};
    for (int robot = 0; robot < robots; ++robot) op(robot);
    launch(GetParam(), robots,
           PointCountOp{status_there.data(), points, element_there.data(), per_element, begins, reports.data()});
  }
  reports.download(found);
  for (std::size_t b = 0; b < robots; ++b) {
    EXPECT_EQ(found[b].inverted, expected[b].inverted);
    EXPECT_EQ(found[b].undefined, expected[b].undefined);
    EXPECT_EQ(found[b].first_undefined, expected[b].first_undefined);
    EXPECT_GT(expected[b].inverted, 0);
    EXPECT_GE(expected[b].first_undefined, 100);
  }
}

TEST_P(DeviceOps, Addresses) {
  Array<std::byte*> list(GetParam(), 5);
  Array<std::byte> data(GetParam(), 100);
  launch(GetParam(), 5, AddressOp{data.data(), 24, list.data()});
  const std::vector<std::byte*> found = back(list);
  for (std::ptrdiff_t k = 0; k < 5; ++k) EXPECT_EQ(found[static_cast<std::size_t>(k)], data.data() + 24 * k);
}

// One robot, one team: K of the tiles and its constant part.
template <class S, TangentRows rows>
void compare_stiffness(const Device& device, int r) {
  constexpr int tiles = 2, components = rows == TangentRows::four ? four_row_components : 81;
  const std::vector<S> G = random<S>(tiles * r * tile_rows),
                       tangent = random<S>(robots * tiles * components * tile_size),
                       terms = random<S>((1 + regions) * r * r), scale = random<S>(robots * regions);
  const std::size_t length = stiffness_scratch<S>(rows, r, TeamKind::cpu),
                    length_there = device == cpu() ? length : stiffness_scratch<S>(rows, r, TeamKind::gpu);
  std::vector<S> K(static_cast<std::size_t>(robots * r * r)), scratch(length);
  const ReducedStiffnessTeamOp<S, rows> here{
      r,        tiles * tile_size, G.data(), tangent.data(), true, {terms.data(), r * r, scale.data(), regions},
      K.data(), scratch.data(),    length};
  for (int robot = 0; robot < robots; ++robot) here(SingleTeam{}, 0, robot);
  const int teams = team_count(device, robots);
  const Array<S> G_there = on(device, G), tangent_there = on(device, tangent), terms_there = on(device, terms),
                 scale_there = on(device, scale);
  Array<S> K_there(device, K.size()), scratch_there(device, length_there * static_cast<std::size_t>(teams));
  launch_teams(device, robots, teams,
               ReducedStiffnessTeamOp<S, rows>{r,
                                               tiles * tile_size,
                                               G_there.data(),
                                               tangent_there.data(),
                                               true,
                                               {terms_there.data(), r * r, scale_there.data(), regions},
                                               K_there.data(),
                                               scratch_there.data(),
                                               length_there});
  expect_near(back(K_there), K, "K");
}

TEST_P(DeviceOps, ProjectedStiffness) {
  // Rows of 34 modes fit the memory that a block shares, four to sixteen points at once; those of 100 only four kinds in
  // FP32.
  for (const int modes : {r, 34, 100}) {
    compare_stiffness<double, TangentRows::four>(GetParam(), modes);
    compare_stiffness<double, TangentRows::nine>(GetParam(), modes);
    compare_stiffness<float, TangentRows::four>(GetParam(), modes);
    compare_stiffness<float, TangentRows::nine>(GetParam(), modes);
  }
}

}  // namespace
}  // namespace supple
