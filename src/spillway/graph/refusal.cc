#include "spillway/graph/refusal.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "spillway/base/bytes.h"

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

// Operations of one node: two for each product of a matmul, else one an item.
double work_of(const Node& node, const std::vector<Operand>& inputs) {
  double work = 0;
  for (const Spec& out : node.outputs()) work += items_of(out.shape);
  if (node.op().name == "matmul") {
    const Shape& a = inputs[0].spec().shape;
    if (a.rank() >= 2) {
      const int inner = node.attrs().get_or("transpose_a", false) ? a.rank() - 2 : a.rank() - 1;
      work *= 2 * static_cast<double>(a[inner]);
    }
  }
  return work;
}

std::string number(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2g %s", value, unit);
  return text;
}

std::string duration(double seconds) {
  if (seconds < 120) return number(seconds, "s");
  if (seconds < 7200) return number(seconds / 60, "minutes");
  return number(seconds / 3600, "hours");
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

Status too_large(std::span<const Scheduled> order, std::span<const Operand> roots,
                 std::size_t needed, std::size_t limit) {
  constexpr double kAssumed = 1e11;  // operations a second; an order of magnitude
  constexpr std::size_t kShown = 4;
  const Spec& spec = roots[0].spec();
  const double whole = true_bytes(spec);
  std::string text = std::string(roots[0].node->op().name) +
                     ": the value does not fit: " + spec.to_string() + " has " + show(whole) +
                     ", the memory limit is " + format_bytes(limit);
  if (static_cast<double>(needed) > whole * 1.01) {
    text += " (with what is needed to compute it: " + show(static_cast<double>(needed)) + ")";
  }
  std::vector<const Node*> largest;
  double work = 0;
  for (const auto& [node, inputs] : order) {
    work += work_of(*node, inputs);
    largest.push_back(node.get());
  }
  std::sort(largest.begin(), largest.end(), [](const Node* a, const Node* b) {
    const double x = true_bytes(a->outputs()[0]);
    const double y = true_bytes(b->outputs()[0]);
    return x != y ? x > y : a->serial() < b->serial();
  });
  for (std::size_t i = 0; i < largest.size() && i < kShown; ++i) {
    const Spec& out = largest[i]->outputs()[0];
    text += "\n  " + out.to_string() + "  " + show(true_bytes(out)) + "  " +
            std::string(largest[i]->op().name);
    if (const std::string line = largest[i]->line(); !line.empty()) text += "  made at " + line;
  }
  text += "\n  work: " + number(work, "operations") + ", about " + duration(work / kAssumed) +
          " at 100 GFLOP/s";
  text += "\n  would fit: a reduction of it (tf.reduce_sum and the like run in pieces)";
  if (spec.shape.rank() > 0 && spec.shape[0] > 0) {
    const double row = whole / static_cast<double>(spec.shape[0]);
    const auto rows =
        static_cast<std::int64_t>(static_cast<double>(limit) * 0.8 / std::max(1.0, row));
    if (rows > 0 && rows < spec.shape[0]) {
      text += "; or the first " + std::to_string(rows) + " of " + std::to_string(spec.shape[0]) +
              " along the leading axis at a time";
    }
  }
  Status status = out_of_resource(text);
  status.edit().line = roots[0].node->line();
  status.edit().type = "BudgetError";
  return status;
}

}  // namespace spillway::graph
