#include "spillway/tensor/origin.h"

namespace spillway {

std::string Origin::describe() const {
  if (scope == nullptr) return "";
  std::string text = scope->source + " element " + std::to_string(ordinal);
  if (weight > 1) text += " (first of " + std::to_string(weight) + ")";
  text += ", epoch " + std::to_string(scope->epoch);
  if (!scope->file.empty()) text += ", file " + scope->file;
  if (const std::string outer = scope->outer.describe(); !outer.empty()) text += ", of " + outer;
  return text;
}

Origins Origins::regular(ScopePtr scope, std::int64_t base, std::int64_t stride,
                         std::int64_t weight) {
  Origins out;
  out.scope_ = std::move(scope);
  out.base_ = base;
  out.stride_ = stride;
  out.weight_ = weight;
  return out;
}

Origins Origins::scattered(ScopePtr scope, std::vector<std::int64_t> ordinals) {
  Origins out;
  out.scope_ = std::move(scope);
  out.ordinals_ = std::move(ordinals);
  return out;
}

Origins Origins::column(std::vector<Origin> origins) {
  Origins out;
  out.mixed_ = std::move(origins);
  return out;
}

Origins Origins::zipped(std::vector<Origins> parts) {
  if (parts.empty()) return {};
  Origins out = std::move(parts.front());
  parts.erase(parts.begin());
  out.others_ = std::make_shared<const std::vector<Origins>>(std::move(parts));
  return out;
}

Origin Origins::at(std::int64_t row) const {
  const auto i = static_cast<std::size_t>(row);
  if (!mixed_.empty()) return mixed_[i];
  if (!ordinals_.empty()) return {scope_, ordinals_[i], weight_};
  return {scope_, base_ + row * stride_, weight_};
}

std::int64_t Origins::weight(std::int64_t row) const {
  return mixed_.empty() ? weight_ : mixed_[static_cast<std::size_t>(row)].weight;
}

std::int64_t Origins::total_weight(std::int64_t rows) const {
  if (mixed_.empty()) return rows * weight_;
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < rows; ++i) total += weight(i);
  return total;
}

Origins Origins::slice(std::int64_t begin, std::int64_t rows) const {
  Origins out;
  out.scope_ = scope_;
  out.weight_ = weight_;
  if (!mixed_.empty()) {
    out.mixed_.assign(mixed_.begin() + begin, mixed_.begin() + begin + rows);
  } else if (!ordinals_.empty()) {
    out.ordinals_.assign(ordinals_.begin() + begin, ordinals_.begin() + begin + rows);
  } else {
    out.base_ = base_ + begin * stride_;
    out.stride_ = stride_;
  }
  if (others_ != nullptr) {
    std::vector<Origins> others;
    for (const Origins& part : *others_) others.push_back(part.slice(begin, rows));
    out.others_ = std::make_shared<const std::vector<Origins>>(std::move(others));
  }
  return out;
}

Origins Origins::gather(std::span<const std::int64_t> rows) const {
  Origins out;
  out.scope_ = scope_;
  out.weight_ = weight_;
  if (rows.empty()) return out;
  if (mixed_.empty()) {
    out.ordinals_.reserve(rows.size());
    for (const std::int64_t row : rows) out.ordinals_.push_back(at(row).ordinal);
  } else {
    out.mixed_.reserve(rows.size());
    for (const std::int64_t row : rows) out.mixed_.push_back(mixed_[static_cast<std::size_t>(row)]);
  }
  if (others_ != nullptr) {
    std::vector<Origins> others;
    for (const Origins& part : *others_) others.push_back(part.gather(rows));
    out.others_ = std::make_shared<const std::vector<Origins>>(std::move(others));
  }
  return out;
}

void Origins::append(std::int64_t rows, const Origins& other, std::int64_t other_rows) {
  if (other_rows == 0) return;
  if (rows == 0) {
    *this = other;
    return;
  }
  const bool both_regular = mixed_.empty() && other.mixed_.empty() && ordinals_.empty() &&
                            other.ordinals_.empty() && others_ == nullptr &&
                            other.others_ == nullptr;
  if (both_regular && scope_ == other.scope_ && weight_ == other.weight_) {
    const std::int64_t step = rows == 1 ? other.base_ - base_ : stride_;
    if (other.base_ == base_ + rows * step && (other_rows == 1 || other.stride_ == step)) {
      stride_ = step;
      return;
    }
  }
  std::vector<Origin> all;
  all.reserve(static_cast<std::size_t>(rows + other_rows));
  for (std::int64_t i = 0; i < rows; ++i) all.push_back(at(i));
  for (std::int64_t i = 0; i < other_rows; ++i) all.push_back(other.at(i));
  *this = column(std::move(all));
}

Origins Origins::grouped(std::int64_t rows, std::int64_t size) const {
  const bool regular_rows = mixed_.empty() && ordinals_.empty();
  if (regular_rows && rows % size == 0) {
    return regular(scope_, base_, stride_ * size, weight_ * size);
  }
  std::vector<Origin> firsts;
  for (std::int64_t begin = 0; begin < rows; begin += size) {
    Origin first = at(begin);
    first.weight = 0;
    for (std::int64_t i = begin; i < std::min(rows, begin + size); ++i) first.weight += weight(i);
    firsts.push_back(std::move(first));
  }
  return column(std::move(firsts));
}

std::string Origins::describe(std::int64_t row) const {
  std::string text = at(row).describe();
  if (others_ != nullptr) {
    for (const Origins& part : *others_) {
      if (const std::string more = part.describe(row); !more.empty()) text += " with " + more;
    }
  }
  return text;
}

}  // namespace spillway
