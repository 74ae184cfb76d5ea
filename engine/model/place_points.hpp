#pragma once
// Mapped points of a model (full_model.hpp: Interpolation), added one after the other while it is built.
//
// clang-format off
//   point         the element that contains it, or with a radius the nodes around it, so that linear fields are
// followed
//   surface mean  sum_f A_f (mean over f) / sum_f A_f over the boundary's faces with all their nodes in a region: each
//                 node of a triangle has a third of its area (a quadrilateral: the mean of its two divisions). A force
//                 on it is a uniform load: the same resultant and moment
//   mean          sum_i w_i x_i / sum_i w_i over a region's nodes, w_i the shares of the elements' volumes (each
// element
//                 gives its nodes equal shares), so that it does not depend on the grading of the mesh
//   fit           the columns of A = sum_i w_i x_i (C^-1 r_i)^T, C = sum_i w_i r_i r_i^T with the same w_i, r_i the
// rest
//                 positions from the mean: the linear map nearest to the region's deformation, I at rest
//                 (engine/model/effectors.hpp)
//   fibre         F d, the deformation gradient at a point of an element times a direction: d at rest
//   carried       mean + A (x - the mean at rest) of a region's nodes, A of the fit: a point beside the body
//   walls         the corners of a closed surface, nodes of the mesh or embedded points
// clang-format on
//
// Errors: InputError with the place of what asks for the point.

#include <optional>
#include <string>
#include <vector>

#include "engine/mesh/embedding.hpp"
#include "engine/model/full_model.hpp"

namespace supple {

// From its file, where its scene puts it [m].
Surface placed_surface(const SurfaceScene& scene);

struct PlacedPath {
  int first_point = 0;
  double length = 0;  // at rest [m], with the way to its end
};

class PointPlacer {
 public:
  // size: diagonal of the mesh [m]; a point further away than 5 % of it is an error. The model must outlive this
  // object; its nodes are held or free already.
  PointPlacer(FullModel& model, double size);

  double size() const { return size_; }

  // Each adds mapped points and returns the number of the first. `what` names it in messages.
  int add(const Vec3d& x, double radius, const std::string& what, const Place& place);
  int add(const Vec3d& x, const std::optional<Region>& carrier, const std::string& what, const Place& place);
  PlacedPath add_path(const std::vector<Vec3d>& points, const std::optional<Vec3d>& end, double radius,
                      const std::string& what, const Place& place);
  // Of the element there [m]: the edge of a cube, or of a regular tetrahedron, of its volume.
  double edge_length_at(const Vec3d& x, const std::string& what, const Place& place) const;
  int add_surface_mean(const Region& region, const std::string& what, const Place& place);
  int add_mean(const Region& region, const std::string& what, const Place& place);
  int add_fit(const Region& region, const std::string& what, const Place& place);                      // three vectors
  int add_fibre(const Vec3d& x, const Vec3d& direction, const std::string& what, const Place& place);  // a vector
  int add_node(int node);

  struct Walls {
    std::vector<Interpolation> corners;
    std::vector<Vec3d> rest;
    Triangles triangles;  // outwards
    double volume = 0, area = 0;
  };
  // A closed surface: the faces of the body's boundary with all their nodes in the region, or a surface in the frame of
  // the body, whose corners are embedded in it. Adds no point.
  Walls find_walls(const Region& region, const std::string& what, const Place& place) const;
  Walls find_walls(Surface surface, const std::string& what, const Place& place);
  // Whether one of its corners moves.
  bool moves(const Walls& walls) const;
  int add_corners(const Walls& walls);
  // Of points in the frame of the body, embedded in it, those that move. Returns how many were added.
  int add_free(const std::vector<Vec3d>& points, const std::string& what, const Place& place);
  int add_mean(const Walls& walls);  // of the corners, each with a third of the area of its triangles

  // Adds a note to the model on the points that lie outside the mesh, the furthest first.
  void note_outside() const;

  // Whether free nodes have more than 1e-4 of it.
  bool moves(int point) const { return moves(model_.interpolation[static_cast<std::size_t>(point)]); }

 private:
  struct WeightedNodes {
    Interpolation interpolation;  // weights sum to one
    Vec3d mean{{0, 0, 0}};
  };
  // With positions from the mean and C^-1 of the fit; throws where the nodes lie in a plane.
  struct Fit {
    WeightedNodes nodes;
    std::vector<Vec3d> r;
    Mat3d inverse_C;
  };
  Fit fit_of(const Region& region, const std::string& what, const Place& place);
  WeightedNodes weighted_by_volume(const Region& region, const std::string& what, const Place& place);
  WeightedNodes weighted(const std::vector<int>& nodes, const std::vector<double>& weight_of_node) const;
  int push(Interpolation interpolation, const Vec3d& rest);
  // The element that contains x or is nearest to it; throws if it is too far away.
  EmbeddedPoint locate(const Vec3d& x, const std::string& what, const Place& place) const;
  // Corners of a surface; a note states how far outside they lie.
  std::vector<Interpolation> embed(const std::vector<Vec3d>& corners, const std::string& what, const Place& place);
  // Checks and measures it. turned: whether its triangles may be turned any way; otherwise they know where the body is.
  Walls close(Surface& surface, bool turned, const std::string& what, const Place& place) const;
  bool moves(const Interpolation& point) const;

  FullModel& model_;
  Embedding embedding_;
  double size_;
  std::vector<double> node_volume_;  // computed when first asked for
  void found_outside(const std::string& what, double distance);
  struct Outside {
    std::string what;
    double distance;  // m
  };
  std::vector<Outside> outside_;
};

}  // namespace supple
