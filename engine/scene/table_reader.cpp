#include "engine/scene/table_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/contract.hpp"

namespace supple {
namespace {

std::vector<std::string_view> names_of(const TableKeys& table) {
  std::vector<std::string_view> names;
  for (const Key& key : table.keys) names.push_back(key.name);
  return names;
}

// The table, other than this one, that has such a key, or the three at most that do; "" if none or more do.
std::string owner(std::string_view name, const TableKeys& here) {
  std::vector<std::string_view> titles;
  for (const TableKeys& table : scene_tables()) {
    const auto names = names_of(table);
    if (&table != &here && std::find(names.begin(), names.end(), name) != names.end()) titles.push_back(table.title);
  }
  return titles.size() > 3 ? "" : fmt::format("{}", fmt::join(titles, " or "));
}

std::string_view example_quantity(Dimension dimension) {
  switch (dimension) {
    case Dimension::number:
      return "0.5";
    case Dimension::length:
      return "\"40 mm\"";
    case Dimension::mass:
      return "\"500 g\"";
    case Dimension::time:
      return "\"10 ms\"";
    case Dimension::angle:
      return "\"90 deg\"";
    case Dimension::acceleration:
      return "\"-9.81 m/s^2\"";
    case Dimension::stress:
      return "\"450 kPa\"";
    case Dimension::density:
      return "\"1000 kg/m^3\"";
    case Dimension::force:
      return "\"5 N\"";
    case Dimension::torque:
      return "\"20 N mm\"";
    case Dimension::torque_rate:
      return "\"20 N mm/s\"";
    case Dimension::turn_rate:
      return "\"90 deg/s\"";
    case Dimension::turn_stiffness:
      return "\"0.5 N m/rad\"";
    case Dimension::damping:
      return "\"2 N s/m\"";
    case Dimension::turn_damping:
      return "\"0.01 N m s/rad\"";
    case Dimension::flow_resistance:
      return "\"10 kPa s/mL\"";
    case Dimension::compliance:
      return "\"1 mm/N\"";
    case Dimension::stiffness:
      return "\"100 N/m\"";
    case Dimension::frequency:
      return "\"0.1 1/s\"";
    case Dimension::speed:
      return "\"20 mm/s\"";
    case Dimension::force_rate:
      return "\"5 N/s\"";
    case Dimension::stress_rate:
      return "\"50 kPa/s\"";
    case Dimension::volume:
      return "\"5 mL\"";
    case Dimension::volume_rate:
      break;
  }
  return "\"5 mL/s\"";
}

}  // namespace

std::string example_line(const Key& key) {
  if (key.subtable.starts_with('[')) return std::string(key.subtable);
  if (key.kind == ValueKind::tables) return fmt::format("{} = [{{...}}, ...]", key.name);
  return fmt::format("{} = {}", key.name, example_value(key));
}

std::string example_value(const Key& key) {
  const std::string_view q = example_quantity(key.dimension);
  switch (key.kind) {
    case ValueKind::text:
      return fmt::format("\"{}\"", key.dimension == Dimension::length ? "mm" : "...");
    case ValueKind::choice:
      return fmt::format("\"{}\"", split_choices(key.choices).front());
    case ValueKind::integer:
      return fmt::format("{}", std::max(key.least, 1));
    case ValueKind::boolean:
      return "true";
    case ValueKind::quantity:
      return std::string(q);
    case ValueKind::vector:
      return fmt::format("[{}, {}, {}]", q, q, q);
    case ValueKind::vectors:
      return fmt::format("[[{}, {}, {}]]", q, q, q);
    case ValueKind::interval:
      return fmt::format("[0, {}]", q);
    case ValueKind::box:
      return fmt::format("[[0, 0, 0], [{}, {}, {}]]", q, q, q);
    case ValueKind::table:
      if (key.subtable == "mesh") return "{file = \"robot.msh\", unit = \"mm\"}";
      if (key.subtable == "surface") return "{file = \"surface.stl\", unit = \"mm\"}";
      if (key.subtable == "sphere") return "{centre = [0, 0, 0], radius = \"10 mm\"}";
      if (key.subtable == "region") return "{group = \"...\"}";
      break;
    case ValueKind::tables:
    case ValueKind::text_or_tables:
      break;
  }
  return std::string(key.subtable);
}

TableReader::TableReader(const Document& document, const Node& table, SourcePoint at, const TableKeys& keys)
    : document_(document), table_(table), at_(at), keys_(keys) {
  check_keys();
}

void TableReader::check_keys() const {
  // Words of the field that a scene may well try.
  constexpr std::array<std::string_view, 2> planned{"goal", "joint"};
  const auto names = names_of(keys_);
  const std::string allowed = fmt::format("the keys of {} are {}", keys_.title, fmt::join(names, ", "));
  for (const Member& member : table_.members) {
    if (std::find(names.begin(), names.end(), member.key) != names.end()) continue;
    std::string hint;
    const std::string near = nearest_word(member.key, names);
    const std::string other = owner(member.key, keys_);
    if (std::find(planned.begin(), planned.end(), member.key) != planned.end())
      hint = " (not in this version)";
    else if (!other.empty())
      hint = fmt::format(" (it belongs to {})", other);
    else if (!near.empty())
      hint = fmt::format(" (did you mean '{}'?)", near);
    throw InputError(fmt::format("unknown key '{}' in {}{}", member.key, keys_.title, hint), allowed,
                     document_.place(member.at));
  }
  for (const Key& key : keys_.keys)
    if (key.fallback == "required" && !has(key.name))
      throw InputError(fmt::format("{} has no {}", keys_.title, key.name), example_line(key), place());
}

const Key& TableReader::key(std::string_view name) const {
  const auto found = std::find_if(keys_.keys.begin(), keys_.keys.end(), [&](const Key& k) { return k.name == name; });
  SUPPLE_EXPECT(found != keys_.keys.end());
  return *found;
}

const Node* TableReader::find(std::string_view name) const {
  const Member* member = table_.find(name);
  return member == nullptr ? nullptr : &member->value;
}

bool TableReader::has_text(std::string_view name) const {
  const Node* node = find(name);
  return node != nullptr && node->kind == Node::Kind::text;
}

Place TableReader::place(std::string_view name) const {
  const Node* node = find(name);
  return document_.place(node == nullptr ? at_ : node->at);
}

void TableReader::fail(std::string_view name, const std::string& problem, const std::string& suggestion) const {
  throw InputError(problem, suggestion, place(name));
}

void TableReader::fail(const Node& node, const std::string& problem, const std::string& suggestion) const {
  throw InputError(problem, suggestion, document_.place(node.at));
}

void TableReader::wrong_kind(const Key& key, const Node& node) const {
  if (key.kind == ValueKind::table || key.kind == ValueKind::tables || key.kind == ValueKind::text_or_tables)
    fail(node, fmt::format("{} is {}, a table is expected", key.name, kind_name(node.kind)),
         "write " + example_line(key));
  fail(node, fmt::format("{} cannot be {}", key.name, kind_name(node.kind)), example_line(key));
}

std::string TableReader::text(std::string_view name, std::string fallback) const {
  const Node* node = find(name);
  if (node == nullptr) return fallback;
  if (node->kind != Node::Kind::text) wrong_kind(key(name), *node);
  if (node->text.empty()) fail(*node, fmt::format("{} is empty", name), "say it, or leave the key out");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(node->text.begin(), node->text.end(), control))
    fail(*node, fmt::format("{} holds a control character", name), "write it on one line, without escapes");
  return node->text;
}

std::string TableReader::identifier(std::string_view name) const {
  const std::string value = text(name);
  if (value.find_first_of(" ,;\"'/\\#") != std::string::npos)
    fail(name, fmt::format("'{}' cannot be a name (it stands in column headers and file names)", value),
         "letters, digits, '-', '_' and '.'");
  return value;
}

bool TableReader::boolean(std::string_view name, bool fallback) const {
  const Node* node = find(name);
  if (node == nullptr) return fallback;
  if (node->kind != Node::Kind::boolean) wrong_kind(key(name), *node);
  return node->boolean;
}

std::int64_t TableReader::integer(std::string_view name, std::int64_t fallback, std::int64_t most) const {
  const Node* node = find(name);
  if (node == nullptr) return fallback;
  const Key& k = key(name);
  if (node->kind != Node::Kind::integer) wrong_kind(k, *node);
  if (node->integer < k.least || node->integer > most)
    fail(*node,
         fmt::format("{} is {}, at least {} is expected", name, node->integer, k.least) +
             (node->integer > most ? fmt::format(" and at most {}", most) : ""),
         fmt::format("{} = {}", name, fallback));
  return node->integer;
}

double TableReader::number(const Key& key, const Node& node, Dimension dimension, bool infinite) const {
  double value = 0;
  if (node.kind == Node::Kind::integer || node.kind == Node::Kind::real) {
    value = node.number;
  } else if (node.kind == Node::Kind::text && infinite && (node.text == "inf" || node.text == "-inf")) {
    value = node.text == "inf" ? unlimited : -unlimited;
  } else if (node.kind == Node::Kind::text) {
    value = parse_quantity(node.text, dimension, document_.place(node.at));
  } else {
    wrong_kind(key, node);
  }
  if (std::isnan(value) || (std::isinf(value) && !infinite))
    fail(node, fmt::format("{} is not a finite number", key.name), example_line(key));
  return value;
}

double TableReader::quantity(std::string_view name, double fallback) const {
  return quantity(name, fallback, key(name).dimension);
}

double TableReader::quantity(std::string_view name, double fallback, Dimension dimension) const {
  const Node* node = find(name);
  if (node == nullptr) return fallback;
  const Key& k = key(name);
  const double value = number(k, *node, dimension, k.infinite);
  if ((k.bound == Bound::positive && !(value > 0)) || (k.bound == Bound::non_negative && !(value >= 0)))
    fail(*node, fmt::format("{} is {}", name, format_quantity(value, dimension)),
         fmt::format("a value {} 0", k.bound == Bound::positive ? "above" : "of at least"));
  return value;
}

std::optional<double> TableReader::optional_quantity(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return quantity(name, 0);
}

const std::vector<Node>& TableReader::list(const Key& key, const Node& node, std::size_t size) const {
  if (node.kind != Node::Kind::array) wrong_kind(key, node);
  if (node.items.size() != size)
    fail(node, fmt::format("{} has a list of {}, one of {} is expected", key.name, node.items.size(), size),
         example_line(key));
  return node.items;
}

Vec3d TableReader::triple(const Key& key, const Node& node) const {
  const auto& items = list(key, node, 3);
  Vec3d value{{0, 0, 0}};
  for (int i = 0; i < 3; ++i) value[i] = number(key, items[static_cast<std::size_t>(i)], key.dimension, false);
  return value;
}

Vec3d TableReader::vector(std::string_view name, Vec3d fallback) const {
  const Node* node = find(name);
  return node == nullptr ? fallback : triple(key(name), *node);
}

std::vector<Vec3d> TableReader::vectors(std::string_view name) const {
  const Node* node = find(name);
  std::vector<Vec3d> values;
  if (node == nullptr) return values;
  const Key& k = key(name);
  if (node->kind != Node::Kind::array) wrong_kind(k, *node);
  if (node->items.empty()) fail(*node, fmt::format("{} is empty", name), example_line(k));
  for (const Node& item : node->items) values.push_back(triple(k, item));
  return values;
}

Interval TableReader::interval(std::string_view name, Interval fallback, Dimension dimension) const {
  const Node* node = find(name);
  if (node == nullptr) return fallback;
  Key k = key(name);
  k.dimension = dimension;
  const auto& ends = list(k, *node, 2);
  const Interval value{number(k, ends[0], dimension, true), number(k, ends[1], dimension, true)};
  if (value.lower > value.upper)
    fail(*node,
         fmt::format("{} is reversed ({} is above {})", name, format_quantity(value.lower, dimension),
                     format_quantity(value.upper, dimension)),
         "the lower end first");
  if (value.lower == unlimited || value.upper == -unlimited)
    fail(*node, fmt::format("{} is empty", name), example_line(k));
  return value;
}

std::pair<Vec3d, Vec3d> TableReader::corners(std::string_view name) const {
  const Node* node = find(name);
  SUPPLE_EXPECT(node != nullptr);
  const Key& k = key(name);
  const auto& items = list(k, *node, 2);
  const std::pair value{triple(k, items[0]), triple(k, items[1])};
  for (int i = 0; i < 3; ++i)
    if (value.first[i] > value.second[i])
      fail(*node,
           fmt::format("{} is reversed along {} ({} is above {})", name, "xyz"[i],
                       format_quantity(value.first[i], k.dimension), format_quantity(value.second[i], k.dimension)),
           "the lower corner first");
  return value;
}

int TableReader::choice_index(std::string_view name, int fallback) const {
  const Node* node = find(name);
  if (node == nullptr) return fallback;
  const Key& k = key(name);
  const auto words = split_choices(k.choices);
  const std::string list = fmt::format("this version has: {}", fmt::join(words, ", "));
  if (node->kind != Node::Kind::text) {
    // {scheme = ...} and the like
    if (node->kind == Node::Kind::table) fail(*node, fmt::format("{} cannot be a table", name), list);
    wrong_kind(k, *node);
  }
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (found == words.end()) {
    const std::string near = nearest_word(node->text, words);
    fail(*node,
         fmt::format("unknown {} '{}'{}", name, node->text,
                     near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)),
         list);
  }
  return static_cast<int>(found - words.begin());
}

TableReader TableReader::table(std::string_view name) const {
  const Member* member = table_.find(name);
  SUPPLE_EXPECT(member != nullptr);
  const Key& k = key(name);
  if (member->value.kind == Node::Kind::array)
    throw InputError(fmt::format("{} is a list (one in a scene so far)", name), "write " + example_line(k),
                     document_.place(member->at));
  if (member->value.kind != Node::Kind::table) wrong_kind(k, member->value);
  return {document_, member->value, member->value.at, scene_table(k.subtable)};
}

std::vector<TableReader> TableReader::tables(std::string_view name) const {
  const Member* member = table_.find(name);
  std::vector<TableReader> readers;
  if (member == nullptr) return readers;
  const Key& k = key(name);
  if (member->value.kind != Node::Kind::array)
    throw InputError(fmt::format("{} is {}, a list of tables is expected", name, kind_name(member->value.kind)),
                     "write " + example_line(k), document_.place(member->at));
  for (const Node& item : member->value.items) {
    if (item.kind != Node::Kind::table) wrong_kind(k, item);
    readers.emplace_back(document_, item, item.at, scene_table(k.subtable));
  }
  return readers;
}

}  // namespace supple
