#pragma once
// The program of an inverse step in contact (inverse_law.hpp), private to InverseLaw: z = [lambda_a, dc, lambda_c].

#include "engine/inverse/inverse_program.hpp"
#include "engine/step/forward_law.hpp"
#include "solvers/qpcc/qpcc.hpp"

namespace supple {

/// Entry of W between rows i and j of the robot and its contacts.
double compliance(const ContactSpace& space, int i, int j);

struct InverseLaw::Contact {
  Contact(const Robot& robot, int robots, int effector_rows, int motions, int program_rows);
  /// The same space with one-sided constraints as further contacts without friction, behind the others: a row each, and
  /// two that are zero. Without such constraints the space itself.
  ContactSpace limits_as_contacts(const ContactSpace& space);
  /// Forces [actuators, constraints, contacts] in the order of limits_as_contacts(), and back.
  void split_forces(std::span<const double> lambda, std::vector<double>& split) const;
  void join_forces(std::span<const double> split, std::span<double> lambda) const;
  /// The robot's space with rows of actuators, contacts, constraints, and the first rows of its W.
  ConstraintSpace with_contacts(const ContactSpace& space, int actuators, int rows_of_W);
  /// The robot's space with the contacts that the program has room for: those that are active under `lambda`
  /// [actuators, constraints, contacts], then the nearest. The others are ignored in the program, but not by the
  /// forward law.
  ContactSpace nearest(const ContactSpace& space, std::span<const double> lambda);
  /// Forces [actuators, constraints, contacts] under these commands and changes of inputs, by the exact cone; at_rest: in
  /// an equilibrium.
  ContactReport follow(const ContactSpace& space, std::span<const double> commands, std::span<const double> dc,
                       bool at_rest, std::span<double> lambda);

  std::vector<int> equal_rows, limit_rows;  // rows of the robot: those that end at zero, those that are one-sided
  int actuators, obstacle_contacts = 0;     // contacts of the present space without the limits
  Problem problem;
  EqualityRows constraints;
  int most;  // contacts at once
  QpccWorkspace workspace;
  ForwardLaw forward;
  State state;                                      // what the forward law begins from
  std::vector<double> commands;                     // of the forward law
  std::vector<double> phi, free, W, B, effector_W;  // of with_contacts()
  std::vector<double> d, start, sought, laws, angle, kept, ordered, none, sum;
  struct {
    std::vector<double> phi, free, W, B, effector_W, alone_W, alone_B, alone_effector_W, friction, lambda;
    std::vector<int> obstacle;
  } split;                  // of limits_as_contacts()
  std::vector<int> chosen;  // contacts of nearest()
  struct {
    std::vector<double> free, W, B, effector_W, friction;
    std::vector<int> obstacle;
  } few;
  std::vector<ContactPiece> pieces;
  std::vector<QpSide> active;  // of each robot: bounds, then rows
};

}  // namespace supple
