#pragma once
// The project's own sources as text: what the layering tests read.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace supple::layering {

struct Include {
  std::string target;  // what stands between quotes or angle brackets
  bool quoted = false;
  int line = 0;
};

struct SourceText {
  std::string path;  // from the root, with '/'
  std::string code;  // without comments, texts and characters; lines are kept
  std::vector<Include> includes;
};

// Folder of a path up to `depth` names: ("engine/scene/units.cpp", 2) -> "engine/scene".
inline std::string folder(const std::string& path, int depth) {
  std::size_t end = 0;
  for (int i = 0; i < depth; ++i) {
    const std::size_t slash = path.find('/', i == 0 ? 0 : end + 1);
    if (slash == std::string::npos) break;
    end = slash;
  }
  return path.substr(0, end);
}

// Line for line, without comments and, unless kept, without the content of literals.
inline std::string without_comments(const std::string& text, bool keep_literals) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = std::min(text.find("*/", i + 2), text.size());
      out.append(static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                                     text.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                 '\n');
      i = std::min(end + 2, text.size());
    } else if (text[i] == '"' ||
               (text[i] == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
      const char quote = text[i];
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != quote && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      out += keep_literals ? text.substr(i, end - i) : std::string(2, quote);
      i = end;
    } else {
      out += text[i++];
    }
  }
  return out;
}

inline SourceText parse_source(const std::string& path, const std::string& text) {
  SourceText source{path, without_comments(text, false), {}};
  static const std::regex include(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::istringstream lines(without_comments(text, true));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, include)) source.includes.push_back({match[2], match[1] == "\"", number});
  }
  return source;
}

// Every source file below the folders that exist, sorted by path.
inline std::vector<SourceText> read_sources(const std::string& root, const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::vector<SourceText> sources;
  for (const std::string& name : folders) {
    if (!fs::is_directory(fs::path(root) / name)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / name)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".hpp" && ending != ".cpp" && ending != ".cuh" && ending != ".cu" && ending != ".h") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::stringstream text;
      text << file.rdbuf();
      sources.push_back(parse_source(fs::relative(entry.path(), root).generic_string(), text.str()));
    }
  }
  std::sort(sources.begin(), sources.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return sources;
}

}  // namespace supple::layering
