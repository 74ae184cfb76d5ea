// Scenes with one mistake each: the message points at it and says what to do.
#include <gtest/gtest.h>

#include "engine/scene/reader.hpp"
#include "scene_text.hpp"

namespace supple {
namespace {

struct Bad {
  const char* name;
  std::string text;
  int line, column;
  const char* problem;     // a part of it
  const char* suggestion;  // a part of it
};

void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.name;
}

// `minimal` is 6 lines; what follows starts on line 7.
std::string after(const std::string& more) {
  return test::minimal + more;
}
// One line of `minimal` replaced.
std::string with(int line, const std::string& replacement) {
  std::string text = test::minimal;
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) begin = text.find('\n', begin) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, replacement);
}
std::string cable(const std::string& more) {
  return after("[[actuator]]\nname = \"a\"\ntype = \"cable\"\npoints = [[0, 0, 0], [0, 0, 1]]\n" + more);
}

std::string membrane(const std::string& more) {
  return after("[[body.membrane]]\ngroup = \"sheet\"\n" + more);
}

std::string force(const std::string& more) {
  return after("[[actuator]]\nname = \"f\"\ntype = \"force\"\n" + more);
}
std::string cavity(const std::string& more) {
  return after("[[actuator]]\nname = \"c\"\ntype = \"cavity\"\n" + more);
}
std::string obstacle(const std::string& type, const std::string& more) {
  return after("[[obstacle]]\nname = \"o\"\ntype = \"" + type + "\"\n" + more);
}
std::string constraint(const std::string& type, const std::string& more) {
  return after("[[constraint]]\nname = \"k\"\ntype = \"" + type + "\"\n" + more);
}
std::string effector(const std::string& type, const std::string& more) {
  return after("[[effector]]\nname = \"e\"\ntype = \"" + type + "\"\n" + more);
}

class BadScene : public testing::TestWithParam<Bad> {};

TEST_P(BadScene, IsExplained) {
  const Bad& bad = GetParam();
  try {
    parse_scene(bad.text, "robot.toml");
    FAIL() << "no error";
  } catch (const InputError& error) {
    SCOPED_TRACE(error.report());
    EXPECT_EQ(error.place().file, "robot.toml");
    EXPECT_EQ(error.place().line, bad.line);
    EXPECT_EQ(error.place().column, bad.column);
    EXPECT_NE(std::string(error.what()).find(bad.problem), std::string::npos);
    EXPECT_NE(error.suggestion().find(bad.suggestion), std::string::npos);
    EXPECT_FALSE(error.suggestion().empty());
    EXPECT_EQ(error.place().text.empty(), bad.line == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadScene,
    testing::Values(
        Bad{"syntax", with(5, "young = 450 kPa"), 5, 13, "not valid TOML", "quotes"},
        Bad{"unterminated", with(5, "young = \"450 kPa"), 5, 17, "not valid TOML", "quotes"},
        Bad{"twice", with(6, "young = 1"), 6, 9, "not valid TOML", "each key once"},
        Bad{"three_brackets", after("[[[fix]]]\n"), 7, 3, "not valid TOML", "[[...]]"},
        Bad{"bad_utf8", "name = \"é\xff\"\n", 1, 10, "not UTF-8", "as UTF-8"},
        Bad{"foreign", with(5, "# ü\nyoung = 450 µPa"), 6, 13, "not valid TOML", "in quotes"},
        Bad{"empty", "", 0, 0, "the scene has no body", "[body]"},
        Bad{"unknown_top", "gravty = [0, 0, 0]\n" + test::minimal, 1, 1, "did you mean 'gravity'?", "time_step"},
        Bad{"unknown_body", with(3, "masss = 1"), 3, 1, "did you mean 'mass'?", "the keys of [body]"},
        Bad{"unknown_material", with(5, "yuong = 1"), 5, 1,
            "unknown key 'yuong' in [[body.material]] (did you mean 'young'?)", "poisson"},
        Bad{"unknown_mesh", with(2, "mesh = {file = \"bar.msh\", units = \"mm\"}"), 2, 27, "did you mean 'unit'?",
            "scale"},
        Bad{"elsewhere", with(3, "young = 1"), 3, 1, "it belongs to [[body.material]] or [[body.membrane]]", "density"},
        Bad{"membrane_elsewhere", after("[[membrane]]\n"), 7, 3,
            "unknown key 'membrane' in the scene (it belongs to [body])", "fix"},
        Bad{"membrane_unknown", membrane("thicknes = 1\nyoung = 1\npoisson = 0\n"), 9, 1,
            "unknown key 'thicknes' in [[body.membrane]] (did you mean 'thickness'?)", "the keys of [[body.membrane]]"},
        Bad{"membrane_region", after("[[body.membrane]]\nthickness = 1\nyoung = 1\npoisson = 0\n"), 7, 1,
            "[[body.membrane]] has no region", "group ="},
        Bad{"membrane_regions", membrane("box = [[0, 0, 0], [1, 1, 1]]\nthickness = 1\nyoung = 1\npoisson = 0\n"), 8, 9,
            "[[body.membrane]] has both box and group", "two entries"},
        Bad{"membrane_thickness", membrane("young = 1\npoisson = 0\n"), 7, 1, "[[body.membrane]] has no thickness",
            "thickness ="},
        Bad{"membrane_flat", membrane("thickness = 0\nyoung = 1\npoisson = 0\n"), 9, 13, "thickness is 0 mm",
            "above 0"},
        Bad{"membrane_young", membrane("thickness = 1\nyoung = \"1 mm\"\npoisson = 0\n"), 10, 9,
            "is a length, a stress is expected", "Pa"},
        Bad{"membrane_poisson", membrane("thickness = 1\nyoung = 1\npoisson = 0.51\n"), 11, 11,
            "poisson is 0.51 (a stable material lies above -1 and not above 0.5)", "0.45 to 0.5"},
        Bad{"membrane_density", membrane("thickness = 1\nyoung = 1\npoisson = 0\ndensity = 0\n"), 12, 11,
            "density is 0", "above 0"},
        Bad{"planned", after("[[joint]]\n"), 7, 3, "not in this version", "actuator"},
        Bad{"include_text", "include = \"a.toml\"\n", 1, 1, "include needs a file", "file"},
        Bad{"name_number", "name = 3\n" + test::minimal, 1, 8, "name cannot be a whole number", "name ="},
        Bad{"gravity_scalar", "gravity = -9.81\n" + test::minimal, 1, 11, "gravity cannot be a number", "gravity = ["},
        Bad{"gravity_two", "gravity = [0, 0]\n" + test::minimal, 1, 11, "has a list of 2, one of 3", "gravity = ["},
        Bad{"gravity_unit", "gravity = [0, 0, \"-9.81 m\"]\n" + test::minimal, 1, 18,
            "is a length, an acceleration is expected", "m/s^2"},
        Bad{"gravity_nan", "gravity = [0, nan, 0]\n" + test::minimal, 1, 15, "not a finite number", "gravity"},
        Bad{"step_zero", "time_step = 0\n" + test::minimal, 1, 13, "time_step is 0 ms", "above 0"},
        Bad{"step_date", "time_step = 2024-01-01\n" + test::minimal, 1, 13, "time_step cannot be a date", "10 ms"},
        Bad{"integrator", "integrator = \"implicit_euler\"\n" + test::minimal, 1, 14, "did you mean 'implicit-euler'?",
            "quasi-static"},
        Bad{"scheme", "integrator = {scheme = \"alpha-beta\"}\n" + test::minimal, 1, 14, "integrator cannot be a table",
            "implicit-euler"},
        Bad{"bodies", "[[body]]\n", 1, 3, "body is a list", "[body]"},
        Bad{"no_mesh", "[body]\nmass = 1\n", 1, 1, "[body] has no mesh", "mesh = {file"},
        Bad{"mesh_text", with(2, "mesh = \"bar.msh\""), 2, 8, "mesh is a text, a table is expected", "unit = \"mm\""},
        Bad{"mesh_empty", with(2, "mesh = {file = \"\"}"), 2, 16, "file is empty", "leave the key out"},
        Bad{"mesh_unit", with(2, "mesh = {file = \"b\", unit = \"kg\"}"), 2, 28, "'kg' is a mass, a length is expected",
            "mm"},
        Bad{"mesh_scale", with(2, "mesh = {file = \"b\", scale = -1}"), 2, 29, "scale is -1", "above 0"},
        Bad{"mass_twice", with(3, "mass = 1\ndensity = 1"), 4, 11, "both mass and density", "mass"},
        Bad{"mass_none", with(3, ""), 1, 1, "neither mass nor density", "density ="},
        Bad{"mass_material", with(3, "mass = 1") + "density = 1\n", 4, 1, "although the body has a mass", "remove"},
        Bad{"mass_unit", with(3, "mass = \"3 mm\""), 3, 8, "is a length, a mass is expected", "kg"},
        Bad{"no_material", "[body]\nmesh = {file = \"b\"}\nmass = 1\n", 1, 1, "[body] has no material",
            "[[body.material]]"},
        Bad{"material_single", "[body]\nmesh = {file = \"b\"}\nmass = 1\n[body.material]\n", 4, 7,
            "material is a table", "[[body.material]]"},
        Bad{"model", with(5, "model = \"neo-hookean\"\nyoung = 1"), 5, 9, "unknown model 'neo-hookean'",
            "stable-neo-hookean"},
        Bad{"young_negative", with(5, "young = \"-450 kPa\""), 5, 9, "young is -450 kPa", "above 0"},
        Bad{"young_missing", with(5, ""), 4, 1, "has no young", "young ="},
        Bad{"young_unit", with(5, "young = \"450 kpa\""), 5, 9, "'kpa' is no unit", "kPa"},
        Bad{"poisson_half", with(6, "poisson = 0.5"), 6, 11, "poisson is 0.5", "0.45"},
        Bad{"poisson_low", with(6, "poisson = -1"), 6, 11, "poisson is -1", "0.45"},
        Bad{"constants", with(6, "poisson = 0.4\nc01 = 1"), 7, 7, "c01 means nothing", "leave it out"},
        Bad{"mooney_two", with(5, "model = \"mooney-rivlin\"\nc01 = 1\nd = 1"), 8, 11, "poisson means nothing",
            "leave it out"},
        Bad{"rotation", with(6, "poisson = 0.4\nmodel = \"st-venant-kirchhoff\"\nrotation = \"polar\""), 8, 12,
            "rotation means nothing", "leave it out"},
        Bad{"fix_none", after("[[fix]]\n"), 7, 1, "[[fix]] has no region", "group"},
        Bad{"fix_two", after("[[fix]]\ngroup = \"a\"\nbox = [[0, 0, 0], [1, 1, 1]]\n"), 8, 9, "both box and group",
            "one of them"},
        Bad{"box_reversed", after("[[fix]]\nbox = [[0, 1, 0], [1, 0, 1]]\n"), 8, 7, "reversed along y",
            "lower corner first"},
        Bad{"sphere", after("[[fix]]\nsphere = {centre = [0, 0, 0]}\n"), 8, 10, "sphere has no radius", "radius ="},
        Bad{"motion", after("[[fix]]\ngroup = \"a\"\nmotion = \"m\"\n"), 7, 1, "'m' has no direction", "direction ="},
        Bad{"direction", after("[[fix]]\ngroup = \"a\"\nmotion = \"m\"\ndirection = [0, 0, 0]\n"), 10, 13, "no length",
            "direction ="},
        Bad{"motion_spring", after("[[fix]]\ngroup = \"a\"\nmotion = \"m\"\nstiffness = 1\n"), 10, 13,
            "cannot have a stiffness", "one of"},
        Bad{"single_bracket", after("[actuator]\nname = \"a\"\n"), 7, 2, "actuator is a table", "[[actuator]]"},
        Bad{"pressure", after("[[actuator]]\nname = \"a\"\ntype = \"pressure\"\npoints = []\n"), 9, 8,
            "unknown type 'pressure'", "this version has: cable"},
        Bad{"cavity", after("[[cavity]]\n"), 7, 3, "unknown key 'cavity'", "actuator"},
        Bad{"no_points", after("[[actuator]]\nname = \"a\"\ntype = \"cable\"\npoints = []\n"), 10, 10,
            "points is empty", "points ="},
        Bad{"one_point", after("[[actuator]]\nname = \"a\"\ntype = \"cable\"\npoints = [[0, 0, 0]]\n"), 10, 10,
            "has one point", "pull_point"},
        Bad{"same_points", cable("pull_point = [0, 0, 1]\n"), 11, 14, "points 2 and 3 of cable 'a' are the same",
            "remove"},
        Bad{"range_reversed", cable("range = [\"40 mm\", 0]\n"), 11, 9, "range is reversed (40 mm is above 0 mm)",
            "lower end first"},
        Bad{"range_unit", cable("control = \"force\"\nrange = [0, \"40 mm\"]\n"), 12, 13,
            "is a length, a force is expected", "N"},
        Bad{"range_negative", cable("control = \"force\"\nrange = [\"-1 N\", 1]\n"), 12, 9, "a cable only pulls",
            "bilateral"},
        Bad{"force_negative", cable("force = [-1, 1]\n"), 11, 9, "a cable only pulls", "bilateral"},
        Bad{"rate", cable("rate = \"0 mm/s\"\n"), 11, 8, "rate is 0 mm/s", "above 0"},
        Bad{"samples", cable("samples = 1\n"), 11, 11, "samples is 1, at least 2", "samples = 2"},
        Bad{"samples_real", cable("samples = 2.5\n"), 11, 11, "samples cannot be a number", "samples = 2"},
        Bad{"bilateral", cable("bilateral = \"yes\"\n"), 11, 13, "bilateral cannot be a text", "true"},
        Bad{"twin_cables", cable("[[actuator]]\nname = \"a\"\ntype = \"cable\"\npoints = [[0, 0, 0], [0, 0, 1]]\n"), 11,
            1, "'a' is taken (line 7)", "another name"},
        Bad{"twin_probe", cable("[[probe]]\nname = \"a\"\npoint = [0, 0, 0]\n"), 11, 1, "'a' is taken", "another name"},
        Bad{"name_missing", after("[[probe]]\npoint = [0, 0, 0]\n"), 7, 1, "[[probe]] has no name", "name ="},
        Bad{"name_comma", after("[[probe]]\nname = \"a,b\"\npoint = [0, 0, 0]\n"), 8, 8, "cannot be a name", "letters"},
        Bad{"point_list", after("[[effector]]\nname = \"e\"\npoint = [0, 0, [1]]\n"), 9, 16, "point cannot be a list",
            "point ="},
        Bad{"effector_type", effector("rotation", "point = [0, 0, 1]\n"), 9, 8, "unknown type 'rotation'",
            "this version has: position, orientation, length"},
        Bad{"effector_near", effector("positon", "point = [0, 0, 1]\n"), 9, 8, "did you mean 'position'?", "length"},
        Bad{"cable_point", cable("point = [0, 0, 0]\n"), 11, 9, "point means nothing to a cable", "another type"},
        Bad{"cable_direction", cable("direction = [0, 0, 1]\n"), 11, 13, "direction means nothing to a cable",
            "leave it out"},
        Bad{"cable_without_points", after("[[actuator]]\nname = \"a\"\ntype = \"cable\"\n"), 7, 1,
            "cable 'a' has no points", "points = [["},
        Bad{"force_points", force("points = [[0, 0, 0]]\n"), 10, 10, "points means nothing to a force", "another type"},
        Bad{"force_nowhere", force("direction = [0, 0, 1]\n"), 7, 1, "force 'f' has neither a point nor a region",
            "point = [x, y, z]"},
        Bad{"force_twice", force("point = [0, 0, 0]\ngroup = \"g\"\n"), 10, 9, "both a point and a region", "one of"},
        Bad{"force_regions", force("group = \"g\"\nbox = [[0, 0, 0], [1, 1, 1]]\n"), 10, 9, "both box and group",
            "one of them"},
        Bad{"force_spread", force("group = \"g\"\nattachment_radius = 1\n"), 11, 21,
            "attachment_radius means nothing to a force on a region", "leave it out"},
        Bad{"force_aimless", force("point = [0, 0, 0]\n"), 7, 1, "force 'f' has no direction", "direction ="},
        Bad{"force_zero", force("point = [0, 0, 0]\ndirection = [0, 0, 0]\n"), 11, 13, "direction has no length",
            "direction ="},
        Bad{"force_unit", force("point = [0, 0, 0]\ndirection = [0, 0, 1]\nrange = [0, \"4 mm\"]\n"), 12, 13,
            "is a length, a force is expected", "N"},
        Bad{"force_range_unit",
            force("point = [0, 0, 0]\ndirection = [0, 0, 1]\ncontrol = \"displacement\"\nrange = [0, \"4 N\"]\n"), 13,
            13, "is a force, a length is expected", "m"},
        Bad{"force_one_way",
            force("point = [0, 0, 0]\ndirection = [0, 0, 1]\nbilateral = false\nrange = [\"-1 N\", 1]\n"), 13, 9,
            "it acts one way only", "bilateral = true"},
        Bad{"cavity_nowhere", cavity(""), 7, 1, "cavity 'c' has no walls", "surface = {file"},
        Bad{"cavity_twice", cavity("group = \"g\"\nsurface = {file = \"c.stl\"}\n"), 11, 11,
            "both a surface and a region", "one of them"},
        Bad{"cavity_force", cavity("group = \"g\"\nforce = [0, 1]\n"), 11, 9, "force means nothing to a cavity",
            "another type"},
        Bad{"cavity_control", cavity("group = \"g\"\ncontrol = \"displacement\"\n"), 11, 11,
            "a cavity is not controlled by displacement", "\"pressure\" or \"volume\""},
        Bad{"cable_volume", cable("control = \"volume\"\n"), 11, 11, "a cable or a force is not controlled by volume",
            "\"displacement\" or \"force\""},
        Bad{"cable_pressure", cable("pressure = [0, 1]\n"), 11, 12, "pressure means nothing to a cable",
            "another type"},
        Bad{"cavity_unit", cavity("group = \"g\"\nrange = [0, \"5 mL\"]\n"), 11, 13,
            "is a volume, a stress is expected", "kPa"},
        Bad{"cavity_volume_unit", cavity("group = \"g\"\ncontrol = \"volume\"\nrange = [0, \"5 kPa\"]\n"), 12, 13,
            "is a stress, a volume is expected", "mL"},
        Bad{"cavity_rate", cavity("group = \"g\"\nrate = \"5 kPa\"\n"), 11, 8, "a rate of pressure is expected",
            "kPa/s"},
        Bad{"cavity_suction", cavity("group = \"g\"\nrange = [\"-5 kPa\", \"5 kPa\"]\n"), 11, 9, "it is not sucked at",
            "bilateral = true"},
        Bad{"surface_file", cavity("surface = {unit = \"mm\"}\n"), 10, 11, "has no file", "file ="},
        Bad{"position_nowhere", after("[[effector]]\nname = \"e\"\n"), 7, 1,
            "position 'e' has neither a point nor a region", "point = [x, y, z]"},
        Bad{"position_twice", effector("position", "point = [0, 0, 0]\ngroup = \"g\"\n"), 10, 9,
            "both a point and a region", "one of them"},
        Bad{"position_lever", effector("position", "point = [0, 0, 0]\nlever = 1\n"), 11, 9,
            "lever means nothing to a position", "another type"},
        Bad{"position_cable", effector("position", "point = [0, 0, 0]\ncable = \"a\"\n"), 11, 9,
            "cable means nothing to a position", "leave it out"},
        Bad{"directions_four",
            effector("position", "point = [0, 0, 0]\ndirections = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]\n"), 11,
            14, "4 directions", "three"},
        Bad{"directions_twice", effector("position", "point = [0, 0, 0]\ndirections = [[1, 0, 0], [-3, 0, 0]]\n"), 11,
            14, "depend on each other", "leave one out"},
        Bad{"directions_plane",
            effector("position", "point = [0, 0, 0]\ndirections = [[1, 0, 0], [0, 1, 0], [2, 5, 0]]\n"), 11, 14,
            "depend on each other", "leave one out"},
        Bad{"directions_zero", effector("position", "point = [0, 0, 0]\ndirections = [[0, 0, 0]]\n"), 11, 14,
            "directions has no length", "[0, 0, 1]"},
        Bad{"directions_none", effector("position", "point = [0, 0, 0]\ndirections = []\n"), 11, 14,
            "directions is empty", "directions = [["},
        Bad{"implicit_velocity", "implicit_velocity = 0.4\n" + test::minimal, 1, 21,
            "is 0.4 (a step is stable from 0.5", "= 0.5 or 1"},
        Bad{"implicit_position", "implicit_position = 1.5\n" + test::minimal, 1, 21, "is 1.5 (a step is stable",
            "0.5 or 1"},
        Bad{"implicit_unit", "implicit_position = \"1 s\"\n" + test::minimal, 1, 21,
            "is a time, a plain number is expected", "no unit"},
        Bad{"implicit_obstacles", "implicit_position = 0.5\n" + after("[[obstacle]]\nname = \"o\"\ntype = \"plane\"\n"),
            1, 21, "below 1 among obstacles", "implicit_velocity may"},
        Bad{"implicit_limit",
            "implicit_position = 0.5\n" +
                after("[[constraint]]\nname = \"rope\"\ntype = \"limit\"\npoints = [[0, 0, 1]]\nanchor = [0, 0, 2]\n"),
            1, 21, "below 1 beside limits", "implicit_velocity may"},
        Bad{"constraint_type", constraint("distances", ""), 9, 8, "did you mean 'distance'?", "fixed-point"},
        Bad{"constraint_nameless", after("[[constraint]]\ntype = \"plane\"\n"), 7, 1, "[[constraint]] has no name",
            "name ="},
        Bad{"constraint_untyped", after("[[constraint]]\nname = \"k\"\n"), 7, 1, "[[constraint]] has no type",
            "type ="},
        Bad{"constraint_twin",
            constraint("distance",
                       "points = [[0, 0, 0], [0, 0, 1]]\n[[probe]]\nname = \"k\"\npoint "
                       "= [0, 0, 0]\n"),
            11, 1, "'k' is taken", "another name"},
        Bad{"distance_nowhere", constraint("distance", ""), 7, 1, "distance 'k' has no points", "an anchor"},
        Bad{"distance_short", constraint("distance", "points = [[0, 0, 0]]\n"), 10, 10, "distance 'k' has one point",
            "anchor = ["},
        Bad{"distance_long", constraint("distance", "points = [[0, 0, 0], [0, 0, 1]]\nanchor = [1, 0, 0]\n"), 10, 10,
            "distance 'k' has 3 ends", "two points"},
        Bad{"distance_same", constraint("distance", "points = [[0, 0, 1]]\nanchor = [0, 0, 1]\n"), 11, 10,
            "are the same", "remove"},
        Bad{"distance_point", constraint("distance", "point = [0, 0, 1]\n"), 10, 9, "point means nothing to a distance",
            "another type"},
        Bad{"distance_bound", constraint("distance", "points = [[0, 0, 0], [0, 0, 1]]\nbound = \"longest\"\n"), 11, 9,
            "bound means nothing to a distance", "leave it out"},
        Bad{"distance_zero", constraint("distance", "points = [[0, 0, 0], [0, 0, 1]]\nlength = 0\n"), 11, 10,
            "distance 'k' has no length", "fixed-point"},
        Bad{"distance_unit", constraint("distance", "points = [[0, 0, 0], [0, 0, 1]]\nlength = \"1 N\"\n"), 11, 10,
            "is a force, a length is expected", "m"},
        Bad{"limit_directions", constraint("limit", "directions = [[0, 0, 1]]\n"), 10, 14,
            "directions means nothing to a limit", "another type"},
        Bad{"limit_bound", constraint("limit", "points = [[0, 0, 0], [0, 0, 1]]\nbound = \"upper\"\n"), 11, 9,
            "unknown bound 'upper'", "shortest"},
        Bad{"limit_force", constraint("limit", "points = [[0, 0, 0], [0, 0, 1]]\ncompliance = 1\nas = \"force\"\n"), 12,
            6, "limit 'k' is one-sided", "as = \"constraint\""},
        Bad{"fixed_nowhere", constraint("fixed-point", ""), 7, 1, "constraint 'k' has no point", "point ="},
        Bad{"fixed_points", constraint("fixed-point", "points = [[0, 0, 1]]\n"), 10, 10,
            "points means nothing to a fixed point", "another type"},
        Bad{"fixed_normal", constraint("fixed-point", "point = [0, 0, 1]\nnormal = [0, 0, 1]\n"), 11, 10,
            "normal means nothing to a fixed point", "another type"},
        Bad{"fixed_directions", constraint("fixed-point", "point = [0, 0, 1]\ndirections = [[1, 0, 0], [2, 0, 0]]\n"),
            11, 14, "depend on each other", "leave one out"},
        Bad{"fixed_position", constraint("fixed-point", "point = [0, 0, 1]\nposition = [0, 0]\n"), 11, 12, "position",
            "position ="},
        Bad{"plane_aimless", constraint("plane", "point = [0, 0, 1]\n"), 7, 1, "plane 'k' has no normal", "normal ="},
        Bad{"plane_flat", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 0]\n"), 11, 10,
            "normal has no length", "[0, 0, 1]"},
        Bad{"plane_directions", constraint("plane", "point = [0, 0, 1]\ndirections = [[0, 0, 1]]\n"), 11, 14,
            "directions means nothing to a plane", "another type"},
        Bad{"compliance_unit", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\ncompliance = \"1 N/m\"\n"),
            12, 14, "is a stiffness, a compliance is expected", "mm/N"},
        Bad{"compliance_negative", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\ncompliance = -1\n"), 12,
            14, "compliance is -1", "at least 0"},
        Bad{"stiffness_zero", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\nstiffness = 0\n"), 12, 13,
            "stiffness is 0", "above 0"},
        Bad{"stiffness_both",
            constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\nstiffness = 1\ncompliance = 1\n"), 12, 13,
            "both a compliance and a stiffness", "one of them"},
        Bad{"damping_unit", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\ndamping_time = \"1 m\"\n"), 12,
            16, "is a length, a time is expected", "ms"},
        Bad{"damping_negative", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\ndamping_time = -1\n"), 12,
            16, "damping_time is", "at least 0"},
        Bad{"radius_negative", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\nattachment_radius = -1\n"),
            12, 21, "attachment_radius is", "at least 0"},
        Bad{"as_word", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\nas = \"spring\"\n"), 12, 6,
            "unknown as 'spring'", "force"},
        Bad{"as_hard", constraint("plane", "point = [0, 0, 1]\nnormal = [0, 0, 1]\nas = \"force\"\n"), 12, 6,
            "constraint 'k' is hard", "compliance = \"1 mm/N\""},
        Bad{"weight", effector("position", "point = [0, 0, 0]\nweight = 0\n"), 11, 10, "weight is 0", "above 0"},
        Bad{"exact", effector("position", "point = [0, 0, 0]\nexact = 1\n"), 11, 9, "exact cannot be", "true"},
        Bad{"orientation_point", effector("orientation", "point = [0, 0, 0]\n"), 10, 9,
            "point means nothing to an orientation", "another type"},
        Bad{"orientation_nowhere", effector("orientation", "lever = 1\n"), 7, 1, "[[effector]] has no region", "box ="},
        Bad{"lever", effector("orientation", "group = \"g\"\nlever = \"1 N\"\n"), 11, 9,
            "is a force, a length is expected", "m"},
        Bad{"volume_nowhere", effector("volume", ""), 9, 8, "volume 'e' has no walls", "cavity = "},
        Bad{"volume_twice", effector("volume", "group = \"g\"\ncavity = \"c\"\n"), 11, 10,
            "volume 'e' has walls said twice", "one of cavity = "},
        Bad{"volume_point", effector("volume", "point = [0, 0, 0]\n"), 10, 9, "point means nothing to a volume",
            "another type"},
        Bad{"volume_of_none", effector("volume", "cavity = \"c\"\n"), 10, 10, "there is no cavity 'c'", "group = "},
        Bad{"volume_of_a_cable", cable("[[effector]]\nname = \"e\"\ntype = \"volume\"\ncavity = \"a\"\n"), 14, 10,
            "'a' is no cavity (it has no volume)", "group = "},
        Bad{"position_cavity", effector("position", "cavity = \"c\"\n"), 10, 10, "cavity means nothing to a position",
            "another type"},
        Bad{"length_nowhere", effector("length", ""), 7, 1, "length 'e' has no path", "cable = "},
        Bad{"length_point", effector("length", "point = [0, 0, 0]\n"), 10, 9, "point means nothing to a length",
            "another type"},
        Bad{"length_short", effector("length", "points = [[0, 0, 0]]\n"), 10, 10, "length 'e' has one point",
            "pull_point"},
        Bad{"length_both",
            cable("[[effector]]\nname = \"e\"\ntype = \"length\"\ncable = \"a\"\npull_point = [0, 0, 0]\n"), 15, 14,
            "pull_point means nothing to a length with a cable", "leave it out"},
        Bad{"length_of_none", cable("[[effector]]\nname = \"e\"\ntype = \"length\"\ncable = \"ab\"\n"), 14, 9,
            "there is no cable 'ab' (did you mean 'a'?)", "cable = \"a\""},
        Bad{"length_of_force",
            force("point = [0, 0, 0]\ndirection = [0, 0, 1]\n[[effector]]\nname = \"e\"\ntype = \"length\"\ncable = "
                  "\"f\"\n"),
            15, 9, "'f' is no cable", "points ="},
        Bad{"obstacle_type", obstacle("ball", ""), 9, 8, "unknown type 'ball'", "this version has: plane, sphere"},
        Bad{"obstacle_nameless", after("[[obstacle]]\ntype = \"plane\"\n"), 7, 1, "[[obstacle]] has no name", "name ="},
        Bad{"obstacle_twin", obstacle("plane", "[[probe]]\nname = \"o\"\npoint = [0, 0, 0]\n"), 7, 1, "'o' is taken",
            "another name"},
        Bad{"obstacle_single", after("[obstacle]\nname = \"o\"\n"), 7, 2, "obstacle is a table", "[[obstacle]]"},
        Bad{"sphere_radius", obstacle("sphere", ""), 7, 1, "obstacle 'o' has no radius", "radius ="},
        Bad{"sphere_flat", obstacle("sphere", "radius = 0\n"), 10, 10, "radius is 0 mm", "above 0"},
        Bad{"sphere_length", obstacle("sphere", "radius = 1\nlength = 1\n"), 11, 10, "length means nothing to a sphere",
            "another type"},
        Bad{"sphere_turned", obstacle("sphere", "radius = 1\nrotation = [0, 0, 0]\n"), 11, 12,
            "rotation means nothing to a sphere", "leave it out"},
        Bad{"plane_size", obstacle("plane", "size = [1, 1, 1]\n"), 10, 8, "size means nothing to a plane",
            "another type"},
        Bad{"plane_inside", obstacle("plane", "inside = true\n"), 10, 10, "inside means nothing to a plane",
            "leave it out"},
        Bad{"plane_axes", obstacle("plane", "axis = [0, 0, 1]\nrotation = [0, 0, 0]\n"), 11, 12,
            "rotation means nothing to an obstacle with an axis", "leave it out"},
        Bad{"plane_axis", obstacle("plane", "axis = [0, 0, 0]\n"), 10, 8, "axis has no length", "[0, 0, 1]"},
        Bad{"capsule_length", obstacle("capsule", "radius = 1\n"), 7, 1, "obstacle 'o' has no length", "length ="},
        Bad{"capsule_negative", obstacle("capsule", "radius = 1\nlength = -1\n"), 11, 10, "length is", "at least 0"},
        Bad{"cylinder_length", obstacle("cylinder", "radius = 1\nlength = 0\n"), 11, 10, "cylinder 'o' has no length",
            "above 0"},
        Bad{"cylinder_unit", obstacle("cylinder", "radius = \"1 N\"\nlength = 1\n"), 10, 10,
            "is a force, a length is expected", "m"},
        Bad{"tube_thickness", obstacle("tube", "radius = 1\nlength = 1\n"), 7, 1, "obstacle 'o' has no thickness",
            "thickness ="},
        Bad{"tube_flat", obstacle("tube", "radius = 1\nlength = 1\nthickness = 0\n"), 12, 13, "thickness is 0 mm",
            "above 0"},
        Bad{"tube_length", obstacle("tube", "radius = 1\nlength = 0\nthickness = 1\n"), 11, 10,
            "tube 'o' has no length", "above 0"},
        Bad{"tube_inside", obstacle("tube", "radius = 1\nlength = 1\nthickness = 1\ninside = true\n"), 13, 10,
            "inside means nothing to a tube", "type = \"cylinder\""},
        Bad{"cylinder_wall", obstacle("cylinder", "radius = 1\nlength = 1\nthickness = 1\n"), 12, 13,
            "thickness means nothing to a cylinder", "another type"},
        Bad{"box_size", obstacle("box", ""), 7, 1, "obstacle 'o' has no size", "size = ["},
        Bad{"box_flat", obstacle("box", "size = [1, 0, 1]\n"), 10, 8, "box 'o' has no size along y", "above 0"},
        Bad{"box_axis", obstacle("box", "size = [1, 1, 1]\naxis = [0, 0, 1]\n"), 11, 8, "axis means nothing to a box",
            "another type"},
        Bad{"obstacle_surface", obstacle("mesh", ""), 7, 1, "obstacle 'o' has no surface", "surface = {file"},
        Bad{"mesh_radius", obstacle("mesh", "radius = 1\nsurface = {file = \"a.stl\"}\n"), 10, 10,
            "radius means nothing to a mesh", "another type"},
        Bad{"friction", obstacle("plane", "friction = -0.1\n"), 10, 12, "friction is -0.1", "at least 0"},
        Bad{"friction_unit", obstacle("plane", "friction = \"1 N\"\n"), 10, 12,
            "is a force, a plain number is expected", "no unit"},
        Bad{"max_force", obstacle("plane", "max_force = 0\n"), 10, 13, "max_force is 0 N", "above 0"},
        Bad{"max_force_unit", obstacle("plane", "max_force = \"1 kPa\"\n"), 10, 13, "is a stress, a force is expected",
            "N"},
        Bad{"contacts", after("[[contact]]\n"), 7, 3, "contact is a list", "[contact]"},
        Bad{"contact_distance", after("[contact]\ndistance = \"-1 mm\"\n"), 8, 12, "distance is -1 mm", "at least 0"},
        Bad{"contact_regions", after("[contact]\ngroup = \"a\"\nbox = [[0, 0, 0], [1, 1, 1]]\n"), 8, 9,
            "[contact] has both box and group", "one of them"},
        Bad{"contact_unknown", after("[contact]\nfriction = 1\n"), 8, 1, "it belongs to [[obstacle]]", "spacing"},
        Bad{"states", after("[reduce]\nstates = 0\n"), 8, 10, "states is 0, at least 1", "states = 272"},
        Bad{"tolerance", after("[reduce]\nmodes_tolerance = 1\n"), 8, 19, "not below 1", "0.001"},
        Bad{"seed", after("[reduce]\nseed = -1\n"), 8, 8, "seed is -1", "seed = 1"},
        Bad{"selection", after("[reduce]\nselection = \"nnls\"\n"), 8, 13, "unknown selection", "lawson-hanson"}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace supple
