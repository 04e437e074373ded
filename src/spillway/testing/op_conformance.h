#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "spillway/graph/op.h"

namespace spillway::testing {

// Tensors written short: numbers become items of `dtype`.
Tensor of(DType dtype, const Shape& shape, const std::vector<double>& items);
Tensor f32(const Shape& shape, const std::vector<double>& items);
Tensor f64(const Shape& shape, const std::vector<double>& items);
Tensor i32(const Shape& shape, const std::vector<double>& items);
Tensor bools(const Shape& shape, const std::vector<double>& items);
Tensor c64(const Shape& shape, const std::vector<double>& parts);  // real, imaginary, real, ...
Tensor text(const Shape& shape, const std::vector<std::string_view>& items);

struct OpCase {
  std::string_view op;
  std::vector<Tensor> inputs;
  graph::Attrs attrs = {};     // NOLINT(readability-redundant-member-init): may be left out
  std::vector<Tensor> expect;  // one an output
  double tolerance = 0;        // relative, or absolute below 1
  // Operands that stay known where others come with a call: shapes, paddings.
  std::vector<int> fixed = {};  // NOLINT(readability-redundant-member-init): may be left out
};

// Runs the contract every op owes, so that an op's own test states what is particular to it: the
// values it gives; what it infers accepts what it gives, for known shapes, for shapes and values of
// which any part is unknown, and for unknown ranks; a plan gives the same for every row as the op
// alone, for one row and for many, also between neighbours it may be fused with.
void check_op(const OpCase& c);

// The op refuses these inputs, saying `what` among other things.
void expect_refused(std::string_view op, const std::vector<Tensor>& inputs,
                    const graph::Attrs& attrs, std::string_view what);

}  // namespace spillway::testing
