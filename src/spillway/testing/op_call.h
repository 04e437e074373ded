#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/graph/run_op.h"

// Calls of ops on values, for their tests.
namespace spillway::testing {

inline const AccountPtr& op_account() {
  static auto& budget = *new Budget(std::size_t{1} << 30U);
  static const auto& account = *new AccountPtr(budget.open_account("test"));
  return account;
}

template <class T>
Tensor tensor_of(DType dtype, const Shape& shape, std::initializer_list<T> items) {
  Tensor out = make_tensor(op_account(), dtype, shape).value();
  std::copy(items.begin(), items.end(), reinterpret_cast<T*>(out.mutable_data()));
  return out;
}
inline Tensor strings_of(const Shape& shape, std::vector<std::string_view> items) {
  return make_strings(op_account(), shape, items).value();
}
inline Tensor strings_of(std::vector<std::string_view> items) {
  const auto n = static_cast<std::int64_t>(items.size());
  return strings_of(Shape({n}), std::move(items));
}
inline Tensor string_of(std::string_view item) { return strings_of(Shape(), {item}); }

// Infers, runs, and holds the outcome against what was inferred.
inline Result<std::vector<Tensor>> call_op(std::string_view name, const std::vector<Tensor>& inputs,
                                           const graph::Attrs& attrs = {},
                                           const graph::Call& call = {}) {
  const graph::OpDef* op = graph::find_op(name);
  if (op == nullptr) return internal_bug("no such op: ", name);
  std::vector<graph::Spec> specs;
  std::vector<const Tensor*> constants;
  std::vector<std::optional<Shape>> shapes;
  for (const Tensor& input : inputs) {
    specs.push_back({input.dtype(), input.shape()});
    constants.push_back(&input);
    shapes.push_back(graph::shape_from(input));
  }
  graph::Infer infer(specs, constants, shapes, attrs);
  SW_RETURN_IF_ERROR(op->infer(infer));
  auto made = graph::run_op(*op, inputs, attrs, op_account(), Buffer::Ask::kRequired, call);
  if (!made.ok()) return made;
  EXPECT_EQ(made.value().size(), infer.outputs().size());
  for (std::size_t i = 0; i < made.value().size(); ++i) {
    EXPECT_EQ(made.value()[i].dtype(), infer.outputs()[i].dtype);
    EXPECT_TRUE(infer.outputs()[i].shape.accepts(made.value()[i].shape()))
        << infer.outputs()[i].shape.to_string() << " for " << made.value()[i].shape().to_string();
  }
  return made;
}
// The only output; the test fails where there is none.
inline Tensor one_of(Result<std::vector<Tensor>> made) {
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message());
  return made.ok() ? made.value()[0] : Tensor();
}
inline std::vector<std::string> strings_in(const Tensor& tensor) {
  std::vector<std::string> items;
  items.reserve(static_cast<std::size_t>(tensor.count()));
  for (std::int64_t i = 0; i < tensor.count(); ++i) items.emplace_back(tensor.string_at(i));
  return items;
}
template <class T>
std::vector<T> items_in(const Tensor& tensor) {
  return std::vector<T>(tensor.as<T>(), tensor.as<T>() + tensor.count());
}
inline std::string error_of(const Result<std::vector<Tensor>>& made) {
  return made.ok() ? "no error" : std::string(made.error().message());
}

}  // namespace spillway::testing
