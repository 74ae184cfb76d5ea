#pragma once
// Parts of build_full_model: force fields and mass of a body.

#include "engine/model/full_model.hpp"

namespace supple {

// Elements grouped by law and shape, with rest gradients and volumes. Throws InputError: an element without a material,
// a law that does not go with its shape, a membrane on something else than the body. Membranes come last: sheets, threads.
std::vector<ElementField> build_element_fields(const BodyScene& body, const Mesh& mesh);

// Law parameters of a material in SI (see kernels/materials/*.hpp for what they mean).
MaterialParameters<double> law_parameters(const MaterialScene& material);
// Those of a part of a law (LawPart) in elements of so many nodes.
MaterialParameters<double> part_of(LawId law, LawPart part, int nodes, const MaterialParameters<double>& parameters);
LawId law_of(const MaterialScene& material);
// False: the law has no exact tangent, so only one-linearisation steps are possible.
bool has_exact_tangent(LawId law);

// Mass matrix over nodes [kg], of the body and of the membranes among its fields that have a density. Throws InputError
// unless exactly one of mass and density is given.
NodeMatrix build_mass(const BodyScene& body, const Mesh& mesh, const std::vector<ElementField>& fields,
                      double& total_mass);
// The same of the body stretched: densities are those of `mesh`, where its regions are.
NodeMatrix build_mass(const BodyScene& body, const Mesh& mesh, const Mesh& stretched,
                      const std::vector<ElementField>& fields, double& total_mass);

// Numbers of the mesh's elements, or its nodes, in a region.
std::vector<int> elements_in(const Region& region, const Mesh& mesh);
std::vector<int> nodes_in(const Region& region, const Mesh& mesh);

}  // namespace supple
