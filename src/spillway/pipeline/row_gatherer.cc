#include "spillway/pipeline/row_gatherer.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/spec.h"
#include "spillway/pipeline/waiting_rows.h"

namespace spillway {
namespace {

// Above this an output whose address space is refused is not asked for as a whole: a batch size may
// be a way to say "everything".
constexpr std::size_t kWholeAtOnce = 64 * kMiB;
constexpr std::size_t kWorthAPlace = 16 * kKiB;         // bytes of a row
constexpr std::size_t kLargest = std::size_t{1} << 46;  // bytes; more is never tried

bool side_by_side(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dtype() != DType::kVariant && a.buffer() == b.buffer() &&
         a.string_offsets() == b.string_offsets() && b.first() == a.first() + a.count();
}

// `a` and the `rows` rows after it, which lie behind it.
Tensor widened(const Tensor& a, std::int64_t rows) {
  Shape shape = a.shape().without_leading().with_leading(a.shape()[0] + rows);
  if (a.dtype() == DType::kString) {
    return Tensor::of_strings(std::move(shape), {a.string_offsets(), a.buffer()}, a.first());
  }
  return Tensor(a.dtype(), std::move(shape), a.buffer(), a.first());
}

std::size_t bytes_of(const Shape& row, std::int64_t rows, DType dtype) {
  return static_cast<std::size_t>(row.count() * rows) * size_of(dtype);
}

bool same_row_shape(const Tensor& block, const Shape& row) {
  return std::ranges::equal(block.shape().dims().subspan(1), row.dims());
}

// What did not fit is a batch, and smaller ones may: two of them, one that is used and one that is
// being made, and a row.
Status with_size_that_fits(Status refused, const AccountPtr& account, std::int64_t rows,
                           std::size_t row_bytes) {
  if (refused.code() != Code::kResourceExhausted) return refused;
  std::int64_t fits = 0;
  for (std::int64_t step = std::int64_t{1} << 62; step > 0; step /= 2) {
    std::size_t bytes = 0;
    const std::int64_t tried = fits + step;
    if (tried >= rows) continue;
    const bool small =
        !__builtin_mul_overflow(2 * static_cast<std::size_t>(tried) + 1, row_bytes, &bytes);
    if (small && account->check_possible(bytes).ok()) fits = tried;
  }
  std::ostringstream said;
  said << "a batch of " << rows << " rows of " << format_bytes(row_bytes) << " each is "
       << format_bytes(static_cast<std::size_t>(rows) * row_bytes) << "; ";
  if (fits > 0) {
    said << "batches of " << fits << (fits == 1 ? " row" : " rows") << " fit: batch(" << fits
         << ")\n";
  } else {
    said << "not even one row at a time fits beside another: make rows smaller\n";
  }
  refused.edit().message += said.str();
  return refused;
}

}  // namespace

StructurePtr batched_structure(const StructurePtr& element, std::int64_t leading) {
  if (element == nullptr) return nullptr;
  return element->map_leaves([&](const Structure& leaf) -> StructurePtr {
    const StructurePtr inner = leaf.children().empty() ? nullptr : leaf.children()[0];
    Shape shape = leaf.shape().with_leading(leading);
    switch (leaf.kind()) {
      case Structure::Kind::kDataset:
        return Structure::dataset(inner, std::move(shape));
      case Structure::Kind::kOptional:
        return Structure::optional(inner, std::move(shape));
      default:
        return Structure::tensor(leaf.dtype(), std::move(shape));
    }
  });
}

std::int64_t batched_count(std::int64_t rows, std::int64_t size, bool drop_remainder) {
  if (rows < 0) return rows;
  return rows / size + (rows % size == 0 || drop_remainder ? 0 : 1);
}

std::vector<Tensor> RowGatherer::claim_offered(std::span<const graph::Spec> row,
                                               std::int64_t rows) {
  const std::int64_t first = offered_before_;
  offered_before_ += rows;
  if (offered_.size() != row.size()) return {};
  std::vector<Tensor> places;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const Tensor& part = offered_[c];
    const bool fits = part.has_value() && part.dtype() == row[c].dtype &&
                      same_row_shape(part, row[c].shape) && offered_before_ <= part.shape()[0];
    places.push_back(fits ? part.slice(first, first + rows) : Tensor());
  }
  return places;
}

std::vector<Tensor> RowGatherer::claim(std::span<const graph::Spec> row, std::int64_t rows) {
  if (!offered_.empty()) return claim_offered(row, rows);
  if (rows_ == 0 && parts_.empty() && !reserve(row, rows)) return {};
  const bool free = parts_.size() == row.size() &&
                    std::ranges::equal(parts_, row, [&](const Part& part, const graph::Spec& spec) {
                      return part.out.has_value() && part.out.dtype() == spec.dtype &&
                             part.shape == spec.shape && free_from(part) + rows <= part.capacity;
                    });
  if (!free) return {};
  for (Part& part : parts_) {
    if (part.filling == nullptr) continue;
    const std::int64_t end = free_from(part) + rows;
    if (!part.filling->extend(bytes_of(part.shape, end, part.out.dtype())).ok()) return {};
  }
  std::vector<Tensor> places;
  places.reserve(parts_.size());
  for (Part& part : parts_) {
    const std::int64_t first = free_from(part);
    places.push_back(part.out.slice(first, first + rows));
    part.claimed = first + rows;
  }
  return places;
}

// Room for the whole batch, before its first row.
bool RowGatherer::reserve(std::span<const graph::Spec> row, std::int64_t rows) {
  std::size_t bytes = 0;
  for (const graph::Spec& spec : row) {
    if (!is_plain(spec.dtype)) return false;
    bytes += static_cast<std::size_t>(spec.shape.count()) * size_of(spec.dtype);
  }
  const std::int64_t whole = likely_ < 0 ? most_ : std::min(most_, likely_);
  if (rows >= whole || bytes < kWorthAPlace) return false;
  parts_.resize(row.size());
  for (std::size_t c = 0; c < row.size(); ++c) {
    parts_[c].shape = row[c].shape;
    if (!make_room(parts_[c], row[c].dtype, rows).ok()) {
      parts_.clear();
      return false;
    }
  }
  return true;
}

Status RowGatherer::add(const Chunk& rows) {
  if (rows_ == 0) {
    parts_.resize(rows.columns().size());
    origin_ = rows.origins().at(0);
    origin_.weight = 0;
  }
  for (std::size_t c = 0; c < parts_.size(); ++c) {
    Part& part = parts_[c];
    const Column& column = rows.columns()[c];
    const bool fine = !part.mismatch;
    Status added;
    if (column.is_block()) {
      added = add_block(part, column.block());
    } else {
      for (std::size_t i = 0; i < column.each().size() && added.ok(); ++i) {
        added = add_row(part, column.each()[i]);
      }
    }
    if (!added.ok()) {
      for (Part& each : parts_) cut(each, rows_);
      return added;
    }
    if (fine && part.mismatch) {
      part.mismatch->component = c;
      part.mismatch->origin = rows.origins().describe(part.mismatch->row - rows_);
      part.mismatch->weight = rows.origins().weight(part.mismatch->row - rows_);
    }
  }
  origin_.weight += rows.origins().total_weight(rows.rows());
  rows_ += rows.rows();
  return {};
}

void RowGatherer::count_waiting() {
  for (Part& part : parts_) {
    // The last piece may have grown since.
    for (std::size_t i = std::min(part.counted, part.pieces.size()); i < part.pieces.size(); ++i) {
      count_as_output(part.pieces[i], account_);
    }
    part.counted = part.pieces.empty() ? 0 : part.pieces.size() - 1;
  }
}

// The first row whose place nobody may still write or read.
std::int64_t RowGatherer::free_from(const Part& part) {
  return part.out.buffer().use_count() > 1 ? std::max(part.claimed, part.rows) : part.rows;
}

// Forgets what came behind the first `rows` rows.
void RowGatherer::cut(Part& part, std::int64_t rows) {
  if (part.mismatch && part.mismatch->row >= rows) part.mismatch.reset();
  while (!part.out.has_value() && !part.pieces.empty() && part.rows > rows) {
    const std::int64_t last = part.pieces.back().shape()[0];
    part.rows -= last;
    if (part.rows >= rows) {
      part.pieces.pop_back();
    } else {
      part.pieces.back() = part.pieces.back().slice(0, rows - part.rows);
      part.rows = rows;
    }
  }
  part.rows = std::min(part.rows, rows);
}

void RowGatherer::note_mismatch(Part& part, const Shape& shape) {
  if (!part.mismatch) part.mismatch = Mismatch{0, part.shape, shape, part.rows, 1, ""};
  part.pieces.clear();
  part.filling.reset();
  part.out = Tensor();
}

Status RowGatherer::add_row(Part& part, const Tensor& row) {
  if (part.rows > 0 && row.shape() == part.shape && part.out.has_value() &&
      part.rows < part.capacity && free_from(part) == part.rows) {
    const std::size_t bytes = row.bytes();
    if (part.filling != nullptr) {
      const std::size_t filled = static_cast<std::size_t>(part.rows + 1) * bytes;
      if (Status extended = part.filling->extend(filled); !extended.ok()) {
        return with_size_that_fits(std::move(extended), account_, part.capacity, bytes);
      }
      part.filling->touch(filled);
    }
    if (bytes > 0) {
      std::memcpy(part.out.mutable_data() + static_cast<std::size_t>(part.rows) * bytes, row.data(),
                  bytes);
    }
    ++part.rows;
    return {};
  }
  return add_block(part, row.reshaped(row.shape().with_leading(1)));
}

Status RowGatherer::add_block(Part& part, const Tensor& block) {
  const std::int64_t rows = block.shape()[0];
  if (part.rows == 0) {
    if (part.out.has_value() &&
        !(part.out.dtype() == block.dtype() && same_row_shape(block, part.shape))) {
      part.filling.reset();
      part.out = Tensor();  // a place for other rows than those that came
    }
    part.shape = block.shape().without_leading();
  }
  if (part.mismatch || !same_row_shape(block, part.shape)) {
    note_mismatch(part, block.shape().without_leading());
  } else if (part.out.has_value()) {
    SW_RETURN_IF_ERROR(copy_in(part, block));
  } else if (!part.pieces.empty() && side_by_side(part.pieces.back(), block)) {
    part.pieces.back() = widened(part.pieces.back(), rows);
  } else if (!part.pieces.empty() && is_plain(block.dtype())) {
    // What was shared so far goes first: its memory is free before more is needed.
    SW_RETURN_IF_ERROR(make_room(part, block.dtype(), part.rows));
    std::memcpy(part.out.mutable_data(), part.pieces.back().data(), part.pieces.back().bytes());
    part.pieces.clear();
    SW_RETURN_IF_ERROR(copy_in(part, block));
  } else {
    part.pieces.push_back(block);
  }
  part.rows += rows;
  return {};
}

Status RowGatherer::copy_in(Part& part, const Tensor& block) {
  const std::int64_t need = part.rows + block.shape()[0];
  if (block.buffer() == part.out.buffer() &&
      block.first() == part.out.first() + part.rows * part.shape.count()) {
    return {};  // made in its place
  }
  if (need > part.capacity || free_from(part) > part.rows) {
    const Tensor before = part.out;
    const std::size_t filled = bytes_of(part.shape, part.rows, before.dtype());
    SW_RETURN_IF_ERROR(make_room(part, block.dtype(), need));
    if (filled > 0) std::memcpy(part.out.mutable_data(), before.data(), filled);
  } else if (part.filling != nullptr) {
    const std::size_t filled = bytes_of(part.shape, need, block.dtype());
    if (Status extended = part.filling->extend(filled); !extended.ok()) {
      return with_size_that_fits(std::move(extended), account_, part.capacity,
                                 bytes_of(part.shape, 1, block.dtype()));
    }
    part.filling->touch(filled);
  }
  const std::size_t row_bytes = bytes_of(part.shape, 1, block.dtype());
  if (block.bytes() > 0) {
    std::memcpy(part.out.mutable_data() + static_cast<std::size_t>(part.rows) * row_bytes,
                block.data(), block.bytes());
  }
  return {};
}

// A new output for at least `rows` rows. A large one costs what is filled of it, so it has room for
// all that may come, if only the address space does.
Status RowGatherer::make_room(Part& part, DType dtype, std::int64_t rows) {
  const std::size_t row_bytes = std::max<std::size_t>(1, bytes_of(part.shape, 1, dtype));
  const bool known = likely_ >= rows;
  std::int64_t room = std::max(rows, known ? std::min(most_, likely_) : most_);
  std::size_t bytes = 0;
  std::unique_ptr<Filling> filling;
  if (!__builtin_mul_overflow(static_cast<std::size_t>(room), row_bytes, &bytes) &&
      bytes <= kLargest && bytes >= Filling::kLeast) {
    auto begun =
        Filling::begin(account_, bytes, known ? Filling::Comes::kAll : Filling::Comes::kAtMost);
    if (begun.ok()) {
      filling = std::move(begun).value();
    } else if (known) {
      return with_size_that_fits(std::move(begun).status(), account_, room, row_bytes);
    }
  }
  if (filling == nullptr) {
    const auto first = static_cast<std::int64_t>(kWholeAtOnce / row_bytes);
    room = std::min(room, std::max({rows, 2 * part.capacity, first}));
    auto out = make_tensor(account_, dtype, part.shape.with_leading(room));
    if (!out.ok()) return with_size_that_fits(std::move(out).status(), account_, room, row_bytes);
    part.out = std::move(out).value();
  } else {
    Status extended = filling->extend(static_cast<std::size_t>(rows) * row_bytes);
    if (!extended.ok()) return with_size_that_fits(std::move(extended), account_, room, row_bytes);
    part.out = Tensor(dtype, part.shape.with_leading(room), filling->buffer());
  }
  part.filling = std::move(filling);
  part.capacity = room;
  part.claimed = 0;
  return {};
}

const RowGatherer::Mismatch* RowGatherer::mismatch() const {
  for (const Part& part : parts_) {
    if (part.mismatch) return &*part.mismatch;
  }
  return nullptr;
}

Result<Tensor> RowGatherer::finish_pieces(Part& part) {
  if (part.pieces.size() == 1 && part.joining == nullptr) return part.pieces[0];
  if (part.joining == nullptr && StringJoining::is_large(part.pieces)) {
    part.joining = std::make_unique<StringJoining>();
  }
  if (part.joining != nullptr) return part.joining->finish(account_, part.pieces);
  return concat_rows(account_, part.pieces);
}

Tensor RowGatherer::finish_copied(Part& part) {
  if (part.filling != nullptr) {
    part.filling->end(bytes_of(part.shape, part.rows, part.out.dtype()));
    part.filling.reset();
    part.out.buffer()->touch();
    return part.out.slice(0, part.rows);
  }
  part.out.buffer()->touch();
  if (part.rows == part.capacity) return part.out;
  Tensor filled = part.out.slice(0, part.rows);
  // A remainder should not hold on to the room of a whole batch, if there is any other.
  if (part.rows < part.capacity / 2) {
    auto alone = compact(account_, filled, Buffer::Ask::kOptional);
    if (alone.ok()) filled = std::move(alone).value();
  }
  return filled;
}

Result<Row> RowGatherer::finish() {
  // What takes memory first: what fails is tried again, and nothing of it may be gone.
  for (Part& part : parts_) {
    if (part.out.has_value() || part.joined.has_value()) continue;
    SW_ASSIGN(part.joined, finish_pieces(part));
  }
  Row row;
  row.origin = origin_;
  for (Part& part : parts_) {
    row.values.push_back(part.out.has_value() ? finish_copied(part) : std::move(part.joined));
  }
  parts_.clear();
  return row;
}

}  // namespace spillway
