#include "engine/scene/scene_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/scene/reader.hpp"
#include "kernels/base/contract.hpp"

namespace supple {

namespace {

std::vector<std::string> split_keys(const std::string& keys) {
  std::vector<std::string> result{""};
  for (const char c : keys) {
    if (c == '.')
      result.emplace_back();
    else
      result.back() += c;
  }
  return result;
}

// Of a list's item: its number from 1, or x, y, z; none otherwise.
std::optional<std::size_t> item_number(const std::string& key) {
  if (key == "x" || key == "y" || key == "z") return static_cast<std::size_t>(key[0] - 'x');
  std::size_t number = 0;
  const char* end = key.data() + key.size();
  const auto [stop, status] = std::from_chars(key.data(), end, number);
  if (key.empty() || status != std::errc() || stop != end || number == 0) return {};
  return number - 1;
}

std::string name_of(const Node& table) {
  const Member* name = table.find("name");
  return name != nullptr && name->value.kind == Node::Kind::text ? name->value.text : "";
}

bool is_table(const Node& node) {
  return node.kind == Node::Kind::table;
}

// What may stand after the keys that led to a node.
std::string choices(const Node& node) {
  std::vector<std::string> words;
  if (is_table(node)) {
    for (const Member& member : node.members) words.push_back(member.key);
  } else {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const std::string name = name_of(node.items[i]);
      words.push_back(name.empty() ? fmt::format("{}", i + 1) : name);
    }
  }
  return words.empty() ? "another key" : fmt::format("one of {}", fmt::join(words, ", "));
}

// The member or item that a key names; `used`: whether the key was needed.
std::optional<std::size_t> next_of(const Node& node, const std::string& key, bool* used) {
  *used = true;
  if (is_table(node)) {
    for (std::size_t i = 0; i < node.members.size(); ++i)
      if (node.members[i].key == key) return i;
    return {};
  }
  for (std::size_t i = 0; i < node.items.size(); ++i)
    if (is_table(node.items[i]) && name_of(node.items[i]) == key && !key.empty()) return i;
  if (const auto number = item_number(key); number && *number < node.items.size()) return number;
  if (node.items.size() == 1 && is_table(node.items.front())) {
    *used = false;
    return 0;
  }
  return {};
}

Node& step(Node& node, std::size_t next) {
  return is_table(node) ? node.members[next].value : node.items[next];
}

// "450 kPa" as its two parts.
std::pair<double, std::string> split_quantity(const std::string& text) {
  double value = 0;
  const auto number = text.find_first_not_of(" \t");
  if (number == std::string::npos) return {NAN, ""};
  const char* begin = text.data() + number + (text[number] == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(begin, end, value);
  if (status != std::errc()) return {NAN, ""};
  const std::string rest(stop, end);
  const auto first = rest.find_first_not_of(" \t");
  return {value, first == std::string::npos ? "" : rest.substr(first, rest.find_last_not_of(" \t") - first + 1)};
}

std::optional<Dimension> dimension_of(const std::string& unit) {
  for (int d = 0; d < dimension_count; ++d) {
    try {
      (void)parse_unit(unit, static_cast<Dimension>(d));
      return static_cast<Dimension>(d);
    } catch (const InputError&) {
      continue;
    }
  }
  return {};
}

std::string written(double value, const std::string& unit) {
  return unit.empty() ? fmt::format("{}", value) : fmt::format("\"{} {}\"", value, unit);
}

}  // namespace

SceneNumbers::SceneNumbers(const std::string& path) : file_(scene_file(path)) {
  document_ = read_document(file_);
  (void)read_scene(document_, file_);
}

std::size_t SceneNumbers::add(const std::string& keys) {
  const std::vector<std::string> words = split_keys(keys);
  const auto fail = [&](const std::string& problem, const std::string& remedy, const Node& at) {
    throw InputError(fmt::format("parameter '{}': {}", keys, problem), remedy, document_.place(at.at));
  };
  Node* node = &document_.root;
  std::vector<std::size_t> way;
  for (std::size_t k = 0; k < words.size();) {
    if (!is_table(*node) && node->kind != Node::Kind::array)
      fail(fmt::format("'{}' stands behind a value", words[k]), "a number of the scene", *node);
    bool used = false;
    const auto next = next_of(*node, words[k], &used);
    if (!next)
      fail(fmt::format("there is no '{}' here", words[k]), choices(*node) + " (write it into the scene first)", *node);
    way.push_back(*next);
    node = &step(*node, *next);
    if (used) ++k;
  }
  SceneNumber number{keys, 0, "", {}, 1, document_.place(node->at)};
  if (node->kind == Node::Kind::real || node->kind == Node::Kind::integer) {
    number.value = node->number;
  } else if (node->kind == Node::Kind::text) {
    std::tie(number.value, number.unit) = split_quantity(node->text);
    if (std::isfinite(number.value) && !number.unit.empty()) {
      number.dimension = dimension_of(number.unit);
      if (!number.dimension) number.value = NAN;
    }
  } else {
    fail(fmt::format("it is {}", kind_name(node->kind)), choices(*node), *node);
  }
  if (!std::isfinite(number.value)) fail("it is no number", "a number, or one with its unit", *node);
  if (number.dimension) number.scale = parse_unit(number.unit, *number.dimension, number.place);
  for (const SceneNumber& other : numbers_)
    if (way_[static_cast<std::size_t>(&other - numbers_.data())] == way)
      fail(fmt::format("it is '{}' once more", other.keys), "each parameter once", *node);
  numbers_.push_back(std::move(number));
  way_.push_back(std::move(way));
  at_.push_back(node->at);
  return numbers_.size() - 1;
}

double SceneNumbers::in_unit(std::size_t k, const std::string& text) const {
  const SceneNumber& number = numbers_[k];
  const auto [value, unit] = split_quantity(text);
  const bool same = unit.empty() == number.unit.empty();
  if (!std::isfinite(value) || !same)
    throw InputError(fmt::format("'{}' is no value of '{}'", text, number.keys),
                     number.unit.empty()
                         ? "a number without a unit, as in the scene"
                         : fmt::format("a number with its unit: \"{:g} {}\"", number.value, number.unit));
  return number.dimension ? parse_quantity(text, *number.dimension) / number.scale : value;
}

Scene SceneNumbers::scene(std::span<const double> values) const {
  SUPPLE_EXPECT(values.size() == numbers_.size());
  Document changed = document_;
  for (std::size_t k = 0; k < values.size(); ++k) {
    Node* node = &changed.root;
    for (const std::size_t next : way_[k]) node = &step(*node, next);
    if (numbers_[k].unit.empty()) {
      node->kind = Node::Kind::real;
      node->number = values[k];
    } else {
      node->text = fmt::format("{} {}", values[k], numbers_[k].unit);
    }
  }
  return read_scene(changed, file_);
}

std::string SceneNumbers::text(std::span<const double> values) const {
  SUPPLE_EXPECT(values.size() == numbers_.size());
  std::vector<std::string> lines = document_.files.front().lines;
  // From the end, so that columns of a line still hold.
  std::vector<std::size_t> order(values.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(at_[a].line, at_[a].column) > std::pair(at_[b].line, at_[b].column);
  });
  for (const std::size_t k : order) {
    const SourcePoint& at = at_[k];
    if (at.file != 0)
      throw InputError(fmt::format("'{}' stands in an included file", numbers_[k].keys),
                       "calibrate the scene that has it, or write the value there by hand", numbers_[k].place);
    std::string& line = lines[static_cast<std::size_t>(at.line - 1)];
    // Columns count characters.
    std::size_t begin = 0;
    for (int column = 1; column < at.column && begin < line.size(); ++column) do
        ++begin;
      while (begin < line.size() && (static_cast<unsigned char>(line[begin]) & 0xc0) == 0x80);
    const bool quoted = begin < line.size() && (line[begin] == '"' || line[begin] == '\'');
    const std::size_t end = quoted ? line.find(line[begin], begin + 1) + 1
                                   : std::min(line.find_first_not_of("+-.0123456789eE_", begin), line.size());
    line.replace(begin, end - begin, written(values[k], numbers_[k].unit));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace supple
