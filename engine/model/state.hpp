#pragma once
// State: exactly the data that restarts a run. Control: the inputs of a step. Both are batches of B robots,
// robot-major.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace supple {

/// Between two features of surfaces that touch.
struct SurfaceForce {
  std::uint32_t first = 0, second = 0;  // SurfaceSet::code; a list is in ascending order of both
  double force[3] = {0, 0, 0};          // on the first, in the world [N]
  bool operator==(const SurfaceForce&) const = default;
};

struct State {
  int robots = 1;
  double time = 0;        // s
  std::vector<double> q;  // B x nq: m for node displacements
  std::vector<double> v;  // B x nv
  /// B x rows: forces of actuators and constraints in the last step [N, Pa], warm start of the next.
  std::vector<double> multipliers;
  /// B x pairs x 3: forces of obstacles on the body's collision points [N], in the world; as the multipliers.
  std::vector<double> contact_forces;
  /// Forces between surfaces of bodies, of each robot that has some (Robot::surfaces); else empty. As the multipliers.
  std::vector<std::vector<SurfaceForce>> surface_forces;
  std::vector<double> commands;           // B x actuators: commands of the last step (rate limits)
  std::vector<double> motions;            // B x motions: prescribed inputs of the last step [m]
  std::vector<double> motion_velocities;  // B x motions [m/s]
  /// B x Robot::history(): what actuators remember from step to step (ActuatorRow::history).
  std::vector<double> history;
  /// B x Robot::viscous: the internal stress of each branch of viscous materials [Pa] (z of
  /// kernels/elements/viscous_ops.hpp).
  std::vector<double> viscous;
};

/// Every list of a state with the same number of entries for each robot.
inline constexpr std::initializer_list<std::vector<double> State::*> state_lists = {
    &State::q,        &State::v,       &State::multipliers,       &State::contact_forces,
    &State::commands, &State::motions, &State::motion_velocities, &State::history,
    &State::viscous};

struct Control {
  std::vector<double> commands;  // B x actuators: m pulled or N
  std::vector<double> motions;   // B x motions [m]
};

/// Whether both states belong to the same number of robots of the same kind, by their sizes. One without any forces
/// between bodies, as old files have them, fits too.
bool same_sizes(const State& a, const State& b);

/// Resets these robots (indices below state.robots, in any order) to `start`, a state of one robot or of as many as
/// `state` has, from which each takes its own. The others keep their bits; `state.time` is common to all robots and
/// stays. A forward step remembers nothing else, so a robot that is reset moves as one that begins.
void reset(State& state, std::span<const int> robots, const State& start);

/// Robot `a` of a state becomes robot `b` of another of the same kind, except for the time.
void copy_robot(const State& from, int a, State& to, int b);
/// State of robot b alone.
State one_robot(const State& state, int b);
/// State of `robots` robots, each a copy of `one`.
State repeated(const State& one, int robots);

inline constexpr std::size_t surface_force_columns = 6;
/// State::surface_forces as numbers [contacts][6]: robot, first, second, force.
std::vector<double> surface_force_rows(const State& state);
/// The reverse, for state.robots robots; false, and nothing is changed, where there is no such robot, codes are no
/// numbers of 32 bits or do not ascend, or forces are not finite. Whether features exist is not tested.
bool set_surface_forces(State& state, std::span<const double> rows);

/// 64-bit hash of all bits of the state (xxHash), independent of the machine's endianness only.
std::uint64_t hash(const State& state);

}  // namespace supple
