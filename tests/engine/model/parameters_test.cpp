// Models as functions of their parameters: moduli, masses and shapes at other values against models built there; the
// same of reduced models, projected before or after; values by name; mechanics of a model that changes.

#include "engine/model/parameters.hpp"

#include <gtest/gtest.h>

#include "engine/io/model_file.hpp"
#include "engine/model/stretch.hpp"
#include "engine/reduction/elements/training.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// Sums of the same numbers in another order.
constexpr double rounding = 1e-11;

ParameterScene parameter(const std::string& name, ParameterKind kind) {
  ParameterScene parameter;
  parameter.name = name;
  parameter.kind = kind;
  parameter.range = {0.5, 2};
  return parameter;
}

ParameterScene stretch(const std::string& name, const Vec3d& direction) {
  ParameterScene scene = parameter(name, ParameterKind::stretch);
  scene.direction = direction;
  return scene;
}

// The bar of two materials, without probes of means.
Scene bar_of_two(const boxes::Law& law = {"corotational", MaterialModel::corotational}) {
  Scene scene = reduced_bodies::bar_scene(law);
  BodyScene& body = scene.bodies[0];
  MaterialScene far = body.materials.front();
  far.region = boxes::box_region({{0.15, -1, -1}}, {{1, 1, 1}});
  far.density = 700;
  body.materials.push_back(far);
  return scene;
}

Scene parametric_bar(bool shape, const boxes::Law& law = {"corotational", MaterialModel::corotational}) {
  Scene scene = bar_of_two(law);
  scene.parameters = {parameter("all", ParameterKind::stiffness), parameter("far", ParameterKind::stiffness),
                      parameter("mass", ParameterKind::density)};
  scene.parameters[1].material = 2;
  if (shape) {
    scene.parameters.push_back(stretch("height", {{0, 0, 1}}));
    scene.parameters.push_back(stretch("length", {{1, 0, 0}}));
    scene.parameters.back().from = {{0.08, 0, 0}};
    scene.parameters.back().to = {{0.22, 0, 0}};
    scene.parameters.back().about = {{0.1, 0, 0}};
  }
  return scene;
}

void expect_close(const std::vector<double>& a, const std::vector<double>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  if (!b.empty()) {
    EXPECT_LT(boxes::difference(a, b), rounding) << what;
  }
}

std::string error_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return std::string(error.what()) + " | " + error.suggestion();
  }
  return "";
}

std::vector<double> flat(const std::vector<Vec3d>& points) {
  std::vector<double> values;
  for (const Vec3d& x : points) values.insert(values.end(), x.v, x.v + 3);
  return values;
}

void expect_same_fields(const FullModel& a, const FullModel& b) {
  ASSERT_EQ(a.fields.size(), b.fields.size());
  for (std::size_t f = 0; f < a.fields.size(); ++f) {
    expect_close(a.fields[f].gradient, b.fields[f].gradient, "gradients");
    expect_close(a.fields[f].volume, b.fields[f].volume, "volumes");
    for (std::size_t region = 0; region < a.fields[f].parameters.size(); ++region)
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(a.fields[f].parameters[region].p[i], b.fields[f].parameters[region].p[i],
                    rounding * std::abs(b.fields[f].parameters[region].p[i]));
  }
  expect_close(a.mass.value, b.mass.value, "masses");
  EXPECT_NEAR(a.total_mass, b.total_mass, rounding * b.total_mass);
  EXPECT_NEAR(a.total_volume, b.total_volume, rounding * b.total_volume);
}

TEST(Parameters, OfStiffnessAndDensityAreThoseOfTheScene) {
  for (const boxes::Law& law : boxes::exact_laws()) {
    SCOPED_TRACE(law.name);
    const FullModel nominal = build_full_model(parametric_bar(false, law), reduced_bodies::bar(false));
    Scene other = bar_of_two(law);
    std::vector<MaterialScene>& materials = other.bodies[0].materials;
    const auto moduli_of = [&](double young) { return boxes::scene(law, young, 0.35).bodies[0].materials[0]; };
    for (const auto& [k, factor] : {std::pair(0, 0.7), std::pair(1, 0.7 * 1.9)}) {
      const MaterialScene other_moduli = moduli_of(2e5 * factor);
      materials[extent(k)].young = other_moduli.young;
      materials[extent(k)].constants = other_moduli.constants;
    }
    *other.bodies[0].density *= 1.3;
    *materials[1].density *= 1.3;
    expect_same_fields(at_parameters(nominal, std::vector<double>{0.7, 1.9, 1.3}),
                       build_full_model(other, reduced_bodies::bar(false)));
  }
}

// Linear along the whole body, so that points go where the map takes them.
TEST(Parameters, AStretchOfTheWholeBodyIsThatOfItsMeshAndPoints) {
  for (const bool hexahedra : {false, true}) {
    Scene scene = bar_of_two();
    scene.parameters = {stretch("height", {{0, 0, 1}})};
    scene.parameters[0].about = {{0, 0, 0.02}};
    const Mesh mesh = reduced_bodies::bar(hexahedra);
    const FullModel nominal = build_full_model(scene, mesh);
    const double s = 1.4;
    const auto moved = [&](Vec3d x) {
      x[2] = 0.02 + s * (x[2] - 0.02);
      return x;
    };
    // Regions as before: those of the fixed parts are told by x alone, and the springs' end.
    Scene other = bar_of_two();
    other.bodies[0].fixes.back().region.upper[2] = moved({{0, 0, 0.05}})[2];
    for (ActuatorScene& actuator : other.actuators)
      for (Vec3d& x : actuator.points) x = moved(x);
    for (EffectorScene& effector : other.effectors) effector.point = moved(*effector.point);
    for (PointScene& probe : other.probes) probe.point = moved(probe.point);
    Mesh stretched = mesh;
    for (Vec3d& x : stretched.nodes) x = moved(x);
    const FullModel expected = build_full_model(other, stretched);
    const FullModel found = at_parameters(nominal, std::vector<double>{s});
    expect_same_fields(found, expected);
    expect_close(flat(found.mesh.nodes), flat(expected.mesh.nodes), "nodes");
    expect_close(flat(found.robot.rest_points), flat(expected.robot.rest_points), "points");
    for (std::size_t k = 0; k < found.robot.actuators.size(); ++k)
      EXPECT_NEAR(found.robot.actuators[k].rest_length, expected.robot.actuators[k].rest_length, rounding);
    EXPECT_NE(found.robot.actuators[0].rest_length, nominal.robot.actuators[0].rest_length);
  }
}

// Rest lengths of the scene stay, those of paths follow; so do places that are those at rest.
TEST(Parameters, AStretchKeepsLengthsThatAreGiven) {
  Scene scene = bar_of_two();
  scene.parameters = {stretch("height", {{0, 0, 1}})};
  const auto rope = [](const std::string& name, ConstraintForm form) {
    ConstraintScene constraint;
    constraint.name = name;
    constraint.kind = ConstraintKind::distance;
    constraint.form = form;
    constraint.points = {{{0.1, 0.05, 0.02}}, {{0.1, 0.05, 0.08}}};
    constraint.compliance = 1e-3;
    return constraint;
  };
  scene.constraints = {rope("own", ConstraintForm::constraint), rope("given", ConstraintForm::constraint),
                       rope("spring", ConstraintForm::force)};
  scene.constraints[1].length = 0.055;
  const FullModel nominal = build_full_model(scene, reduced_bodies::bar(false)),
                  found = at_parameters(nominal, std::vector<double>{1.5});
  EXPECT_NEAR(found.robot.constraints[0].rest_length, 1.5 * nominal.robot.constraints[0].rest_length, 1e-12);
  EXPECT_EQ(found.robot.constraints[1].rest_length, 0.055);
  EXPECT_NEAR(found.robot.springs[0].rest_length, 1.5 * nominal.robot.springs[0].rest_length, 1e-12);
}

// Planes that cut elements: nodes follow, and what is made of them.
TEST(Parameters, AStretchOfAPartIsThatOfItsNodes) {
  const Mesh mesh = reduced_bodies::bar(false);
  const FullModel nominal = build_full_model(parametric_bar(true), mesh);
  const std::vector<double> values{1, 1, 1, 0.8, 1.7};
  const FullModel found = at_parameters(nominal, values);
  Mesh stretched = mesh;
  double lower = 1, upper = -1;
  for (const Vec3d& x : mesh.nodes) {
    lower = std::min(lower, x[2]);
    upper = std::max(upper, x[2]);
  }
  for (Vec3d& x : stretched.nodes) {
    x[2] += (0.8 - 1) * (x[2] - (lower + upper) / 2);
    x[0] += (1.7 - 1) * (std::clamp(x[0], 0.08, 0.22) - 0.1);
  }
  expect_close(flat(found.mesh.nodes), flat(stretched.nodes), "nodes");
  Scene other = bar_of_two();
  other.bodies[0].fixes[0].region.lower[0] -= 0.7 * 0.02;
  other.bodies[0].fixes[0].region.upper[0] -= 0.7 * 0.02;
  // The same elements are in the region of the second material: where they are now.
  other.bodies[0].materials[1].region.lower[0] = 0.15 + 0.7 * (0.15 - 0.1);
  const FullModel expected = build_full_model(other, stretched);
  expect_same_fields(found, expected);
}

TEST(Parameters, OfAReducedModelAreThoseOfTheModelThatIsProjected) {
  for (const bool hexahedra : {false, true}) {
    const FullModel full = build_full_model(parametric_bar(true), reduced_bodies::bar(hexahedra));
    const std::vector<double> basis = reduced_bodies::random_basis(full.coordinates.nv, 7);
    const ReducedModel nominal = project(full, basis, 7, reduced_bodies::some_elements(full));
    const std::vector<double> values{0.7, 1.9, 1.3, 0.8, 1.7};
    const ReducedModel found = at_parameters(nominal, values),
                       expected = project(at_parameters(full, values), basis, 7, reduced_bodies::some_elements(full));
    for (std::size_t f = 0; f < found.fields.size(); ++f) {
      const AlignedVector<double>&a = found.fields[f].G, &b = expected.fields[f].G;
      expect_close({a.begin(), a.end()}, {b.begin(), b.end()}, "gradients");
      expect_close(found.fields[f].weight, expected.fields[f].weight, "weights");
    }
    expect_close(found.mass, expected.mass, "mass");
    expect_close(found.gravity, expected.gravity, "gravity");
    expect_close(flat(found.skin.rest), flat(expected.skin.rest), "skin");
    expect_close(flat(found.interior.rest), flat(expected.interior.rest), "interior");
    expect_close(flat(found.robot.rest_points), flat(expected.robot.rest_points), "points");
    EXPECT_DOUBLE_EQ(found.robot.actuators[0].rest_length, expected.robot.actuators[0].rest_length);
  }
}

// Forces of elements of one state with parameters, from the nominal model and from the model there.
TEST(Parameters, OfTrainingStatesAreThoseOfTheModelAtThem) {
  const FullModel full = build_full_model(parametric_bar(true), reduced_bodies::bar(false));
  const std::vector<double> basis = reduced_bodies::random_basis(full.coordinates.nv, 7);
  const ReducedModel all = project(full, basis, 7, all_elements(full));
  const std::vector<double> states = boxes::random_vector(14, 0.02);
  const std::vector<double> values{0.7, 1.9, 1.3, 0.8, 1.7, 1.1, 0.6, 1, 1.5, 0.7};
  const TrainingMatrix both = training_matrix(all, 0, states, 2, values);
  for (int s = 0; s < 2; ++s) {
    const std::span<const double> own = std::span(values).subspan(extent(5 * s), 5);
    const TrainingMatrix one =
        training_matrix(at_parameters(all, own), 0, std::span(states).subspan(extent(7 * s), 7), 1);
    std::vector<double> rows;
    for (int e = 0; e < both.columns; ++e)
      for (int j = 0; j < 7; ++j) rows.push_back(both.G[extent(e, both.rows) + extent(7 * s + j)]);
    expect_close(rows, one.G, "forces");
  }
}

// In place, and back.
TEST(Parameters, ChangeUnderTheirMechanics) {
  const FullModel full = build_full_model(parametric_bar(true), reduced_bodies::bar(false));
  const int nv = full.coordinates.nv;
  const std::vector<double> q = boxes::random_vector(nv, 1e-3), values{0.7, 1.9, 1.3, 0.8, 1.7}, still;
  const std::vector<double> basis = reduced_bodies::random_basis(nv, 7);
  const ReducedModel reduced = project(full, basis, 7, reduced_bodies::some_elements(full));
  const auto seen = [&](Mechanics& mechanics, std::span<const double> at) {
    const std::size_t n = extent(mechanics.coordinates().nv);
    std::vector<double> f(n), p(n), inertia(n), x(n, 1.0), y(extent(mechanics.robot().outputs()));
    mechanics.evaluate_outputs(at, still, y);
    EXPECT_EQ(mechanics.evaluate_forces(at, still, TangentKind::exact, f).undefined, 0);
    mechanics.external_forces(p);
    mechanics.inertia(at, still, inertia);
    EXPECT_EQ(mechanics.factor({.mass = 100, .stiffness = 1}, y, {}).status, SystemStatus::ok);
    mechanics.solve(x, 1);
    for (const auto& list : {p, inertia, x, y}) f.insert(f.end(), list.begin(), list.end());
    return f;
  };
  const auto check = [&](auto& changing, auto& mechanics, auto fresh, std::span<const double> at) {
    const std::vector<double> before = seen(mechanics, at);
    EXPECT_TRUE(changing.set(values));
    EXPECT_FALSE(changing.set(values));
    mechanics.model_changed();
    const std::vector<double> there = seen(mechanics, at);
    EXPECT_GT(boxes::difference(there, before), 1e-3);
    EXPECT_TRUE(reduced_bodies::same_bits(there, fresh(at)));
    EXPECT_TRUE(changing.set(nominal_parameters(full.robot)));
    mechanics.model_changed();
    EXPECT_LT(boxes::difference(seen(mechanics, at), before), rounding);
  };
  ChangingModel<FullModel> changing(full);
  FullMechanics mechanics(changing.model());
  check(
      changing, mechanics,
      [&](std::span<const double> at) {
        const FullModel there = at_parameters(full, values);
        FullMechanics other(there);
        return seen(other, at);
      },
      q);
  ChangingModel<ReducedModel> changing_reduced(reduced);
  ReducedMechanics reduced_mechanics(changing_reduced.model());
  check(
      changing_reduced, reduced_mechanics,
      [&](std::span<const double> at) {
        const ReducedModel there = at_parameters(reduced, values);
        ReducedMechanics other(there);
        return seen(other, at);
      },
      std::span(q).first(7));
}

TEST(Parameters, AreInTheModelsFile) {
  const reduced_bodies::TemporaryFolder folder;
  const FullModel full = build_full_model(parametric_bar(true), reduced_bodies::bar(false));
  const ReducedModel model =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 5), 5, reduced_bodies::some_elements(full));
  write_model(model, folder / "bar.rom.h5");
  const ReducedModel read = read_model(folder / "bar.rom.h5");
  const std::vector<double> values{0.7, 1.9, 1.3, 0.8, 1.7};
  reduced_bodies::expect_same_model(at_parameters(read, values), at_parameters(model, values));
  // At other values it is a model without parameters, which tells of them.
  write_model(at_parameters(model, values), folder / "there.rom.h5");
  const ReducedModel there = read_model(folder / "there.rom.h5");
  EXPECT_TRUE(there.robot.parameters.empty());
  EXPECT_EQ(there.provenance.scene_text.find("# at all = 0.7, far = 1.9"), 0U) << there.provenance.scene_text;
  // Numbers of a file that is damaged or another program's.
  const auto error = [&](const auto& change) {
    ReducedModel other = model;
    change(other);
    write_model(other, folder / "other.rom.h5");
    return error_of([&] { (void)read_model(folder / "other.rom.h5"); });
  };
  EXPECT_EQ(error([](ReducedModel&) {}), "");
  EXPECT_NE(error([](ReducedModel& m) { m.robot.parameters[1].material = 7; }).find("owner"), std::string::npos);
  EXPECT_NE(error([](ReducedModel& m) { m.robot.parameters[1].name = "all"; }).find("name"), std::string::npos);
  EXPECT_NE(error([](ReducedModel& m) { m.robot.parameters[3].direction[2] = 2; }).find("direction"),
            std::string::npos);
  EXPECT_NE(error([](ReducedModel& m) { m.fields[0].slopes[2] = 100; }).find("inside out"), std::string::npos);
}

TEST(Parameters, ByNameAreWithinTheirRanges) {
  const FullModel full = build_full_model(parametric_bar(false), reduced_bodies::bar(false));
  const auto by_words = [&](std::vector<std::string> words) {
    return error_of([&] { (void)parameters_of_words(full.robot, words); });
  };
  EXPECT_EQ(parameters_of_words(full.robot, std::vector<std::string>{"far=0.6", "all=2"}),
            (std::vector<double>{2, 0.6, 1}));
  EXPECT_NE(by_words({"fat=0.6"}).find("did you mean 'far'"), std::string::npos) << by_words({"fat=0.6"});
  EXPECT_NE(by_words({"far=2.1"}).find("its range is 0.5 to 2"), std::string::npos);
  EXPECT_NE(by_words({"far=nan"}), "");
  EXPECT_NE(by_words({"far"}).find("NAME=FACTOR"), std::string::npos);
  EXPECT_NE(by_words({"far=1", "far=1"}).find("twice"), std::string::npos);
  const FullModel there = at_parameters(full, std::vector<double>{2, 1, 1});
  EXPECT_NE(
      error_of([&] { (void)parameters_of_words(there.robot, std::vector<std::string>{"far=1"}); }).find("set already"),
      std::string::npos);
}

TEST(Parameters, TellWhatTheyCannotStretch) {
  const auto error = [](const auto& change) {
    Scene scene = parametric_bar(true);
    change(scene);
    return error_of([&] { (void)build_full_model(scene, reduced_bodies::bar(false)); });
  };
  EXPECT_EQ(error([](Scene&) {}), "");
  EXPECT_NE(error([](Scene& scene) {
              scene.parameters.back().to = {{0.05, 0, 0}};
            }).find("ends where it begins"),
            std::string::npos);
  EXPECT_NE(error([](Scene& scene) {
              scene.parameters.back().from = {{2, 0, 0}};
              scene.parameters.back().to = {{3, 0, 0}};
            }).find("not where the body is"),
            std::string::npos);
  EXPECT_NE(error([](Scene& scene) {
              scene.parameters.push_back(scene.parameters.back());
              scene.parameters.push_back(scene.parameters.back());
            }).find("inside out"),
            std::string::npos);
  EXPECT_NE(error([](Scene& scene) { scene.bodies[0].fixes.clear(); }).find("no fixed part"), std::string::npos);
  EXPECT_NE(error([](Scene& scene) { scene.actuators[0].friction = 0.2; }).find("friction"), std::string::npos);
}

}  // namespace
}  // namespace supple
