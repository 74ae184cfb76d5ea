#pragma once
// The visible side of one body, soft (a full model or a reduced one) or rigid: skin, walls of cavities, and the
// elements of a reduced model's integration domain, for coordinates q and inputs c of its own, in axes of its own.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple::view {

class BodyShape {
 public:
  // The model must outlive this object.
  explicit BodyShape(const FullModel& model);
  explicit BodyShape(const ReducedModel& model);
  // Rigid, with flat faces: no coordinates.
  explicit BodyShape(Surface skin);

  const FullModel* full() const { return full_; }
  const ReducedModel* reduced() const { return reduced_; }
  bool rigid() const { return !full_ && !reduced_; }

  // Skin: nodes at rest [m], triangles outwards, the mesh element behind each triangle (empty where unknown).
  const std::vector<Vec3d>& rest() const { return rest_; }
  const std::vector<std::array<int, 3>>& triangles() const { return triangles_; }
  const std::vector<int>& element() const { return element_; }
  // Whether the skin closes a body: every edge has one triangle on each side, all oriented outwards.
  bool closed() const { return closed_; }

  // Skin nodes [m].
  void positions(std::span<const double> q, std::span<const double> c, std::vector<Vec3d>& out) const;

  // The domain's elements, one after the other, four or eight corners each: rest or deformed places.
  struct Cell {
    int field = 0, element = 0;  // element: ReducedField::element
    double weight = 0;           // xi; of points their mean, those left out 0
    int first = 0, corners = 4;  // in the list of corners
  };
  const std::vector<Cell>& cells() const { return cells_; }
  void cell_corners(std::span<const double> q, std::span<const double> c, std::vector<Vec3d>& out) const;

  // The walls of the cavities: empty where the robot has none, or its file does not say where they are. Places of the
  // corners of one of them [m].
  struct Cavity {
    std::size_t actuator = 0;
    Triangles triangles;  // of its corners, out of the gas and into the body
  };
  const std::vector<Cavity>& cavities() const { return cavities_; }
  void wall_corners(const Cavity& cavity, std::span<const double> q, std::span<const double> c,
                    std::vector<Vec3d>& out) const;

  // Von Mises stress [Pa]: at skin nodes (full model: mean of the elements there, by volume), or of the
  // domain's cells (reduced model).
  std::vector<double> skin_stress(std::span<const double> q, std::span<const double> c) const;
  std::vector<double> cell_stress(std::span<const double> q, std::span<const double> c) const;

  // Soft: generalised forces [nv] of a force [N] at a point of the skin.
  std::vector<double> load(int triangle, const std::array<double, 3>& weights, const Vec3d& force) const;

 private:
  const FullModel* full_ = nullptr;
  const ReducedModel* reduced_ = nullptr;
  std::vector<Vec3d> rest_;
  std::vector<std::array<int, 3>> triangles_;
  std::vector<int> element_, mesh_node_;
  std::vector<Cell> cells_;
  std::vector<Cavity> cavities_;
  std::vector<int> corner_node_;  // nodes of the skin, then of the interior
  bool closed_ = false;
};

}  // namespace supple::view
