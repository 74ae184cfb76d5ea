#pragma once
// The program of an inverse step in contact (inverse_law.hpp), private to InverseLaw: z = [lambda_a, dc, lambda_c].

#include "engine/dynamics/forward_law.hpp"
#include "engine/inverse/inverse_program.hpp"
#include "solvers/qpcc/qpcc.hpp"

namespace supple {

struct InverseLaw::Contact {
  Contact(const Robot& robot, int robots, int effector_rows, int motions, int program_rows);
  // The robot's space with rows of actuators, contacts, constraints, and the first rows of its W.
  ConstraintSpace with_contacts(const ContactSpace& space, int actuators, int rows_of_W);
  // The robot's space with the contacts that the program has room for: those that press under `lambda` [actuators,
  // constraints, contacts], then the nearest. The others are free in the program, and in the way of the forward law.
  ContactSpace nearest(const ContactSpace& space, std::span<const double> lambda);
  // Forces [actuators, constraints, contacts] under these commands and changes of inputs, by the exact cone.
  ContactReport follow(const ContactSpace& space, std::span<const double> commands, std::span<const double> dc,
                       std::span<double> lambda);

  Problem problem;
  EqualityRows constraints;
  int most;  // contacts at once
  QpccWorkspace workspace;
  ForwardLaw forward;
  State state;                                      // what the forward law begins from
  std::vector<double> commands;                     // of the forward law
  std::vector<double> phi, free, W, B, effector_W;  // of with_contacts()
  std::vector<double> d, start, sought, laws, angle, kept, ordered, none, sum;
  std::vector<int> chosen;  // contacts of nearest()
  struct {
    std::vector<double> free, W, B, effector_W, friction;
    std::vector<int> obstacle;
  } few;
  std::vector<ContactPiece> pieces;
  std::vector<QpSide> active;  // of each robot: bounds, then rows
};

}  // namespace supple
