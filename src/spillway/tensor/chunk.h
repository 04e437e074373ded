#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spillway/tensor/origin.h"
#include "spillway/tensor/structure.h"
#include "spillway/tensor/tensor.h"

namespace spillway {

// One component of some rows: one block [rows, ...] when the shapes agree, else a tensor a row.
class Column {
 public:
  Column() = default;
  explicit Column(Tensor block) : block_(std::move(block)), is_block_(true) {}
  explicit Column(std::vector<Tensor> each) : each_(std::move(each)) {}

  bool is_block() const { return is_block_; }
  const Tensor& block() const { return block_; }
  const std::vector<Tensor>& each() const { return each_; }
  Tensor row(std::int64_t i) const {
    return is_block_ ? block_.row(i) : each_[static_cast<std::size_t>(i)];
  }
  Column slice(std::int64_t begin, std::int64_t end) const;

 private:
  Tensor block_;
  std::vector<Tensor> each_;
  bool is_block_ = false;
};

// One element by itself.
struct Row {
  std::vector<Tensor> values;
  Origin origin;
  std::size_t footprint() const;
};

// Up to N rows, columnar. What operators hand to each other. Copies share the bytes.
class Chunk {
 public:
  Chunk() = default;
  Chunk(StructurePtr structure, std::int64_t rows, std::vector<Column> columns, Origins origins)
      : structure_(std::move(structure)),
        rows_(rows),
        columns_(std::move(columns)),
        origins_(std::move(origins)) {}
  static Chunk from_row(StructurePtr structure, Row row);
  // Rows of any shapes; a tensor a row and component.
  static Chunk from_rows(StructurePtr structure, std::vector<Row> rows);

  std::int64_t rows() const { return rows_; }
  const StructurePtr& structure() const { return structure_; }
  const std::vector<Column>& columns() const { return columns_; }
  const Origins& origins() const { return origins_; }
  // Of all rows, or of the first `rows`. Costs per chunk where origins are regular.
  Amount amount() const { return amount(rows_); }
  Amount amount(std::int64_t rows) const { return {rows, origins_.total_weight(rows)}; }
  Row row(std::int64_t i) const;
  Chunk slice(std::int64_t begin, std::int64_t end) const;
  Chunk with_structure(StructurePtr structure) const;
  Chunk with_origins(Origins origins) const;
  std::size_t footprint() const;

 private:
  StructurePtr structure_;
  std::int64_t rows_ = 0;
  std::vector<Column> columns_;
  Origins origins_;
};

// One chunk of all the rows, sharing blocks where they lie side by side in one buffer and copying
// nothing: columns that cannot be shared become one tensor a row.
Chunk join_rows(const StructurePtr& structure, std::span<const Chunk> chunks);
// The rows `indices` of `chunk`, copied into blocks where the column is a block.
Result<Chunk> gather_rows(const AccountPtr& account, const Chunk& chunk,
                          std::span<const std::int64_t> indices);
// The same, for rows in order that must not be lost: without room for copies, a chunk that shares
// the rows where they are.
Chunk select_rows(const AccountPtr& account, const Chunk& chunk,
                  std::span<const std::int64_t> indices);
// Values of a chunk's rows as bytes and back: for spill files, caches and checkpoints. Variants
// cannot be written: kUser error.
Status append_row_bytes(std::span<const Tensor> values, std::vector<std::byte>& out);
Result<std::vector<Tensor>> parse_row_bytes(const AccountPtr& account,
                                            std::span<const std::byte> bytes,
                                            Buffer::Ask ask = Buffer::Ask::kRequired);

}  // namespace spillway
