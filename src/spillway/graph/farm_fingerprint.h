#pragma once

#include <cstdint>
#include <string_view>

namespace spillway::graph {

// FarmHash's Fingerprint64: the same number on every machine, for ever.
std::uint64_t farm_fingerprint(std::string_view bytes);

}  // namespace spillway::graph
