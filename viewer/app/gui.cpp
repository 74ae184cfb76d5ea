#include "viewer/app/gui.hpp"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>

namespace supple::view {

namespace {

constexpr const char* font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr float font_size = 15;
constexpr float panel_colour[] = {0.97f, 0.97f, 0.98f};

void style() {
  ImGui::StyleColorsLight();
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowRounding = style.FrameRounding = style.GrabRounding = 4;
  style.WindowBorderSize = 0;
  style.Colors[ImGuiCol_WindowBg] = {panel_colour[0], panel_colour[1], panel_colour[2], 1};
}

void set_keys(ImGuiIO& io) {
  const std::pair<ImGuiKey, Key> keys[] = {{ImGuiKey_Tab, Key::tab},
                                           {ImGuiKey_LeftArrow, Key::left},
                                           {ImGuiKey_RightArrow, Key::right},
                                           {ImGuiKey_UpArrow, Key::up},
                                           {ImGuiKey_DownArrow, Key::down},
                                           {ImGuiKey_PageUp, Key::page_up},
                                           {ImGuiKey_PageDown, Key::page_down},
                                           {ImGuiKey_Home, Key::home},
                                           {ImGuiKey_End, Key::end},
                                           {ImGuiKey_Insert, Key::insert},
                                           {ImGuiKey_Delete, Key::del},
                                           {ImGuiKey_Backspace, Key::backspace},
                                           {ImGuiKey_Space, Key::space},
                                           {ImGuiKey_Enter, Key::enter},
                                           {ImGuiKey_KeyPadEnter, Key::keypad_enter},
                                           {ImGuiKey_Escape, Key::escape},
                                           {ImGuiKey_A, Key::a},
                                           {ImGuiKey_C, Key::c},
                                           {ImGuiKey_V, Key::v},
                                           {ImGuiKey_X, Key::x},
                                           {ImGuiKey_Z, Key::z}};
  for (const auto& [theirs, ours] : keys) io.KeyMap[theirs] = static_cast<int>(ours);
}

}  // namespace

Gui::Gui(double pixel_ratio) : context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.BackendPlatformName = "supple";
  set_keys(io);
  style();
  const auto ratio = static_cast<float>(pixel_ratio);
  std::error_code error;
  // With the Greek and the arrows that our words use.
  static const ImWchar ranges[] = {0x20, 0x17F, 0x370, 0x3FF, 0x2010, 0x2122, 0x2190, 0x21FF, 0};
  if (std::filesystem::exists(font, error) && io.Fonts->AddFontFromFileTTF(font, font_size * ratio, nullptr, ranges))
    io.FontGlobalScale = 1 / ratio;
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

Gui::~Gui() {
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void Gui::begin(const InputFrame& input) {
  // Under panels without a background: much cheaper than a rectangle where there is no graphics card.
  glClearColor(panel_colour[0], panel_colour[1], panel_colour[2], 1);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(input.width), static_cast<float>(input.height)};
  io.DisplayFramebufferScale = {static_cast<float>(input.pixel_ratio), static_cast<float>(input.pixel_ratio)};
  io.DeltaTime = static_cast<float>(std::max(input.seconds, 1e-5));
  io.MousePos = {static_cast<float>(input.x), static_cast<float>(input.y)};
  io.MouseDown[0] = input.left;
  io.MouseDown[1] = input.right;
  io.MouseDown[2] = input.middle;
  io.MouseWheel = static_cast<float>(input.wheel);
  io.KeyCtrl = input.ctrl;
  io.KeyShift = input.shift;
  io.KeyAlt = input.alt;
  std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
  for (const auto* keys : {&input.down, &input.pressed})
    for (int key : *keys)
      if (key >= 0 && key < static_cast<int>(std::size(io.KeysDown))) io.KeysDown[key] = true;
  for (char32_t c : input.text) io.AddInputCharacter(static_cast<unsigned>(c));
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void Gui::end() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool Gui::has_pointer() const {
  return ImGui::GetIO().WantCaptureMouse;
}
bool Gui::has_keyboard() const {
  return ImGui::GetIO().WantTextInput;
}

}  // namespace supple::view
