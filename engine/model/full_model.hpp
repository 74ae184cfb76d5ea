#pragma once
// The full-order finite-element model: immutable after building. Tetrahedra of one point or, of second order, four;
// hexahedra of eight or fourteen; membrane triangles of one. Against locking, a part of what resists a change of volume
// may stand at one point of each element (LawPart::mean). Unknowns = displacements from rest of the nodes that are neither
// fixed nor driven, three per node, in node order.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/model/coordinates.hpp"
#include "engine/model/robot.hpp"
#include "engine/model/viscosity.hpp"
#include "kernels/materials/dispatch.hpp"

namespace supple {

/// One force field: the points that share a law, a part of it and a shape of elements; hyper-reduction selects within
/// one. A field of means has one point in every element, with the mean deformation gradient there.
struct ElementField {
  std::string name;
  LawId law = LawId::corotational;
  LawPart part = LawPart::whole;
  int nodes_per_element = 4;
  int points_per_element = 1;
  /// [E] number in the mesh: tetrahedra, then hexahedra; after them the triangles of sheets, of threads (each
  /// membrane by membrane), and the nodes of rods
  std::vector<int> element;
  std::vector<int> node;         // [E][nodes_per_element]
  std::vector<double> gradient;  // [points][nodes_per_element][3]: rest gradients of the shape functions [1/m]
  std::vector<double> volume;    // [points] rest volume [m^3], of a membrane area times thickness
  std::vector<int> region;       // [points] -> parameters
  std::vector<MaterialParameters<double>> parameters;
  FieldViscosity viscosity;
  std::vector<Mat3d> edges;  // [points], only where the law needs them (kernels/materials/law.hpp)
  int elements() const { return static_cast<int>(element.size()); }
  int points() const { return elements() * points_per_element; }
};

/// A mapped point: y = y_rest + sum_k weight_k u_{node_k}, a point of the body or a mean over many nodes (the weights
/// sum to one), or a mapped vector such as a column of a region's deformation gradient (they sum to zero [1/m]).
struct Interpolation {
  std::vector<int> node;
  std::vector<double> weight;
};

/// Symmetric matrix over nodes, one scalar per node pair (mass times I3): lower triangle in compressed columns,
/// diagonal first.
struct NodeMatrix {
  std::vector<int> column_start;
  std::vector<int> row;
  std::vector<double> value;  // kg
};

struct FullModel {
  Robot robot;
  Mesh mesh;  // in metres, transformed, checked
  Coordinates coordinates;
  std::vector<int> free_nodes;    // mesh nodes that are unknowns
  std::vector<int> node_unknown;  // mesh node -> index in free_nodes, or -1
  std::vector<int> node_motion;   // mesh node -> motion input, or -1
  std::vector<ElementField> fields;
  std::vector<double> node_spring;  // per free node [N/m]
  NodeMatrix mass;                  // over all mesh nodes
  /// What the subset k + 1 of stretches adds to the values of `mass` (stretch.hpp), [2^stretches - 1][values].
  std::vector<std::vector<double>> mass_terms;
  double total_mass = 0, total_volume = 0;
  std::vector<Interpolation> interpolation;  // per mapped point
  std::vector<std::string> notes;            // what building found, for the user
};

/// Displacement of every mesh node [nodes][3] for coordinates q and prescribed inputs c [m].
void node_displacements(const FullModel& model, std::span<const double> q, std::span<const double> c,
                        std::span<double> u);

/// The mesh of a body's file as the body has it: in metres, where the scene places it, of its order.
void place_mesh(const BodyScene& body, Mesh& mesh);
/// Builds the model of a scene's body from its mesh (already read; placed and checked here). Throws InputError.
FullModel build_full_model(const Scene& scene, Mesh mesh);
/// Reads the mesh named in the scene, then builds the model as above.
FullModel build_full_model(const Scene& scene);

}  // namespace supple
