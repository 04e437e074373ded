#include "spillway/tensor/shape.h"

#include <algorithm>

#include "spillway/tensor/extent.h"

namespace spillway {

Shape::Shape(std::span<const std::int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  if (rank_ <= kInline) {
    std::copy(dims.begin(), dims.end(), inline_.begin());
  } else {
    heap_.assign(dims.begin(), dims.end());
  }
}

bool Shape::fully_known() const {
  if (!has_rank()) return false;
  return std::ranges::none_of(dims(), [](std::int64_t d) { return d < 0; });
}

std::int64_t Shape::count() const {
  std::int64_t n = 1;
  for (const std::int64_t d : dims()) n = saturated_product(n, d);
  return n;
}

Shape Shape::with_leading(std::int64_t dim) const {
  if (!has_rank()) return unknown_rank();
  if (rank_ < kInline) {
    Shape out;
    out.rank_ = rank_ + 1;
    out.inline_[0] = dim;
    std::ranges::copy(dims(), out.inline_.begin() + 1);
    return out;
  }
  std::vector<std::int64_t> all{dim};
  all.insert(all.end(), dims().begin(), dims().end());
  return Shape(std::span<const std::int64_t>(all));
}

Shape Shape::without_leading() const {
  if (rank_ <= 0) return *this;
  return Shape(dims().subspan(1));
}

bool Shape::accepts(const Shape& other) const {
  if (!has_rank()) return true;
  if (!other.has_rank() || other.rank_ != rank_) return false;
  for (int i = 0; i < rank_; ++i) {
    if ((*this)[i] >= 0 && (*this)[i] != other[i]) return false;
  }
  return true;
}

bool Shape::compatible(const Shape& other) const {
  if (!has_rank() || !other.has_rank()) return true;
  if (other.rank_ != rank_) return false;
  for (int i = 0; i < rank_; ++i) {
    if ((*this)[i] >= 0 && other[i] >= 0 && (*this)[i] != other[i]) return false;
  }
  return true;
}

Shape Shape::common(const Shape& other) const {
  if (!has_rank() || !other.has_rank() || rank_ != other.rank_) return unknown_rank();
  std::vector<std::int64_t> all(dims().begin(), dims().end());
  for (int i = 0; i < rank_; ++i) {
    if (all[static_cast<std::size_t>(i)] != other[i]) all[static_cast<std::size_t>(i)] = -1;
  }
  return Shape(std::span<const std::int64_t>(all));
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::ranges::equal(dims(), other.dims());
}

std::string Shape::to_string() const {
  if (!has_rank()) return "<unknown>";
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ", ";
    text += (*this)[i] < 0 ? "None" : std::to_string((*this)[i]);
  }
  return text + (rank_ == 1 ? ",)" : ")");
}

std::string Shape::bracketed() const {
  if (!has_rank()) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ',';
    text += (*this)[i] < 0 ? "?" : std::to_string((*this)[i]);
  }
  return text + "]";
}

}  // namespace spillway
