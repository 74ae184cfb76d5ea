#pragma once
// A run with its wall time; an error that ends it is kept as its failure.

#include <chrono>

#include "bench/validation/cases.hpp"
#include "kernels/base/error.hpp"

namespace supple::validation {

template <class Body>
Run timed(const Body& body) {
  Run run;
  const auto start = std::chrono::steady_clock::now();
  try {
    body(run);
  } catch (const Error& error) {
    run.failure = error.what();
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

}  // namespace supple::validation
