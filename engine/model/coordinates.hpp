#pragma once
// Generalised coordinates: a list of blocks, one per body. Node displacements and modes have nq = nv and advance by
// addition; the list is where rigid frames and sliders (nq != nv) will stand.

#include <string>
#include <vector>

namespace supple {

struct CoordinateBlock {
  enum class Kind { nodes, modes };
  Kind kind = Kind::nodes;
  std::string body;
  int nq = 0, nv = 0;
  int q_offset = 0, v_offset = 0;
};

struct Coordinates {
  std::vector<CoordinateBlock> blocks;
  int nq = 0, nv = 0;
  void add(CoordinateBlock::Kind kind, const std::string& body, int n) {
    blocks.push_back({kind, body, n, n, nq, nv});
    nq += n;
    nv += n;
  }
  // q <- q (+) dq, dq in the velocity space.
  void integrate(double* q, const double* dq) const {
    for (const CoordinateBlock& block : blocks)
      for (int i = 0; i < block.nv; ++i) q[block.q_offset + i] += dq[block.v_offset + i];
  }
};

}  // namespace supple
