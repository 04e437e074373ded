#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "spillway/pipeline/consumer.h"
#include "spillway/pipeline/sealed_state.h"

namespace {

using namespace spillway;

// Sources and operators without functions, whose states between them use every form a state has.
constexpr auto kPipelines = std::to_array<const char*>({
    R"({"spillway": 1, "nodes": [
      {"op": "range", "params": {"start": 0, "stop": 50, "step": 1, "output_type": "int64"}},
      {"op": "shuffle", "inputs": [0], "params": {"buffer_size": 7, "seed": 3,
        "reshuffle_each_iteration": false}},
      {"op": "repeat", "inputs": [1], "params": {"count": 2}},
      {"op": "batch", "inputs": [2], "params": {"batch_size": 3, "drop_remainder": false}},
      {"op": "skip", "inputs": [3], "params": {"count": 1}},
      {"op": "take", "inputs": [4], "params": {"count": 20}}]})",
    R"({"spillway": 1, "nodes": [
      {"op": "range", "params": {"start": 0, "stop": 40, "step": 1, "output_type": "int64"}},
      {"op": "batch", "inputs": [0], "params": {"batch_size": 4, "drop_remainder": false}},
      {"op": "unbatch", "inputs": [1], "params": {}},
      {"op": "enumerate", "inputs": [2], "params": {"start": 0}},
      {"op": "range", "params": {"start": 0, "stop": 5, "step": 1, "output_type": "int64"}},
      {"op": "repeat", "inputs": [4], "params": {"count": 9}},
      {"op": "zip", "inputs": [3, 5], "params": {"strict": false, "nest": {"spec": {"tuple": [
        {"dtype": "int64", "shape": []}, {"dtype": "int64", "shape": []}]}}}},
      {"op": "prefetch", "inputs": [6], "params": {"buffer_size": 2}},
      {"op": "batch", "inputs": [7], "params": {"batch_size": 4, "drop_remainder": false}},
      {"op": "rebatch", "inputs": [8], "params": {"batch_size": [3], "drop_remainder": false}}]})",
    R"({"spillway": 1, "nodes": [
      {"op": "range", "params": {"start": 0, "stop": 3, "step": 1, "output_type": "int64"}},
      {"op": "repeat", "inputs": [0], "params": {"count": 6}},
      {"op": "range", "params": {"start": 0, "stop": 9, "step": 1, "output_type": "int64"}},
      {"op": "range", "params": {"start": 20, "stop": 29, "step": 1, "output_type": "int64"}},
      {"op": "range", "params": {"start": 5, "stop": 14, "step": 1, "output_type": "int64"}},
      {"op": "choose_from_datasets", "inputs": [1, 2, 3, 4],
        "params": {"stop_on_empty_dataset": true}},
      {"op": "unique", "inputs": [5], "params": {}},
      {"op": "shard", "inputs": [6], "params": {"index": 1, "num_shards": 2}}]})",
    R"({"spillway": 1, "nodes": [
      {"op": "range", "params": {"start": 0, "stop": 9, "step": 1, "output_type": "int64"}},
      {"op": "cache", "inputs": [0], "params": {"filename": ""}},
      {"op": "range", "params": {"start": 20, "stop": 29, "step": 1, "output_type": "int64"}},
      {"op": "range", "params": {"start": 0, "stop": 3, "step": 1, "output_type": "int64"}},
      {"op": "concatenate", "inputs": [2, 3], "params": {}},
      {"op": "sample_from_datasets", "inputs": [1, 4], "params": {"seed": 8, "seed2": 4,
        "stop_on_empty_dataset": false, "weights": {
          "bytes": "AQECAAAAAAAAAJqZmZmZmdk/MzMzMzMz4z8=",
          "element": {"dtype": "float64", "shape": [2]}}}},
      {"op": "padded_batch", "inputs": [5], "params": {"batch_size": 3,
        "drop_remainder": false}}]})",
    R"({"spillway": 1, "nodes": [
      {"op": "random", "params": {"seed": 8, "seed2": 3}},
      {"op": "take", "inputs": [0], "params": {"count": 30}},
      {"op": "cache", "inputs": [1], "params": {"filename": ""}},
      {"op": "shuffle", "inputs": [2], "params": {"buffer_size": 4, "seed": 8, "seed2": 1,
        "reshuffle_each_iteration": true, "shrink": false}},
      {"op": "window", "inputs": [3], "params": {"size": 3, "stride": 1,
        "drop_remainder": false}}]})",
    R"({"spillway": 1, "nodes": [
      {"op": "counter", "params": {"dtype": "int64", "start": {"float": 3.0},
        "step": {"float": 2.0}}},
      {"op": "take", "inputs": [0], "params": {"count": 30}},
      {"op": "ignore_errors", "inputs": [1], "params": {"log_warning": false}},
      {"op": "batch", "inputs": [2], "params": {"batch_size": 2, "drop_remainder": false}},
      {"op": "shuffle", "inputs": [3], "params": {"buffer_size": 5, "seed": 8, "seed2": 9,
        "reshuffle_each_iteration": true, "shrink": false}},
      {"op": "repeat", "inputs": [4], "params": {"count": 2}}]})",
});

// A new one each time: a cache belongs to its node.
NodePtr parse(const char* text) {
  const auto node = from_json(text, [](const std::string& name, const std::string&) {
    return Result<FunctionPtr>(invalid_argument("no function: ", name));
  });
  if (!node.ok()) {
    std::cerr << node.error().message() << '\n';
    std::abort();
  }
  return node.value();
}

// One that outlives what still ends on another thread.
Budget& budget() {
  static auto& budget = *new Budget(16 << 20);
  return budget;
}

std::unique_ptr<Consumer> open(const NodePtr& node) {
  auto consumer = Consumer::open(node, {}, budget());
  if (!consumer.ok()) std::abort();
  return std::move(consumer).value();
}

// The content of a state that was saved after so many elements.
std::string content_after(const NodePtr& node, int elements) {
  const auto consumer = open(node);
  for (int i = 0; i < elements; ++i) {
    const Next next = consumer->next();
    if (!next.ok()) std::abort();
    if (!next.value()) break;
  }
  const auto state = consumer->save();
  if (!state.ok()) std::abort();
  const auto opened = open_state(state.value());
  if (!opened.ok()) std::abort();
  return std::string(opened.value().content);
}

// Changes it as (place, what, byte) say: another byte, one more, one less, or the end there.
void spoil(std::span<const std::uint8_t> input, std::string& content) {
  for (; input.size() >= 4 && !content.empty(); input = input.subspan(4)) {
    const std::size_t at = (input[0] | std::size_t{input[1]} << 8U) % content.size();
    const char byte = static_cast<char>(input[3]);
    switch (input[2] % 8) {
      case 0:
        content.insert(at, 1, byte);
        break;
      case 1:
        content.erase(at, 1);
        break;
      case 2:
        content.resize(at);
        break;
      default:
        content[at] = byte;
    }
  }
}

// Restores a state: refused, or an iterator that comes to its end.
void resume(const char* pipeline, const std::string& state) {
  const auto consumer = open(parse(pipeline));
  if (!consumer->restore(state).ok()) return;
  for (int events = 0; events < 1000; ++events) {
    const Next next = consumer->next();
    if (next.ok() && !next.value()) return;
  }
  std::abort();
}

}  // namespace

// The first byte chooses the pipeline and the way: any bytes as they are; any bytes in the place of
// the operators' states; or such states as were saved, spoiled. The latter two are sealed, so that
// the search begins behind the checksum.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const char* const pipeline = kPipelines[data[0] % kPipelines.size()];
  const std::string given(reinterpret_cast<const char*>(data + 2), size - 2);
  if (data[1] >= 0xF0) {
    resume(pipeline, given);
    return 0;
  }
  const NodePtr node = parse(pipeline);
  std::string content;
  if (data[1] >= 0xE0) {
    StateWriter header;
    header.put(0);
    content = std::move(header).take() + given;
  } else {
    content = content_after(node, data[1] % 64);
    spoil({data + 2, size - 2}, content);
  }
  resume(pipeline, seal_state(node->hash(), content));
  return 0;
}
