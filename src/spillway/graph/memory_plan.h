#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Where buffers lie in one arena, from how long each is needed: a pure function of the lifetimes.
namespace spillway::graph {

// A buffer that is written in step `born` and read for the last time in step `dies`, both
// included: it may share bytes with whatever is not needed in any of those steps.
struct Lifetime {
  std::size_t bytes = 0;
  int born = 0;
  int dies = 0;
  bool meets(const Lifetime& other) const { return born <= other.dies && other.born <= dies; }
};

enum class Placement : std::uint8_t {
  kBySize,      // the largest first, each at the lowest offset that is free while it lives
  kByOrder,     // as they are born, each in the smallest gap that holds it
  kByConflict,  // those that meet the most bytes first, each at the lowest free offset
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  // of each buffer; aligned as far as all sizes are
  std::size_t bytes = 0;             // of the arena
  Placement by = Placement::kBySize;
};

// The most bytes that live in one step: no plan can do with less.
std::size_t most_live(std::span<const Lifetime> buffers);

MemoryPlan place(std::span<const Lifetime> buffers, Placement by);
// The smallest of the three; what reaches most_live first is taken.
MemoryPlan place(std::span<const Lifetime> buffers);

}  // namespace spillway::graph
