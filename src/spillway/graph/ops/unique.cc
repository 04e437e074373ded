#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

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

// The items met so far, by their numbers: an open table, never more than half full.
class Numbers {
 public:
  explicit Numbers(const Compute& c) : c_(c) {}

  // The number of the item with this hash for which same(number) is true, or a free place for it;
  // `looked` counts the places that were looked at.
  template <class Same>
  std::int64_t& find(std::size_t hash, Same same, std::int64_t& looked) {
    std::size_t at = place(hash);
    for (; places_[at] >= 0 && !same(places_[at]); at = (at + 1) & mask_) ++looked;
    return places_[at];
  }
  // Before one more is put in, where so many are; hash_of(number).
  template <class HashOf>
  Status make_room(std::int64_t have, HashOf hash_of) {
    const auto size = static_cast<std::int64_t>(mask_) + 1;
    if (table_ && 2 * have < size) return {};
    const std::int64_t more = table_ ? 2 * size : 1024;
    SW_ASSIGN(Buffer table,
              Buffer::allocate(c_.account, static_cast<std::size_t>(more) * 8, c_.ask));
    table.touch();
    table_ = std::move(table);
    places_ = reinterpret_cast<std::int64_t*>(table_->data());
    mask_ = static_cast<std::size_t>(more) - 1;
    in_stretches(more, [&](std::int64_t begin, std::int64_t end) {
      std::fill(places_ + begin, places_ + end, -1);
    });
    Looks looks;
    for (std::int64_t number = 0; number < have; ++number) {
      if (looks.abandoned()) return cancelled();
      std::int64_t looked = 0;
      find(hash_of(number), [](std::int64_t) { return false; }, looked) = number;
    }
    return given_up() ? cancelled() : Status();
  }

 private:
  std::size_t place(std::size_t hash) const {  // many hashes are the numbers themselves
    return static_cast<std::size_t>(hash * 0x9E3779B97F4A7C15U >> 20U) & mask_;
  }

  const Compute& c_;
  std::optional<Buffer> table_;
  std::int64_t* places_ = nullptr;
  std::size_t mask_ = 0;
};

// Numbers the items in the order they are first seen; `first` is where each was.
template <class Key, class Item>
Status number(Compute& c, Item item, DType type, Tensor& index, std::vector<std::int64_t>& first) {
  const std::hash<Key> hash;
  const auto hash_of = [&](std::int64_t number) {
    return hash(item(first[static_cast<std::size_t>(number)]));
  };
  Numbers seen(c);
  Looks looks;
  const std::int64_t n = c.inputs[0].count();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto have = static_cast<std::int64_t>(first.size());
    SW_RETURN_IF_ERROR(seen.make_room(have, hash_of));
    const Key key = item(i);
    std::int64_t looked = 1;
    std::int64_t number = have;
    bool none_met = false;  // NaN is no item that was met, nor will be
    if constexpr (std::is_floating_point_v<Key>) none_met = std::isnan(key);
    if (!none_met) {
      std::int64_t& place = seen.find(
          hash(key),
          [&](std::int64_t known) { return item(first[static_cast<std::size_t>(known)]) == key; },
          looked);
      if (place < 0) place = have;
      number = place;
    }
    put_integer(type, index.mutable_data(), i, number);
    if (number == have) first.push_back(i);
    if (looks.abandoned(looked)) return cancelled();
  }
  return {};
}

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  const DType type = c.attrs.get_or("out_idx", DType::kInt32);
  SW_ASSIGN(Tensor index, c.make(type, in.shape()));
  std::vector<std::int64_t> first;
  if (in.dtype() == DType::kString) {
    const auto item = [&](std::int64_t i) { return in.string_at(i); };
    SW_RETURN_IF_ERROR(number<std::string_view>(c, item, type, index, first));
  }
  Status numbered;
  with_type(Allowed(), in.dtype(), [&]<class T>() {
    const T* items = in.as<T>();
    const auto item = [items](std::int64_t i) { return widen(items[i]); };
    numbered = number<Wide<T>>(c, item, type, index, first);
  });
  SW_RETURN_IF_ERROR(std::move(numbered));
  SW_ASSIGN(Tensor out, take_rows(c, in, first));
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
