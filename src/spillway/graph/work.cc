#include "spillway/graph/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace spillway::graph {
namespace {

double items_of(const Shape& shape) {
  double items = 1;
  for (const std::int64_t dim : shape.dims()) {
    items *= static_cast<double>(std::max<std::int64_t>(dim, 0));
  }
  return items;
}

double items_of(std::span<const Spec> specs) {
  double items = 0;
  for (const Spec& spec : specs) items += items_of(spec.shape);
  return items;
}

// The dimension of an axis that may be counted from the end; 1 where it is not known.
double dimension(const Shape& shape, std::int64_t axis) {
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis >= shape.rank()) return 1;
  return static_cast<double>(std::max<std::int64_t>(shape[static_cast<int>(axis)], 1));
}

double matmul(const Attrs& attrs, std::span<const Spec> inputs, double items) {
  const bool turned = attrs.get_or("transpose_a", false) || attrs.get_or("adjoint_a", false);
  return items * 2 * dimension(inputs[0].shape, turned ? -2 : -1);
}

// A filter [height, width, channels, ...]: each item of the result sums over all of the first
// three.
double conv2d(const Attrs& /*attrs*/, std::span<const Spec> inputs, double items) {
  const Shape& filter = inputs[1].shape;
  return items * 2 * dimension(filter, 0) * dimension(filter, 1) * dimension(filter, 2);
}

// Each channel for itself.
double depthwise(const Attrs& /*attrs*/, std::span<const Spec> inputs, double items) {
  const Shape& filter = inputs[1].shape;
  return items * 2 * dimension(filter, 0) * dimension(filter, 1);
}

double pool(const Attrs& attrs, std::span<const Spec> /*inputs*/, double items) {
  double window = 1;
  for (const std::int64_t size : attrs.get_or("ksize", std::vector<std::int64_t>())) {
    window *= static_cast<double>(size);
  }
  return items * window;
}

double sorted(const Attrs& attrs, std::span<const Spec> inputs, double /*items*/) {
  const Shape& in = inputs[0].shape;
  const double length = dimension(in, attrs.get_or<std::int64_t>("axis", -1));
  return items_of(in) * std::max(1.0, std::log2(length));
}

// Largest, difference, exponential, sum, quotient.
double softmax(const Attrs& /*attrs*/, std::span<const Spec> /*inputs*/, double items) {
  return items * 5;
}

// Three mixtures of two pixels, each a difference, a product and a sum.
double bilinear(const Attrs& /*attrs*/, std::span<const Spec> /*inputs*/, double items) {
  return items * 9;
}

// Four rows of four pixels, then the four of them.
double bicubic(const Attrs& /*attrs*/, std::span<const Spec> /*inputs*/, double items) {
  return items * 2 * 20;
}

// Every pixel of the image goes into a sum.
double area(const Attrs& /*attrs*/, std::span<const Spec> inputs, double items) {
  return std::max(items, items_of(inputs.first(1)));
}

// Each value is looked for by halving.
double searched(const Attrs& /*attrs*/, std::span<const Spec> inputs, double items) {
  return items * std::max(1.0, std::log2(dimension(inputs[0].shape, -1)));
}

using Count = double (*)(const Attrs&, std::span<const Spec>, double items);
struct Known {
  std::string_view op;
  Count count;
};
constexpr std::array<Known, 15> kKnown = {{{"matmul", matmul},
                                           {"conv2d", conv2d},
                                           {"depthwise_conv2d", depthwise},
                                           {"max_pool2d", pool},
                                           {"avg_pool2d", pool},
                                           {"sort", sorted},
                                           {"argsort", sorted},
                                           {"top_k", sorted},
                                           {"softmax", softmax},
                                           {"log_softmax", softmax},
                                           {"resize_bilinear", bilinear},
                                           {"crop_and_resize", bilinear},
                                           {"resize_bicubic", bicubic},
                                           {"resize_area", area},
                                           {"searchsorted", searched}}};

}  // namespace

double work_of(const OpDef& op, const Attrs& attrs, std::span<const Spec> inputs,
               std::span<const Spec> outputs) {
  const double items = items_of(outputs);
  if (op.fold != nullptr) return std::max(items, items_of(inputs));
  const auto* const known = std::ranges::find(kKnown, op.name, &Known::op);
  return known == kKnown.end() ? items : known->count(attrs, inputs, items);
}

}  // namespace spillway::graph
