#pragma once

#include <functional>
#include <string>

#include "spillway/graph/node.h"

namespace spillway::graph {

// A value that takes part in a computation, large beside the limit.
struct Offender {
  std::size_t bytes = 0;
  std::string spec;  // "float32 (10000, 10000)"
  std::string op;
  std::string line;
  bool drawn = false;  // random numbers, which can be drawn again instead of stored
};

struct Forecast {
  std::size_t needed = 0;  // bytes held at once, results included; where refused, the least of it
  std::size_t limit = 0;
  bool fits = true;
  std::string how;                  // "whole", "micro-batched 12", "tiled" or "refused"
  std::vector<Offender> offenders;  // largest first
};

// What evaluating `roots` together would do, before anything runs. Takes milliseconds, reserves
// nothing to speak of. Symbolic operands: kUser error.
Result<Forecast> forecast(std::span<const Operand> roots, const AccountPtr& account);

// Streams the value of an expression to an .npy file in blocks of rows: neither the value nor what
// it is made of need to fit. The file has its name only when it is whole. kResource (BudgetError)
// where not even that fits; DiskFull.
Status save_npy(const Operand& root, const std::string& path, const AccountPtr& account,
                Buffer::Ask ask = Buffer::Ask::kRequired);

}  // namespace spillway::graph
