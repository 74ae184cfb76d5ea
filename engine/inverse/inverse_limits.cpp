// One-sided constraints in the program of an inverse step: contacts without friction.
#include <numeric>

#include "engine/inverse/inverse_contact.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

// Entry of W between rows i and j of the robot and its contacts.
double compliance(const ContactSpace& space, int i, int j) {
  if (!space.W.empty()) return space.W[extent(i, space.all()) + extent(j)];
  const double own = i == j && !space.compliance.empty() ? space.compliance[extent(i)] : 0;
  return own +
         inner_product(space.V.data() + extent(i, space.rank), space.V.data() + extent(j, space.rank), space.rank);
}

ContactSpace InverseLaw::Contact::limits_as_contacts(const ContactSpace& space) {
  obstacle_contacts = space.contacts;
  if (limit_rows.empty()) return space;
  const ConstraintSpace& alone = space.alone;
  const int m = alone.motions, e = alone.effector_rows, k = 3 * space.contacts;
  // Row i of ours is row place[i] of theirs; -1: zero.
  std::vector<int> place(extent(actuators));
  std::iota(place.begin(), place.end(), 0);
  place.insert(place.end(), equal_rows.begin(), equal_rows.end());
  const int rows = static_cast<int>(place.size());
  for (int i = 0; i < k; ++i) place.push_back(alone.rows + i);
  for (const int row : limit_rows) place.insert(place.end(), {row, -1, -1});
  for (auto* v : {&split.phi, &split.free, &split.W, &split.B, &split.effector_W, &split.alone_W, &split.alone_B,
                  &split.alone_effector_W})
    v->clear();
  for (std::size_t i = 0; i < place.size(); ++i) {
    const int row = place[i];
    const bool own = i < extent(rows);
    split.free.push_back(row < 0 ? 0 : space.free[extent(row)]);
    if (own) split.phi.push_back(alone.phi[extent(row)]);
    for (std::size_t j = 0; j < place.size(); ++j) {
      const double w = row < 0 || place[j] < 0 ? 0 : compliance(space, row, place[j]);
      split.W.push_back(w);
      if (own && j < extent(rows)) split.alone_W.push_back(w);
    }
    std::vector<double>& B = own ? split.alone_B : split.B;
    for (int c = 0; c < m; ++c)
      B.push_back(row < 0            ? 0
                  : row < alone.rows ? alone.B[extent(row, m) + extent(c)]
                                     : space.B[extent(row - alone.rows, m) + extent(c)]);
  }
  for (int r = 0; r < e; ++r)
    for (std::size_t i = 0; i < place.size(); ++i) {
      const int row = place[i];
      (i < extent(rows) ? split.alone_effector_W : split.effector_W)
          .push_back(row < 0            ? 0
                     : row < alone.rows ? alone.effector_W[extent(r, alone.rows) + extent(row)]
                                        : space.effector_W[extent(r, k) + extent(row - alone.rows)]);
    }
  split.friction.assign(space.friction.begin(), space.friction.end());
  split.friction.resize(split.friction.size() + limit_rows.size(), 0.0);
  split.obstacle.assign(space.obstacle.begin(), space.obstacle.end());
  split.obstacle.resize(split.obstacle.size() + limit_rows.size(), -1);
  ContactSpace result;
  result.rows = rows;
  result.contacts = space.contacts + static_cast<int>(limit_rows.size());
  result.free = split.free;
  result.W = split.W;
  result.friction = split.friction;
  result.obstacle = split.obstacle;
  result.B = split.B;
  result.effector_W = split.effector_W;
  result.alone = alone;
  result.alone.rows = rows;
  result.alone.phi = split.phi;
  result.alone.free = std::span(split.free).first(extent(rows));
  result.alone.W = split.alone_W;
  result.alone.B = split.alone_B;
  result.alone.effector_W = split.alone_effector_W;
  return result;
}

void InverseLaw::Contact::split_forces(std::span<const double> lambda, std::vector<double>& out) const {
  const auto rows = extent(actuators) + equal_rows.size() + limit_rows.size();
  out.assign(lambda.begin(), lambda.begin() + actuators);
  for (const int row : equal_rows) out.push_back(lambda[extent(row)]);
  out.insert(out.end(), lambda.begin() + static_cast<long>(rows), lambda.end());
  for (const int row : limit_rows) out.insert(out.end(), {lambda[extent(row)], 0.0, 0.0});
}

void InverseLaw::Contact::join_forces(std::span<const double> split_lambda, std::span<double> lambda) const {
  const auto rows = extent(actuators) + equal_rows.size() + limit_rows.size();
  std::copy_n(split_lambda.begin(), actuators, lambda.begin());
  std::size_t at = extent(actuators);
  for (const int row : equal_rows) lambda[extent(row)] = split_lambda[at++];
  for (std::size_t i = rows; i < lambda.size(); ++i) lambda[i] = split_lambda[at++];
  for (const int row : limit_rows) {
    lambda[extent(row)] = split_lambda[at];
    at += 3;
  }
}

}  // namespace supple
