#pragma once

#include <nlohmann/json.hpp>

#include "spillway/tensor/structure.h"

namespace spillway {

// Specs as JSON: {"dtype": "int64", "shape": [null, 3]}, {"tuple": [...]}, {"dict": {...}} ...
// Reading checks everything: files are not trusted.
nlohmann::json structure_to_json(const Structure& structure);
Result<StructurePtr> structure_from_json(const nlohmann::json& json);

}  // namespace spillway
