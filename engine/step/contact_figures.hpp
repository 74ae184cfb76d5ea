#pragma once
// What contact reports of a step.

#include "solvers/contact/contact.hpp"

namespace supple {

// Sums over the robots, largest residuals of a step.
struct ContactFigures {
  int rows = 0;           // of pairs
  int touching = 0;       // rows that press
  int solves = 0;         // for the forces of a robot's contacts
  int softened = 0;       // solves without an answer for hard contacts, answered by slightly soft ones
  int loose = 0;          // solves that ended above tight_residual
  bool too_many = false;  // rows: most_contact_rows
  double residual = 0;    // of Signorini's and Coulomb's laws in constraint space, relative (ContactReport)
  double violation = 0;   // the same [m]
  // Where the forces of robots that stay on a device were found: problems there, those that the host took over, and what
  // the device spent on them.
  int on_device = 0, on_host = 0;
  long sweeps = 0, newton_steps = 0;

  // What became of the forces of one robot, found anew. False: they were not found.
  bool take(const ContactReport& solved);
  // Of a run: rows and pressing ones at most, counts of solves in all, largest residuals.
  void include(const ContactFigures& step);
  // Of another robot in the same step: sums, largest residuals.
  void add(const ContactFigures& robot);
};

// Forces are found to this relative residual. Where friction is strong the solver may end above it; forces within
// loose_residual are taken, and counted. Beyond the step has failed.
inline constexpr double tight_residual = 1e-8, loose_residual = 1e-2;

}  // namespace supple
