#pragma once
// Contacts of a part of a ResidentStepper: detection and forces on the device (kernels/contact/contact_ops.hpp), in
// turns that the host follows by one finding a robot. For resident_*.cpp alone.

#include "engine/mechanics/reduced/resident_robots.hpp"
#include "engine/step/resident_step.hpp"
#include "kernels/array/queued.hpp"
#include "kernels/contact/contact_solve_op.hpp"

namespace supple {

class ForwardLaw;

class ResidentContact {
 public:
  // `on` must outlive this object. Throws InputError where 32-bit indices are too few.
  // compliance: of the rows without contacts, on the device.
  ResidentContact(const ReducedModel& model, ResidentRobots& on, const double* compliance,
                  const ResidentSettings& settings);

  void set_friction(const Mechanics& mechanics);
  // Forces [robots x pairs x 3] of the last step.
  void set_forces(std::span<const double> forces);
  void add_forces(std::vector<double>& forces) const;
  void reset(std::span<const int> robots, const State& start);
  // Which robots had any [robots].
  std::span<const char> touch() const { return touch_; }

  // Of the rows without contacts, on the device.
  struct Rows {
    const double *H, *free;
  };
  // Multipliers [robots x rows] after those without contact, or for robots in touch those to begin with. Robots whose
  // forces are not found fail.
  void solve(const ForwardLaw& law, const Rows& rows, std::span<double> multipliers, std::vector<char>& failed,
             ResidentReport& report);
  // Queues the motion and the state's forces.
  void move(double time_step, const unsigned char* goes);

 private:
  struct HostProblem {
    std::vector<double> V, d, lambda, mu, all;
    std::optional<ContactWorkspace> work;
  };
  void send(const ForwardLaw& law, std::span<const double> multipliers);
  ContactReport solve_on_host(const ForwardLaw& law, int robot, HostProblem& problem);
  void solve_on_host(const ForwardLaw& law, std::vector<char>& failed, ResidentReport& report);
  void look(std::vector<char>& failed, ResidentReport& report);
  void fail(int robot, StepStatus status, std::vector<char>& failed, ResidentReport& report);

  ResidentRobots& on_;
  const Robot& robot_;
  ContactSolver solver_;
  contact::SearchLimits limits_;
  int n_, pairs_, capacity_, all_, teams_;
  Array<PlacedSolid> solids_;
  Array<double> friction_, forces_, target_, lower_, upper_, multipliers_;
  Array<double> frame_, V_, d_, lambda_, motion_, mu_, rows_scratch_, solve_scratch_;
  Array<unsigned char> open_, rows_of_pair_;
  Array<int> pair_;
  Array<ContactFinding> findings_;
  std::vector<ContactFinding> found_;
  std::vector<unsigned char> host_open_;
  std::vector<char> touch_;
  std::vector<int> for_host_;
  std::vector<ContactReport> reports_;
  std::vector<HostProblem> problems_;  // of one thread
  std::vector<double> host_compliance_;
  ContactArrays arrays_{};
};

}  // namespace supple
