#include "spillway/graph/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace spillway::graph {
namespace {

struct Stretch {
  std::size_t begin;
  std::size_t end;
};

// What is taken while `buffer` lives by those that have their place, from low to high.
std::vector<Stretch> taken(std::span<const Lifetime> buffers, std::span<const std::size_t> placed,
                           const std::vector<std::size_t>& offsets, const Lifetime& buffer) {
  std::vector<Stretch> out;
  for (const std::size_t other : placed) {
    if (!buffers[other].meets(buffer)) continue;
    out.push_back({offsets[other], offsets[other] + buffers[other].bytes});
  }
  std::sort(out.begin(), out.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  return out;
}

std::size_t lowest_free(std::span<const Stretch> taken, std::size_t bytes) {
  std::size_t at = 0;
  for (const Stretch& each : taken) {
    if (at + bytes <= each.begin) break;
    at = std::max(at, each.end);
  }
  return at;
}

std::size_t tightest_free(std::span<const Stretch> taken, std::size_t bytes) {
  std::size_t at = 0;
  std::size_t best = SIZE_MAX;
  std::size_t spare = SIZE_MAX;
  for (const Stretch& each : taken) {
    if (at + bytes <= each.begin && each.begin - at - bytes < spare) {
      spare = each.begin - at - bytes;
      best = at;
    }
    at = std::max(at, each.end);
  }
  return best == SIZE_MAX ? at : best;
}

std::vector<std::size_t> order_of(std::span<const Lifetime> buffers, Placement by) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> weight(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    weight[i] = buffers[i].bytes;
    if (by != Placement::kByConflict) continue;
    for (std::size_t j = 0; j < buffers.size(); ++j) {
      if (j != i && buffers[i].meets(buffers[j])) weight[i] += buffers[j].bytes;
    }
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (by == Placement::kByOrder && buffers[a].born != buffers[b].born) {
      return buffers[a].born < buffers[b].born;
    }
    if (by != Placement::kByOrder && weight[a] != weight[b]) return weight[a] > weight[b];
    return a < b;
  });
  return order;
}

}  // namespace

std::size_t most_live(std::span<const Lifetime> buffers) {
  std::map<int, std::ptrdiff_t> changes;  // of the bytes that live, by step
  for (const Lifetime& buffer : buffers) {
    changes[buffer.born] += static_cast<std::ptrdiff_t>(buffer.bytes);
    changes[buffer.dies + 1] -= static_cast<std::ptrdiff_t>(buffer.bytes);
  }
  std::ptrdiff_t live = 0;
  std::ptrdiff_t most = 0;
  for (const auto& [step, change] : changes) {
    live += change;
    most = std::max(most, live);
  }
  return static_cast<std::size_t>(most);
}

MemoryPlan place(std::span<const Lifetime> buffers, Placement by) {
  MemoryPlan plan;
  plan.by = by;
  plan.offsets.resize(buffers.size());
  std::vector<std::size_t> placed;
  placed.reserve(buffers.size());
  for (const std::size_t i : order_of(buffers, by)) {
    const std::vector<Stretch> rivals = taken(buffers, placed, plan.offsets, buffers[i]);
    plan.offsets[i] = by == Placement::kByOrder ? tightest_free(rivals, buffers[i].bytes)
                                                : lowest_free(rivals, buffers[i].bytes);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + buffers[i].bytes);
    placed.push_back(i);
  }
  return plan;
}

MemoryPlan place(std::span<const Lifetime> buffers) {
  const std::size_t least = most_live(buffers);
  MemoryPlan best = place(buffers, Placement::kBySize);
  for (const Placement by : {Placement::kByConflict, Placement::kByOrder}) {
    if (best.bytes == least) break;
    if (MemoryPlan other = place(buffers, by); other.bytes < best.bytes) best = std::move(other);
  }
  return best;
}

}  // namespace spillway::graph
