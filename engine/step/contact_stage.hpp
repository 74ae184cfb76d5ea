#pragma once
// Contact in a time step: which pairs of a collision point and an obstacle may touch, their rows in constraint space,
// and their forces. One for all robots of a Stepper (step.hpp), which has no other knowledge of contact.
//
// At a linearisation at the mapped points y a pair with gap g, normal n and tangents t has the rows
//   g(y) - distance + n . dy >= 0,     t . (y - y_start + dy),     dy = L du
// the gap left and the slip since the step began, under Signorini's and Coulomb's laws (solvers/contact/contact.hpp).
// Only active pairs have rows: those that carried a force at the end of the last step, and those that the motion found
// would leave below the distance; these are added, and the forces found again, until there are none. So all pairs obey,
// and only few cost. Distances to convex obstacles are convex: there the linearised gap is never larger than the true
// one. Elsewhere (within a tube, beside a wall that is not the nearest yet) a pair may get further rows, linearised
// where the motion found would bring its point: cutting planes.
//
// Surfaces of bodies (Robot::surfaces) touch each other likewise: the pairs of features whose gap would end below the
// distance, or would have on the way from the start of the step (engine/collision/feature_pairs.hpp), have the row
//   gap(y) + n . sum w_k dy_k >= distance,   t . sum w_k (y_k - y_start,k + dy_k)
// at the normal n and weights w of the time at which they come too near, so that nothing passes through anything at any
// speed. A pair nearer than the distance when the step begins moves apart by `recovery` of the distance a step.
//
// Newton's method has the geometric stiffness -lambda_n d^2 g/dy^2; how tangents turn is left out (with friction on
// curved obstacles its convergence is linear).

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/collision/feature_pairs.hpp"
#include "engine/mechanics/mechanics.hpp"
#include "engine/step/constraint_law.hpp"
#include "engine/step/contact_figures.hpp"

namespace supple {

// What one robot brings to its contacts, all of the present linearisation.
struct ContactInputs {
  ConstraintSpace alone;                // without contacts; W with the rows' compliance on the diagonal
  std::span<const double> X;            // [1 + rows + motions][nv]: A^-1 [r + H^T lambda_0, H^T, A_c] (step_system.cpp)
  std::span<const double> free_motion;  // [nv]: A^-1 r
  bool increments = false;             // lambda_0 has the contacts' forces of the last linearisation; otherwise it is 0
  std::span<const double> held;        // [rows]: lambda_0
  std::span<const double> H;           // [rows][nv]
  std::span<const double> effector_H;  // [effector_rows][nv]
  /// Robots with surfaces: mapped points [outputs] where the motion du [nv] and changes dc of the inputs lead from the present
  /// linearisation.
  std::function<void(std::span<const double> du, std::span<const double> dc, std::span<double> y)> points_after = {};
  std::span<const double> compliance;  // [rows]
};

// More rows of pairs than this are not supported: their W alone would fill 72 MB, and take minutes to solve.
inline constexpr int most_contact_rows = 1000;

class ContactStage {
 public:
  // The robot has obstacles or surfaces; with surfaces it is one. `mechanics` must outlive this object.
  explicit ContactStage(Mechanics& mechanics);

  /// Whether all pairs of features within twice the contact distance have rows from the start of a step: laws that lead
  /// see what they may touch.
  void set_foresight(bool foresees) { foresees_ = foresees; }
  // Begins a step; y_start [B x outputs]: mapped points of `state`. Pairs with a force in it are active.
  void begin(const State& state, std::span<const double> y_start);
  // Linearises the active pairs at y [B x outputs]. judged: violation() is asked for next, which looks at all others too.
  void linearise(std::span<const double> y, bool judged);
  // Which robots have any [B]: their law need not be solved without.
  std::span<const char> touch() const { return touch_; }
  // Entry k of the contact forces on the coordinates of robot b, H^T lambda at the last linearisation.
  double force(int b, int k) const { return robots_[static_cast<std::size_t>(b)].force[static_cast<std::size_t>(k)]; }
  // How far the points of robot b at the last linearisation are from the laws under the present forces [m].
  double violation(int b) const;
  // Geometric stiffness of the active pairs under the present forces.
  std::span<const PointStiffness> stiffness() const { return stiffness_; }
  // Finds the forces of robot b after the law has sought its multipliers [rows] and dc [motions of the law] for no
  // contact, which it finds anew where there is any; found: whether it had an answer. False: forces not found.
  bool solve(int b, ConstraintLaw& law, const ContactInputs& in, bool found, std::span<double> multipliers,
             std::span<double> dc) {
    robots_[static_cast<std::size_t>(b)].figures = {};
    if (!found && robots_[static_cast<std::size_t>(b)].pair.empty()) return false;
    return solve_robot(b, law, in, multipliers, dc);
  }
  // Whether robot b has more rows than can be solved for.
  bool too_many(int b) const { return robots_[static_cast<std::size_t>(b)].contacts() > most_contact_rows; }
  // A^-1 H^T (lambda - lambda_0) of the contacts of robot b [nv].
  std::span<const double> motion(int b) const { return robots_[static_cast<std::size_t>(b)].motion; }
  // H^T lambda of the contacts of robot b, added to f [nv].
  void add_forces(int b, std::span<double> f) const {
    const RobotContacts& r = robots_[static_cast<std::size_t>(b)];
    add_row_forces(r, r.lambda, f);
  }
  // The forces of robot b to the state, in the world.
  void finish(int b, State& state) const;
  // Of every robot's last linearisation; rows and those that press as they are now.
  ContactFigures figures() const;

 private:
  // Rows in the order they came, three for each.
  struct RobotContacts {
    std::vector<int> pair;                    // with obstacles; -1: of surfaces
    std::vector<unsigned char> rows_of_pair;  // [pairs]
    std::vector<FeaturePair> features;        // of surfaces; others are empty
    /// Mapped points of the rows with their frames, and the weight of each: one of an obstacle's, up to four of a pair
    /// of features. Those of contact k begin at first[k]; one more entry at the end.
    PointRows rows;
    std::vector<double> weight;
    std::vector<int> first = {0};
    bool single = true;  // each contact has one point, of weight one
    std::vector<double> friction;
    std::vector<double> phi, lambda;    // [3 rows]
    std::vector<double> force, motion;  // [nv]
    std::vector<double> compliance;     // [3 rows]^2: H A^-1 H^T of contacts, or
    std::vector<double> roots;          // [rows + 3 rows][nv]: H R^-T
    int known = 0;                      // how many have them at this linearisation
    bool factored = false;              // they are roots
    double worst_idle_gap = 0;          // least gap of pairs without rows, below 0
    ContactFigures figures;             // of its last solve
    int contacts() const { return static_cast<int>(pair.size()); }
    const Mat3d& frame(std::size_t k) const { return rows.frame[static_cast<std::size_t>(first[k])]; }
  };
  bool solve_robot(int b, ConstraintLaw& law, const ContactInputs& in, std::span<double> multipliers,
                   std::span<double> dc);
  ContactSpace project_contacts(int b, const ContactInputs& in);
  void find_input_rates();
  static void forget_rows(RobotContacts& r);
  void add_row(int b, int pair, const Vec3d& force);
  void linearise_row(int b, std::size_t k, const Vec3d& moved);
  int add_violated(int b, std::span<const double> du, std::span<const double> dc);
  void extend(int b, const ContactInputs& in);
  // [contacts of r]: as the functions of Mechanics for points.
  void multiply_rows(const RobotContacts& r, std::span<const double> X, int count, std::span<double> out) const;
  void add_row_forces(const RobotContacts& r, std::span<const double> lambda, std::span<double> f) const;
  void row_compliance(int b, const RobotContacts& r, int known, std::span<double> C);

  // Surfaces: contact_surfaces.cpp
  std::span<const double> vertices_of(std::span<const double> y) const;
  void begin_surfaces(const State& state);
  void add_features(RobotContacts& r, const FeaturePair& pair, const Vec3d& force);
  void linearise_features(RobotContacts& r, std::size_t k, double bend);
  void linearise_surfaces(RobotContacts& r);
  double gap_wanted(const FeaturePair& pair) const;
  void find_idle_surfaces(RobotContacts& r);
  int add_violated_surfaces(RobotContacts& r, std::span<const double> du, std::span<const double> dc,
                            const ContactInputs& in);
  void finish_surfaces(const RobotContacts& r, State& state) const;
  std::span<const double> points_of(std::span<const double> y, int b) const;

  Mechanics& mechanics_;
  const Robot& robot_;
  int nv_, ny_, obstacles_;
  PointRows all_points_;  // in the axes of the world
  bool foresees_ = false;
  std::vector<double> y_, y_start_, moved_;
  std::vector<double> carried_;  // [motions][3 collision points]: how inputs move the points
  std::vector<RobotContacts> robots_;
  std::vector<PointStiffness> stiffness_;
  std::vector<char> touch_;
  std::optional<ContactSearch> search_;     // where there are surfaces
  std::vector<FeaturePair> near_at_start_;  // ascending by key
  // Of one robot at a time.
  struct Scratch {
    std::vector<int> former_pairs, obstacle;
    std::vector<Vec3d> former_forces;
    std::vector<FeaturePair> former_features;
    std::vector<double> free, W, lambda, du, cross, unit, grown, compliance;
    std::vector<double> effector_X, effector_cross, B, rates;
    std::vector<double> y, by_point;
    std::vector<FeaturePair> violated, at_end;
  };
  mutable Scratch scratch_;
};

}  // namespace supple
