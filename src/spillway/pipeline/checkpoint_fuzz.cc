#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "spillway/pipeline/consumer.h"
#include "spillway/pipeline/sealed_state.h"

namespace {

using namespace spillway;

// Sources and operators without functions, whose states between them use every form a state has.
NodePtr pipeline() {
  static const NodePtr kNode = [] {
    const auto node = from_json(
        R"({"spillway": 1, "nodes": [
          {"op": "range", "params": {"start": 0, "stop": 50, "step": 1, "output_type": "int64"}},
          {"op": "shuffle", "inputs": [0], "params": {"buffer_size": 7, "seed": 3,
            "reshuffle_each_iteration": false}},
          {"op": "repeat", "inputs": [1], "params": {"count": 2}},
          {"op": "batch", "inputs": [2], "params": {"batch_size": 3, "drop_remainder": false}},
          {"op": "skip", "inputs": [3], "params": {"count": 1}},
          {"op": "take", "inputs": [4], "params": {"count": 20}}]})",
        [](const std::string& name, const std::string&) {
          return Result<FunctionPtr>(invalid_argument("no function: ", name));
        });
    if (!node.ok()) {
      std::cerr << node.error().message() << '\n';
      std::abort();
    }
    return node.value();
  }();
  return kNode;
}

std::unique_ptr<Consumer> open(Budget& budget) {
  auto consumer = Consumer::open(pipeline(), {}, budget);
  if (!consumer.ok()) std::abort();
  return std::move(consumer).value();
}

}  // namespace

// Restores a state: refused, or an iterator that comes to its end.
static void resume(const std::string& state) {
  Budget budget(16 << 20);
  const auto consumer = open(budget);
  if (!consumer->restore(state).ok()) return;
  for (int events = 0; events < 1000; ++events) {
    const Next next = consumer->next();
    if (next.ok() && !next.value()) return;
  }
  std::abort();
}

// Any bytes as they are, and in the place of the operators' states (sealed, so that the search
// begins behind the checksum).
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string given(reinterpret_cast<const char*>(data), size);
  resume(given);
  StateWriter header;
  header.put(0);
  resume(seal_state(pipeline()->hash(), std::move(header).take() + given));
  return 0;
}
