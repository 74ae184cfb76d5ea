#pragma once
// Cases with known answers, solved with every kind of element on two or more meshes: `supple_validation` runs them,
// prints what it finds beside the reference and writes the page docs/validation.md.

#include <functional>
#include <string>
#include <vector>

#include "engine/model/full_model.hpp"

namespace supple::validation {

struct Element {
  std::string name;
  bool hexahedra;
  int order;
  Dilatation dilatation;
};

/// Linear tetrahedra; tetrahedra and hexahedra of both orders, with the change of volume at each point and in the mean.
const std::vector<Element>& elements();
/// Tetrahedra of second order with what `[body]` has where it says nothing more.
const Element& default_element();

/// One figure of one run.
struct Figure {
  std::string quantity;
  double value = 0, reference = 0;
  double error() const { return value / reference - 1; }
};

struct Run {
  std::string mesh;
  int unknowns = 0;
  double seconds = 0;
  double steps_per_second = 0;  // 0: not measured
  std::vector<Figure> figures;
  std::string failure;  // why there are no figures
};

struct Case {
  std::string name;  // of the command line
  std::string title;
  std::string text;  // what is computed, the reference and its source, in one paragraph of Markdown
  double bar;        // relative error that the default element stays below ...
  int practical;     // ... on this refinement
  int refinements;   // 1, 2, 4, ... of the coarsest mesh: how many
  std::function<Run(const Element&, int refinement)> run;
  std::function<bool(const Element&)> of = [](const Element&) { return true; };
  bool known_miss = false;  // the default element misses the bar; the text states why
  // Meshes beyond `refinements` that the default element alone is run on: others would take too long.
  int finer_of_default = 0;
  int meshes_of(const Element& element) const {
    return refinements + (&element == &default_element() ? finer_of_default : 0);
  }
};

std::vector<Case> all_cases();
// By what they are of: laws, beams, wires and threads, cavities, columns in motion, viscous bars, plane problems, contact,
// robots.
std::vector<Case> law_cases();
std::vector<Case> beam_cases();
std::vector<Case> composite_cases();
std::vector<Case> cavity_cases();
std::vector<Case> column_cases();
std::vector<Case> viscous_cases();
std::vector<Case> plane_cases();
std::vector<Case> contact_cases();
std::vector<Case> robot_cases();

}  // namespace supple::validation
