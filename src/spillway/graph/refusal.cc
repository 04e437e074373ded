#include "spillway/graph/refusal.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/workers.h"
#include "spillway/graph/fit.h"
#include "spillway/graph/gemm.h"
#include "spillway/graph/work.h"

namespace spillway::graph {
namespace {

// As a float: sizes nobody could hold must not wrap.
double items_of(const Shape& shape) {
  double items = 1;
  for (const std::int64_t dim : shape.dims())
    items *= static_cast<double>(std::max<std::int64_t>(dim, 0));
  return items;
}

double true_bytes(const Spec& spec) {
  return items_of(spec.shape) * static_cast<double>(std::max<std::size_t>(1, size_of(spec.dtype)));
}

std::string show(double bytes) {
  return bytes < 9e18 ? format_bytes(static_cast<std::size_t>(bytes))
                      : std::string("more than 8 EiB");
}

std::string number(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2g %s", value, unit);
  return text;
}

std::string bracketed(const Shape& shape) {
  std::string out = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return out + "]";
}

std::string duration(double seconds) {
  if (seconds < 120) return number(seconds, "s");
  if (seconds < 7200) return number(seconds / 60, "minutes");
  return number(seconds / 3600, "hours");
}

// What this machine computes in products of matrices, in operations a second: tried once, in about
// a millisecond.
double measured_rate() {
  static const double kRate = [] {
    constexpr std::int64_t kSide = 192;
    const Gemm<float> gemm({kSide, kSide, kSide, {kSide, 1}, {kSide, 1}, {kSide, 1}});
    std::vector<float> a(kSide * kSide, 1);
    std::vector<float> c(a.size());
    std::vector<std::byte> scratch(gemm.scratch() + 64);
    std::int64_t best = INT64_MAX;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t began = now_ns();
      gemm.run(a.data(), a.data(), c.data(), scratch.data());
      best = std::min(best, std::max<std::int64_t>(1, now_ns() - began));
    }
    return 2e9 * kSide * kSide * kSide / static_cast<double>(best) * parallel_width();
  }();
  return kRate;
}

std::string work_text(std::span<const Scheduled> order) {
  double work = 0;
  for (const auto& [node, inputs] : order) {
    std::vector<Spec> specs;
    specs.reserve(inputs.size());
    for (const Operand& input : inputs) specs.push_back(input.spec());
    work += work_of(node->op(), node->attrs(), specs, node->outputs());
  }
  return "\n  work: " + number(work, "operations") + ", about " + duration(work / measured_rate()) +
         " at the " + number(measured_rate() / 1e9, "GFLOP/s") + " of products here";
}

// The leading axis of the tensors a computation begins with, shortened: whether it would fit then
// is proportional to it, and that is how many rows are named.
std::string smaller_shape(std::span<const Scheduled> order, std::size_t limit) {
  const Spec* largest = nullptr;
  for (const Scheduled& each : order) {
    const bool source = each.inputs.empty() || each.node->op().name == "fill";
    const Spec& spec = each.node->outputs()[0];
    if (!source || spec.shape.rank() < 1 || !spec.shape.fully_known()) continue;
    if (largest == nullptr || true_bytes(spec) > true_bytes(*largest)) largest = &spec;
  }
  if (largest == nullptr || true_bytes(*largest) <= 0) return "";
  double live = 0;  // as if all large values were held at once
  for (const Scheduled& each : order) live += true_bytes(each.node->outputs()[0]);
  const Shape& shape = largest->shape;
  const Shape without = shape.without_leading();
  std::string out;
  const bool cube = shape.rank() > 2 && shape[0] == shape[1];
  if (cube && live / static_cast<double>(shape[0]) < static_cast<double>(limit) * 0.8) {
    out += "\n    did you mean " + bracketed(without) + " instead of " + bracketed(shape) + "?";
  }
  const double rows = static_cast<double>(limit) * 0.8 / (live / static_cast<double>(shape[0]));
  if (rows >= 1 && rows < static_cast<double>(shape[0])) {
    out += "\n    a smaller leading axis: " +
           bracketed(without.with_leading(static_cast<std::int64_t>(rows))) + " instead of " +
           bracketed(shape);
  }
  return out;
}

// What would run instead: planned, where planning tells.
std::string would_fit(std::span<const Scheduled> order, std::span<const Operand> roots,
                      std::size_t limit, const AccountPtr& account) {
  std::string out;
  const Spec& spec = roots[0].spec();
  const bool one = roots.size() == 1 && spec.shape.rank() > 0 && spec.shape.fully_known() &&
                   is_plain(spec.dtype);
  if (one) {
    const std::size_t room = std::min(limit, Budget::process().effective_limit());
    auto fit = Fit::make(roots, order, room, account, Fit::Into::kRows);
    if (fit.ok() && fit.value()->fits()) {
      const double held = static_cast<double>(fit.value()->needed());
      out += "\n    a reduction of it, tf.reduce_sum and the like: runs in pieces, holding " +
             show(held);
      const double disk = true_bytes(spec) + static_cast<double>(fit.value()->on_disk());
      std::error_code error;
      const auto space = std::filesystem::space(".", error);
      const double free = error ? 0 : static_cast<double>(space.available);
      if (disk < free) {
        out += "\n    sw.save_npy(\"value.npy\", x): writes it to a file, holding " + show(held) +
               "; needs " + show(disk) + " of disk, " + show(free) + " are free here";
      } else {
        out += "\n    not a file: it would need " + show(disk) + " of disk, " + show(free) +
               " are free here";
      }
    }
  }
  out += smaller_shape(order, limit);
  if (out.empty()) {
    out = "\n    a larger limit: sw.configure(memory_limit=...) or SPILLWAY_MEMORY_LIMIT";
  }
  return "\n  would fit:" + out;
}

}  // namespace

std::size_t bytes_of(const Spec& spec) {
  const double bytes = true_bytes(spec);
  return bytes < 9e18 ? static_cast<std::size_t>(bytes) : SIZE_MAX / 2;
}

std::size_t bytes_of(std::span<const Operand> operands) {
  std::size_t bytes = 0;
  for (const Operand& operand : operands)
    bytes = std::min(bytes + bytes_of(operand.spec()), SIZE_MAX / 2);
  return bytes;
}

std::vector<Offender> offenders(std::span<const Scheduled> order, std::size_t limit) {
  std::vector<const Node*> largest;
  for (const Scheduled& each : order) largest.push_back(each.node.get());
  std::sort(largest.begin(), largest.end(), [](const Node* a, const Node* b) {
    const double x = true_bytes(a->outputs()[0]);
    const double y = true_bytes(b->outputs()[0]);
    return x != y ? x > y : a->serial() < b->serial();
  });
  const bool alone = !largest.empty() && bytes_of(largest[0]->outputs()[0]) > limit;
  const std::size_t least = alone ? limit : limit / 8;
  std::vector<Offender> out;
  for (const Node* node : largest) {
    const Spec& spec = node->outputs()[0];
    if (!out.empty() && bytes_of(spec) <= least) break;
    const bool drawn = node->op().loop != nullptr && node->attrs().has("seed");
    out.push_back(
        {bytes_of(spec), spec.to_string(), std::string(node->op().name), node->line(), drawn});
  }
  return out;
}

Status too_large(std::span<const Scheduled> order, std::span<const Operand> roots,
                 std::size_t needed, std::size_t limit, const AccountPtr& account) {
  constexpr std::size_t kShown = 16;
  const Spec& spec = roots[0].spec();
  const double whole = true_bytes(spec);
  std::string text = std::string(roots[0].node->op().name) +
                     ": the value does not fit: " + spec.to_string() + " has " + show(whole) +
                     ", the memory limit is " + format_bytes(limit);
  if (static_cast<double>(needed) > whole * 1.01) {
    text += " (with what is needed to compute it: " + show(static_cast<double>(needed)) + ")";
  }
  const std::vector<Offender> large = offenders(order, limit);
  for (std::size_t i = 0; i < large.size() && i < kShown; ++i) {
    const Offender& each = large[i];
    text += "\n  " + each.spec + "  " + show(static_cast<double>(each.bytes)) + "  " + each.op;
    if (!each.line.empty()) text += "  made at " + each.line;
    if (each.drawn) text += "  (random numbers: need not be stored)";
  }
  if (large.size() > kShown) text += "\n  and " + std::to_string(large.size() - kShown) + " more";
  text += work_text(order);
  text += would_fit(order, roots, limit, account);
  Status status = out_of_resource(text);
  status.edit().line = roots[0].node->line();
  status.edit().type = "BudgetError";
  return status;
}

}  // namespace spillway::graph
