#pragma once
// One table of a document, read key by key after its list of keys. Every error is an InputError that points at the key
// or value: unknown and missing keys when the reader is made, wrong kinds, dimensions and bounds when a value is asked
// for.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scene/document.hpp"
#include "engine/scene/keys.hpp"
#include "engine/scene/scene.hpp"

namespace supple {

class TableReader {
 public:
  // `at` is what stands for the table in messages; the document outlives the reader.
  TableReader(const Document& document, const Node& table, SourcePoint at, const TableKeys& keys);

  bool has(std::string_view name) const { return table_.find(name) != nullptr; }
  // Of a key that may have a text instead of tables.
  bool has_text(std::string_view name) const;
  Place place() const { return document_.place(at_); }
  // Of the value; of the table where the key is absent.
  Place place(std::string_view name) const;

  std::string text(std::string_view name, std::string fallback = {}) const;
  bool boolean(std::string_view name, bool fallback) const;
  std::int64_t integer(std::string_view name, std::int64_t fallback, std::int64_t most) const;
  double quantity(std::string_view name, double fallback) const;
  double quantity(std::string_view name, double fallback, Dimension dimension) const;
  std::optional<double> optional_quantity(std::string_view name) const;
  Vec3d vector(std::string_view name, Vec3d fallback) const;
  std::vector<Vec3d> vectors(std::string_view name) const;
  Interval interval(std::string_view name, Interval fallback, Dimension dimension) const;
  // Lower and upper corner.
  std::pair<Vec3d, Vec3d> corners(std::string_view name) const;
  template <class E>
  E choice(std::string_view name, E fallback) const {
    return static_cast<E>(choice_index(name, static_cast<int>(fallback)));
  }
  // A name of something: not empty, no characters that would break a CSV header or a file name.
  std::string identifier(std::string_view name) const;

  // The key must be there.
  TableReader table(std::string_view name) const;
  // Empty if the key is absent.
  std::vector<TableReader> tables(std::string_view name) const;

  [[noreturn]] void fail(std::string_view name, const std::string& problem, const std::string& suggestion) const;

 private:
  const Key& key(std::string_view name) const;
  const Node* find(std::string_view name) const;
  int choice_index(std::string_view name, int fallback) const;
  double number(const Key& key, const Node& node, Dimension dimension, bool infinite) const;
  Vec3d triple(const Key& key, const Node& node) const;
  const std::vector<Node>& list(const Key& key, const Node& node, std::size_t size) const;
  void check_keys() const;
  [[noreturn]] void wrong_kind(const Key& key, const Node& node) const;
  [[noreturn]] void fail(const Node& node, const std::string& problem, const std::string& suggestion) const;

  const Document& document_;
  const Node& table_;
  SourcePoint at_;
  const TableKeys& keys_;
};

// How such a value is written, for messages: "40 mm" in quotes; and how its line is: young = "450 kPa", or [[fix]].
std::string example_value(const Key& key);
std::string example_line(const Key& key);

}  // namespace supple
