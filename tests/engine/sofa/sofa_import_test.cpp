// Reduced models from SOFA's files and back: the audit finds what is wrong, and the round trip changes nothing.

#include "engine/sofa/sofa_import.hpp"

#include <cmath>
#include <filesystem>
#include <numeric>

#include "engine/io/model_file.hpp"
#include "engine/mesh/read.hpp"
#include "kernels/base/hash.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

// A bar of tetrahedra on disk, and files of a reduced model of it.
class SofaBar : public testing::Test {
 protected:
  static constexpr int modes_count = 4;

  // A node that belongs to no element comes first, so that numbers of nodes differ between file and model.
  void SetUp() override {
    Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{0.3, 0.1, 0.1}}, 4, 1, 1);
    mesh.nodes.insert(mesh.nodes.begin(), Vec3d{{1, 1, 1}});
    for (auto& cell : mesh.tetrahedra)
      for (int& node : cell) ++node;
    for (auto& cell : mesh.triangles)
      for (int& node : cell) ++node;
    file_nodes = static_cast<int>(mesh.nodes.size());
    write_msh(folder / "bar.msh", mesh);
    scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
    scene.bodies[0].mesh_file = folder / "bar.msh";
    full = build_full_model(scene);
    node_of_file = nodes_of_file(scene);
    ASSERT_EQ(static_cast<int>(node_of_file.size()), file_nodes);
    modes = {"modes.txt", 3 * file_nodes, modes_count, {}};
    modes.values.assign(static_cast<std::size_t>(3 * file_nodes * modes_count), 0.0);
    const int nv = full.coordinates.nv;
    const std::vector<double> basis = reduced_bodies::random_basis(nv, modes_count);
    for (int i = 0; i < file_nodes; ++i)
      for (int m = 0; m < modes_count; ++m)
        for (int k = 0; k < 3; ++k)
          if (const int unknown = unknown_of(i); unknown >= 0)
            value(i, k, m) = basis[static_cast<std::size_t>(m * nv + 3 * unknown + k)];
    const int elements = full.fields[0].elements();
    domain = {"RID.txt", "weight.txt", {}, std::vector<double>(static_cast<std::size_t>(elements), 0.0)};
    for (int e = elements - 1; e > 0; e -= 3) {
      domain.elements.push_back(e);
      domain.weights[static_cast<std::size_t>(e)] = 3 + 0.1 * e / elements + 1e-9;
    }
  }
  int unknown_of(int file_node) const {
    const int node = node_of_file[static_cast<std::size_t>(file_node)];
    return node < 0 ? -1 : full.node_unknown[static_cast<std::size_t>(node)];
  }
  double& value(int node, int k, int m) {
    return modes.values[static_cast<std::size_t>(m * modes.rows + 3 * node + k)];
  }
  SofaImport import(bool orthonormalise = false) const {
    return import_sofa(full, node_of_file, modes, {domain}, orthonormalise);
  }
  // The line of the audit whose check ends so.
  static const AuditLine* find(const SofaImport& import, const std::string& check) {
    for (const AuditLine& line : import.audit)
      if (line.check.ends_with(check)) return &line;
    return nullptr;
  }
  void expect(const SofaImport& import, const std::string& check, AuditLevel level, const std::string& words) {
    const AuditLine* line = find(import, check);
    ASSERT_NE(line, nullptr) << check;
    EXPECT_EQ(line->level, level) << check << ": " << line->finding;
    EXPECT_NE(line->finding.find(words), std::string::npos) << line->finding;
    if (level == AuditLevel::error) {
      EXPECT_EQ(import.error(), line);
      EXPECT_TRUE(import.domains.empty());
    }
  }

  TemporaryFolder folder;
  Scene scene;
  FullModel full;
  std::vector<int> node_of_file;
  int file_nodes = 0;
  SofaModes modes;
  SofaDomain domain;
};

TEST_F(SofaBar, AGoodModelHasNothingToComplainOf) {
  const SofaImport good = import();
  for (const AuditLine& line : good.audit) EXPECT_LE(line.level, AuditLevel::note) << line.check << line.finding;
  expect(good, "orthonormality", AuditLevel::good, "max |Phi^T Phi - I|");
  expect(good, "held nodes", AuditLevel::good, "every mode is zero there");
  expect(good, "nodes without elements", AuditLevel::note, "1 nodes");
  const ReducedModel model = imported_model(scene, full, good, "modes.txt");
  EXPECT_EQ(model.errors.states, 0);
  EXPECT_TRUE(std::isnan(model.errors.goal_mean) && std::isnan(model.errors.shape_max));
  EXPECT_EQ(model.fields[0].tolerance, unknown_tolerance);
  EXPECT_EQ(model.fields[0].element, domain.elements);
  write_model(model, folder / "bar.rom.h5");
  const ReducedModel read = read_model(folder / "bar.rom.h5");
  EXPECT_EQ(provenance_notes(read.provenance).at(0), "imported from files of SOFA: modes.txt");
  ReducedMechanics mechanics(read);
  Stepper stepper(mechanics, {.time_step = 0.01});
  State state = rest_state(mechanics);
  EXPECT_EQ(stepper.step(zero_control(mechanics), state).status, StepStatus::ok);
}

TEST_F(SofaBar, ImportExportImportIsTheSameModelBitForBit) {
  const SofaImport first = import();
  const ReducedModel model = imported_model(scene, full, first, "files");
  const std::vector<double> basis = verified_basis(model, full, first.basis, "modes.txt");
  const std::string out = folder / "sofa";
  std::filesystem::create_directory(out);
  const std::vector<std::string> files = export_sofa(model, full, node_of_file, basis, SofaDigits::exact, out);
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[1], "reducedFF_corotational-tetrahedra_0_RID.txt");
  const SofaModes again = read_sofa_modes(out + "/modes.txt");
  EXPECT_EQ(again.values, modes.values);
  const SofaDomain domain_again = read_sofa_domain(out + "/" + files[1], out + "/" + files[2]);
  EXPECT_EQ(domain_again.elements, domain.elements);
  EXPECT_EQ(domain_again.weights, domain.weights);
  const ReducedModel second =
      imported_model(scene, full, import_sofa(full, node_of_file, again, {domain_again}, false), "files");
  // Errors that were never measured are no numbers, which equal nothing: equal models are equal bytes.
  write_model(model, folder / "a.rom.h5");
  write_model(second, folder / "b.rom.h5");
  EXPECT_EQ(hash_file(folder / "a.rom.h5"), hash_file(folder / "b.rom.h5"));
}

TEST_F(SofaBar, OtherModesAreNotExported) {
  const SofaImport first = import(true);
  const ReducedModel model = imported_model(scene, full, first, "files");
  EXPECT_NO_THROW((void)verified_basis(model, full, first.basis, "x"));
  // The file's own columns span the orthonormal ones.
  EXPECT_NO_THROW((void)verified_basis(model, full, free_rows(full, node_of_file, modes), "x"));
  std::vector<double> wrong = first.basis;
  wrong[7] += 1e-5;
  EXPECT_THROW((void)verified_basis(model, full, wrong, "x"), InputError);
  wrong.resize(wrong.size() / 2);
  EXPECT_THROW((void)verified_basis(model, full, wrong, "x"), InputError);
}

TEST_F(SofaBar, SimilarColumnsAreNamedAndMended) {
  // Column 3 becomes 0.988 of column 1 and the rest of what it was.
  const double s = 0.988, c = std::sqrt(1 - s * s);
  for (int i = 0; i < file_nodes; ++i)
    for (int k = 0; k < 3; ++k) value(i, k, 3) = s * value(i, k, 1) + c * value(i, k, 3);
  SofaImport bad = import();
  expect(bad, "orthonormality", AuditLevel::warning, "(columns 1 and 3)");
  expect(bad, "similar columns", AuditLevel::warning, "columns 1 and 3: inner product 0.988");
  expect(bad, "independence", AuditLevel::warning, "column 3");
  EXPECT_NEAR(find(bad, "orthonormality")->value, s, 1e-12);
  EXPECT_NEAR(find(bad, "independence")->value, c, 1e-12);
  const SofaImport mended = import(true);
  expect(mended, "orthonormalised", AuditLevel::note, "4 of 4 columns");
  EXPECT_EQ(find(mended, "similar columns")->level, AuditLevel::note);
  EXPECT_LT(audit_basis(mended.basis, full.coordinates.nv, 4, false)[0].value, 1e-14);
}

TEST_F(SofaBar, ARepeatedColumnIsAnErrorUnlessMended) {
  for (int i = 0; i < file_nodes; ++i)
    for (int k = 0; k < 3; ++k) value(i, k, 2) = 2 * value(i, k, 0);
  expect(import(), "independence", AuditLevel::error, "column 2");
  const SofaImport mended = import(true);
  EXPECT_EQ(mended.error(), nullptr);
  EXPECT_EQ(mended.modes, 3);
  expect(mended, "orthonormalised", AuditLevel::note, "3 of 4 columns");
  for (double& x : modes.values) x = 0;
  const SofaImport nothing = import(true);
  ASSERT_NE(nothing.error(), nullptr);
  EXPECT_EQ(nothing.modes, 0);
}

TEST_F(SofaBar, RoundingIsRecognised) {
  for (double& x : modes.values) x = std::round(1e5 * x) / 1e5;
  for (double& x : domain.weights) x = std::round(1e5 * x) / 1e5;
  const SofaImport rounded = import();
  expect(rounded, "orthonormality", AuditLevel::note, "as five decimals leave it");
  expect(rounded, "digits of the modes", AuditLevel::note, "five decimals");
  expect(rounded, "digits of the weights", AuditLevel::note, "five decimals");
  EXPECT_FALSE(has_five_decimals(std::vector<double>{0.1, 0.123456}));
}

TEST_F(SofaBar, MovingHeldNodesAreReportedAndDropped) {
  const SofaImport before = import();
  int held = -1;
  for (int i = 0; i < file_nodes && held < 0; ++i)
    if (node_of_file[static_cast<std::size_t>(i)] >= 0 && unknown_of(i) < 0) held = i;
  ASSERT_GE(held, 0);
  value(held, 2, 1) = -0.25;
  value(0, 0, 0) = 0.5;  // belongs to no element
  const SofaImport bad = import();
  expect(bad, "held nodes", AuditLevel::warning, "at most 0.25: column 1, node " + std::to_string(held));
  EXPECT_EQ(find(bad, "held nodes")->place.line, sofa_line(3 * held + 2));
  expect(bad, "nodes without elements", AuditLevel::warning, "up to 0.5");
  EXPECT_EQ(bad.basis, before.basis);
  // A free node that never moves is worth a word.
  for (int m = 0; m < modes_count; ++m)
    for (int k = 0; k < 3; ++k) value(file_nodes - 1, k, m) = 0;
  ASSERT_GE(unknown_of(file_nodes - 1), 0);
  expect(import(), "still nodes", AuditLevel::note, "1 nodes");
}

TEST_F(SofaBar, DomainsAreAudited) {
  const SofaDomain good = domain;
  const int total = full.fields[0].elements(), first = good.elements[0];
  const auto weight = [&](int e) -> double& { return domain.weights[static_cast<std::size_t>(e)]; };

  domain.elements.push_back(total);
  expect(import(), ": element", AuditLevel::error, "does not exist");
  EXPECT_EQ(import().error()->place.line, sofa_line(static_cast<int>(good.elements.size())));
  domain = good;
  domain.elements.push_back(first);
  expect(import(), ": element", AuditLevel::error, "listed twice");
  domain = good;
  weight(first) = -1;
  expect(import(), "negative weights", AuditLevel::error, "of elements " + std::to_string(first));
  EXPECT_EQ(import().error()->place.line, sofa_line(first));
  domain = good;
  domain.elements.clear();
  expect(import(), ": domain", AuditLevel::error, "no element");
  domain = good;
  weight(first) = 0;
  weight(0) = 2;
  const SofaImport zero = import();
  expect(zero, "zero weights", AuditLevel::warning, std::to_string(first));
  expect(zero, "weights outside", AuditLevel::warning, "elements 0 have weights");
  EXPECT_EQ(zero.domains.at(0).elements.size(), good.elements.size() - 1);
  domain = good;
  for (double& w : domain.weights) w *= 0.1;
  expect(import(), "volume", AuditLevel::warning, "of it");
}

TEST_F(SofaBar, FilesOfAnotherMeshAreRefused) {
  const auto refused = [&](const std::vector<SofaDomain>& domains, const std::string& file) {
    try {
      (void)import_sofa(full, node_of_file, modes, domains, false);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(error.place().file, file);
      EXPECT_EQ(error.place().line, file.empty() ? 0 : 1);
      EXPECT_FALSE(error.suggestion().empty());
    }
  };
  refused({}, "");
  refused({domain, domain}, "");
  SofaDomain springs = domain;
  springs.weights.resize(5);
  refused({springs}, "weight.txt");
  modes.rows -= 3;
  refused({domain}, "modes.txt");
}

}  // namespace
}  // namespace supple
