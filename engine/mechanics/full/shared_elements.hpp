#pragma once
// Elements of robots in lockstep (solvers/sparse/lockstep.hpp): a robot that requires its forces waits for the others,
// and those of all that wait are evaluated together on a device.

#include <span>
#include <vector>

#include "engine/mechanics/full/full_elements.hpp"
#include "solvers/sparse/lockstep.hpp"

namespace supple {

class SharedElements {
 public:
  // All but the device must outlive this object; it is what the lockstep shares (Lockstep::share). chunk: how
  // many robots are evaluated together, 0: as many as fill a GPU. Throws as FullElements does.
  SharedElements(Lockstep& lockstep, const FullModel& model, const NodePattern& pattern, const Device& device,
                 int chunk = 0);

  // Of the robot `slot`, only within Lockstep::run.
  PointReport evaluate(int slot, const double* u, TangentKind kind, const ElementResults& results);

  // On the device, for a lockstep of so many robots. It does not grow with them for ever: they are evaluated in
  // chunks that fill a GPU.
  static std::size_t bytes(const FullModel& model, const NodePattern& pattern, const Device& device, int robots);

 private:
  struct Request {
    const double* u = nullptr;
    TangentKind kind = TangentKind::none;
    ElementResults results{};
    PointReport report;
  };
  void serve(std::span<const int> slots);
  void evaluate_chunk(std::span<const int> slots, TangentKind kind);

  Lockstep& lockstep_;
  FullElements elements_;
  std::size_t displacements_, unknowns_, nonzeros_;  // numbers of one robot
  Array<double> u_, f_, magnitude_, stiffness_;
  std::vector<Request> requests_;
};

}  // namespace supple
