#include <string_view>
#include <unordered_map>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

using Allowed = decltype(RealTypes{} | BoolType{});

Status infer(Infer& c) {
  const DType type = c.input(0).dtype;
  if (type != DType::kString && !is_one_of(Allowed(), type)) return no_kernel(type);
  const DType index = c.attrs().get_or("out_idx", DType::kInt32);
  if (index != DType::kInt32 && index != DType::kInt64) return no_kernel(index);
  const Shape& in = c.input(0).shape;
  if (in.has_rank() && in.rank() != 1) return wrong_shape("unique expects a 1D vector.");
  c.set(0, type, Shape({kUnknownDim}));
  c.set(1, index, in.has_rank() ? in : Shape({kUnknownDim}));
  return {};
}

// Numbers the items in the order they are first seen; `first` is where each was.
template <class Key, class Item>
void number(Compute& c, Item item, DType type, Tensor& index, std::vector<std::int64_t>& first) {
  std::unordered_map<Key, std::int64_t> seen;
  const std::int64_t n = c.inputs[0].count();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [at, fresh] = seen.try_emplace(item(i), static_cast<std::int64_t>(first.size()));
    put_integer(type, index.mutable_data(), i, at->second);
    if (fresh) first.push_back(i);
  }
}

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  const DType type = c.attrs.get_or("out_idx", DType::kInt32);
  SW_ASSIGN(Tensor index, c.make(type, in.shape()));
  std::vector<std::int64_t> first;
  if (in.dtype() == DType::kString) {
    number<std::string_view>(
        c, [&](std::int64_t i) { return in.string_at(i); }, type, index, first);
  }
  with_type(Allowed(), in.dtype(), [&]<class T>() {
    const T* items = in.as<T>();
    number<Wide<T>>(c, [&](std::int64_t i) { return widen(items[i]); }, type, index, first);
  });
  SW_ASSIGN(Tensor out, gather_rows(c.account, in, first, c.ask));
  c.outputs.push_back(std::move(out));
  c.outputs.push_back(std::move(index));
  return {};
}

constexpr ParamDef kParams[] = {{"x", ParamKind::kTensor}, {"out_idx", ParamKind::kDType, "int32"}};

}  // namespace

extern constexpr OpDef unique_op{
    .name = "unique",
    .summary = "The different items in the order they come, and which of them each item is.",
    .params = kParams,
    .outputs = 2,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
