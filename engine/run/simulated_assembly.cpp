#include <algorithm>
#include <utility>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/run/simulated_body.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"

namespace supple {

namespace {

class AssemblyBody final : public SimulatedBody {
 public:
  explicit AssemblyBody(AssemblyScene scene) {
    robots_.push_back(std::make_unique<AssemblyRobot>(std::move(scene)));
    const State rest = rest_state(first().mechanics());
    skin_ = first().surface(rest.q, rest.motions);
  }
  const Robot& robot() const override { return first().mechanics().robot(); }
  Kind kind() const override { return Kind::several; }
  bool exact_tangent() const override { return first().exact_tangent(); }
  // Members have robots of their own: a mechanics keeps what it found at its last evaluation.
  std::unique_ptr<MechanicsTeam> make_team(int robots, MechanicsTeam::Members members) override {
    const int count = members == MechanicsTeam::Members::robots ? robots : std::min(robots, most_threads());
    while (robots_.size() < extent(count)) robots_.push_back(std::make_unique<AssemblyRobot>(first().scene()));
    std::vector<Mechanics*> team;
    for (int k = 0; k < count; ++k) team.push_back(&robots_[extent(k)]->mechanics());
    return std::make_unique<MechanicsTeam>(std::move(team), robots);
  }
  const Surface& skin() override { return skin_; }
  void skin_displacements(std::span<const double> q, std::span<const double> motions, std::span<double> out) override {
    const Surface now = first().surface(q, motions);
    for (std::size_t k = 0; k < now.nodes.size(); ++k)
      for (int i = 0; i < 3; ++i) out[3 * k + extent(i)] = now.nodes[k][i] - skin_.nodes[k][i];
  }
  std::vector<double> stress(std::span<const double> q, std::span<const double> motions,
                             std::span<const double>) override {
    return first().stress(q, motions);
  }
  std::vector<NamedPose> poses(std::span<const double> q, std::span<const double> motions) override {
    std::vector<NamedPose> poses;
    const AssemblyScene& scene = first().scene();
    for (int part = 0; part < static_cast<int>(scene.parts.size()); ++part)
      poses.push_back({scene.parts[extent(part)].name, first().mechanics().body_pose(part, q, motions)});
    for (int rigid = 0; rigid < static_cast<int>(scene.rigids.size()); ++rigid)
      poses.push_back({scene.rigids[extent(rigid)].name, first().rigid_pose(rigid, q, motions)});
    return poses;
  }

 private:
  const AssemblyRobot& first() const { return *robots_.front(); }

  std::vector<std::unique_ptr<AssemblyRobot>> robots_;
  Surface skin_;
};

}  // namespace

std::unique_ptr<SimulatedBody> body_of(AssemblyScene scene) {
  return std::make_unique<AssemblyBody>(std::move(scene));
}

}  // namespace supple
