#pragma once
// Contacts of a batch in a step of one linearisation (step.hpp), found on the device (kernels/contact/contact_ops.hpp):
// which pairs need rows, their rows in constraint space, their forces, in turns until no pair is below its distance;
// the host sees one finding a robot and turn. Its method is that of solvers/contact, the same source
// (kernels/contact/contact_search.hpp), from one start. Forces that it does not find to tight_residual are found on the
// host, and counted. contact_stage.hpp is the same on the host, for every scheme and law.

#include <optional>
#include <string>

#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/step/arrays.hpp"
#include "engine/step/contact_figures.hpp"
#include "engine/step/device_state.hpp"
#include "engine/step/step_settings.hpp"
#include "kernels/contact/contact_solve_op.hpp"

namespace supple {

class ForwardLaw;

// Who finds the forces, all for the same problems. sweeps: the device by Gauss-Seidel alone, to compare with.
enum class ContactSolver { device, sweeps, host };

struct DeviceContactSettings {
  ContactSolver solver = ContactSolver::device;
  // Rows of pairs that a robot may have in a step; one that needs more fails (too_many_contacts). 0: one for each pair,
  // four where an obstacle is not flat (cutting planes), at most 128.
  int most_contacts = 0;
  // Of Gauss-Seidel and of Newton's method on the device, before the host is asked. Where Newton's method will be done
  // earlier it takes over.
  int sweeps = 300, newton_steps = 100;
};

// Why contacts of this robot are found on the host: obstacles that are meshes, prescribed motions. None: they need not.
std::optional<std::string> needs_contact_on_host(const Robot& robot);

class DeviceContact {
 public:
  // `mechanics` must outlive this object. Throws InputError where 32-bit indices are too few.
  DeviceContact(ReducedBatchMechanics& mechanics, const DeviceContactSettings& settings);
  ~DeviceContact();

  // Friction of the mechanics' variations.
  void refresh_friction();
  // The present linearisation, on the device.
  struct Inputs {
    const double *y, *H, *X, *free, *compliance;
    std::span<const double> host_compliance;  // [rows], the same on the host
  };
  // Multipliers [B x rows] after those without contact, or for robots in touch those to begin with. left_out [B]:
  // robots that are not looked at. Robots whose forces are not found are added to `failures`.
  void solve(const ForwardLaw& law, const Inputs& inputs, const StateView& state, std::span<double> multipliers,
             std::span<const char> left_out, std::vector<RobotFailure>& failures, ContactFigures& figures);
  // The increment u [B x nv] of the step, contacts included, of the robots that take part; on the device.
  void move(Vectors u, RobotMask goes);
  // The state's forces, of the robots that take part.
  void finish(const StateView& state, RobotMask goes);

 private:
  struct HostProblem {
    std::vector<double> V, d, lambda, mu, all;
    std::optional<ContactWorkspace> work;
  };
  void allocate();
  void send(const ForwardLaw& law, std::span<const double> multipliers);
  ContactReport solve_on_host(const ForwardLaw& law, int robot, HostProblem& problem);
  void solve_on_host(const ForwardLaw& law, std::vector<RobotFailure>& failures, ContactFigures& figures);
  void look(std::vector<RobotFailure>& failures, ContactFigures& figures);
  void fail(int robot, StepStatus status, std::vector<RobotFailure>& failures);

  // On the device.
  struct OnDevice {
    Array<PlacedSolid> solids;
    Array<double> friction, target, lower, upper, multipliers;
    Array<double> frame, V, d, lambda, motion, mu, rows_scratch, solve_scratch;
    Array<unsigned char> open, rows_of_pair;
    Array<int> pair;
    Array<ContactFinding> findings;
  };
  ReducedBatchMechanics& mechanics_;
  const Robot& robot_;
  ContactSolver solver_;
  contact::SearchLimits limits_;
  int n_, pairs_, capacity_, all_, teams_;
  OnDevice on_device_;
  ContactArrays arrays_{};
  std::vector<ContactFinding> found_;
  std::vector<unsigned char> open_;
  std::vector<int> for_host_;
  std::vector<ContactReport> reports_;
  std::vector<HostProblem> problems_;  // of one thread
  std::vector<double> compliance_;     // on the host; empty: none
};

}  // namespace supple
