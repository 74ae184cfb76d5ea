#pragma once
// Numbers of a scene file that are changed before it is read: what a calibration looks for.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/scene/document.hpp"
#include "engine/scene/scene.hpp"

namespace supple {

/// A number of the file, in the unit in which it stands there.
struct SceneNumber {
  std::string keys;  // "body.material.young"
  double value = 0;
  std::string unit;                    // "kPa"; "" for a plain number
  std::optional<Dimension> dimension;  // of its unit; none: a plain number
  double scale = 1;                    // SI per unit
  Place place;
};

class SceneNumbers {
 public:
  /// path: a scene file, or a folder with a scene.toml. Errors: those of read_scene.
  explicit SceneNumbers(const std::string& path);

  /// The number to which these keys lead, with dots between them. In lists: the number of an item, from 1, x, y or z, or
  /// the name of a table; not needed where a list has one table. Throws InputError where they lead nowhere or to
  /// something else, with what there is.
  std::size_t add(const std::string& keys);
  const std::vector<SceneNumber>& numbers() const { return numbers_; }
  /// "1 MPa" in the unit of a number. Throws InputError.
  double in_unit(std::size_t number, const std::string& text) const;

  /// The scene with these values [numbers], in their units. Throws InputError, also where the scene forbids them.
  Scene scene(std::span<const double> values) const;
  /// The text of the scene file with these values. Throws InputError where one of them stands in an included file.
  std::string text(std::span<const double> values) const;
  const std::string& file() const { return file_; }

 private:
  Document document_;
  std::string file_;
  std::vector<SceneNumber> numbers_;
  std::vector<std::vector<std::size_t>> way_;  // of each number: which member or item, from the root
  std::vector<SourcePoint> at_;
};

}  // namespace supple
