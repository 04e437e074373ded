#include "spillway/testing/op_conformance.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "spillway/graph/number.h"
#include "spillway/graph/plan.h"
#include "spillway/graph/run_op.h"
#include "spillway/memory/budget.h"

namespace spillway::testing {
namespace {

using graph::Attrs;
using graph::Infer;
using graph::Node;
using graph::NodePtr;
using graph::OpDef;
using graph::Operand;
using graph::Plan;
using graph::Spec;

const AccountPtr& account() {
  static const AccountPtr& account = *new AccountPtr(Budget::process().open_account("op tests"));
  return account;
}

Result<std::vector<Tensor>> run(const OpDef& op, const std::vector<Tensor>& inputs,
                                const Attrs& attrs) {
  return graph::run_op(op, inputs, attrs, account(), Buffer::Ask::kRequired);
}

std::vector<double> numbers(const Tensor& value) {
  std::vector<double> out;
  graph::with_type(graph::PlainTypes(), value.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < value.count(); ++i) {
      if constexpr (graph::kComplex<T>) {
        out.push_back(static_cast<double>(value.as<T>()[i].real()));
        out.push_back(static_cast<double>(value.as<T>()[i].imag()));
      } else {
        out.push_back(static_cast<double>(graph::widen(value.as<T>()[i])));
      }
    }
  });
  return out;
}

void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(name_of(got.dtype()), name_of(want.dtype()));
  ASSERT_EQ(got.shape().to_string(), want.shape().to_string());
  if (got.dtype() == DType::kString) {
    for (std::int64_t i = 0; i < got.count(); ++i) EXPECT_EQ(got.string_at(i), want.string_at(i));
    return;
  }
  const std::vector<double> g = numbers(got);
  const std::vector<double> w = numbers(want);
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (std::isnan(w[i]) ? std::isnan(g[i]) : g[i] == w[i]) continue;
    const double room = tolerance * std::max(1.0, std::abs(w[i]));
    EXPECT_LE(std::abs(g[i] - w[i]), room) << "item " << i << ": " << g[i] << ", not " << w[i];
  }
}

// ---- What is inferred
// ----------------------------------------------------------------------------

struct Known {
  std::vector<Spec> specs;
  std::vector<const Tensor*> values;
};

void expect_accepts(const OpCase& c, const OpDef& op, const Known& known,
                    const std::vector<Tensor>& made, bool exactly) {
  std::vector<std::optional<Shape>> shapes;
  for (const Tensor* value : known.values) {
    const bool integers = value != nullptr && is_integer(value->dtype());
    shapes.push_back(integers ? graph::shape_from(*value) : std::nullopt);
  }
  Infer infer(known.specs, known.values, shapes, c.attrs);
  const Status status = op.infer(infer);
  // Some ops cannot be written for an unknown rank at all.
  if (!status.ok() && !exactly && status.info().type == "ValueError") return;
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(infer.outputs().size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Spec& spec = infer.outputs()[i];
    EXPECT_EQ(name_of(spec.dtype), name_of(made[i].dtype()));
    EXPECT_TRUE(spec.shape.accepts(made[i].shape()))
        << spec.to_string() << " inferred for " << made[i].shape().to_string();
    if (exactly && op.compute == nullptr) {
      EXPECT_EQ(spec.shape.to_string(), made[i].shape().to_string());
    }
  }
}

void check_inference(const OpCase& c, const OpDef& op, const std::vector<Tensor>& made) {
  Known known;
  for (const Tensor& input : c.inputs) {
    known.specs.push_back({input.dtype(), input.shape()});
    known.values.push_back(&input);
  }
  expect_accepts(c, op, known, made, true);
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    SCOPED_TRACE("operand " + std::to_string(i) + " partly unknown");
    Known less = known;
    less.values[i] = nullptr;
    expect_accepts(c, op, less, made, false);
    const auto dims = c.inputs[i].shape().dims();
    for (std::size_t d = 0; d < dims.size(); ++d) {
      std::vector<std::int64_t> open(dims.begin(), dims.end());
      open[d] = kUnknownDim;
      less.specs[i].shape = Shape(std::span<const std::int64_t>(open));
      expect_accepts(c, op, less, made, false);
    }
    less.specs[i].shape = Shape::unknown_rank();
    expect_accepts(c, op, less, made, false);
  }
  Known nothing = known;
  for (Spec& spec : nothing.specs) spec.shape = Shape::unknown_rank();
  std::fill(nothing.values.begin(), nothing.values.end(), nullptr);
  expect_accepts(c, op, nothing, made, false);
}

// ---- What a plan gives
// ---------------------------------------------------------------------------

bool is_fixed(const OpCase& c, std::size_t i) {
  return std::find(c.fixed.begin(), c.fixed.end(), static_cast<int>(i)) != c.fixed.end();
}

// The same items, each `by` places further on.
Tensor rotated(const Tensor& value, std::int64_t by) {
  const std::int64_t n = value.count();
  if (n == 0) return value;
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) order.push_back((i + by) % n);
  return gather_rows(account(), value.reshaped(Shape({n})), order).value().reshaped(value.shape());
}

// The op's inputs for row r: the sample, its items in another order where the op takes that.
std::vector<Tensor> inputs_of_row(const OpCase& c, const OpDef& op, std::int64_t r) {
  std::vector<Tensor> inputs = c.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_fixed(c, i)) inputs[i] = rotated(inputs[i], r);
  }
  return run(op, inputs, c.attrs).ok() ? inputs : c.inputs;
}

// A neighbour that gives what it takes.
Operand passed(const Operand& operand) {
  const Spec& spec = operand.spec();
  if (!graph::is_one_of(graph::PlainTypes(), spec.dtype)) return operand;
  const OpDef* cast = graph::find_op("cast");
  return {Node::make(*cast, {operand}, Attrs{{"dtype", spec.dtype}}, nullptr).value(), 0};
}

void check_plan(const OpCase& c, const OpDef& op, std::int64_t rows, bool neighbours) {
  std::vector<NodePtr> parameters;
  std::vector<Operand> operands;
  std::vector<Spec> specs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (is_fixed(c, i)) {
      operands.push_back({Node::constant(c.inputs[i]), 0});
      continue;
    }
    specs.push_back({c.inputs[i].dtype(), c.inputs[i].shape()});
    parameters.push_back(Node::parameter(specs.back()));
    const Operand given{parameters.back(), 0};
    operands.push_back(neighbours ? passed(given) : given);
  }
  if (parameters.empty()) return;
  auto node = Node::make(op, operands, c.attrs, nullptr);
  ASSERT_TRUE(node.ok()) << node.error().message();
  std::vector<Operand> results;
  for (int i = 0; i < static_cast<int>(node.value()->outputs().size()); ++i) {
    const Operand result{node.value(), i};
    results.push_back(neighbours ? passed(result) : result);
  }
  auto plan = Plan::make(graph::Graph::make(parameters, results), specs, account());
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  if (plan.value() == nullptr) return;  // a shape depends on values
  std::vector<std::vector<Tensor>> inputs;
  inputs.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r) inputs.push_back(inputs_of_row(c, op, r));
  std::vector<Tensor> blocks;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (is_fixed(c, i)) continue;
    std::vector<Tensor> column;
    column.reserve(inputs.size());
    for (const auto& row : inputs) column.push_back(row[i]);
    blocks.push_back(stack(account(), column).value());
  }
  Plan::Request request;
  request.parameters = blocks;
  request.rows = rows;
  request.account = account();
  const Plan::Outcome outcome = plan.value()->run(request);
  ASSERT_TRUE(outcome.error.ok()) << outcome.error.message();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto alone = run(op, inputs[static_cast<std::size_t>(r)], c.attrs);
    for (std::size_t i = 0; i < outcome.results.size(); ++i) {
      EXPECT_TRUE(outcome.results[i].row(r).equals(alone.value()[i]))
          << "row " << r << " of output " << i << " is not what the op alone gives";
    }
  }
}

}  // namespace

Tensor of(DType dtype, const Shape& shape, const std::vector<double>& items) {
  Tensor out = make_tensor(account(), dtype, shape).value();
  graph::with_type(graph::PlainTypes(), dtype, [&]<class T>() {
    T* to = reinterpret_cast<T*>(out.mutable_data());
    if constexpr (graph::kComplex<T>) {
      using Part = typename T::value_type;
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        to[i / 2] = T(static_cast<Part>(items[i]), static_cast<Part>(items[i + 1]));
      }
    } else {
      for (std::size_t i = 0; i < items.size(); ++i) {
        to[i] = static_cast<T>(static_cast<graph::Wide<T>>(items[i]));
      }
    }
  });
  return out;
}
Tensor f32(const Shape& s, const std::vector<double>& items) {
  return of(DType::kFloat32, s, items);
}
Tensor f64(const Shape& s, const std::vector<double>& items) {
  return of(DType::kFloat64, s, items);
}
Tensor i32(const Shape& s, const std::vector<double>& items) { return of(DType::kInt32, s, items); }
Tensor bools(const Shape& s, const std::vector<double>& items) {
  return of(DType::kBool, s, items);
}
Tensor c64(const Shape& s, const std::vector<double>& parts) {
  return of(DType::kComplex64, s, parts);
}
Tensor text(const Shape& shape, const std::vector<std::string_view>& items) {
  return make_strings(account(), shape, items).value();
}

void check_op(const OpCase& c) {
  SCOPED_TRACE(std::string(c.op));
  const OpDef* op = graph::find_op(c.op);
  ASSERT_NE(op, nullptr);
  const auto made = run(*op, c.inputs, c.attrs);
  ASSERT_TRUE(made.ok()) << made.error().message();
  ASSERT_EQ(made.value().size(), c.expect.size());
  for (std::size_t i = 0; i < c.expect.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    expect_close(made.value()[i], c.expect[i], c.tolerance);
  }
  check_inference(c, *op, made.value());
  for (const std::int64_t rows : {1, 3, 7}) {
    for (const bool neighbours : {false, true}) {
      SCOPED_TRACE(std::to_string(rows) + (neighbours ? " rows, between neighbours" : " rows"));
      check_plan(c, *op, rows, neighbours);
    }
  }
}

void expect_refused(std::string_view op, const std::vector<Tensor>& inputs, const Attrs& attrs,
                    std::string_view what) {
  SCOPED_TRACE(std::string(op));
  const OpDef* found = graph::find_op(op);
  ASSERT_NE(found, nullptr);
  // As a node is written first, then run.
  std::vector<Operand> operands;
  operands.reserve(inputs.size());
  for (const Tensor& input : inputs) operands.push_back({Node::constant(input), 0});
  auto node = Node::make(*found, operands, attrs, nullptr);
  Status status = std::move(node).status();
  if (status.ok()) status = run(*found, inputs, attrs).status();
  ASSERT_FALSE(status.ok()) << "was not refused";
  EXPECT_NE(status.message().find(what), std::string_view::npos) << status.message();
}

}  // namespace spillway::testing
