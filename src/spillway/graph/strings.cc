#include "spillway/graph/strings.h"

namespace spillway::graph {

Status need_strings(const Infer& c, int i) {
  if (c.input(i).dtype == DType::kString) return {};
  return invalid_argument("input #", i, "(zero-based) was expected to be a string tensor but is a ",
                          name_of(c.input(i).dtype), " tensor");
}

Status infer_of_strings(Infer& c, DType out) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  c.set(0, out, c.input(0).shape);
  return {};
}

Status infer_string_pair(Infer& c, DType out) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  SW_RETURN_IF_ERROR(need_strings(c, 1));
  return infer_broadcast(c, out);
}

Status incompatible(const Shape& a, const Shape& b) {
  Status status = invalid_argument("Incompatible shapes: ", a.bracketed(), " vs. ", b.bracketed());
  status.edit().type = "ShapeError";
  return status;
}

BroadcastIndex::BroadcastIndex(const Shape& from, const Shape& to) {
  if (from == to) return;
  if (from.count() == 1) {
    kind_ = Kind::kOne;
    return;
  }
  kind_ = Kind::kStrided;
  dims_.assign(to.dims().begin(), to.dims().end());
  strides_.assign(dims_.size(), 0);
  std::int64_t stride = 1;
  for (int i = from.rank() - 1, at = to.rank() - 1; i >= 0; --i, --at) {
    strides_[static_cast<std::size_t>(at)] = from[i] == 1 ? 0 : stride;
    stride *= from[i];
  }
}

std::int64_t BroadcastIndex::strided(std::int64_t i) const {
  std::int64_t at = 0;
  for (std::size_t d = dims_.size(); d-- > 0;) {
    at += i % dims_[d] * strides_[d];
    i /= dims_[d];
  }
  return at;
}

Result<Tensor> StringRun::finish(const Compute& c, const Shape& shape) const {
  std::vector<std::string_view> items;
  items.reserve(ends_.size());
  std::size_t begin = 0;
  if (given_up()) return cancelled();
  for (const std::size_t end : ends_) {
    items.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  return c.strings(shape, items);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace spillway::graph
