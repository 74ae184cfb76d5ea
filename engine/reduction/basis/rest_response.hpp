#pragma once
// How a body answers to small forces on its mapped points at rest, with the lengths that actuators command and hard
// constraints held: S = K^-1 - K^-1 J^T (J K^-1 J^T)^-1 J K^-1 (exact tangent; J: those rows). Full or reduced model.

#include <memory>
#include <span>
#include <vector>

#include "engine/mechanics/mechanics.hpp"

namespace supple {

class RestResponse {
 public:
  // One robot, brought to rest; `mechanics` must outlive this object and stay as this leaves it. shift [1/s^2]: for a
  // free-floating body, K + shift M replaces K.
  explicit RestResponse(Mechanics& mechanics, double shift = 0);
  ~RestResponse();
  // False: K is singular or the body unstable at rest, and nothing else may be asked.
  bool known() const { return known_; }
  // C [rows x rows] = H S H^T [m/N].
  std::vector<double> compliance(const PointRows& rows) const;
  // [count][nv]: S H^T f [m] for forces f [count][rows].
  std::vector<double> motions(const PointRows& rows, std::span<const double> forces, int count) const;

 private:
  struct Held;
  Mechanics& mechanics_;
  bool known_ = false;
  std::unique_ptr<Held> held_;
};

}  // namespace supple
