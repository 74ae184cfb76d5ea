#include "engine/scene/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

// toml++ as headers. Some of its assertions fail on bad input ("[[[a]]]"), and with NDEBUG it promises the compiler
// that they hold: undefined behaviour. Without either, its own checks report these texts as errors.
#undef NDEBUG
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

namespace supple {
namespace {

namespace fs = std::filesystem;

constexpr int deepest_nesting = 32;
constexpr std::size_t deepest_include = 16;
constexpr std::uintmax_t largest_file = 16u << 20;

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF); npos if
// all is.
std::size_t find_malformed(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i), second = byte(i + 1);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xc2 ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    if (length == 0) return i;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return i;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
      return i;
    i += length;
  }
  return std::string_view::npos;
}

// toml++ 3.3 runs into __builtin_unreachable when it asks whether a character of U+00A0 to U+FEFF outside quotes is
// white space. So these characters take part as private ones of plane 15, one for one, and are replaced by the
// originals in the output.
constexpr unsigned plane = 0xf0000, last_shielded = 0xfeff;

std::string utf8(unsigned c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

// text: valid UTF-8. Every character of [first, last] moves by `shift`.
std::string move_characters(std::string_view text, unsigned first, unsigned last, unsigned shift) {
  std::string moved;
  for (std::size_t i = 0; i < text.size();) {
    const auto head = static_cast<unsigned char>(text[i]);
    const std::size_t length = head < 0x80 ? 1 : head < 0xe0 ? 2 : head < 0xf0 ? 3 : 4;
    unsigned c = length == 1 ? head : head & (0x7fu >> length);
    for (std::size_t k = 1; k < length; ++k) c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
    if (c >= first && c <= last)
      moved += utf8(c + shift);
    else
      moved += text.substr(i, length);
    i += length;
  }
  return moved;
}
std::string shield(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  return move_characters(text, 0x80, last_shielded, plane);
}
std::string unshield(std::string_view text) {
  if (find_malformed(text) != std::string_view::npos) return std::string(text);
  return move_characters(text, plane + 0x80, plane + last_shielded, 0u - plane);
}

// Where an offset is: columns count characters, not bytes.
SourcePoint point(std::string_view text, std::size_t offset, int file) {
  SourcePoint at{file, 1, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++at.column;
    }
  }
  return at;
}

SourcePoint point(const toml::source_region& region, int file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

class Converter {
 public:
  Converter(const Document& document, int file) : document_(document), file_(file) {}

  Node convert(const toml::node& source, int depth = 0) const {
    Node node;
    node.at = point(source.source(), file_);
    if (depth > deepest_nesting)
      throw InputError(fmt::format("values nested more than {} deep (a scene has at most 5 levels)", deepest_nesting),
                       "see docs/reference/scene.md for the keys of a scene", document_.place(node.at));
    if (const auto* table = source.as_table()) {
      node.kind = Node::Kind::table;
      for (const auto& [key, value] : *table)
        node.members.push_back({unshield(key.str()), point(key.source(), file_), convert(value, depth + 1)});
      std::stable_sort(node.members.begin(), node.members.end(), [](const Member& a, const Member& b) {
        return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
      });
    } else if (const auto* array = source.as_array()) {
      node.kind = Node::Kind::array;
      for (const toml::node& item : *array) node.items.push_back(convert(item, depth + 1));
    } else if (const auto* text = source.as_string()) {
      node.kind = Node::Kind::text;
      node.text = unshield(text->get());
    } else if (const auto* integer = source.as_integer()) {
      node.kind = Node::Kind::integer;
      node.integer = integer->get();
      node.number = static_cast<double>(node.integer);
    } else if (const auto* real = source.as_floating_point()) {
      node.kind = Node::Kind::real;
      node.number = real->get();
    } else if (const auto* boolean = source.as_boolean()) {
      node.kind = Node::Kind::boolean;
      node.boolean = boolean->get();
    } else {
      node.kind = Node::Kind::date;
    }
    return node;
  }

 private:
  const Document& document_;
  int file_;
};

// Adds the file to the document and returns its tree.
Node parse_into(Document* document, std::string_view text, const std::string& path) {
  const int file = static_cast<int>(document->files.size());
  document->files.push_back({path, split_lines(text)});
  if (const std::size_t offset = find_malformed(text); offset != std::string_view::npos)
    throw InputError("not valid TOML: a byte that is not UTF-8", "save the file as UTF-8",
                     document->place(point(text, offset, file)));
  try {
    const toml::table table = toml::parse(shield(text), std::string_view(path));
    Node root = Converter(*document, file).convert(table);
    root.at = {file, 0, 0};
    return root;
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("not valid TOML: {}", unshield(error.description())),
                     "text and quantities stand in quotes, as in young = \"450 kPa\"; each key once; [[...]] for lists",
                     document->place(point(error.source(), file)));
  }
}

std::string read_text(const std::string& path, const Place& place) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status))
    throw InputError(fmt::format("cannot read '{}' (no such file)", path), "check the path", place);
  if (!fs::is_regular_file(status) || fs::file_size(path, error) > largest_file)
    throw InputError(fmt::format("cannot read '{}' (not a text file of at most {} MiB)", path, largest_file >> 20),
                     "name a scene, for instance assets/diamond/scene.toml", place);
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw InputError(fmt::format("cannot read '{}' (permission denied)", path), "check the file's mode", place);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void merge(Node* base, Node over) {
  if (base->kind != Node::Kind::table || over.kind != Node::Kind::table) {
    *base = std::move(over);
    return;
  }
  base->at = over.at;
  for (Member& member : over.members) {
    const auto same = std::find_if(base->members.begin(), base->members.end(),
                                   [&](const Member& candidate) { return candidate.key == member.key; });
    if (same == base->members.end()) {
      base->members.push_back(std::move(member));
    } else {
      same->at = member.at;
      merge(&same->value, std::move(member.value));
    }
  }
}

// `open`: the files being read, outermost first.
Node read_merged(Document* document, const std::string& path, std::vector<fs::path>* open, const Place& from) {
  std::error_code error;
  const fs::path identity = fs::weakly_canonical(path, error);
  const std::string text = read_text(path, from);
  if (std::find(open->begin(), open->end(), identity) != open->end() || open->size() >= deepest_include)
    throw InputError(fmt::format("'{}' includes itself (through {} files)", path, open->size()),
                     "move what the files share into one that includes none of them", from);
  open->push_back(identity);
  Node root = parse_into(document, text, path);
  if (const Member* include = root.find("include")) {
    const Place place = document->place(include->value.at);
    if (include->value.kind != Node::Kind::text || include->value.text.empty() ||
        include->value.text.find('\0') != std::string::npos)
      throw InputError("include is not the path of a scene", "include = \"scene.toml\"", place);
    const std::string target = (fs::path(path).parent_path() / include->value.text).string();
    std::erase_if(root.members, [](const Member& member) { return member.key == "include"; });
    Node base = read_merged(document, target, open, place);
    merge(&base, std::move(root));
    root = std::move(base);
  }
  open->pop_back();
  return root;
}

}  // namespace

const Member* Node::find(std::string_view key) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &*found;
}

std::string_view kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::text:
      return "a text";
    case Node::Kind::integer:
      return "a whole number";
    case Node::Kind::real:
      return "a number";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::array:
      return "a list";
    case Node::Kind::table:
      return "a table";
    case Node::Kind::date:
      break;
  }
  return "a date or time";
}

Place Document::place(const SourcePoint& at) const {
  const SourceFile& file = files[static_cast<std::size_t>(at.file)];
  Place place{file.path, at.line, at.column, ""};
  if (at.line >= 1 && at.line <= static_cast<int>(file.lines.size()))
    place.text = file.lines[static_cast<std::size_t>(at.line - 1)];
  return place;
}

Document read_document(const std::string& path) {
  Document document;
  std::vector<fs::path> open;
  document.root = read_merged(&document, path, &open, {});
  return document;
}

Document parse_document(std::string_view text, const std::string& name) {
  Document document;
  document.root = parse_into(&document, text, name);
  if (const Member* include = document.root.find("include"))
    throw InputError("include needs a file (this scene is a text in memory)", "read the scene from its file",
                     document.place(include->at));
  return document;
}

}  // namespace supple
