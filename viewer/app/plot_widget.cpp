#include "viewer/app/plot_widget.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/draw/colour_map.hpp"

namespace supple::view {

namespace {

constexpr ImU32 ink = IM_COL32(60, 64, 72, 255), grid = IM_COL32(60, 64, 72, 40), paper = IM_COL32(255, 255, 255, 255);

constexpr double least_span = 1e-3;  // in the unit shown

ImU32 line_colour(std::size_t k) {
  static constexpr ImU32 colours[] = {IM_COL32(31, 119, 180, 255),  IM_COL32(214, 90, 30, 255),
                                      IM_COL32(44, 140, 60, 255),   IM_COL32(190, 40, 60, 255),
                                      IM_COL32(120, 90, 180, 255),  IM_COL32(120, 85, 70, 255),
                                      IM_COL32(205, 100, 180, 255), IM_COL32(70, 150, 160, 255)};
  return colours[k % std::size(colours)];
}

}  // namespace

void plot(const char* name, const Series& series, std::size_t first, std::size_t last, double seconds, float height) {
  constexpr float left = 58, bottom = 18, top = 4, right = 6;
  const float width = std::max(ImGui::GetContentRegionAvail().x, 120.f);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(name, {width, height});
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 low{corner.x + left, corner.y + height - bottom}, high{corner.x + width - right, corner.y + top};
  draw.AddRectFilled({low.x, high.y}, {high.x, low.y}, paper);
  const double end = series.size() > 0 ? series.time(series.size() - 1) : seconds;
  const double start = end - seconds;
  Series::Extent extent = series.extent(first, last, start);
  // A thousandth of a millimetre, a newton, a microsecond fills the plot at most: what is smaller is rounding.
  if (extent.high - extent.low < least_span) extent.high = extent.low + least_span;
  const auto x_of = [&](double t) { return low.x + static_cast<float>((t - start) / seconds) * (high.x - low.x); };
  const auto y_of = [&](double v) {
    return low.y + static_cast<float>((v - extent.low) / (extent.high - extent.low)) * (high.y - low.y);
  };
  for (double v : ticks(extent.low, extent.high, 4)) {
    draw.AddLine({low.x, y_of(v)}, {high.x, y_of(v)}, grid);
    const std::string text = fmt::format("{:.4g}", v);
    draw.AddText({low.x - ImGui::CalcTextSize(text.c_str()).x - 4, y_of(v) - 7}, ink, text.c_str());
  }
  for (double t : ticks(start, end, 6)) {
    if (t < 0) continue;
    draw.AddLine({x_of(t), low.y}, {x_of(t), high.y}, grid);
    draw.AddText({x_of(t) - 8, low.y + 2}, ink, fmt::format("{:.4g} s", t).c_str());
  }
  draw.PushClipRect({low.x, high.y}, {high.x, low.y}, true);
  std::size_t begin = 0;
  while (begin < series.size() && series.time(begin) < start) ++begin;
  // No more points than pixels.
  const std::size_t stride = std::max<std::size_t>(1, (series.size() - begin) / static_cast<std::size_t>(width));
  for (std::size_t k = first; k < last; ++k) {
    ImVec2 before{};
    for (std::size_t i = begin; i < series.size(); i += stride) {
      const ImVec2 here{x_of(series.time(i)), y_of(series.value(i, k))};
      if (i > begin) draw.AddLine(before, here, line_colour(k), 1.5f);
      before = here;
    }
  }
  draw.PopClipRect();
  const auto newest = [&](std::size_t k) {
    const double value = series.value(series.size() - 1, k);
    return std::abs(value) < 1e-3 * least_span ? 0 : value;  // rounding
  };
  float x = low.x + 6;
  for (std::size_t k = first; k < last; ++k) {
    const Channel& channel = series.channels()[k];
    const std::string text =
        series.size() > 0 ? fmt::format("{} {:.4g} {}", channel.name, newest(k), channel.unit) : channel.name;
    draw.AddText({x, high.y + 2}, line_colour(k), text.c_str());
    x += ImGui::CalcTextSize(text.c_str()).x + 14;
  }
  if (ImGui::IsItemHovered() && series.size() > begin) {
    const double t = start + (ImGui::GetIO().MousePos.x - low.x) / (high.x - low.x) * seconds;
    std::size_t near = begin;
    for (std::size_t i = begin; i < series.size(); ++i)
      if (std::abs(series.time(i) - t) < std::abs(series.time(near) - t)) near = i;
    std::string text = fmt::format("{:.4g} s", series.time(near));
    for (std::size_t k = first; k < last; ++k)
      text +=
          fmt::format("\n{} {:.5g} {}", series.channels()[k].name, series.value(near, k), series.channels()[k].unit);
    ImGui::SetTooltip("%s", text.c_str());
  }
}

void plots_by_unit(const char* name, const Series& series, double seconds, float height) {
  const std::vector<Channel>& channels = series.channels();
  std::size_t groups = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) groups += i == 0 || channels[i].unit != channels[i - 1].unit;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= channels.size(); ++i) {
    if (i < channels.size() && channels[i].unit == channels[first].unit) continue;
    plot(fmt::format("{}{}", name, first).c_str(), series, first, i, seconds, height / static_cast<float>(groups));
    first = i;
  }
}

}  // namespace supple::view
