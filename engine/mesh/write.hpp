#pragma once
// Files for ParaView (.vtu, .pvd), gmsh (.msh) and everything that reads STL. All throw InputError if the file cannot
// be written.

#include <fstream>
#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace supple {

/// Numbers attached to nodes or to cells; values are item-major: components of item 0, of item 1, ...
struct VtuField {
  enum class On { nodes, cells };
  std::string name;
  On on = On::nodes;
  int components = 1;
  std::vector<double> values;
};

struct VtuSettings {
  bool compress = true;  // zlib; without it files are larger and quicker to write
};

/// Elements of `cells` (tetrahedra, then hexahedra; triangles if it has neither) at the positions `nodes`, which
/// replace cells.nodes. Binary (base64), Float64. Written aside and renamed, so that a reader never sees half a file.
/// Throws InputError also if the length of a field or of nodes does not fit.
void write_vtu(const std::string& path, const std::vector<Vec3d>& nodes, const Mesh& cells,
               const std::vector<VtuField>& fields = {}, const VtuSettings& settings = {});
void write_vtu(const std::string& path, const Surface& surface, const std::vector<VtuField>& fields = {},
               const VtuSettings& settings = {});

/// Collection of .vtu files over time. The file is complete after every step.
class PvdWriter {
 public:
  /// Starts an empty collection, replacing the file.
  explicit PvdWriter(const std::string& path);
  /// Adds a file at a time [s]. Names are written relative to the collection's folder.
  void add(double time, const std::string& vtu_path);

 private:
  std::string path_;
  std::fstream file_;
  std::streampos footer_ = 0;
};

/// MSH 2.2 as text; groups become physical groups (a cell of several groups is repeated, as gmsh does).
void write_msh(const std::string& path, const Mesh& mesh);
/// Binary STL, single precision.
void write_stl(const std::string& path, const Surface& surface);

}  // namespace supple
