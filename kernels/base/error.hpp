#pragma once
// Errors a user can act on. Grammar of the message: "problem (why it is one)"; the remedy goes in `suggestion`.
// The command line prints them with file, line, column and a caret, and turns the class into an exit code.

#include <stdexcept>
#include <string>
#include <utility>

namespace supple {

// Where in a text file something is wrong. line and column count from 1; 0 = unknown. `text` is that line's text, when
// known.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string text;
};

class Error : public std::runtime_error {
 public:
  Error(const std::string& problem, std::string suggestion, Place place = {})
      : std::runtime_error(problem), suggestion_(std::move(suggestion)), place_(std::move(place)) {}
  const std::string& suggestion() const { return suggestion_; }
  const Place& place() const { return place_; }
  virtual int exit_code() const = 0;
  // "file:line:column: error: problem", the source line with a caret, "try: suggestion".
  std::string report() const;

 private:
  std::string suggestion_;
  Place place_;
};

// The computation failed: it diverged, or the error of a model exceeds its limit.
class RunError final : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 1; }
};

// Bad scene, mesh, model file, data file or command line.
class InputError final : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 2; }
};

// The machine or this build lacks something: no GPU, no OpenGL, no CUDA in the build.
class CapabilityError final : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 3; }
};

// Ctrl-C: the state is saved and the message states how to continue.
class Interrupted final : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 130; }
};

// The candidate nearest to `word` in edit distance, or "" if none is near: for "did you mean".
template <class Range>
std::string nearest_word(const std::string& word, const Range& candidates);

int edit_distance(const std::string& a, const std::string& b);

template <class Range>
std::string nearest_word(const std::string& word, const Range& candidates) {
  std::string best;
  int best_distance = static_cast<int>(word.size()) / 3 + 2;
  for (const auto& candidate : candidates) {
    const int distance = edit_distance(word, std::string(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace supple
