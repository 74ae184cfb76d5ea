#pragma once
// Small robots and bases for the tests of the reduced model: a bar with springs and cables, full-rank and random bases,
// comparison of two reduced models field by field.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/mesh/write.hpp"
#include "engine/reduction/basis/project.hpp"
#include "tests/engine/bodies/boxes.hpp"

namespace supple::reduced_bodies {

// Bar of 0.3 x 0.1 x 0.1 m, irregular so that nothing cancels by symmetry.
Mesh bar(bool hexahedra, int cells = 3);

// Held at x = 0, springs at the far end, gravity, Rayleigh damping; three cables: pulled by a length, by a force, and
// one between two points of the body that may push; two effectors, two probes.
Scene bar_scene(const boxes::Law& law);

// The same with two forces, on a point and over the far end as a displacement needs it, and with effectors of every
// kind.
Scene bar_with_forces(const boxes::Law& law);

// A folder of this test's own, gone when it ends.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const;

 private:
  std::string path_;
};

// A bar on disk with the length and the force cable, to be reduced in a second: 8 x 2 x 2 cells.
Scene saved_bar(const TemporaryFolder& folder, const boxes::Law& law, bool hexahedra);

// Column-major nv x nv.
std::vector<double> full_basis(int nv);

// Orthonormal, column-major nv x modes: Gram-Schmidt, twice.
std::vector<double> random_basis(int nv, int modes);

// Phi alpha.
std::vector<double> lift(const std::vector<double>& basis, const std::vector<double>& alpha);

// Phi^T f.
std::vector<double> restrict_vector(const std::vector<double>& basis, const std::vector<double>& f);

// Every second element with an irregular weight.
std::vector<IntegrationDomain> some_elements(const FullModel& model);

template <class Vector>
bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

void expect_same_errors(const ErrorSummary& a, const ErrorSummary& b);

void expect_same_robot(const Robot& a, const Robot& b);

// Every number the same, bit for bit.
void expect_same_model(const ReducedModel& a, const ReducedModel& b);

}  // namespace supple::reduced_bodies
