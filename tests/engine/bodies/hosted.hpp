#pragma once
// The stages of a mechanics for lists on the host, wherever the mechanics lies.

#include <algorithm>
#include <cmath>

#include "engine/mechanics/mechanics.hpp"
#include "kernels/array/mirrored.hpp"
#include "kernels/base/extent.hpp"

namespace supple::test {

class Hosted {
 public:
  explicit Hosted(Mechanics& mechanics) : mechanics_(mechanics) {}

  PointReport evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                              std::span<double> f) {
    Mirrored<double> q_there = there(q), c_there = there(c), f_there(device(), f.size());
    Mirrored<PointReport> found(device(), extent(mechanics_.robots()));
    mechanics_.evaluate_forces(q_there.span(), c_there.span(), kind, f_there.span(), found.span());
    back(f_there, f);
    PointReport total;
    for (const PointReport& report : here(found)) {
      total.inverted += report.inverted;
      total.undefined += report.undefined;
      if (total.first_undefined < 0) total.first_undefined = report.first_undefined;
      total.force_scale = std::hypot(total.force_scale, report.force_scale);
    }
    return total;
  }
  void evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) {
    Mirrored<double> q_there = there(q), c_there = there(c), y_there(device(), y.size());
    mechanics_.evaluate_outputs(q_there.span(), c_there.span(), y_there.span());
    back(y_there, y);
  }
  void row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                     std::span<double> H_c) {
    Mirrored<double> g = there(gradients), H_there(device(), H.size()), H_c_there(device(), H_c.size());
    mechanics_.row_jacobians(layout, g.span(), H_there.span(), H_c_there.span());
    back(H_there, H);
    back(H_c_there, H_c);
  }
  void input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
    Mirrored<double> columns(device(), A_c.size());
    mechanics_.input_columns(coefficients, columns.span());
    back(columns, A_c);
  }
  // The first status that is not ok.
  SystemReport factor(const SystemCoefficients& coefficients, std::span<const double> y,
                      std::span<const double> multipliers) {
    Mirrored<SystemReport> found(device(), extent(mechanics_.robots()));
    mechanics_.factor(coefficients, y, multipliers, found.span());
    SystemReport worst;
    for (const SystemReport& report : here(found)) {
      if (worst.status == SystemStatus::ok) worst.status = report.status;
      worst.weakened += report.weakened;
      worst.negative_pivots = std::max(worst.negative_pivots, report.negative_pivots);
    }
    return worst;
  }
  void solve(std::span<double> X, int count) {
    Mirrored<double> columns = there(X);
    mechanics_.solve(columns.span(), count);
    back(columns, X);
  }
  void inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
    Mirrored<double> v_there = there(v), v_c_there = there(v_c), found(device(), out.size());
    mechanics_.inertia(v_there.span(), v_c_there.span(), found.span());
    back(found, out);
  }

 private:
  const Device& device() const { return mechanics_.device(); }
  Mirrored<double> there(std::span<const double> values) const {
    Mirrored<double> array(device(), values.size());
    std::copy(values.begin(), values.end(), array.host().begin());
    array.send();
    return array;
  }
  template <class T>
  std::span<T> here(Mirrored<T>& array) const {
    array.fetch();
    synchronize(device());
    return array.host();
  }
  void back(Mirrored<double>& array, std::span<double> out) const {
    const std::span<double> values = here(array);
    std::copy(values.begin(), values.end(), out.begin());
  }

  Mechanics& mechanics_;
};

}  // namespace supple::test
