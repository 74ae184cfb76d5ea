#pragma once
// What may differ from robot to robot of a batch of reduced robots. An empty list: as the model has it. Initial states
// are the State's own (state.hpp: reset()).

#include <vector>

namespace supple {

struct Variations {
  std::vector<double> gravity = {};  // B x 3 [m/s^2]
  // B x regions: factors above 0 on all moduli of a region (ReducedModel::regions()); mass and springs keep theirs.
  std::vector<double> material_scale = {};
  std::vector<double> friction = {};                                // B x obstacles, Coulomb's coefficients
  std::vector<double> density = {};                                 // B: factors above 0 on all masses
  std::vector<double> rayleigh_mass = {}, rayleigh_stiffness = {};  // B: Rayleigh's coefficients [1/s], [s]
  bool none() const;
};

/// Those of `count` robots from `first` on, of `robots`.
Variations variations_of(const Variations& all, int robots, int first, int count);

}  // namespace supple
