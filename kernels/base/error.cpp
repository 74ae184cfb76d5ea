#include "kernels/base/error.hpp"

#include <algorithm>
#include <vector>

namespace supple {

std::string Error::report() const {
  std::string text;
  if (!place_.file.empty()) {
    text += place_.file + ":";
    if (place_.line > 0) text += std::to_string(place_.line) + ":";
    if (place_.line > 0 && place_.column > 0) text += std::to_string(place_.column) + ":";
    text += " ";
  }
  text += "error: " + std::string(what()) + "\n";
  if (!place_.text.empty()) {
    const std::string number = std::to_string(place_.line);
    text += "  " + number + " | " + place_.text + "\n";
    if (place_.column > 0) {
      text += std::string(number.size() + 2, ' ') + " | ";
      // Tabs stay tabs, so that the caret stands under its character.
      for (int i = 0; i + 1 < place_.column && i < static_cast<int>(place_.text.size()); ++i)
        text += place_.text[static_cast<std::size_t>(i)] == '\t' ? '\t' : ' ';
      text += "^\n";
    }
  }
  if (!suggestion_.empty()) text += "  try: " + suggestion_ + "\n";
  return text;
}

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace supple
