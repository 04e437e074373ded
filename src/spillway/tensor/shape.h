#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace spillway {

inline constexpr std::int64_t kUnknownDim = -1;

// Sizes of a tensor or of a spec. A spec's dimension may be unknown (-1), and so may its rank.
// A tensor's shape is always fully known. Copies of ranks up to four do not allocate.
class Shape {
 public:
  Shape() = default;  // a scalar
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);
  static Shape unknown_rank() {
    Shape shape;
    shape.rank_ = -1;
    return shape;
  }

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }
  std::int64_t operator[](int i) const { return dims()[static_cast<std::size_t>(i)]; }
  std::span<const std::int64_t> dims() const {
    return rank_ <= 0 ? std::span<const std::int64_t>()
           : rank_ <= kInline
               ? std::span<const std::int64_t>(inline_.data(), static_cast<std::size_t>(rank_))
               : std::span<const std::int64_t>(heap_);
  }
  bool fully_known() const;
  // Items; 1 for a scalar. Only of a fully known shape.
  std::int64_t count() const;

  Shape with_leading(std::int64_t dim) const;  // [dim, ...this]; unknown rank stays unknown
  Shape without_leading() const;               // drops the first dimension
  bool accepts(const Shape& other) const;      // other is this with unknowns filled in
  bool compatible(const Shape& other) const;   // some shape fits both
  Shape common(const Shape& other) const;      // most specific shape that accepts both

  bool operator==(const Shape& other) const;
  std::string to_string() const;  // "(3, None)", "<unknown>"
  std::string bracketed() const;  // "[3,?]", as TensorFlow's messages have it

 private:
  static constexpr int kInline = 4;
  int rank_ = 0;
  std::array<std::int64_t, kInline> inline_{};
  std::vector<std::int64_t> heap_;
};

}  // namespace spillway
