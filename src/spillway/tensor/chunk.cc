#include "spillway/tensor/chunk.h"

#include <cstring>

#include "spillway/tensor/row_bytes.h"

namespace spillway {

Column Column::slice(std::int64_t begin, std::int64_t end) const {
  if (is_block_) return Column(block_.slice(begin, end));
  return Column(std::vector<Tensor>(each_.begin() + begin, each_.begin() + end));
}

std::size_t Row::footprint() const {
  std::size_t total = 0;
  for (const Tensor& value : values) total += value.footprint();
  return total;
}

Chunk Chunk::from_row(StructurePtr structure, Row row) {
  std::vector<Column> columns;
  columns.reserve(row.values.size());
  for (const Tensor& value : row.values) {
    // A single row is a block of one: same bytes, one more dimension.
    Shape shape = value.shape().with_leading(1);
    columns.emplace_back(value.reshaped(std::move(shape)));
  }
  Origins origins = Origins::regular(row.origin.scope, row.origin.ordinal, 1, row.origin.weight);
  return {std::move(structure), 1, std::move(columns), std::move(origins)};
}

Chunk Chunk::from_rows(StructurePtr structure, std::vector<Row> rows) {
  if (rows.size() == 1) return from_row(std::move(structure), std::move(rows[0]));
  const std::size_t components = rows.empty() ? 0 : rows[0].values.size();
  std::vector<Column> columns;
  columns.reserve(components);
  for (std::size_t c = 0; c < components; ++c) {
    std::vector<Tensor> each;
    each.reserve(rows.size());
    for (Row& row : rows) each.push_back(std::move(row.values[c]));
    columns.emplace_back(std::move(each));
  }
  std::vector<Origin> origins;
  origins.reserve(rows.size());
  for (Row& row : rows) origins.push_back(std::move(row.origin));
  return {std::move(structure), static_cast<std::int64_t>(rows.size()), std::move(columns),
          Origins::column(std::move(origins))};
}

Row Chunk::row(std::int64_t i) const {
  Row out;
  out.values.reserve(columns_.size());
  for (const Column& column : columns_) out.values.push_back(column.row(i));
  out.origin = origins_.at(i);
  return out;
}

Chunk Chunk::slice(std::int64_t begin, std::int64_t end) const {
  if (begin == 0 && end == rows_) return *this;
  std::vector<Column> columns;
  columns.reserve(columns_.size());
  for (const Column& column : columns_) columns.push_back(column.slice(begin, end));
  return {structure_, end - begin, std::move(columns), origins_.slice(begin, end - begin)};
}

Chunk Chunk::with_structure(StructurePtr structure) const {
  Chunk out = *this;
  out.structure_ = std::move(structure);
  return out;
}

Chunk Chunk::with_origins(Origins origins) const {
  Chunk out = *this;
  out.origins_ = std::move(origins);
  return out;
}

std::size_t Chunk::footprint() const {
  std::size_t total = 0;
  for (const Column& column : columns_) {
    if (column.is_block()) {
      total += column.block().footprint();
    } else {
      for (const Tensor& tensor : column.each()) total += tensor.footprint();
    }
  }
  return total;
}

namespace {

// The blocks as one view, when each begins where the one before ends in the same buffer.
bool adjacent(std::span<const Chunk> chunks, std::size_t c, Tensor& view) {
  const Tensor& first = chunks[0].columns()[c].block();
  if (!is_plain(first.dtype())) return false;
  std::int64_t rows = 0;
  for (const Chunk& chunk : chunks) {
    const Column& column = chunk.columns()[c];
    if (!column.is_block()) return false;
    const Tensor& block = column.block();
    if (block.buffer() != first.buffer() || block.dtype() != first.dtype()) return false;
    if (block.shape().without_leading() != first.shape().without_leading()) return false;
    if (block.first() != first.first() + rows * first.shape().without_leading().count()) {
      return false;
    }
    rows += chunk.rows();
  }
  view = Tensor(first.dtype(), first.shape().without_leading().with_leading(rows), first.buffer(),
                first.first());
  return true;
}

}  // namespace

Chunk join_rows(const StructurePtr& structure, std::span<const Chunk> chunks) {
  if (chunks.size() == 1) return chunks[0];
  std::int64_t rows = 0;
  Origins origins;
  for (const Chunk& chunk : chunks) {
    origins.append(rows, chunk.origins(), chunk.rows());
    rows += chunk.rows();
  }
  std::vector<Column> columns;
  const std::size_t components = chunks.empty() ? 0 : chunks[0].columns().size();
  for (std::size_t c = 0; c < components; ++c) {
    Tensor view;
    if (chunks[0].columns()[c].is_block() && adjacent(chunks, c, view)) {
      columns.emplace_back(std::move(view));
      continue;
    }
    std::vector<Tensor> each;
    each.reserve(static_cast<std::size_t>(rows));
    for (const Chunk& chunk : chunks) {
      for (std::int64_t i = 0; i < chunk.rows(); ++i) each.push_back(chunk.columns()[c].row(i));
    }
    columns.emplace_back(std::move(each));
  }
  return {structure, rows, std::move(columns), std::move(origins)};
}

Result<Chunk> gather_rows(const AccountPtr& account, const Chunk& chunk,
                          std::span<const std::int64_t> indices) {
  std::vector<Column> columns;
  columns.reserve(chunk.columns().size());
  for (const Column& column : chunk.columns()) {
    if (column.is_block()) {
      SW_ASSIGN(Tensor block, gather_rows(account, column.block(), indices));
      columns.emplace_back(std::move(block));
    } else {
      std::vector<Tensor> each;
      each.reserve(indices.size());
      for (const std::int64_t i : indices) each.push_back(column.row(i));
      columns.emplace_back(std::move(each));
    }
  }
  return Chunk(chunk.structure(), static_cast<std::int64_t>(indices.size()), std::move(columns),
               chunk.origins().gather(indices));
}

namespace {

// Reads fixed-size fields and never past the end.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  bool get(T& value) {
    if (bytes_.size() < sizeof value) return false;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return true;
  }
  bool take(std::size_t n, std::span<const std::byte>& out) {
    if (bytes_.size() < n) return false;
    out = bytes_.first(n);
    bytes_ = bytes_.subspan(n);
    return true;
  }
  bool empty() const { return bytes_.empty(); }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

Status malformed() {
  Status status = bad_data(Code::kDataLoss, "stored element: bytes do not describe a tensor");
  status.edit().type = "CorruptFile";
  return status;
}

Result<Tensor> parse_tensor(const AccountPtr& account, FieldReader& in, Buffer::Ask ask) {
  std::uint8_t dtype = 0;
  std::uint8_t rank = 0;
  if (!in.get(dtype) || !in.get(rank) || dtype >= kDTypeCount) return malformed();
  std::vector<std::int64_t> dims(rank);
  std::int64_t count = 1;
  for (auto& dim : dims) {
    if (!in.get(dim) || dim < 0) return malformed();
    if (__builtin_mul_overflow(count, dim, &count)) return malformed();
  }
  const Shape shape{std::span<const std::int64_t>(dims)};
  const auto type = static_cast<DType>(dtype);
  std::span<const std::byte> payload;
  if (type == DType::kVariant) return malformed();
  if (type != DType::kString) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(count), size_of(type), &bytes) ||
        !in.take(bytes, payload)) {
      return malformed();
    }
    SW_ASSIGN(Tensor out, make_tensor(account, type, shape, ask));
    if (bytes > 0) std::memcpy(out.mutable_data(), payload.data(), bytes);
    out.buffer()->touch();
    return out;
  }
  // Every string costs at least its length field: a forged count cannot make us reserve.
  if (static_cast<std::size_t>(count) > in.left() / sizeof(std::uint64_t)) return malformed();
  std::vector<std::string_view> items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    if (!in.get(length) || !in.take(length, payload)) return malformed();
    items.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  return make_strings(account, shape, items, ask);
}

}  // namespace

Chunk select_rows(const AccountPtr& account, const Chunk& chunk,
                  std::span<const std::int64_t> indices) {
  if (auto copied = gather_rows(account, chunk, indices); copied.ok()) {
    return std::move(copied).value();
  }
  std::vector<Chunk> runs;
  for (std::size_t begin = 0; begin < indices.size();) {
    std::size_t end = begin + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    runs.push_back(chunk.slice(indices[begin], indices[end - 1] + 1));
    begin = end;
  }
  return join_rows(chunk.structure(), runs);
}

Status visit_row_bytes(std::span<const Tensor> values,
                       const std::function<void(std::span<const std::byte>)>& visit) {
  for (const Tensor& value : values) {
    if (value.dtype() == DType::kVariant) {
      return Status::error(ErrorKind::kUser, Code::kUnimplemented,
                           "an element that holds a dataset or an Optional cannot be stored");
    }
  }
  const auto field = [&](const auto& number) { visit(std::as_bytes(std::span(&number, 1))); };
  for (const Tensor& value : values) {
    field(static_cast<std::uint8_t>(value.dtype()));
    field(static_cast<std::uint8_t>(value.shape().rank()));
    for (const std::int64_t dim : value.shape().dims()) field(dim);
    if (value.dtype() == DType::kString) {
      for (std::int64_t i = 0; i < value.count(); ++i) {
        const std::string_view item = value.string_at(i);
        field(static_cast<std::uint64_t>(item.size()));
        visit(std::as_bytes(std::span(item.data(), item.size())));
      }
    } else {
      visit({value.data(), value.bytes()});
    }
  }
  return {};
}

Status append_row_bytes(std::span<const Tensor> values, std::vector<std::byte>& out) {
  return visit_row_bytes(values, [&](std::span<const std::byte> piece) {
    out.insert(out.end(), piece.begin(), piece.end());
  });
}

Result<std::vector<Tensor>> parse_row_bytes(const AccountPtr& account,
                                            std::span<const std::byte> bytes, Buffer::Ask ask) {
  std::vector<Tensor> out;
  FieldReader in(bytes);
  while (!in.empty()) {
    SW_ASSIGN(Tensor tensor, parse_tensor(account, in, ask));
    out.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace spillway
