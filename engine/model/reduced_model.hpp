#pragma once
// A hyper-reduced robot: everything the online step needs and nothing of the mesh. Coordinates alpha (r modes) and
// prescribed inputs c (m prescribed motions, robot.motions): u = Phi alpha + Psi c, Psi the lifting columns
// (lifting.hpp). Where the motions strain the body, Psi stands behind the modes as m more columns of what forces are
// made of; one that does not (MotionInput::rigid) moves outputs and mass alone. Immutable after building. Written to
// and read from one HDF5 file (model_file.hpp).

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/model/pose.hpp"
#include "engine/model/robot.hpp"
#include "engine/model/viscosity.hpp"
#include "kernels/array/aligned.hpp"
#include "kernels/materials/dispatch.hpp"

namespace supple {

/// Tolerance and residual of a domain that was not selected here (imported).
inline constexpr double unknown_tolerance = -1;

/// Green strains of a field in K modes of their own (strain_modes.hpp): s_k = L_k x + 1/2 x^T Q_k x of the n columns x
/// (the modes, then the motions that strain the body), energy 1/2 |s|^2.
struct StrainModes {
  int count = 0;                  // K; 0: the field is its elements
  std::vector<double> linear;     // [K][n] L [J^1/2 per unit of x]
  std::vector<double> quadratic;  // [K][n (n + 1) / 2] Q, symmetric: lower triangles, row by row
  double unit = 0;                // |s| [J^1/2] of the field's triangles all stretched by one along their first edge
};

/// A force field on its reduced integration domain, or without one by strain modes.
struct ReducedField {
  std::string name;
  LawId law = LawId::corotational;
  LawPart part = LawPart::whole;
  int nodes_per_element = 4;  // of the full field: 3, 4, 8, 10 or 20; 0 of rods
  int total_elements = 0;     // of the full field
  /// point: each entry of `element`, `corners` and `xi` is of one point of an element that has several,
  /// points_per_element is 1, and an element is listed once for each of its points that is kept.
  DomainUnit unit = DomainUnit::element;
  int points_per_element = 1;
  std::vector<int> element;    // of each unit kept (ElementField::element)
  std::vector<int> corners;    // [units][3, 4 or 8] nodes of the skin, then of the interior; empty: not known
  std::vector<double> xi;      // their weights
  std::vector<double> weight;  // [points] xi V_p [m^3]
  std::vector<int> region;     // [points]
  std::vector<MaterialParameters<double>> parameters;
  FieldViscosity viscosity;
  std::vector<Mat3d> edges;    // [points] or empty
  std::vector<double> slopes;  // [points][stretches][3] b_k [1] (stretch.hpp); empty: none
  AlignedVector<double> G;     // tiles: [tile][column][component][lane], see kernels/elements/tiles.hpp
  StrainModes strains;         // instead of units
  /// Tolerance tau and the residual reached on the training set (0: all elements with xi = 1), or unknown_tolerance.
  /// For strain modes: the fraction of the strains of the training set that they may leave out, and the fraction that
  /// they leave out.
  double tolerance = 0;
  double residual = 0;
  int points() const { return static_cast<int>(weight.size()); }
  int units() const { return static_cast<int>(element.size()); }
  /// Points of an element of the full field.
  int element_points() const {
    if (part == LawPart::mean || nodes_per_element < 8) return 1;
    return nodes_per_element == 10 ? 4 : nodes_per_element == 8 ? 8 : 14;
  }
  int total_units() const { return unit == DomainUnit::point ? element_points() * total_elements : total_elements; }
  int corners_per_element() const {
    if (nodes_per_element < 8) return nodes_per_element;
    return nodes_per_element == 10 ? 4 : 8;
  }
};

/// Skin for display: node positions at rest, triangles, modes at those nodes. Their numbers in the mesh are empty where
/// the file does not contain them.
struct ReducedSkin {
  std::vector<Vec3d> rest;
  std::vector<std::array<int, 3>> triangles;
  std::vector<double> modes;   // [3 nodes][r]
  std::vector<double> inputs;  // [3 nodes][m], Psi
  std::vector<int> mesh_node;  // [nodes] ascending, or empty
  std::vector<int> element;    // [triangles] element behind each, tetrahedra first, or empty
};

/// Nodes of the kept elements inside the body, in the order of the mesh. With the nodes of the skin they are the
/// corners of the reduced integration domain. For display.
struct ReducedInterior {
  std::vector<Vec3d> rest;
  std::vector<double> modes;   // [3 nodes][r]
  std::vector<double> inputs;  // [3 nodes][m], Psi
};

/// The walls of a cavity. For display: its volume is a polynomial (ActuatorRow::volume).
struct ReducedWalls {
  std::vector<Vec3d> rest;
  Triangles triangles;
  std::vector<double> modes;   // [3 corners][r]
  std::vector<double> inputs;  // [3 corners][m], Psi
};

/// Where stretches move places at rest: t_k [m] of each (stretch.hpp). Empty: there are no stretches.
struct StretchedPlaces {
  std::vector<double> points;    // [mapped points][stretches]
  std::vector<double> skin;      // [skin's nodes][stretches]
  std::vector<double> interior;  // [interior's nodes][stretches]
};

/// What a subset of stretches adds to the masses of a model, per product of its s_k - 1.
struct MassTerm {
  std::vector<double> mass, input_mass, gravity;  // as ReducedModel has them [kg]
};

/// Errors against the full model on the test set (docs/theory/reduction.md): fractions of the mean displacement.
struct ErrorSummary {
  int states = 0;
  int failed = 0;  // counted as errors of 1
  double goal_mean = 0, goal_median = 0, goal_max = 0;
  double shape_mean = 0, shape_median = 0, shape_max = 0;
  struct Set {  // probes reported together
    std::string name;
    double mean = 0, median = 0, max = 0;
  };
  std::vector<Set> sets;
  int worst_state = -1;
  std::vector<double> worst_commands;
  int elsewhere = 0;  // compared with another equilibrium of the full model, the one that they are next to
  /// Of trajectories of a free-floating body: its orientation [rad] and its place [m] against the full-order model.
  double turned_mean = 0, turned_max = 0, strayed_mean = 0, strayed_max = 0;
};

struct Provenance {
  std::string scene_name;
  std::string scene_text;  // canonical TOML of the scene; comments before it say where an imported model came from
  std::uint64_t scene_hash = 0, mesh_hash = 0;
  std::string version;
  int nodes = 0, elements = 0;
  int snapshots = 0;
  double pod_tolerance = 0;
  bool pod_tolerance_squared = false;
  double pod_error = 0;
  std::uint64_t seed = 0;
  std::string forced;  // the error limit that the model, written with --accept-errors, exceeds; or empty
};

struct ReducedModel {
  Robot robot;
  int modes = 0;
  /// The modes are those of the shape of a free-floating robot, orthogonal to its rigid motions, in a frame that moves
  /// freely: its coordinates are those of the modes, then the frame's pose. A floating robot without it has six
  /// linearised rigid modes (eq. 22 of the paper) before those of its shape.
  bool on_frame = false;
  std::vector<ReducedField> fields;
  std::vector<double> mass;            // r x r, Phi^T M Phi [kg]
  std::vector<double> input_mass;      // [m][r], Psi^T M Phi [kg]
  std::vector<double> stiffness;       // columns x columns, linear springs projected [N/m]
  std::vector<double> gravity;         // r x 3, Phi^T M e_x, e_y, e_z [kg]
  RigidInertia rest_inertia;           // of the body at rest; without mass: not known
  std::vector<double> first_moments;   // BodyInertia::first [r][9], kg m; empty: not known
  std::vector<double> second_moments;  // BodyInertia::second [r][r][9], kg; empty: not known
  std::vector<double> outputs;         // [3 points][r], L_r = L Phi
  std::vector<double> output_inputs;   // [3 points][m], L_c = L Psi
  StretchedPlaces stretched;
  std::vector<MassTerm> mass_terms;  // [2^stretches - 1], of the subset k + 1 of stretches
  std::vector<double> singular_values;
  ReducedSkin skin;
  ReducedInterior interior;
  std::vector<ReducedWalls> walls;  // [actuators], of those that are cavities; or empty: not known
  /// Compliance at each collision point at rest [3 x 3, m/N], of the full body and of its modes
  /// (contact_compliance.hpp); empty: not known.
  std::vector<double> full_compliance, own_compliance;
  Provenance provenance;
  ErrorSummary errors;

  /// Number of coordinates.
  int nq() const { return modes + (on_frame ? rigid_positions : 0); }
  int motions() const { return static_cast<int>(robot.motions.size()); }
  /// Columns of G and of the springs: the modes, then the motions where they strain the body (all of them or none).
  int columns() const { return modes + robot.straining_motions(); }
  /// Regions of the body: its materials as the scene lists them, which every field of solids knows all, then its
  /// membranes, then its rods.
  int materials() const { return regions_of(&solid); }
  int regions() const {
    return first_rod() + regions_of(+[](LawId law) { return law == LawId::rod; });
  }
  int first_region(const ReducedField& field) const {
    return solid(field.law) ? 0 : membrane_law(field.law) ? materials() : first_rod();
  }
  /// Whether a membrane is a sheet: layers of threads beside them have no moduli in their field.
  static bool is_sheet(const ReducedField& field, int region) {
    return sum_of_moduli(field.law, field.parameters[static_cast<std::size_t>(region)]) > 0;
  }
  /// Region of a field's strain modes, which stand for all sheets: that of the first one.
  int strain_region(const ReducedField& field) const {
    int region = 0;
    while (!is_sheet(field, region)) ++region;
    return first_region(field) + region;
  }

 private:
  int regions_of(bool (*kind)(LawId)) const {
    std::size_t count = 0;
    for (const ReducedField& field : fields)
      if (kind(field.law)) count = std::max(count, field.parameters.size());
    return static_cast<int>(count);
  }
  int first_rod() const { return materials() + regions_of(&membrane_law); }
};

}  // namespace supple
