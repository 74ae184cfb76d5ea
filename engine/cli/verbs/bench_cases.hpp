#pragma once
// What `supple bench` can measure, and what of it is asked for.

#include <optional>
#include <string>
#include <vector>

namespace supple::cli {

struct BenchArguments {
  std::string assets = "assets", kept;  // kept: the folder of models that are made
  std::vector<std::string> wanted, models;
  std::vector<long> batches{1};
  std::optional<double> seconds;
  std::optional<long> steps, rounds;
  std::string precision;
  bool resident = false, fused = false, host_contact = false, sweep_contact = false;
};

struct BenchCase {
  enum class Kind { full, full_inverse, forward, forward_of_file, inverse, inverse_of_file, program };
  std::string name, file;  // a scene's, or a model's
  Kind kind = Kind::full;
  int unknowns = 0;  // program
};

// By name. Throws InputError where there are none, or none of those names.
std::vector<BenchCase> find_cases(const BenchArguments& arguments);

}  // namespace supple::cli
