// Laws fitted to tests of a material that is known.

#include "engine/calibration/material_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "engine/scene/reader.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple {
namespace {

std::vector<TestPoint> tests_of(LawId law, const MaterialParameters<double>& m, double most, double noise = 0) {
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  std::vector<TestPoint> points;
  for (const MaterialTest test : {MaterialTest::uniaxial, MaterialTest::planar, MaterialTest::biaxial}) {
    const double end = test == MaterialTest::biaxial ? 1 + 0.6 * (most - 1) : most;
    for (int k = 1; k <= 12; ++k) {
      const double s = 1 + (end - 1) * k / 12;
      points.push_back({test, s, nominal_stress(law, m, test, s) * (1 + noise * normal(rng))});
    }
  }
  return points;
}

const MaterialFit& of(const std::vector<MaterialFit>& fits, const std::string& name) {
  return *std::ranges::find(fits, name, &MaterialFit::name);
}

TEST(MaterialFit, NominalStressesAreThoseOfTheTextBooks) {
  const MaterialParameters<double> neo{{50e3}};  // C1 = mu/2
  for (const double s : {0.6, 1.3, 2.5}) {
    // mu (s - s^-2), mu (s - s^-3), mu (s - s^-5) with mu = 100 kPa; rounding.
    EXPECT_NEAR(nominal_stress(LawId::mooney_rivlin, neo, MaterialTest::uniaxial, s), 1e5 * (s - std::pow(s, -2)),
                1e-6);
    EXPECT_NEAR(nominal_stress(LawId::mooney_rivlin, neo, MaterialTest::planar, s), 1e5 * (s - std::pow(s, -3)), 1e-6);
    EXPECT_NEAR(nominal_stress(LawId::mooney_rivlin, neo, MaterialTest::biaxial, s), 1e5 * (s - std::pow(s, -5)), 1e-5);
  }
}

TEST(MaterialFit, FindsTheLawThatMadeTheData) {
  struct Known {
    std::string name;
    LawId law;
    MaterialParameters<double> m;
    double most;
  };
  const Known known[] = {{"neo-Hookean", LawId::mooney_rivlin, {{30e3}}, 2},
                         {"Mooney-Rivlin", LawId::mooney_rivlin, {{30e3, 8e3}}, 2},
                         {"Yeoh", LawId::yeoh, {{20e3, -1e3, 100}}, 3},
                         {"Gent", LawId::gent, {{60e3, 25}}, 4},
                         {"Ogden, 2 terms", LawId::ogden, {{40e3, 1.6, -9e3, -2.5, 0, 2}}, 3}};
  for (const Known& each : known) {
    const std::vector<MaterialFit> fits = fit_materials(tests_of(each.law, each.m, each.most), Loss::squares);
    const MaterialFit& found = of(fits, each.name);
    EXPECT_TRUE(found.converged) << each.name;
    EXPECT_LT(found.rms, 1e-6) << each.name;
    // Without noise a law that contains the true one fits as well.
    EXPECT_LT(fits.front().rms, 1e-6) << each.name;
    for (int i = 0; i < found.constants; ++i)
      EXPECT_NEAR(found.parameters.p[i], each.m.p[i], 1e-3 * std::abs(each.m.p[i])) << each.name << ", " << i;
  }
}

TEST(MaterialFit, PrefersFewConstantsWhereNoiseHidesTheRest) {
  const std::vector<MaterialFit> fits = fit_materials(tests_of(LawId::gent, {{60e3, 25}}, 4, 0.01), Loss::squares);
  EXPECT_EQ(fits.front().name, "Gent");
  EXPECT_GT(of(fits, "neo-Hookean").rms, 0.05);
}

TEST(MaterialFit, SaysWhereALawIsStable) {
  const Interval neo = stable_stretches(LawId::mooney_rivlin, {{50e3}}, MaterialTest::uniaxial);
  EXPECT_EQ(neo.lower, 0.1);
  EXPECT_EQ(neo.upper, 10);
  // Yeoh with a negative C2: w' = C1 + 2 C2 x falls to zero at x = 10, where s^2 + 2/s - 3 = 10, s = 3.53. Stability ends
  // before.
  const Interval yeoh = stable_stretches(LawId::yeoh, {{20e3, -1e3, 0}}, MaterialTest::uniaxial);
  EXPECT_LT(yeoh.upper, 3.53);
  EXPECT_GT(yeoh.upper, 1.5);
  // Gent up to where it locks: s^2 + 2/s - 3 = 25, s = 5.26; steps of 1 %.
  const Interval gent = stable_stretches(LawId::gent, {{60e3, 25}}, MaterialTest::uniaxial);
  EXPECT_NEAR(gent.upper, 5.26, 0.06);
}

TEST(MaterialFit, ItsLinesAreAMaterialOfAScene) {
  const std::vector<MaterialFit> fits = fit_materials(tests_of(LawId::gent, {{60e3, 25}}, 4, 0.01), Loss::squares);
  for (const MaterialFit& fit : fits) {
    const Scene scene =
        parse_scene("[body]\nmesh = {file = \"a.msh\"}\ndensity = 1000\n" + material_lines(fit, 0.49), "s");
    const MaterialScene& material = scene.bodies.front().materials.front();
    if (fit.law == LawId::mooney_rivlin) {
      EXPECT_NEAR(*material.c01, fit.parameters.p[0], 1e-5 * fit.parameters.p[0]);
      continue;
    }
    for (int i = 0; i < fit.constants; ++i)
      EXPECT_NEAR(material.constants[static_cast<std::size_t>(i)], fit.parameters.p[i],
                  1e-5 * std::abs(fit.parameters.p[i]));
  }
}

TEST(MaterialFit, HardnessByTheRelationsThatAreNamed) {
  // Gent's formula by hand: 0.0981 (56 + 7.62336 30)/(0.137505 (254 - 2.54 30)) = 1.1424 MPa.
  const HardnessEstimate a = young_of_hardness("A 30");
  EXPECT_NEAR(a.young, 1.1424e6, 1e2);
  EXPECT_LT(a.lower, a.young);
  EXPECT_GT(a.upper, a.young);
  // 10^(0.0235 90 - 0.6403) = 29.84 MPa.
  EXPECT_NEAR(young_of_hardness("D 40").young, 29.84e6, 2e4);
  for (const char* bad : {"00 30", "A", "A 5", "A 95", "30", "A x", "A b 30", "A -30"})
    EXPECT_THROW((void)young_of_hardness(bad), InputError) << bad;
}

TEST(MaterialFit, BadTestsAreRefused) {
  const test::TemporaryFolder folder;
  const auto refuse = [&](const std::string& text, int line, const std::string& words) {
    const std::string file = folder.file("tests.csv");
    std::ofstream(file) << text;
    test::expect_input_error([&] { (void)fit_materials(read_material_tests(file), Loss::squares); }, line, words);
  };
  refuse("", 0, "no line of numbers");
  refuse("stretch,stress\n1.1\n", 2, "1 cells");
  refuse("stretch,force\n1.1,1\n", 1, "no column of a test");
  refuse("stretch,strain,stress\n1.1,0.1,1\n", 1, "one of stretch and strain");
  refuse("stretch [mm],stress\n1.1,1\n", 1, "a plain number is expected");
  refuse("strain,stress\n100,1\n", 2, "stretch is 101");
  refuse("test,stretch,stress\nshear,1.1,1\n", 2, "is no test");
  refuse("stretch,stress\n-1,1\n", 2, "stretch is -1");
  refuse("stretch,stress [kPa]\n1.1,-1\n1.2,-2\n", 0, "falls where stretch grows");
  refuse("stretch,stress [kPa]\n1.1,1\n", 0, "cannot tell a law");
}

}  // namespace
}  // namespace supple
