// calibrate, fit-material and mesh, as a user runs them.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/read.hpp"
#include "engine/mesh/select.hpp"
#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class CalibrateVerb : public Cli {
 protected:
  // Measured: the beam with another modulus, by runs of the program itself.
  void measure(const std::string& file) {
    std::string truth = read_text(path("scene.toml"));
    truth.replace(truth.find("500 kPa"), 7, "400 kPa");
    write_text(path("truth.toml"), truth);
    std::string table = "run,lift [N],tip x [mm],tip y [mm],tip z [mm]\n";
    for (const std::string force : {"0", "0.5", "1"}) {
      const std::string folder = "run-" + force;
      const Outcome outcome = run({"simulate", "truth.toml", "--integrator", "quasi-static", "--set",
                                   "lift=" + force + " N", "--duration", "10 ms", "-o", folder});
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      std::istringstream lines(read_text(path(folder + "/trajectory.csv")));
      std::string header, line, last;
      std::getline(lines, header);
      while (std::getline(lines, line)) last = line;
      // The last three columns but those of nothing else: the tip is the only effector.
      std::vector<std::string> names, cells;
      for (std::istringstream row(header); std::getline(row, line, ',');) names.push_back(line);
      for (std::istringstream row(last); std::getline(row, line, ',');) cells.push_back(line);
      ASSERT_EQ(names.size(), cells.size());
      table += "at " + force + "," + force;
      for (const std::string name : {"tip x [mm]", "tip y [mm]", "tip z [mm]"}) {
        const auto at = std::ranges::find(names, name) - names.begin();
        ASSERT_LT(at, static_cast<long>(names.size()));
        table += "," + cells[static_cast<std::size_t>(at)];
      }
      table += "\n";
    }
    write_text(path(file), table);
  }
};

TEST_F(CalibrateVerb, FindsAModulusWritesTheSceneAndComparesIt) {
  measure("data.csv");
  const Outcome outcome =
      run({"calibrate", "scene.toml", "--data", "data.csv", "--parameters", "body.material.young = 100 kPa .. 2 MPa",
           "-o", "calibrated.toml", "--json", "fit.json", "--report", "report", "--quiet"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(read_text(path("fit.json")));
  EXPECT_EQ(report["parameters"][0]["unit"], "kPa");
  EXPECT_EQ(report["parameters"][0]["upper"], 2000);
  // Tables have nine digits of millimetres.
  EXPECT_NEAR(report["parameters"][0]["value"].get<double>(), 400, 1e-2);
  EXPECT_LT(report["rms_m"].get<double>(), 1e-7);
  EXPECT_GT(report["rms_start_m"].get<double>(), 1e-4);
  EXPECT_TRUE(report["rms_of_loads_m"].contains("at 0.5"));
  EXPECT_TRUE(contains(read_text(path("calibrated.toml")), "points = [[\"200 mm\", \"20 mm\", \"40 mm\"]]"));
  EXPECT_TRUE(contains(read_text(path("report/residuals.csv")), "\"at 1\",tip z,mm,"));
  const Outcome compared = run({"calibrate", "calibrated.toml", "--data", "data.csv"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_TRUE(contains(compared.out, "the scene as it is"));
  EXPECT_TRUE(contains(compared.out, "0.00"));
}

TEST_F(CalibrateVerb, SaysWhatTheLoadsCannotTell) {
  measure("data.csv");
  const Outcome outcome = run({"calibrate", "scene.toml", "--data", "data.csv", "--parameters", "body.material.young",
                               "--parameters", "time_step = 1 ms .. 1 s"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "these loads do not depend on 'time_step'")) << outcome.err;
}

TEST_F(CalibrateVerb, BadInputIsRefused) {
  write_text(path("data.csv"), "lift [N],tip z [mm]\n0,20\n1,21\n");
  const auto refuse = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), "calibrate");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << message << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
  };
  const std::string young = "body.material.young";
  refuse({"scene.toml"}, "no measurements are given");
  refuse({"scene.toml", "--data", "none.csv"}, "cannot read the file");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", "body.yuong"}, "there is no 'yuong'");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", young + " = 1 mm .. 2 mm"}, "is a length");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", young + " = 100 kPa"}, "has no two bounds");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", young + " = 600 kPa .. 1 MPa"}, "not between its bounds");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", young, "-o", "/tmp/elsewhere.toml"}, "another folder");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", young, "-o", "scene.toml"}, "--force");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", young, "--noise", "3"}, "--noise '3'");
  refuse({"scene.toml", "--data", "data.csv", "--parameters", young, "--align", "rigid"}, "of three coordinates");
  refuse({"scene.toml", "--data", "data.csv", "-o", "other.toml"}, "no parameter is given");
  EXPECT_TRUE(contains(read_text(path("scene.toml")), "500 kPa"));
}

TEST_F(CalibrateVerb, FitsAMaterial) {
  // Nominal stress of a neo-Hookean body with mu = 50 kPa, uniaxial: 50 (s - 1/s^2).
  std::ostringstream table;
  table << "strain [%],stress [kPa]\n";
  for (int k = 1; k <= 10; ++k) {
    const double s = 1 + 0.1 * k;
    table << 10 * k << "," << 50 * (s - 1 / (s * s)) << "\n";
  }
  write_text(path("tests.csv"), table.str());
  const Outcome outcome = run({"fit-material", "tests.csv", "--json", "fit.json", "--report", "report"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(read_text(path("fit.json")));
  EXPECT_EQ(report["best"], "neo-Hookean");
  EXPECT_NEAR(report["fits"][0]["shear_modulus_Pa"].get<double>(), 50e3, 10);  // six digits in the table
  EXPECT_TRUE(contains(outcome.out, "model = \"mooney-rivlin\""));
  EXPECT_TRUE(contains(read_text(path("report/material.csv")), "uniaxial,1.5,"));
  const Outcome shore = run({"fit-material", "--shore", "A 30"});
  EXPECT_EQ(shore.code, 0) << shore.err;
  EXPECT_TRUE(contains(shore.out, "1.142 MPa"));
  EXPECT_EQ(run({"fit-material"}).code, 2);
  EXPECT_EQ(run({"fit-material", "tests.csv", "--shore", "A 30"}).code, 2);
  EXPECT_EQ(run({"fit-material", "--shore", "00 30"}).code, 2);
  EXPECT_EQ(run({"fit-material", "tests.csv", "--poisson", "0.6"}).code, 2);
}

// A box of 40 mm with a void of 20 mm in it, as triangles.
class MeshVerb : public Cli {
 protected:
  static Surface box(double size, bool turned) {
    Mesh mesh = box_tetrahedra({{-size / 2, -size / 2, -size / 2}}, {{size / 2, size / 2, size / 2}}, 1, 1, 1);
    Surface surface = boundary_surface(mesh).surface;
    if (turned)
      for (auto& triangle : surface.triangles) std::swap(triangle[0], triangle[1]);
    return surface;
  }
  void write_box(const std::string& name, bool hollow) {
    Surface surface = box(40, false);
    if (hollow) {
      const Surface inner = box(20, true);
      const int first = static_cast<int>(surface.nodes.size());
      surface.nodes.insert(surface.nodes.end(), inner.nodes.begin(), inner.nodes.end());
      for (const auto& [a, b, c] : inner.triangles) surface.triangles.push_back({a + first, b + first, c + first});
    }
    write_stl(path(name), surface);
  }
  static bool has_gmsh() { return system("gmsh -version > /dev/null 2>&1") == 0; }
};

TEST_F(MeshVerb, FillsASurfaceAroundItsVoid) {
  if (!has_gmsh()) GTEST_SKIP() << "gmsh is not installed";
  write_box("box.stl", true);
  const Outcome outcome = run({"mesh", "box.stl", "--size", "10 mm", "--json", "mesh.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  Mesh mesh = read_mesh(path("box.msh"));
  const MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.components, 1);
  EXPECT_NEAR(report.volume, 40 * 40 * 40 - 20 * 20 * 20, 1e-6);  // flat faces, to the digits of the file
  const std::vector<int> walls = nodes_of_group(mesh, "cavity");
  ASSERT_GT(walls.size(), 7u);
  for (const int node : walls) {
    const Vec3d& x = mesh.nodes[static_cast<std::size_t>(node)];
    EXPECT_NEAR(std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])}), 10, 1e-6);
  }
  for (const int node : nodes_of_group(mesh, "outside")) {
    const Vec3d& x = mesh.nodes[static_cast<std::size_t>(node)];
    EXPECT_NEAR(std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])}), 20, 1e-6);
  }
  EXPECT_EQ(run({"mesh", "box.stl", "--size", "10 mm"}).code, 2);  // it is there already
  // It is a cavity of a robot.
  write_text(path("hollow.toml"),
             "[body]\nmesh = {file = \"box.msh\", unit = \"mm\"}\nmass = \"50 g\"\n"
             "[[body.material]]\nyoung = \"1 MPa\"\npoisson = 0.45\n[[fix]]\n"
             "box = [[-1, -1, \"-20.1 mm\"], [1, 1, \"-19.9 mm\"]]\n[[actuator]]\nname = \"air\"\n"
             "type = \"cavity\"\ngroup = \"cavity\"\nrange = [\"0 kPa\", \"10 kPa\"]\n");
  const Outcome checked = run({"check", "hollow.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_TRUE(contains(checked.out, "mesh error"));
}

TEST_F(MeshVerb, WhatCannotBeFilledIsRefused) {
  Surface open = box(40, false);
  open.triangles.pop_back();
  write_stl(path("open.stl"), open);
  const auto refuse = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), "mesh");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << message << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
  };
  refuse({"open.stl", "--size", "10 mm"}, "is not closed");
  refuse({"none.stl", "--size", "10 mm"}, "cannot read the file");
  refuse({"open.stl"}, "no size");
  refuse({"open.stl", "--size", "10 mm", "--curved"}, "--curved goes with CAD");
  EXPECT_FALSE(std::filesystem::exists(path("open.msh")));
}

}  // namespace
}  // namespace supple::test
