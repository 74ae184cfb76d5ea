#pragma once
// Generalised coordinates: a list of blocks, one per body. Node displacements and modes have nq = nv and advance by
// addition; rigid frames (pose.hpp) have nq = 7, nv = 6 and turn.

#include <string>
#include <vector>

#include "engine/model/pose.hpp"

namespace supple {

struct CoordinateBlock {
  enum class Kind { nodes, modes, rigid };
  Kind kind = Kind::nodes;
  std::string body;
  int nq = 0, nv = 0;
  int q_offset = 0, v_offset = 0;
  Pose rest = {};  // rigid: where it starts
};

struct Coordinates {
  std::vector<CoordinateBlock> blocks;
  int nq = 0, nv = 0;
  void add(CoordinateBlock::Kind kind, const std::string& body, int n) {
    blocks.push_back({kind, body, n, n, nq, nv});
    nq += n;
    nv += n;
  }
  void add_rigid(const std::string& body, const Pose& rest) {
    blocks.push_back({CoordinateBlock::Kind::rigid, body, rigid_positions, rigid_velocities, nq, nv, rest});
    nq += rigid_positions;
    nv += rigid_velocities;
  }
  // Whether velocities are the rates of the coordinates.
  bool flat() const { return nq == nv; }
  // q <- q (+) dq, dq in the velocity space.
  void integrate(double* q, const double* dq) const {
    for (const CoordinateBlock& block : blocks)
      if (block.kind == CoordinateBlock::Kind::rigid)
        integrate_rigid(q + block.q_offset, dq + block.v_offset);
      else
        for (int i = 0; i < block.nv; ++i) q[block.q_offset + i] += dq[block.v_offset + i];
  }
  // u <- the increment that does what u and then s du do.
  void compose(double* u, const double* du, double s = 1) const {
    for (const CoordinateBlock& block : blocks) {
      const int at = block.v_offset;
      if (block.kind == CoordinateBlock::Kind::rigid) {
        double part[rigid_velocities];
        for (int i = 0; i < block.nv; ++i) part[i] = s * du[at + i];
        compose_rigid(u + at, part);
      } else {
        for (int i = 0; i < block.nv; ++i) u[at + i] += s * du[at + i];
      }
    }
  }
  // q at rest; zero but for rigid frames.
  void rest(double* q) const {
    for (const CoordinateBlock& block : blocks)
      if (block.kind == CoordinateBlock::Kind::rigid)
        write_pose(block.rest.position, quaternion_of(block.rest.rotation), q + block.q_offset);
  }
};

}  // namespace supple
