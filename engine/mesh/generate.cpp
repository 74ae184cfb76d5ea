#include "engine/mesh/generate.hpp"

#include <array>
#include <limits>

#include "engine/mesh/geometry.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

struct Grid {
  int n[3];
  int at(int i, int j, int k) const { return i + (n[0] + 1) * (j + (n[1] + 1) * k); }
};

Grid make_nodes(Mesh& mesh, const Vec3d& lower, const Vec3d& upper, int nx, int ny, int nz) {
  const Grid grid{{nx, ny, nz}};
  double nodes = 1, cells = 6;
  for (int k = 0; k < 3; ++k) {
    if (grid.n[k] < 1 || !(lower[k] < upper[k]))
      throw InputError("a box needs lower < upper and at least one cell along each axis",
                       "correct its corners and counts");
    nodes *= grid.n[k] + 1.0;
    cells *= grid.n[k];
  }
  if (nodes > std::numeric_limits<int>::max() / 4 || cells > std::numeric_limits<int>::max() / 4)
    throw InputError("a box mesh of this fineness has too many cells", "use fewer cells");
  mesh.nodes.reserve(static_cast<std::size_t>(nodes));
  const auto along = [&](int axis, int i) {
    return i == grid.n[axis] ? upper[axis] : lower[axis] + (upper[axis] - lower[axis]) * i / grid.n[axis];
  };
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i) mesh.nodes.push_back({{along(0, i), along(1, j), along(2, k)}});
  return grid;
}

// The whole body, and its skin sorted by the side it lies on.
void add_groups(Mesh& mesh, const Vec3d& lower, const Vec3d& upper) {
  const bool tetrahedra = !mesh.tetrahedra.empty();
  CellGroup body{"body", tetrahedra ? CellType::tetrahedron : CellType::hexahedron, {}};
  for (int e = 0; e < mesh.element_count(); ++e) body.cells.push_back(e);
  mesh.groups.push_back(std::move(body));
  const auto faces = all_faces(mesh);
  for (int axis = 0; axis < 3; ++axis)
    for (const bool high : {false, true}) {
      CellGroup side{std::string(1, "xyz"[axis]) + (high ? "+" : "-"), CellType::triangle, {}};
      const double plane = high ? upper[axis] : lower[axis];
      for (const Face& face : faces) {
        bool on = true;
        for (std::size_t k = 0; k < static_cast<std::size_t>(face.count); ++k)
          on = on && mesh.nodes[static_cast<std::size_t>(face.nodes[k])][axis] == plane;
        for (std::size_t k = 2; on && k < static_cast<std::size_t>(face.count); ++k) {
          side.cells.push_back(static_cast<int>(mesh.triangles.size()));
          mesh.triangles.push_back({face.nodes[0], face.nodes[k - 1], face.nodes[k]});
        }
      }
      mesh.groups.push_back(std::move(side));
    }
}

}  // namespace

Mesh box_tetrahedra(const Vec3d& lower, const Vec3d& upper, int nx, int ny, int nz) {
  Mesh mesh;
  const Grid grid = make_nodes(mesh, lower, upper, nx, ny, nz);
  // From corner 000 to 111 along the axes in each of the six orders; odd orders need two nodes exchanged.
  constexpr int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        for (int o = 0; o < 6; ++o) {
          int c[3] = {i, j, k};
          std::array<int, 4> t{};
          t[0] = grid.at(c[0], c[1], c[2]);
          for (std::size_t s = 0; s < 3; ++s) {
            ++c[orders[o][s]];
            t[s + 1] = grid.at(c[0], c[1], c[2]);
          }
          if (o >= 3) std::swap(t[1], t[2]);
          mesh.tetrahedra.push_back(t);
        }
  add_groups(mesh, lower, upper);
  return mesh;
}

Mesh box_hexahedra(const Vec3d& lower, const Vec3d& upper, int nx, int ny, int nz) {
  Mesh mesh;
  const Grid grid = make_nodes(mesh, lower, upper, nx, ny, nz);
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        mesh.hexahedra.push_back({grid.at(i, j, k), grid.at(i + 1, j, k), grid.at(i + 1, j + 1, k),
                                  grid.at(i, j + 1, k), grid.at(i, j, k + 1), grid.at(i + 1, j, k + 1),
                                  grid.at(i + 1, j + 1, k + 1), grid.at(i, j + 1, k + 1)});
  add_groups(mesh, lower, upper);
  return mesh;
}

}  // namespace supple
