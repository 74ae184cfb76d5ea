#pragma once
// A TOML text as a tree in which every key and value knows its place. Includes are already merged in; nothing here
// knows what the keys of a scene mean.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.hpp"

namespace supple {

// line and column count from 1; line 0: the file as a whole.
struct SourcePoint {
  int file = 0;  // index into Document::files
  int line = 0;
  int column = 0;
};

struct Member;

struct Node {
  enum class Kind { text, integer, real, boolean, array, table, date };
  Kind kind = Kind::table;
  std::string text;
  double number = 0;         // real, integer
  std::int64_t integer = 0;  // integer
  bool boolean = false;
  std::vector<Node> items;      // array
  std::vector<Member> members;  // table, in the order of the text
  SourcePoint at;

  // nullptr if there is no such key.
  const Member* find(std::string_view key) const;
};

struct Member {
  std::string key;
  SourcePoint at;
  Node value;
};

// "a text", "a number", ...: what a value is, for messages.
std::string_view kind_name(Node::Kind kind);

struct SourceFile {
  std::string path;                // as given
  std::vector<std::string> lines;  // without line ends
};

struct Document {
  Node root;
  std::vector<SourceFile> files;
  Place place(const SourcePoint& at) const;
};

// Reads a file and, through its key `include`, the files it builds on: tables are merged, anything else in the
// including file replaces what was included. Errors: InputError for an unreadable file, bad TOML, or a cycle of
// includes.
Document read_document(const std::string& path);

// The same from text in memory; `name` stands in messages. A text has no folder to include from: `include` is an error.
Document parse_document(std::string_view text, const std::string& name);

}  // namespace supple
