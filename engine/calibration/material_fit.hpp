#pragma once
// Constants of hyperelastic laws from tests of a material: nominal stress against stretch, incompressible.

#include <array>
#include <string>
#include <vector>

#include "engine/calibration/robust_fit.hpp"
#include "engine/scene/scene.hpp"
#include "kernels/materials/dispatch.hpp"

namespace supple {

/// How a test piece is stretched by s: (s, 1/sqrt s, 1/sqrt s); (s, 1, 1/s), also called pure shear; (s, s, 1/s^2).
enum class MaterialTest { uniaxial, planar, biaxial };
inline constexpr std::array<const char*, 3> material_test_names = {"uniaxial", "planar", "biaxial"};

struct TestPoint {
  MaterialTest test = MaterialTest::uniaxial;
  double stretch = 1;
  double stress = 0;  // nominal: force over area at rest [Pa]
};

/// CSV with the columns `stretch` or `strain`, `stress` with a unit, and maybe `test` (uniaxial, planar, biaxial; without
/// it uniaxial). Throws InputError with file, line and column.
std::vector<TestPoint> read_material_tests(const std::string& path);

/// Nominal stress [Pa] of an incompressible body; NaN where the law is not defined.
double nominal_stress(LawId law, const MaterialParameters<double>& parameters, MaterialTest test, double stretch);

/// Stretches around 1 for which a test is stable in Drucker's sense: d(Kirchhoff stress) . d(logarithmic strain) > 0 for
/// every incompressible increment. Looked at from 0.1 to 10.
Interval stable_stretches(LawId law, const MaterialParameters<double>& parameters, MaterialTest test);

struct MaterialFit {
  std::string name;  // "Ogden, 2 terms"
  LawId law = LawId::mooney_rivlin;
  MaterialParameters<double> parameters{};  // D = 0
  int constants = 0;                        // that were found
  double rms = 0, largest = 0;              // residuals over the largest stress of their test
  double criterion = 0;                     // Akaike's, corrected for few points; the least is best
  std::array<Interval, 3> stable;           // of each test
  bool converged = false;
  std::string stopped;  // why not
};

/// neo-Hookean, Mooney-Rivlin, Yeoh, Gent, Ogden with one to three terms: those with fewer constants than points, the
/// best first. Residuals count relative to the largest stress of their test.
std::vector<MaterialFit> fit_materials(const std::vector<TestPoint>& points, Loss loss);

/// Lines of a [[body.material]] with these constants.
std::string material_lines(const MaterialFit& fit, double poisson);

/// Young's modulus [Pa] for a hardness, and what five points of hardness more or less, which is how well it is measured,
/// make of it. Shore A: A. N. Gent, On the relation between indentation hardness and Young's modulus, 1958; Shore D:
/// H. J. Qi, K. Joyce, M. C. Boyce, Durometer hardness and the stress-strain behavior of elastomeric materials, 2003.
struct HardnessEstimate {
  double young = 0, lower = 0, upper = 0;
};
/// "A 30", "D 40". Throws InputError for another scale or beyond what the relations hold for.
HardnessEstimate young_of_hardness(const std::string& shore);

}  // namespace supple
