#pragma once
// The reduced model as named arrays and texts (docs/reference/model-file.md), whatever file they lie in:
// model_file.hpp, runtime_file.hpp. It needs no mesh and no scene.

#include "engine/io/data_file.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

/// Formats that are read. A model is written in the oldest format that supports its contents: 18 has pushes, 17 parameters, 16
/// solids by strain modes, 15 rods, 14 viscous materials or layers of threads, 13 gas, friction of cables or sensors,
/// 12 the laws of Yeoh, Gent and Ogden, 11 elements of second order or means of elements, 10 a frame that moves freely,
/// 9 strain modes, 8 single points as units, 7 effectors that are volumes, 6 obstacles that are tubes or have a largest
/// force, 5 constraints and implicit factors of the step, 4 obstacles, 3 membranes and cavities, 2 none of them.
inline constexpr int oldest_model_format = 2;
inline constexpr int model_format_version = 18;

void write_model_data(const ReducedModel& model, DataSink& file);
/// Whether the file is marked as a reduced model.
bool is_model_data(const DataSource& file);
/// Throws InputError for data that is inconsistent or of another format.
ReducedModel read_model_data(const DataSource& file);

}  // namespace supple
