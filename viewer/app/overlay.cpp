#include "viewer/app/overlay.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/draw/colour_map.hpp"

namespace supple::view {

namespace {

constexpr ImU32 ink = IM_COL32(30, 34, 42, 255);
constexpr ImU32 paper = IM_COL32(246, 247, 250, 170);  // under words, so that they are read over a dark robot too

ImU32 packed(const Colour& colour) {
  return ImGui::ColorConvertFloat4ToU32({colour.r, colour.g, colour.b, colour.a});
}

void add_paper(ImDrawList& draw, ImVec2 corner, ImVec2 size) {
  constexpr float margin = 5;
  draw.AddRectFilled({corner.x - margin, corner.y - margin}, {corner.x + size.x + margin, corner.y + size.y + margin},
                     paper, margin);
}

// A vertical bar with round numbers; returns its width.
float draw_bar(const ColourBar& bar, ImVec2 corner, float height, ImDrawList& draw) {
  constexpr float width = 16;
  constexpr int steps = 64;
  const UnitScale scale = unit_scale(std::max(std::abs(bar.low), std::abs(bar.high)), bar.unit);
  const std::string title =
      scale.unit.empty() || scale.unit == "1" ? bar.title : fmt::format("{} [{}]", bar.title, scale.unit);
  const std::vector<double> marks = ticks(bar.low / scale.size, bar.high / scale.size, 6);
  float widest = std::max(width, ImGui::CalcTextSize(title.c_str()).x);
  for (double tick : marks)
    widest = std::max(widest, width + 8 + ImGui::CalcTextSize(fmt::format("{:.4g}", tick).c_str()).x);
  add_paper(draw, {corner.x, corner.y - 24}, {widest, height + 32});
  for (int k = 0; k < steps; ++k) {
    const float top = corner.y + height * static_cast<float>(k) / steps;
    const double value = bar.high - (bar.high - bar.low) * (k + 0.5) / steps;
    draw.AddRectFilled({corner.x, top}, {corner.x + width, top + height / steps + 1}, packed(colour_of(bar, value)));
  }
  for (double tick : marks) {
    const float y = corner.y + height * static_cast<float>((bar.high - tick * scale.size) / (bar.high - bar.low));
    draw.AddLine({corner.x + width, y}, {corner.x + width + 4, y}, ink);
    const std::string text = fmt::format("{:.4g}", tick);
    draw.AddText({corner.x + width + 8, y - 8}, ink, text.c_str());
  }
  draw.AddText({corner.x, corner.y - 24}, ink, title.c_str());
  return widest;
}

}  // namespace

void draw_words(const DrawList& list, const Camera& camera, const Pane& pane) {
  ImDrawList& draw = *ImGui::GetBackgroundDrawList();
  for (const Label& label : list.labels)
    if (const auto at = camera.project(label.at, pane.viewport)) {
      const ImVec2 size = ImGui::CalcTextSize(label.text.c_str());
      const ImVec2 corner{static_cast<float>(pane.x + (*at)[0]) - size.x / 2,
                          static_cast<float>(pane.y + (*at)[1]) - size.y / 2};
      add_paper(draw, corner, size);
      draw.AddText(corner, packed(label.colour), label.text.c_str());
    }
  const float height = static_cast<float>(std::clamp(0.4 * pane.viewport.height, 80.0, 320.0));
  float x = static_cast<float>(pane.x) + 24;
  const float y = static_cast<float>(pane.y + pane.viewport.height) - height - 28;
  for (const ColourBar& bar : list.bars) x += draw_bar(bar, {x, y}, height, draw) + 30;
}

void draw_caption(const std::string& text, const Pane& pane) {
  if (text.empty()) return;
  ImDrawList& draw = *ImGui::GetBackgroundDrawList();
  const ImVec2 corner{static_cast<float>(pane.x) + 14, static_cast<float>(pane.y) + 10};
  const float wrap = std::max(static_cast<float>(pane.viewport.width) - 28, 60.f);
  add_paper(draw, corner, ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap));
  draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), corner, ink, text.c_str(), nullptr, wrap);
}

bool show_banner(const Banner& banner, const Pane& pane) {
  bool open = true;
  ImGui::SetNextWindowPos({static_cast<float>(pane.x) + 10, static_cast<float>(pane.y) + 10});
  ImGui::SetNextWindowSize({static_cast<float>(pane.viewport.width) - 20, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg,
                        banner.wrong ? ImVec4{1, 0.87f, 0.85f, 0.97f} : ImVec4{0.86f, 0.95f, 0.86f, 0.97f});
  ImGui::Begin(banner.wrong ? "Something is wrong###banner" : "Done###banner", &open,
               ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(banner.text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::End();
  ImGui::PopStyleColor();
  return open;
}

}  // namespace supple::view
