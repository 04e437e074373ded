#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace spillway {

struct OriginScope;
using ScopePtr = std::shared_ptr<const OriginScope>;

// Where an element came from: the scope of its source and its ordinal there.
struct Origin {
  ScopePtr scope;
  std::int64_t ordinal = -1;
  std::int64_t weight = 1;       // source rows it is made of: a batch of 32 has 32
  std::string describe() const;  // "range element 7, epoch 0", outer levels last
};

// Some rows, and how many source rows they are made of.
struct Amount {
  std::int64_t rows = 0;
  std::int64_t weight = 0;
  Amount operator+(const Amount& o) const { return {rows + o.rows, weight + o.weight}; }
  Amount operator-(const Amount& o) const { return {rows - o.rows, weight - o.weight}; }
};

// Everything the rows of one source in one epoch share.
struct OriginScope {
  std::string source;  // "from_generator#0"
  std::int64_t epoch = 0;
  std::string file;
  Origin outer;  // flat_map, interleave, window: the element this source was made from
};

// The origins of a chunk's rows. Regular ones (base, stride) cost the same for any number of rows;
// they become a column only when irregular (after a shuffle, a filter, a mix).
class Origins {
 public:
  Origins() = default;
  static Origins regular(ScopePtr scope, std::int64_t base, std::int64_t stride = 1,
                         std::int64_t weight = 1);
  // Ordinals of one scope.
  static Origins scattered(ScopePtr scope, std::vector<std::int64_t> ordinals);
  static Origins column(std::vector<Origin> origins);
  // zip: the first part is the row's origin, the others are told in errors.
  static Origins zipped(std::vector<Origins> parts);

  Origin at(std::int64_t row) const;
  std::int64_t weight(std::int64_t row) const;
  std::int64_t total_weight(std::int64_t rows) const;
  Origins slice(std::int64_t begin, std::int64_t rows) const;
  Origins gather(std::span<const std::int64_t> rows) const;
  // This (of `rows` rows) followed by `other` (of `other_rows`).
  void append(std::int64_t rows, const Origins& other, std::int64_t other_rows);
  // Rows grouped by `size` consecutive ones: the first of each, with the group's weight.
  Origins grouped(std::int64_t rows, std::int64_t size) const;
  std::string describe(std::int64_t row) const;

 private:
  ScopePtr scope_;
  std::int64_t base_ = -1;
  std::int64_t stride_ = 0;
  std::int64_t weight_ = 1;
  std::vector<std::int64_t> ordinals_;                  // scattered
  std::vector<Origin> mixed_;                           // column
  std::shared_ptr<const std::vector<Origins>> others_;  // zip: parts after the first
};

}  // namespace spillway
