#include "engine/scene/keys.hpp"

#include <algorithm>
#include <array>

#include "kernels/base/contract.hpp"

namespace supple {
namespace {

using enum ValueKind;
using D = Dimension;

// clang-format off
constexpr std::array root_keys{
    Key{.name = "include", .kind = text, .fallback = "none", .meaning = "scene file to build on: tables are merged, anything else written here replaces what it has"},
    Key{.name = "name", .kind = text, .fallback = "the file's name", .meaning = "name of the robot"},
    Key{.name = "gravity", .kind = vector, .dimension = D::acceleration, .fallback = "[0, 0, \"-9.81 m/s^2\"]", .meaning = "gravity; z is up"},
    Key{.name = "time_step", .kind = quantity, .dimension = D::time, .fallback = "\"10 ms\"", .meaning = "length of a step", .bound = Bound::positive},
    Key{.name = "duration", .kind = quantity, .dimension = D::time, .fallback = "\"1 s\"", .meaning = "time that `simulate` covers unless told otherwise", .bound = Bound::positive},
    Key{.name = "integrator", .kind = choice, .fallback = "\"implicit-euler\"", .meaning = "how time advances: one linearisation a step, Newton to convergence, or static equilibria", .choices = "implicit-euler | implicit-euler-newton | quasi-static"},
    Key{.name = "implicit_velocity", .kind = quantity, .fallback = "1", .meaning = "share of the forces at the end of a step in the change of velocity, 0.5 to 1; not of quasi-static. With `implicit_position`: both 1 implicit Euler, both 0.5 keeps the energy of what is linear and is of second order", .bound = Bound::positive},
    Key{.name = "implicit_position", .kind = quantity, .fallback = "1", .meaning = "share of the velocity at the end of a step in the change of position, 0.5 to 1; 1 in contact with obstacles and beside limits", .bound = Bound::positive},
    Key{.name = "body", .kind = table, .fallback = "required", .meaning = "the deformable body", .subtable = "[body]"},
    Key{.name = "fix", .kind = tables, .fallback = "none", .meaning = "parts of the body that are held, moved or tied", .subtable = "[[fix]]"},
    Key{.name = "actuator", .kind = tables, .fallback = "none", .meaning = "what drives the robot", .subtable = "[[actuator]]"},
    Key{.name = "constraint", .kind = tables, .fallback = "none", .meaning = "what holds points to each other or to places: joints, strings, springs", .subtable = "[[constraint]]"},
    Key{.name = "effector", .kind = tables, .fallback = "none", .meaning = "what inverse control steers, and where errors are measured", .subtable = "[[effector]]"},
    Key{.name = "probe", .kind = tables, .fallback = "none", .meaning = "points that are only reported", .subtable = "[[probe]]"},
    Key{.name = "sensor", .kind = tables, .fallback = "none", .meaning = "what the robot measures of itself", .subtable = "[[sensor]]"},
    Key{.name = "parameter", .kind = tables, .fallback = "none", .meaning = "what the reduced model is to be good for a range of", .subtable = "[[parameter]]"},
    Key{.name = "obstacle", .kind = tables, .fallback = "none", .meaning = "rigid things that the body may touch", .subtable = "[[obstacle]]"},
    Key{.name = "contact", .kind = table, .fallback = "all defaults", .meaning = "how the body touches them", .subtable = "[contact]"},
    Key{.name = "reduce", .kind = table, .fallback = "all defaults", .meaning = "how the reduced model is made", .subtable = "[reduce]"},
};

constexpr std::array body_keys{
    Key{.name = "name", .kind = text, .fallback = "\"body\"", .meaning = "name of the body"},
    Key{.name = "mesh", .kind = table, .fallback = "required", .meaning = "its mesh", .subtable = "mesh"},
    Key{.name = "mass", .kind = quantity, .dimension = D::mass, .fallback = "none", .meaning = "mass of the whole body; `mass` or densities, not both", .bound = Bound::positive},
    Key{.name = "density", .kind = quantity, .dimension = D::density, .fallback = "none", .meaning = "density where the material gives none", .bound = Bound::positive},
    Key{.name = "mass_distribution", .kind = choice, .fallback = "\"consistent\"", .meaning = "consistent mass matrix; lumped by volume; or the same mass on every node (depends on the mesh)", .choices = "consistent | lumped | per-node"},
    Key{.name = "order", .kind = integer, .fallback = "2", .meaning = "order of the elements, 1 or 2: 2 bends as it should, with a node on every edge (a linear mesh gets them in the middles); 1, as SOFA has, needs a much finer mesh, above all of tetrahedra", .least = 1},
    Key{.name = "dilatation", .kind = choice, .fallback = "\"mean\"", .meaning = "where elements of several points resist a change of volume: what would make them lock once, by their mean deformation gradient, or all of it at each point", .choices = "mean | points"},
    Key{.name = "rayleigh_mass", .kind = quantity, .dimension = D::frequency, .fallback = "0", .meaning = "damping proportional to the mass matrix", .bound = Bound::non_negative},
    Key{.name = "rayleigh_stiffness", .kind = quantity, .dimension = D::time, .fallback = "0", .meaning = "damping proportional to the stiffness matrix", .bound = Bound::non_negative},
    Key{.name = "material", .kind = tables, .fallback = "required", .meaning = "materials; where regions overlap the later one holds", .subtable = "[[body.material]]"},
    Key{.name = "membrane", .kind = tables, .fallback = "none", .meaning = "thin layers on faces of the body", .subtable = "[[body.membrane]]"},
    Key{.name = "rod", .kind = tables, .fallback = "none", .meaning = "slender rods and cords in the body", .subtable = "[[body.rod]]"},
};

constexpr std::array mesh_keys{
    Key{.name = "file", .kind = text, .fallback = "required", .meaning = "path from the scene file that has it"},
    Key{.name = "unit", .kind = text, .dimension = D::length, .fallback = "\"m\"", .meaning = "unit of length of the mesh file, for instance \"mm\""},
    Key{.name = "scale", .kind = quantity, .fallback = "1", .meaning = "factor after the unit", .bound = Bound::positive},
    Key{.name = "rotation", .kind = vector, .dimension = D::angle, .fallback = "[0, 0, 0]", .meaning = "turns about x, then y, then z, after scaling"},
    Key{.name = "translation", .kind = vector, .dimension = D::length, .fallback = "[0, 0, 0]", .meaning = "shift after turning; every other position in the scene is in this transformed frame"},
};

constexpr std::array surface_keys{
    mesh_keys[0],
    Key{.name = "unit", .kind = text, .dimension = D::length, .fallback = "\"m\"", .meaning = "unit of length of the surface file"},
    mesh_keys[2],
    mesh_keys[3],
    Key{.name = "translation", .kind = vector, .dimension = D::length, .fallback = "[0, 0, 0]", .meaning = "shift after turning: of a cavity to where the transformed body is"},
};

constexpr std::array material_keys{
    Key{.name = "model", .kind = choice, .fallback = "\"corotational\"", .meaning = "stress law", .choices = "corotational | st-venant-kirchhoff | stable-neo-hookean | mooney-rivlin | yeoh | gent | ogden"},
    Key{.name = "young", .kind = quantity, .dimension = D::stress, .fallback = "required where no constants are given", .meaning = "Young's modulus; Gent: mu from it and poisson", .bound = Bound::positive},
    Key{.name = "poisson", .kind = quantity, .fallback = "required where no constants are given", .meaning = "Poisson's ratio, above -1 and below 0.5; Yeoh, Gent, Ogden: at rest, instead of d"},
    Key{.name = "rotation", .kind = choice, .fallback = "\"polar\"", .meaning = "corotational only: polar factor of F; frame on the element's edges; polar factor of its edge matrix (the last two for tetrahedra)", .choices = "polar | edge-frame | edge-polar"},
    Key{.name = "c01", .kind = quantity, .dimension = D::stress, .fallback = "from young and poisson", .meaning = "Mooney-Rivlin: W = c01 (I1 - 3) + c10 (I2 - 3) + d (J - 1)^2", .bound = Bound::non_negative},
    Key{.name = "c10", .kind = quantity, .dimension = D::stress, .fallback = "from young and poisson", .meaning = "Mooney-Rivlin, see c01", .bound = Bound::non_negative},
    Key{.name = "d", .kind = quantity, .dimension = D::stress, .fallback = "from young and poisson", .meaning = "Mooney-Rivlin, see c01, Yeoh, Gent, Ogden: half the bulk modulus", .bound = Bound::positive},
    Key{.name = "c1", .kind = quantity, .dimension = D::stress, .fallback = "required for Yeoh", .meaning = "Yeoh: W = c1 x + c2 x^2 + c3 x^3 + d (J - 1)^2, x = I1 - 3", .bound = Bound::positive},
    Key{.name = "c2", .kind = quantity, .dimension = D::stress, .fallback = "0", .meaning = "Yeoh, see c1"},
    Key{.name = "c3", .kind = quantity, .dimension = D::stress, .fallback = "0", .meaning = "Yeoh, see c1"},
    Key{.name = "mu", .kind = quantity, .dimension = D::stress, .fallback = "from young and poisson", .meaning = "Gent: W = -mu/2 jm log(1 - x/jm) + d (J - 1)^2, x = I1 - 3", .bound = Bound::positive},
    Key{.name = "jm", .kind = quantity, .fallback = "required for Gent", .meaning = "Gent: the value of I1 - 3 at which the material locks", .bound = Bound::positive},
    Key{.name = "mu1", .kind = quantity, .dimension = D::stress, .fallback = "required for Ogden", .meaning = "Ogden: W = sum of mu/alpha (l1^alpha + l2^alpha + l3^alpha - 3) over its terms + d (J - 1)^2, l the stretches without the change of volume"},
    Key{.name = "alpha1", .kind = quantity, .fallback = "required for Ogden", .meaning = "Ogden, see mu1"},
    Key{.name = "mu2", .kind = quantity, .dimension = D::stress, .fallback = "0", .meaning = "Ogden, see mu1"},
    Key{.name = "alpha2", .kind = quantity, .fallback = "required with mu2", .meaning = "Ogden, see mu1"},
    Key{.name = "mu3", .kind = quantity, .dimension = D::stress, .fallback = "0", .meaning = "Ogden, see mu1"},
    Key{.name = "alpha3", .kind = quantity, .fallback = "required with mu3", .meaning = "Ogden, see mu1"},
    Key{.name = "mooney_ratio", .kind = quantity, .fallback = "0.25", .meaning = "Mooney-Rivlin from young and poisson: c10 / c01", .bound = Bound::non_negative},
    Key{.name = "prony", .kind = tables, .fallback = "none", .meaning = "viscoelastic: what resists a change of shape fast and relaxes, `[{modulus = 0.4, time = \"0.1 s\"}, ...]`; the shear modulus at time t is (1 + sum of modulus exp(-t/time)) times that of the law, which holds at rest. Not of membranes", .subtable = "prony"},
    Key{.name = "retardation_time", .kind = quantity, .dimension = D::time, .fallback = "0", .meaning = "Kelvin-Voigt: viscosity against a change of shape, as a time: the shear modulus times this is the viscosity at small strains. Not of membranes. Instead of the body's `rayleigh_stiffness`, by material, and without a force on a body that only turns", .bound = Bound::non_negative},
    Key{.name = "density", .kind = quantity, .dimension = D::density, .fallback = "the body's", .meaning = "density of this material", .bound = Bound::positive},
    Key{.name = "region", .kind = table, .fallback = "the whole body", .meaning = "elements it applies to, by their centroids", .subtable = "region"},
};

constexpr std::array prony_keys{
    Key{.name = "modulus", .kind = quantity, .fallback = "required", .meaning = "modulus of the branch, relative to that of the law at rest", .bound = Bound::positive},
    Key{.name = "time", .kind = quantity, .dimension = D::time, .fallback = "required", .meaning = "its relaxation time", .bound = Bound::positive},
};

constexpr std::array membrane_keys{
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "one of the three", .meaning = "covers the surface of the body in this box (faces with all their nodes in it)"},
    Key{.name = "sphere", .kind = table, .fallback = "one of the three", .meaning = "the same in a ball", .subtable = "sphere"},
    Key{.name = "group", .kind = text, .fallback = "one of the three", .meaning = "name of a group of triangles of the mesh, on faces of its elements, inside too"},
    Key{.name = "thickness", .kind = quantity, .dimension = D::length, .fallback = "required without threads", .meaning = "thickness of the layer at rest", .bound = Bound::positive},
    Key{.name = "young", .kind = quantity, .dimension = D::stress, .fallback = "required without threads", .meaning = "Young's modulus", .bound = Bound::positive},
    Key{.name = "poisson", .kind = quantity, .fallback = "required without threads", .meaning = "Poisson's ratio, above -1 and at most 0.5"},
    Key{.name = "density", .kind = quantity, .dimension = D::density, .fallback = "none", .meaning = "adds the layer's mass to the body's; without it the layer is massless", .bound = Bound::positive},
    Key{.name = "threads", .kind = table, .fallback = "none", .meaning = "threads side by side instead of a sheet, as they are wound on actuators that are to bend or to turn; two layers that cross are two membranes", .subtable = "threads"},
};

constexpr std::array threads_keys{
    Key{.name = "stiffness", .kind = quantity, .dimension = D::force, .fallback = "required", .meaning = "axial stiffness of a thread, Young's modulus times its cross-section: force per strain", .bound = Bound::positive},
    Key{.name = "spacing", .kind = quantity, .dimension = D::length, .fallback = "required", .meaning = "distance from one thread to the next", .bound = Bound::positive},
    Key{.name = "push", .kind = boolean, .fallback = "false", .meaning = "they resist compression too, as wires do that the body keeps straight; threads buckle"},
    Key{.name = "buckling", .kind = quantity, .fallback = "1e-6", .meaning = "strain over which compressed threads go slack: each carries at most this times its stiffness in compression, and half of it at this strain", .bound = Bound::positive},
    Key{.name = "direction", .kind = vector, .fallback = "axis and angle", .meaning = "direction of threads that lie straight, projected on each face"},
    Key{.name = "axis", .kind = vector, .fallback = "[0, 0, 1]", .meaning = "axis about which they are wound; faces across it, such as the ends of a tube, are no part of a winding"},
    Key{.name = "centre", .kind = vector, .dimension = D::length, .fallback = "the middle of the faces", .meaning = "a point of the axis, inside the section"},
    Key{.name = "angle", .kind = quantity, .dimension = D::angle, .fallback = "required without direction", .meaning = "angle from the axis, from -90 deg to 90 deg, positive for a right-handed helix: 90 deg are rings, 0 lies along the axis"},
};

constexpr std::array rod_keys{
    Key{.name = "points", .kind = vectors, .dimension = D::length, .fallback = "required", .meaning = "path through points of the body, in straight pieces; a straight one where it resists bending. Rods that meet are hinged"},
    Key{.name = "radius", .kind = quantity, .dimension = D::length, .fallback = "required", .meaning = "of its round section", .bound = Bound::positive},
    Key{.name = "inner_radius", .kind = quantity, .dimension = D::length, .fallback = "0", .meaning = "of the bore of a tube", .bound = Bound::non_negative},
    Key{.name = "young", .kind = quantity, .dimension = D::stress, .fallback = "required", .meaning = "Young's modulus", .bound = Bound::positive},
    Key{.name = "density", .kind = quantity, .dimension = D::density, .fallback = "none", .meaning = "adds the rod's mass to the body's; without it the rod is massless", .bound = Bound::positive},
    Key{.name = "bending", .kind = boolean, .fallback = "true", .meaning = "it resists bending; a straight path then. false: a cord or a chain"},
    Key{.name = "clamped", .kind = boolean, .fallback = "true", .meaning = "where it ends at held nodes its direction is held too, as that of a wire that goes into the mount; false: a hinge, as at ends beside held nodes and on springs"},
    Key{.name = "push", .kind = boolean, .fallback = "true", .meaning = "it resists compression too; false: a cord, which buckles"},
    Key{.name = "buckling", .kind = quantity, .fallback = "1e-6", .meaning = "strain over which a compressed cord goes slack: it carries at most this times its stiffness in compression", .bound = Bound::positive},
    Key{.name = "spacing", .kind = quantity, .dimension = D::length, .fallback = "edge length of the elements along it", .meaning = "distance between its nodes, at which it is tied to the body; finer than the elements makes the body stiffer than it is", .bound = Bound::positive},
};

constexpr std::array region_keys{
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "one of the three", .meaning = "lower and upper corner of a box along the axes"},
    Key{.name = "sphere", .kind = table, .fallback = "one of the three", .meaning = "a ball", .subtable = "sphere"},
    Key{.name = "group", .kind = text, .fallback = "one of the three", .meaning = "name of a group of the mesh"},
};

constexpr std::array sphere_keys{
    Key{.name = "centre", .kind = vector, .dimension = D::length, .fallback = "required", .meaning = "its centre"},
    Key{.name = "radius", .kind = quantity, .dimension = D::length, .fallback = "required", .meaning = "its radius", .bound = Bound::positive},
};

constexpr std::array fix_keys{
    region_keys[0],
    region_keys[1],
    region_keys[2],
    Key{.name = "motion", .kind = text, .fallback = "none: held at rest", .meaning = "name of the input that moves these nodes along `direction`"},
    Key{.name = "direction", .kind = vector, .fallback = "required with motion", .meaning = "direction of the motion; only its direction counts"},
    Key{.name = "range", .kind = interval, .dimension = D::length, .fallback = "[-inf, inf]", .meaning = "limits of the motion"},
    Key{.name = "stiffness", .kind = quantity, .dimension = D::stiffness, .fallback = "inf", .meaning = "springs to the rest position instead of a rigid hold, for each node", .bound = Bound::positive, .infinite = true},
};

constexpr std::array actuator_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "name of the command"},
    Key{.name = "type", .kind = choice, .fallback = "required", .meaning = "a cable that does not stretch; a force along a direction fixed in space; a closed cavity filled with a gas of one pressure", .choices = "cable | force | cavity"},
    Key{.name = "points", .kind = vectors, .dimension = D::length, .fallback = "required for a cable", .meaning = "cable: points of the body that it runs through; the first is its attachment"},
    Key{.name = "pull_point", .kind = vector, .dimension = D::length, .fallback = "the last of `points`", .meaning = "cable: point fixed in space where it is pulled"},
    Key{.name = "point", .kind = vector, .dimension = D::length, .fallback = "a region", .meaning = "force: point of the body that it acts on"},
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "`point`", .meaning = "force: spread evenly over the surface of the body in this box (faces with all their nodes in it); cavity: these faces are its walls"},
    Key{.name = "sphere", .kind = table, .fallback = "`point`", .meaning = "force, cavity: the same in a ball", .subtable = "sphere"},
    Key{.name = "group", .kind = text, .fallback = "`point`", .meaning = "force, cavity: the same on a group of the mesh"},
    Key{.name = "surface", .kind = table, .fallback = "a region", .meaning = "cavity: its walls from a surface file, embedded in the body", .subtable = "surface"},
    Key{.name = "direction", .kind = vector, .fallback = "required for a force", .meaning = "force: where it points; only its direction counts"},
    Key{.name = "attachment_radius", .kind = quantity, .dimension = D::length, .fallback = "0", .meaning = "spreads each point over the nodes this near, so that it indents the body less", .bound = Bound::non_negative},
    Key{.name = "control", .kind = choice, .fallback = "cable \"displacement\", force \"force\", cavity \"pressure\"", .meaning = "what the command is: length pulled or distance moved along the direction (of the region's mean), or tension or force; of a cavity the volume it gains, or its pressure above that outside, or its gas: what is put in (`gas`, as volume at the pressure outside: a syringe or pump that moves it; without a `range` the cavity is sealed), or the pressure behind a line that feeds it (`supply`)", .choices = "displacement | force | volume | pressure | gas | supply"},
    Key{.name = "range", .kind = interval, .dimension = D::length, .fallback = "gas [0, 0], supply [-atmosphere, inf], others [0, inf], bilateral [-inf, inf]", .meaning = "limits of the command, lengths, forces, volumes or pressures after `control`; a reduction needs both ends"},
    Key{.name = "rate", .kind = quantity, .dimension = D::speed, .fallback = "inf", .meaning = "limit on the change of the command per time, in units after `control`", .bound = Bound::positive, .infinite = true},
    Key{.name = "bilateral", .kind = boolean, .fallback = "force, gas and supply true, others false", .meaning = "true: a cable may push too, a force may be negative, a cavity may be under suction"},
    Key{.name = "force", .kind = interval, .dimension = D::force, .fallback = "[0, inf], bilateral [-inf, inf]", .meaning = "cable, force: limits of the tension or force"},
    Key{.name = "pressure", .kind = interval, .dimension = D::stress, .fallback = "gas and supply [-atmosphere, inf], others [0, inf], bilateral [-inf, inf]", .meaning = "cavity: limits of the pressure. Where one holds, a supply vents what is above it; gas that is put in is all there again afterwards"},
    Key{.name = "atmosphere", .kind = quantity, .dimension = D::stress, .fallback = "\"101325 Pa\"", .meaning = "gas, supply: absolute pressure outside, to which every other pressure is relative", .bound = Bound::positive},
    Key{.name = "dead_volume", .kind = quantity, .dimension = D::volume, .fallback = "0", .meaning = "gas, supply: volume of lines and fittings that is at the pressure of the cavity", .bound = Bound::non_negative},
    Key{.name = "resistance", .kind = quantity, .dimension = D::flow_resistance, .fallback = "required for supply", .meaning = "supply: of the line: difference of pressures over the flow, this measured at the pressure outside", .bound = Bound::positive},
    Key{.name = "friction", .kind = quantity, .fallback = "0", .meaning = "cable: Coulomb's coefficient where it turns at its points: over an angle a its tension changes by the factor exp(friction a), against its sliding", .bound = Bound::non_negative},
    Key{.name = "slip_length", .kind = quantity, .dimension = D::length, .fallback = "\"0.1 mm\"", .meaning = "cable: how far it slides until friction has turned round, all but 37 %", .bound = Bound::positive},
    Key{.name = "samples", .kind = integer, .fallback = "2", .meaning = "values of this command on the grid of the offline sampling", .least = 2},
};

constexpr std::array constraint_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "type", .kind = choice, .fallback = "required", .meaning = "keeps the distance of two points; keeps a point where it is; keeps it in a plane; a distance that may only be below or above a length", .choices = "distance | fixed-point | plane | limit"},
    Key{.name = "points", .kind = vectors, .dimension = D::length, .fallback = "required for a distance or limit", .meaning = "distance, limit: two points of the body, or one and an `anchor`"},
    Key{.name = "anchor", .kind = vector, .dimension = D::length, .fallback = "the second of `points`", .meaning = "distance, limit: the other end, fixed in space"},
    Key{.name = "length", .kind = quantity, .dimension = D::length, .fallback = "as at rest", .meaning = "distance: the distance; limit: what it may not exceed or fall below", .bound = Bound::non_negative},
    Key{.name = "bound", .kind = choice, .fallback = "\"longest\"", .meaning = "limit: `length` is the longest (a string) or the shortest distance (a stop)", .choices = "longest | shortest"},
    Key{.name = "point", .kind = vector, .dimension = D::length, .fallback = "required for a fixed point or plane", .meaning = "fixed-point, plane: point of the body, at rest"},
    Key{.name = "position", .kind = vector, .dimension = D::length, .fallback = "where the point is at rest", .meaning = "fixed-point: where it is held; plane: a point of the plane"},
    Key{.name = "directions", .kind = vectors, .fallback = "x, y and z", .meaning = "fixed-point: along which it is held, at most three, independent of each other; only their directions count"},
    Key{.name = "normal", .kind = vector, .fallback = "required for a plane", .meaning = "plane: its normal; only its direction counts"},
    Key{.name = "attachment_radius", .kind = quantity, .dimension = D::length, .fallback = "0", .meaning = "spreads each point over the nodes this near, as a cable's", .bound = Bound::non_negative},
    Key{.name = "compliance", .kind = quantity, .dimension = D::compliance, .fallback = "none: hard", .meaning = "of the spring that it is, for each row; 0: rigid", .bound = Bound::non_negative},
    Key{.name = "stiffness", .kind = quantity, .dimension = D::stiffness, .fallback = "`compliance`", .meaning = "1 / compliance", .bound = Bound::positive},
    Key{.name = "damping_time", .kind = quantity, .dimension = D::time, .fallback = "0", .meaning = "d in force = -(violation + d rate) / compliance; of a hard one: the time in which a violation decays", .bound = Bound::non_negative},
    Key{.name = "as", .kind = choice, .fallback = "force for a spring, constraint for what is hard or a limit", .meaning = "how a spring is computed: as rows with forces of their own, which are reported; or among the body's forces and stiffness, which holds large turns better. Equal where its direction does not turn", .choices = "constraint | force"},
};

constexpr std::array effector_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "type", .kind = choice, .fallback = "\"position\"", .meaning = "what is steered: a place, how a region is turned, the length of a path, or the volume of a closed cavity", .choices = "position | orientation | length | volume"},
    Key{.name = "point", .kind = vector, .dimension = D::length, .fallback = "a region", .meaning = "position: point at rest, of the body or, with a region, carried by it"},
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "`point`", .meaning = "position: with `point`, the nodes in this box carry it (it moves with the linear map nearest to their motion: a marker beside the body); without, their mean, weighted by volume; orientation: the rotation that fits them best; volume: the cavity with these walls, as an actuator's"},
    Key{.name = "sphere", .kind = table, .fallback = "`point`", .meaning = "the same for the nodes in a ball", .subtable = "sphere"},
    Key{.name = "group", .kind = text, .fallback = "`point`", .meaning = "the same for the nodes of a group of the mesh"},
    Key{.name = "directions", .kind = vectors, .fallback = "x, y and z", .meaning = "position, orientation: directions or axes that count, at most three, independent of each other; only their directions count"},
    Key{.name = "lever", .kind = quantity, .dimension = D::length, .fallback = "\"10 mm\"", .meaning = "orientation: length that a radian counts as", .bound = Bound::positive},
    Key{.name = "points", .kind = vectors, .dimension = D::length, .fallback = "`cable`", .meaning = "length: path through points of the body, as a cable's"},
    Key{.name = "pull_point", .kind = vector, .dimension = D::length, .fallback = "the last of `points`", .meaning = "length: end of the path fixed in space"},
    Key{.name = "attachment_radius", .kind = quantity, .dimension = D::length, .fallback = "0", .meaning = "length: as a cable's", .bound = Bound::non_negative},
    Key{.name = "cable", .kind = text, .fallback = "`points`", .meaning = "length: name of the actuator whose path is meant"},
    Key{.name = "cavity", .kind = text, .fallback = "`surface` or a region", .meaning = "volume: name of the actuator whose cavity is meant"},
    Key{.name = "surface", .kind = table, .fallback = "`cavity` or a region", .meaning = "volume: the walls from a surface file, embedded in the body", .subtable = "surface"},
    Key{.name = "weight", .kind = quantity, .fallback = "1", .meaning = "how much its rows count among those of all effectors, squared", .bound = Bound::positive},
    Key{.name = "exact", .kind = boolean, .fallback = "false", .meaning = "true: its goal is reached exactly or not at all"},
};

constexpr std::array probe_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "point", .kind = vector, .dimension = D::length, .fallback = "required", .meaning = "point at rest, of the body or, with a region, carried by it"},
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "none", .meaning = "the nodes in this box carry the point: it moves with the linear map nearest to their motion, as a marker beside the body does"},
    Key{.name = "sphere", .kind = table, .fallback = "none", .meaning = "the same for the nodes in a ball", .subtable = "sphere"},
    Key{.name = "group", .kind = text, .fallback = "none", .meaning = "the same for the nodes of a group of the mesh"},
    Key{.name = "set", .kind = text, .fallback = "none", .meaning = "probes of one set are reported together"},
};

constexpr std::array sensor_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "type", .kind = choice, .fallback = "required", .meaning = "what is measured: the length of a path; the strain of a fibre at a point; the pressure or volume of a cavity; the tension of a cable; the force of an actuator of that type; the place of a point; the specific force (acceleration less gravity) of a point and the angular rate of a region, both along axes that turn with the body; the force of obstacles", .choices = "length | strain | pressure | volume | tension | force | position | accelerometer | gyroscope | contact-force"},
    Key{.name = "points", .kind = vectors, .dimension = D::length, .fallback = "`cable`", .meaning = "length: path through points of the body, as a cable's"},
    Key{.name = "pull_point", .kind = vector, .dimension = D::length, .fallback = "the last of `points`", .meaning = "length: end of the path fixed in space"},
    Key{.name = "attachment_radius", .kind = quantity, .dimension = D::length, .fallback = "0", .meaning = "length: as a cable's", .bound = Bound::non_negative},
    Key{.name = "cable", .kind = text, .fallback = "`points`", .meaning = "length: name of the actuator whose path is meant"},
    Key{.name = "point", .kind = vector, .dimension = D::length, .fallback = "required for a strain, else a region", .meaning = "strain: of the fibre through this point at rest. position, accelerometer: point at rest, of the body or, with a region, carried by it. Without a region, an accelerometer or gyroscope turns with the body at this point"},
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "`point`", .meaning = "position, accelerometer: with `point`, the nodes in this box carry it; without, their mean, weighted by volume. accelerometer, gyroscope: the rotation that fits these nodes best turns the axes. contact-force: collision points in this box only"},
    Key{.name = "sphere", .kind = table, .fallback = "`point`", .meaning = "the same for what is in a ball", .subtable = "sphere"},
    Key{.name = "group", .kind = text, .fallback = "`point`", .meaning = "the same for the nodes of a group of the mesh"},
    Key{.name = "direction", .kind = vector, .fallback = "required for a strain", .meaning = "strain: of the fibre at rest; only its direction counts"},
    Key{.name = "measure", .kind = choice, .fallback = "\"green-lagrange\"", .meaning = "strain: of a fibre that is stretched by the factor s, (s^2 - 1)/2 or s - 1", .choices = "green-lagrange | engineering"},
    Key{.name = "actuator", .kind = text, .fallback = "required for a pressure, volume, tension or force", .meaning = "name of the actuator that is meant"},
    Key{.name = "noise", .kind = quantity, .fallback = "0", .meaning = "standard deviation of white noise, in the unit of what is measured; each step and component has its own. `--seed` sets another sequence", .bound = Bound::non_negative},
    Key{.name = "bias", .kind = quantity, .fallback = "0", .meaning = "is added, in the unit of what is measured"},
    Key{.name = "delay", .kind = quantity, .dimension = D::time, .fallback = "0", .meaning = "the value is that of so long ago, at first that of the start", .bound = Bound::non_negative},
};

constexpr std::array parameter_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "type", .kind = choice, .fallback = "required", .meaning = "what it is a factor on: the moduli of a material, a membrane or the whole body; the mass; lengths along a direction, between two planes across it", .choices = "stiffness | density | stretch"},
    Key{.name = "range", .kind = interval, .fallback = "required", .meaning = "least and largest factor, about 1: that of the scene as it stands"},
    Key{.name = "material", .kind = integer, .fallback = "the whole body", .meaning = "stiffness: of which `[[body.material]]`, counted from 1", .least = 1},
    Key{.name = "membrane", .kind = integer, .fallback = "the whole body", .meaning = "stiffness: of which `[[body.membrane]]`, counted from 1", .least = 1},
    Key{.name = "direction", .kind = vector, .fallback = "required for a stretch", .meaning = "stretch: along it lengths change; only its direction counts"},
    Key{.name = "from", .kind = vector, .dimension = D::length, .fallback = "where the body begins along `direction`", .meaning = "stretch: a point of the plane where what is stretched begins; the body before it is carried along"},
    Key{.name = "to", .kind = vector, .dimension = D::length, .fallback = "where the body ends along `direction`", .meaning = "stretch: a point of the plane where it ends; the body beyond is carried along"},
    Key{.name = "about", .kind = vector, .dimension = D::length, .fallback = "midway", .meaning = "stretch: a point of the plane that stays"},
};

constexpr std::array obstacle_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "type", .kind = choice, .fallback = "required", .meaning = "its shape: all below a plane with the normal z; a ball; what is within `radius` of a segment along z; a box along the axes; a cylinder along z with flat ends; a pipe along z, open at both ends, that the body may be in and around; a closed surface", .choices = "plane | sphere | capsule | box | cylinder | tube | mesh"},
    Key{.name = "radius", .kind = quantity, .dimension = D::length, .fallback = "required for a sphere, capsule, cylinder or tube", .meaning = "its radius; tube: the inner one", .bound = Bound::positive},
    Key{.name = "length", .kind = quantity, .dimension = D::length, .fallback = "required for a capsule, cylinder or tube", .meaning = "cylinder, tube: over all; capsule: of the segment, so over all two radii more", .bound = Bound::non_negative},
    Key{.name = "thickness", .kind = quantity, .dimension = D::length, .fallback = "required for a tube", .meaning = "of its wall, around the inner radius", .bound = Bound::positive},
    Key{.name = "size", .kind = vector, .dimension = D::length, .fallback = "required for a box", .meaning = "lengths of the edges"},
    Key{.name = "surface", .kind = table, .fallback = "required for a mesh", .meaning = "its surface", .subtable = "surface"},
    Key{.name = "position", .kind = vector, .dimension = D::length, .fallback = "[0, 0, 0]", .meaning = "where its centre is; a point of a plane; shift of a mesh"},
    Key{.name = "rotation", .kind = vector, .dimension = D::angle, .fallback = "[0, 0, 0]", .meaning = "turns about x, then y, then z, before it is shifted to `position`; not of a sphere"},
    Key{.name = "axis", .kind = vector, .fallback = "`rotation`", .meaning = "plane: its normal, into the free space; capsule, cylinder, tube: where the axis points; only its direction counts"},
    Key{.name = "inside", .kind = boolean, .fallback = "false", .meaning = "true: the body is inside, as in a room; not of a plane or tube"},
    Key{.name = "friction", .kind = quantity, .fallback = "0", .meaning = "Coulomb's coefficient against the body", .bound = Bound::non_negative},
    Key{.name = "max_force", .kind = quantity, .dimension = D::force, .fallback = "inf", .meaning = "inverse control keeps the sum of the normal forces on this obstacle at or below this; forward simulation is not limited", .bound = Bound::positive, .infinite = true},
};

constexpr std::array contact_keys{
    Key{.name = "distance", .kind = quantity, .dimension = D::length, .fallback = "0", .meaning = "distance from obstacles at which points are kept", .bound = Bound::non_negative},
    Key{.name = "spacing", .kind = quantity, .dimension = D::length, .fallback = "every node", .meaning = "points are at least this far from each other at rest, corners and edges of the body first", .bound = Bound::non_negative},
    Key{.name = "surface", .kind = table, .fallback = "nodes of the body", .meaning = "points are the corners of this surface, embedded in the body, as of a collision mesh of its own; without `spacing` and `group`", .subtable = "surface"},
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "the whole body", .meaning = "points in this box only"},
    Key{.name = "sphere", .kind = table, .fallback = "the whole body", .meaning = "points in this ball only", .subtable = "sphere"},
    Key{.name = "group", .kind = text, .fallback = "the whole body", .meaning = "points in this group of the mesh only"},
};

constexpr std::array reduce_keys{
    Key{.name = "sampling", .kind = choice, .fallback = "\"latin-hypercube\"", .meaning = "which commands are simulated for the training set", .choices = "latin-hypercube | grid | random-paths | greedy"},
    Key{.name = "actuation", .kind = text, .fallback = "none", .meaning = "CSV file of commands over time, as for `simulate --actuation`, for robots that are free-floating in contact with obstacles: trained and measured along them, with the obstacles' friction. `sampling`, `states`, `states_tolerance`, `sweep_steps`, `budget`, `corners`, `converged`, `friction`, `trajectories`, `doublings` and `validation_states` count for nothing then"},
    Key{.name = "variation", .kind = quantity, .fallback = "\"10 %\"", .meaning = "with `actuation`: further runs, also those for the test, move each input by a factor of its own that is 1 within this", .bound = Bound::positive},
    Key{.name = "states", .kind = integer, .fallback = "272", .meaning = "number of states, without those of corners; not of a grid; of ramps' ends where the robot is free-floating in contact with obstacles", .least = 1},
    Key{.name = "states_tolerance", .kind = quantity, .fallback = "none", .meaning = "greedy: no more states once the mean error predicted for those not simulated is below this share of the mean displacement", .bound = Bound::positive},
    Key{.name = "sweep_steps", .kind = integer, .fallback = "9", .meaning = "grid: increments between neighbouring grid points; where the robot is free-floating in contact with obstacles: time steps from each state to the next, or for each state of random paths", .least = 1},
    Key{.name = "rigid_motion", .kind = choice, .fallback = "\"frame\"", .meaning = "of a free-floating body: on a frame that turns by any angle, or by six linearised rigid modes as in the paper (eq. 22), for small angles only", .choices = "frame | linearised"},
    Key{.name = "friction", .kind = choice, .fallback = "\"none\"", .meaning = "where the robot is free-floating in contact with obstacles, friction of the training trajectories: none, or the obstacles' own. Errors are measured with their own", .choices = "none | own"},
    Key{.name = "budget", .kind = integer, .fallback = "4096", .meaning = "grid: with more points than this the hypercube is used instead", .least = 1},
    Key{.name = "corners", .kind = boolean, .fallback = "true", .meaning = "all but the grid: when the actuation box has at most 64 corners, learn them too, and the robot with all actuators released"},
    Key{.name = "converged", .kind = boolean, .fallback = "true", .meaning = "train on converged equilibria; false, and always where the robot is free-floating in contact with obstacles: one linearised step for each increment"},
    Key{.name = "error", .kind = quantity, .fallback = "none", .meaning = "mean error at the effectors and in shape that the model may have on unseen states (\"1 %\"); that of any state may be five times as large. Modes are added until the model has it, and a model that misses it is not written. With modes_tolerance or max_modes it is only a limit. 1 % where the table specifies no states, modes, elements or error limits, unless the body is free-floating", .bound = Bound::positive},
    Key{.name = "trajectories", .kind = integer, .fallback = "0", .meaning = "trajectories that are trained on beside the equilibria, of 80 time steps each: they excite the vibrations of the body. 2 where an error is asked for; ignored for free-floating bodies, greedy sampling, rerun training and converged = false"},
    Key{.name = "doublings", .kind = integer, .fallback = "0", .meaning = "how often the number of states and of trajectories is doubled; what a folder holds of them is used again. Where an error is asked for that the states do not allow, up to 2 are added; not of a grid or greedy sampling"},
    Key{.name = "modes_tolerance", .kind = quantity, .fallback = "1e-3", .meaning = "share of the snapshots that the modes may leave out; where `error` is given, and neither this key nor max_modes, as many modes as that takes", .bound = Bound::positive},
    Key{.name = "modes_tolerance_squared", .kind = boolean, .fallback = "false", .meaning = "compare the share of the squared singular values itself, not its square root"},
    Key{.name = "max_modes", .kind = integer, .fallback = "0", .meaning = "most modes to keep; 0: as the tolerance asks"},
    Key{.name = "pushes", .kind = quantity, .dimension = D::force, .fallback = "0", .meaning = "each state that is drawn for the training, validation and test sets is pushed at one collision point by a force of up to this, in any direction, so that the model may be touched by what it was not trained with. The scene needs no obstacles", .bound = Bound::non_negative},
    Key{.name = "contact_modes", .kind = integer, .fallback = "0", .meaning = "in contact with obstacles, or with pushes: at most this number of further modes, not counted by max_modes, for the compliance of the skin where states of the training touched something or were pushed"},
    Key{.name = "elements_tolerance", .kind = quantity, .fallback = "none", .meaning = "displacement: relative displacement, by prediction, that the elements left out may cause, instead of elements_acceptance; the other rules: residual of the forces, 0.02 if not given", .bound = Bound::positive},
    Key{.name = "elements", .kind = integer, .fallback = "0", .meaning = "keep so many elements, whatever their errors; 0: as the other keys ask"},
    Key{.name = "elements_every", .kind = integer, .fallback = "0", .meaning = "choose elements on every n-th of the states that the modes are made of; 0: on all, and where the robot is free-floating in contact with obstacles, whose states follow each other in time, on every eighth or, of fewer than 512, on more"},
    Key{.name = "membranes", .kind = choice, .fallback = "\"elements\"", .meaning = "what reduced membranes are made of: some of their triangles, with weights, or modes of their strains, for layers that bend but hardly stretch", .choices = "elements | strains"},
    Key{.name = "solids", .kind = choice, .fallback = "\"elements\"", .meaning = "what the forces of the reduced body are made of: some of its elements, with weights; or modes of its strains, whose energy is fitted to the training states, which take a fraction of the time and often have smaller errors. Not supported: free-floating bodies, viscous materials, rotations from edges, factors by material, a number of elements, export to SOFA", .choices = "elements | strains"},
    Key{.name = "strain_tolerance", .kind = quantity, .fallback = "none", .meaning = "share of the strains in the training states, in the norm of energy, that strain modes may leave out; without it 0.05 of membranes, 0.02 of solids. More modes are not always better", .bound = Bound::positive},
    Key{.name = "max_strain_modes", .kind = integer, .fallback = "0", .meaning = "most strain modes to keep, of solids not less than the modes; 0: as the tolerance asks, of solids at least 2 r + 2 of r modes"},
    Key{.name = "unit", .kind = choice, .fallback = "\"point\"", .meaning = "what is kept or left out of elements with several points, with one weight each: single points (tetrahedra of second order have four, hexahedra eight, of second order fourteen), or whole elements, as SOFA's files need; `elements` and the tolerances are of these units. Linear tetrahedra and membranes have one point each", .choices = "element | point"},
    Key{.name = "elements_acceptance", .kind = quantity, .fallback = "0.1", .meaning = "displacement without elements_tolerance: the fewest elements are kept whose mean errors on unseen states exceed those of all elements by no more than this share", .bound = Bound::positive},
    Key{.name = "training", .kind = choice, .fallback = "\"projected\"", .meaning = "states for the choice of elements: snapshots projected on the modes, or a second pass with the modes", .choices = "projected | rerun"},
    Key{.name = "selection", .kind = choice, .fallback = "\"displacement\"", .meaning = "how elements are chosen: by the displacement that the forces left out cause, or by the forces (the paper: lawson-hanson)", .choices = "displacement | lawson-hanson-pruned | lawson-hanson"},
    Key{.name = "seed", .kind = integer, .fallback = "1", .meaning = "seed of the sampling"},
    Key{.name = "validation_states", .kind = integer, .fallback = "30", .meaning = "unseen states that the model is measured on; of ramps' ends where the robot is free-floating in contact with obstacles", .least = 1},
    Key{.name = "goal_error_limit", .kind = quantity, .fallback = "none", .meaning = "mean error at the effectors (0.01 or \"1 %\") above which the model is rejected", .bound = Bound::positive},
    Key{.name = "shape_error_limit", .kind = quantity, .fallback = "none", .meaning = "the same over all nodes", .bound = Bound::positive},
};

constexpr std::array assembly_keys{
    root_keys[0],
    root_keys[1],
    root_keys[2],
    root_keys[3],
    root_keys[4],
    root_keys[5],
    root_keys[6],
    root_keys[7],
    Key{.name = "rigid", .kind = tables, .fallback = "none", .meaning = "rigid bodies", .subtable = "[[rigid]]"},
    Key{.name = "part", .kind = tables, .fallback = "none", .meaning = "soft bodies, each a robot of its own", .subtable = "[[part]]"},
    Key{.name = "link", .kind = tables, .fallback = "none", .meaning = "what holds points of different bodies to each other", .subtable = "[[link]]"},
    Key{.name = "effector", .kind = tables, .fallback = "those of the parts", .meaning = "what inverse control steers: places and orientations of bodies. Where there are some, those of the parts are points alone", .subtable = "[[effector]] of a body"},
    Key{.name = "reduce", .kind = table, .fallback = "as below", .meaning = "how `supple reduce` trains the parts in this world", .subtable = "[reduce] of the whole"},
    Key{.name = "obstacle", .kind = tables, .fallback = "none", .meaning = "rigid things in the world that parts and free rigid bodies may touch", .subtable = "[[obstacle]]"},
    Key{.name = "contact", .kind = table, .fallback = "every node", .meaning = "`distance` for all bodies, from obstacles and from each other: where several may touch, 0.2 % of the diagonal of the smallest surface that does if it is 0 or not given; `spacing` for parts whose own scenes have none; a region or a surface stands in the scene of its part", .subtable = "[contact]"},
};

constexpr std::array world_reduce_keys{
    Key{.name = "error", .kind = quantity, .fallback = "\"1 %\"", .meaning = "mean error of the whole at the effectors and in shape, on unseen states: modes and elements are added until it is reached", .bound = Bound::positive},
    Key{.name = "actuation", .kind = text, .fallback = "none", .meaning = "CSV file of commands over time, as for `simulate --actuation`: the parts are trained and measured along them, in contact, instead of on equilibria"},
    Key{.name = "variation", .kind = quantity, .fallback = "\"10 %\"", .meaning = "with `actuation`: further runs, also those for the test, move each input by a factor of its own that is 1 within this", .bound = Bound::positive},
    Key{.name = "force_error", .kind = quantity, .fallback = "\"5 %\"", .meaning = "with `actuation`: mean error of the forces between bodies, and of obstacles on bodies, that is asked for as well", .bound = Bound::positive},
    Key{.name = "states", .kind = integer, .fallback = "64", .meaning = "equilibria of the whole that its parts are trained on, beside the corners of the box of inputs where these are at most 64; with `actuation`, about as many states that are kept of each of three runs", .least = 1},
    Key{.name = "max_modes", .kind = integer, .fallback = "0", .meaning = "most modes of a part; 0: as the error asks"},
    Key{.name = "validation_states", .kind = integer, .fallback = "30", .meaning = "unseen equilibria that the whole is measured on; not with `actuation`, whose states are those of two more runs", .least = 1},
    Key{.name = "seed", .kind = integer, .fallback = "1", .meaning = "seed of the sampling"},
};

constexpr std::array rigid_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "on", .kind = text, .fallback = "space", .meaning = "rigid body that carries it: without a motion it is welded to it, and of a body that moves freely it becomes a part, with its mass; with motions it moves on it, where that one is held or driven"},
    Key{.name = "translation", .kind = vector, .dimension = D::length, .fallback = "[0, 0, 0]", .meaning = "where its frame is at rest, in the frame of what carries it"},
    Key{.name = "rotation", .kind = vector, .dimension = D::angle, .fallback = "[0, 0, 0]", .meaning = "how its frame is turned there: about x, then y, then z"},
    Key{.name = "held", .kind = boolean, .fallback = "false", .meaning = "it does not move"},
    Key{.name = "mass", .kind = quantity, .dimension = D::mass, .fallback = "required where it moves freely", .meaning = "its mass, homogeneous over its shape, without what it carries", .bound = Bound::positive},
    Key{.name = "type", .kind = choice, .fallback = "\"box\"", .meaning = "its shape, about the origin of its frame, as that of an obstacle: a box along the axes; a ball; what is within `radius` of a segment along z; a cylinder along z with flat ends; a closed surface. Its measures are required where it moves freely; without them it has no shape. Spheres and capsules that move freely do not touch obstacles yet", .choices = "box | sphere | capsule | cylinder | mesh"},
    Key{.name = "size", .kind = vector, .dimension = D::length, .fallback = "no shape", .meaning = "box: lengths of the edges"},
    Key{.name = "radius", .kind = quantity, .dimension = D::length, .fallback = "required for a sphere, capsule or cylinder", .meaning = "its radius", .bound = Bound::positive},
    Key{.name = "length", .kind = quantity, .dimension = D::length, .fallback = "required for a capsule or cylinder", .meaning = "cylinder: over all; capsule: of the segment, so over all two radii more", .bound = Bound::non_negative},
    Key{.name = "surface", .kind = table, .fallback = "required for a mesh", .meaning = "its surface, which is closed and faces outwards", .subtable = "surface"},
    Key{.name = "motion", .kind = text_or_tables, .fallback = "none", .meaning = "inputs that move it, one after the other: each moves what the ones before have moved; or the name of one, a translation. With its name before it, `palm/lift`", .subtable = "[[rigid.motion]]"},
    Key{.name = "direction", .kind = vector, .fallback = "required with the name of a motion", .meaning = "its direction, in the axes of what carries the body"},
    Key{.name = "range", .kind = interval, .dimension = D::length, .fallback = "[-inf, inf]", .meaning = "range of the motion that is given by its name"},
    Key{.name = "friction", .kind = quantity, .fallback = "0", .meaning = "Coulomb's coefficient against other bodies; of two bodies the geometric mean of both holds", .bound = Bound::non_negative},
    Key{.name = "collision", .kind = choice, .fallback = "\"shape\"", .meaning = "with what it touches other bodies: its shape, if it has one, or nothing", .choices = "shape | none"},
    Key{.name = "point", .kind = tables, .fallback = "none", .meaning = "points of it that links name", .subtable = "[[rigid.point]]"},
};

constexpr std::array rigid_motion_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "name of the input; with that of the body before it, `wrist/turn`"},
    Key{.name = "type", .kind = choice, .fallback = "\"translation\"", .meaning = "shift along `direction`, or turn about it", .choices = "translation | rotation"},
    Key{.name = "direction", .kind = vector, .fallback = "required", .meaning = "direction at rest, in the axes of what carries the body, the world's by default; rotation: the axis. Only its direction counts"},
    Key{.name = "centre", .kind = vector, .dimension = D::length, .fallback = "[0, 0, 0]", .meaning = "rotation: a point on the axis, in the frame of the body"},
    Key{.name = "range", .kind = interval, .dimension = D::length, .fallback = "[-inf, inf]", .meaning = "range of the input: lengths, or angles"},
};

constexpr std::array rigid_point_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "name of the point"},
    Key{.name = "point", .kind = vector, .dimension = D::length, .fallback = "required", .meaning = "where it is in the frame of the rigid body"},
};

constexpr std::array part_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "stands before the names of all that is the part's own: `finger-1/flexor`"},
    Key{.name = "scene", .kind = text, .fallback = "one of the two", .meaning = "scene of one body; gravity, time step and integrator are those of the whole"},
    Key{.name = "model", .kind = text, .fallback = "one of the two", .meaning = "reduced model"},
    Key{.name = "on", .kind = text, .fallback = "space", .meaning = "rigid body that carries it: what its own scene holds or fixes in space is held or fixed there; not of a part that its scene holds nowhere"},
    Key{.name = "translation", .kind = vector, .dimension = D::length, .fallback = "[0, 0, 0]", .meaning = "where the origin of its scene is in the frame of what carries it"},
    Key{.name = "rotation", .kind = vector, .dimension = D::angle, .fallback = "[0, 0, 0]", .meaning = "how its scene is turned there: about x, then y, then z"},
    Key{.name = "friction", .kind = quantity, .fallback = "0", .meaning = "Coulomb's coefficient against other bodies; of two bodies the geometric mean of both holds", .bound = Bound::non_negative},
    Key{.name = "collision", .kind = choice, .fallback = "\"skin\"", .meaning = "with what it touches other bodies: its outer skin, without walls of cavities, or nothing; what of it touches obstacles stands in its own scene", .choices = "skin | none"},
    Key{.name = "box", .kind = box, .dimension = D::length, .fallback = "all of the skin", .meaning = "of its skin, only faces with all corners in this box touch other bodies, in the axes of its own scene. What is beside them passes through others, and they hold from both sides, like a sheet; a step takes less time"},
    Key{.name = "sphere", .kind = table, .fallback = "all of the skin", .meaning = "the same with a sphere", .subtable = "sphere"},
    Key{.name = "self_contact", .kind = boolean, .fallback = "false", .meaning = "its skin touches itself too"},
};

constexpr std::array link_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "name of the link"},
    Key{.name = "type", .kind = choice, .fallback = "\"joint\"", .meaning = "two points are one (a ball joint); stay at a distance; or at most at one. Or two bodies that meet at their points turn about an axis (0 at rest, from -180 to 180 deg), slide along it, or move as one. A part is held so at an effector of its scene of type orientation, along one of the part's own axes", .choices = "joint | distance | limit | hinge | slider | weld"},
    Key{.name = "from", .kind = text, .fallback = "required", .meaning = "`\"palm:hook\"`, a point of a rigid body; `\"palm\"`, its origin; `\"finger-1:tip\"`, an effector or probe of a part"},
    Key{.name = "to", .kind = text, .fallback = "required", .meaning = "the other end, the same way"},
    Key{.name = "length", .kind = quantity, .dimension = D::length, .fallback = "that at rest", .meaning = "of a distance or a limit", .bound = Bound::positive},
    Key{.name = "compliance", .kind = quantity, .dimension = D::compliance, .fallback = "0, hard", .meaning = "metres per newton: a spring, which is a force (a limit's stays a constraint)", .bound = Bound::non_negative},
    Key{.name = "stiffness", .kind = quantity, .dimension = D::stiffness, .fallback = "none", .meaning = "the same, the other way round; of a hinge (newton metres per radian) or slider, that of a spring on its angle or travel", .bound = Bound::positive},
    Key{.name = "damping_time", .kind = quantity, .dimension = D::time, .fallback = "0", .meaning = "damping over stiffness", .bound = Bound::non_negative},
    Key{.name = "axis", .kind = vector, .fallback = "required for a hinge or slider", .meaning = "of a hinge or slider, in the axes of the body of `from`; only its direction counts"},
    Key{.name = "range", .kind = interval, .dimension = D::angle, .fallback = "[-inf, inf]", .meaning = "limits of a hinge's angle, within 170 deg both ways, or of a slider's travel"},
    Key{.name = "rest", .kind = quantity, .dimension = D::angle, .fallback = "0", .meaning = "angle or travel where the spring of `stiffness` is slack"},
    Key{.name = "damping", .kind = quantity, .dimension = D::turn_damping, .fallback = "0", .meaning = "of a hinge (newton metre seconds per radian) or slider (newton seconds per metre)", .bound = Bound::non_negative},
    Key{.name = "motor", .kind = table, .fallback = "none", .meaning = "drives a hinge or a slider; its input has the name of the link", .subtable = "motor"},
};

constexpr std::array motor_keys{
    Key{.name = "control", .kind = choice, .fallback = "required", .meaning = "what its input is: the angle or torque of a hinge, the travel or force of a slider, or the angle or travel that a servo seeks", .choices = "angle | torque | travel | force | servo"},
    Key{.name = "range", .kind = interval, .dimension = D::angle, .fallback = "[-inf, inf]", .meaning = "of the input; of a hinge's angle [-170 deg, 170 deg] unless less"},
    Key{.name = "rate", .kind = quantity, .dimension = D::turn_rate, .fallback = "inf", .meaning = "how fast the input may change", .bound = Bound::positive, .infinite = true},
    Key{.name = "torque", .kind = interval, .dimension = D::torque, .fallback = "[-inf, inf]", .meaning = "hinge: what it can do"},
    Key{.name = "force", .kind = interval, .dimension = D::force, .fallback = "[-inf, inf]", .meaning = "slider: what it can do"},
    Key{.name = "stiffness", .kind = quantity, .dimension = D::turn_stiffness, .fallback = "required for a servo", .meaning = "servo: torque per angle or force per travel that it is away from its input; the joint's `damping` damps it", .bound = Bound::positive},
};

constexpr std::array body_effector_keys{
    Key{.name = "name", .kind = text, .fallback = "required", .meaning = "its name"},
    Key{.name = "type", .kind = choice, .fallback = "\"position\"", .meaning = "where the point is, or how its body is turned from its place at rest", .choices = "position | orientation"},
    Key{.name = "at", .kind = text, .fallback = "required", .meaning = "`\"palm:hook\"`, `\"palm\"` or `\"finger-1:tip\"`, as the ends of a link; an orientation of a part is one of the effectors of its scene"},
    Key{.name = "directions", .kind = vectors, .fallback = "x, y and z", .meaning = "directions or axes that count, at most three, independent of each other; only their directions count"},
    Key{.name = "lever", .kind = quantity, .dimension = D::length, .fallback = "\"10 mm\"", .meaning = "orientation: length that a radian counts as", .bound = Bound::positive},
    Key{.name = "weight", .kind = quantity, .fallback = "1", .meaning = "how much its rows count among those of all effectors, squared", .bound = Bound::positive},
    Key{.name = "exact", .kind = boolean, .fallback = "false", .meaning = "true: its goal is reached exactly or not at all"},
};

constexpr std::array tables_of_assembly{
    TableKeys{"several bodies", "Keys at the top of a file with `[[part]]` or `[[rigid]]` instead of `[body]`, for `supple simulate`, `reduce`, `inverse`, `check`, `info`, `view` and `render`.", assembly_keys},
    TableKeys{"[[rigid]]", "A rigid body: it moves freely, is held, is driven by motions, or is carried by another one. Bodies touch each other but for a part and what carries it, bodies that a joint holds together, and bodies neither of which can move.", rigid_keys},
    TableKeys{"[[rigid.motion]]", "A prescribed motion of a rigid body.", rigid_motion_keys},
    TableKeys{"[[rigid.point]]", "A point of a rigid body.", rigid_point_keys},
    TableKeys{"[[part]]", "A soft body with its actuators, constraints and effectors, in a place of its own. Obstacles are those of the whole: its scene has none; a reduced model that touches them was reduced among some, which count no more. All parts have the same damping.", part_keys},
    TableKeys{"[[link]]", "Something between two points of different bodies.", link_keys},
    TableKeys{"[reduce] of the whole", "`[reduce]` of a scene of several bodies: its full parts are reduced in the world that they live in.", world_reduce_keys},
    TableKeys{"[[effector]] of a body", "`[[effector]]` of a scene of several bodies: what inverse control steers.", body_effector_keys},
    TableKeys{"motor", "What drives a joint: `[link.motor]`.", motor_keys},
};

constexpr std::array tables_of_scene{
    TableKeys{"the scene", "Keys at the top of the file, before the first table.", root_keys},
    TableKeys{"[body]", "The deformable body; one in a scene so far.", body_keys},
    TableKeys{"mesh", "`mesh = {...}` in `[body]`. Formats: `.msh` 2.2 and 4.1, `.vtu`, `.vtk`.", mesh_keys},
    TableKeys{"[[body.material]]", "A material of the body.", material_keys},
    TableKeys{"prony", "`prony = [{...}, ...]` in `[[body.material]]`: a Maxwell element, beside the law.", prony_keys},
    TableKeys{"[[body.membrane]]", "A layer that resists stretching in its plane and does not resist bending, such as a sheet under a soft body: triangles in plane stress on the nodes of the body. Exactly one of `box`, `sphere` and `group` selects where; sheets do not overlap, layers of threads may cross.", membrane_keys},
    TableKeys{"threads", "`threads = {...}` in `[[body.membrane]]`.", threads_keys},
    TableKeys{"[[body.rod]]", "A slender round rod, tube or cord inside the body: a backbone, a wire, a tendon that is glued in. It follows the body at its nodes, adds stiffness along itself and against bending, and none against twist; the body fills its place too. No nodes of its own.", rod_keys},
    TableKeys{"region", "`region = {...}` in `[[body.material]]`: exactly one of these.", region_keys},
    TableKeys{"sphere", "`sphere = {...}` wherever a region is given.", sphere_keys},
    TableKeys{"[[fix]]", "Nodes that do not move freely. Exactly one of `box`, `sphere` and `group` selects them.", fix_keys},
    TableKeys{"[[actuator]]", "Something that drives the robot: a cable, a force or a cavity. A force acts on exactly one of `point`, `box`, `sphere` and `group`. The walls of a cavity are exactly one of `box`, `sphere`, `group` and `surface`, and closed.", actuator_keys},
    TableKeys{"surface", "`surface = {...}` of a cavity, a volume, an obstacle or `[contact]`. Formats: `.stl`, `.obj`. Triangles of a cavity may be turned either way, those of an obstacle face outwards; of `[contact]` corners alone count.", surface_keys},
    TableKeys{"[[constraint]]", "Something that holds points of the body, to each other or to places fixed in space: hard, or a spring with damping. A fixed point has a row for each of its directions, all others one.", constraint_keys},
    TableKeys{"[[effector]]", "Something that is steered. A position is that of `point` or of one of `box`, `sphere` and `group`, or of a point that one of these carries; an orientation is that of one of the last three; a length has either `points` or `cable`; a volume one of `cavity`, `surface` and the regions, whose faces are closed walls. Goals of a volume are the volume itself, and its row is what is missing over the area of the walls at rest: the mean distance by which they are off.", effector_keys},
    TableKeys{"[[probe]]", "A point that is reported.", probe_keys},
    TableKeys{"[[sensor]]", "Something that the robot measures: columns of the results, and values for controllers and learning. It acts on nothing. [How to](../howto/sensors.md).", sensor_keys},
    TableKeys{"[[parameter]]", "A number that the reduced model takes at run time: `supple reduce` trains and measures it over commands and parameters together, and every verb sets it (`--set NAME=VALUE`). What is placed on the body moves with a stretch of it, what is placed in space does not. [How to](../howto/parameters.md).", parameter_keys},
    TableKeys{"[[obstacle]]", "A rigid thing that does not move and that the body cannot enter.", obstacle_keys},
    TableKeys{"[contact]", "What of the body touches obstacles: collision points, nodes of its outer surface that can move, not those on walls of cavities, or corners of a surface that it carries. At most one of `box`, `sphere` and `group` selects them.", contact_keys},
    TableKeys{"[reduce]", "How `supple reduce` samples, reduces and validates.", reduce_keys},
};
// clang-format on

}  // namespace

std::span<const TableKeys> scene_tables() {
  return tables_of_scene;
}

std::span<const TableKeys> assembly_tables() {
  return tables_of_assembly;
}

const TableKeys& scene_table(std::string_view title) {
  for (const TableKeys& table : tables_of_assembly)
    if (table.title == title) return table;
  const auto found = std::find_if(tables_of_scene.begin(), tables_of_scene.end(),
                                  [&](const TableKeys& table) { return table.title == title; });
  SUPPLE_EXPECT(found != tables_of_scene.end());
  return *found;
}

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> words;
  constexpr std::string_view separator = " | ";
  while (!choices.empty()) {
    const std::size_t end = std::min(choices.find(separator), choices.size());
    words.push_back(choices.substr(0, end));
    choices.remove_prefix(std::min(end + separator.size(), choices.size()));
  }
  return words;
}

std::vector<std::string_view> choice_words(std::string_view title, std::string_view name) {
  const std::span<const Key> keys = scene_table(title).keys;
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  SUPPLE_EXPECT(found != keys.end() && found->kind == choice);
  return split_choices(found->choices);
}

}  // namespace supple
