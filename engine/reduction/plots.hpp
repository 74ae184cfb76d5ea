#pragma once
// The curves of a reduction as files: CSV data, gnuplot scripts that draw them, and PNG pictures where gnuplot is
// installed.
//   pod.csv       modes kept, error of the truncation, singular value          -> pod.png (paper: nu against the number
//   of modes) elements.csv  elements kept, tolerance, residual, errors on the selection set -> elements.png rate.csv
//   model, errors on the test set, steps per second              -> rate.png (paper: figure 6)

#include <string>
#include <vector>

#include "engine/reduction/pipeline.hpp"

namespace supple {

struct Plots {
  std::vector<std::string> files;
  std::string note;  // why there are no pictures, if so
};

// Writes into `folder`, which is made if needed. Throws InputError if it cannot be written.
Plots write_plots(const ReduceReport& report, const std::string& title, const std::string& folder);

}  // namespace supple
