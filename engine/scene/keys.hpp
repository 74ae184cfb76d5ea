#pragma once
// Every key a scene may have, once: the reader checks against this list, docs/reference/scene.md is generated from it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scene/units.hpp"

namespace supple {

enum class ValueKind {
  text,
  choice,          // one of `choices`
  integer,         // at least `least`
  boolean,         // true or false
  quantity,        // of `dimension`
  vector,          // three quantities
  vectors,         // a list of three quantities
  interval,        // [lower, upper]; -inf and inf leave an end open
  box,             // two opposite corners
  table,           // one table, described under `subtable`
  tables,          // [[...]], described under `subtable`
  text_or_tables,  // [[...]], or a name that stands for one
};

enum class Bound { any, non_negative, positive };

struct Key {
  std::string_view name;
  ValueKind kind;
  Dimension dimension = Dimension::number;
  std::string_view fallback;  // default of the key, as the reference states it; "required": there is none
  std::string_view meaning;
  Bound bound = Bound::any;
  std::string_view choices = {};   // choice: "a | b | c" in the order of the enumeration
  int least = 0;                   // integer
  bool infinite = false;           // quantity: inf is allowed
  std::string_view subtable = {};  // table, tables: TableKeys::title
};

struct TableKeys {
  std::string_view title;  // as the user writes it: "[body]", "[[fix]]", "mesh", "the scene"
  std::string_view meaning;
  std::span<const Key> keys;
};

// All tables; the scene itself is the first.
std::span<const TableKeys> scene_tables();
// Those of a scene of several bodies; its own top is the first.
std::span<const TableKeys> assembly_tables();
// Of both. Contract: the title exists.
const TableKeys& scene_table(std::string_view title);

// "a | b" -> {"a", "b"}
std::vector<std::string_view> split_choices(std::string_view choices);
// Those of a key of choices, in the order of its enumeration. Contract: both exist.
std::vector<std::string_view> choice_words(std::string_view title, std::string_view name);

// The text of docs/reference/scene.md.
std::string scene_reference_markdown();

}  // namespace supple
