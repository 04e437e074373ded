#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spillway/graph/op.h"
#include "spillway/memory/filling.h"
#include "spillway/pipeline/string_joining.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

// The structure of batches: every component with one more leading dimension. Null stays null.
StructurePtr batched_structure(const StructurePtr& element, std::int64_t leading);
// How many batches `rows` elements make; passes kInfinite and kUnknownCount through.
std::int64_t batched_count(std::int64_t rows, std::int64_t size, bool drop_remainder);

// Collects the rows of one batch. Rows that lie side by side in one buffer are shared; from the
// first one that does not, rows are copied into the output as they come, so that the inputs can go
// (rule R5). A large output is charged as it is filled (Filling): a batch and its rows need the
// memory of one batch and one row. Strings and variants, whose size is not known before, are kept
// and copied at the end. One thread.
class RowGatherer {
 public:
  // A row whose shape differs from the first one's.
  struct Mismatch {
    std::size_t component = 0;
    Shape first;
    Shape shape;
    std::int64_t row = 0;
    std::int64_t weight = 1;  // its source rows
    std::string origin;
  };

  // `most`: rows of the batch. `likely`: as many are left in the input; -1: unknown.
  RowGatherer(AccountPtr account, std::int64_t most, std::int64_t likely)
      : account_(std::move(account)), most_(most), likely_(likely) {}

  // No batch, only places [rows, ...] for claim() to hand out, in order; a component may have none
  // (no value), and then gets none. Whose they are touches them.
  explicit RowGatherer(std::vector<Tensor> offered)
      : most_(0), likely_(0), offered_(std::move(offered)) {}

  // kResource when the output cannot be reserved: then none of `rows` was added, and the same may
  // be tried again. Rows of another shape are counted, not kept.
  Status add(const Chunk& rows);
  // The places of the next `rows` rows, [rows, ...] each, for whoever makes them: add() then finds
  // them there and copies nothing. A place is handed out once. Empty where it is no help or no room
  // is left: rows that make a batch by themselves, that are small, or strings.
  std::vector<Tensor> claim(std::span<const graph::Spec> row, std::int64_t rows);
  // Before more rows are asked for: those that wait here count as the batch (waiting_rows.h).
  void count_waiting();
  std::int64_t rows() const { return rows_; }
  std::int64_t most() const { return most_; }
  Amount amount() const { return {rows_, rows_ == 0 ? 0 : origin_.weight}; }
  // Of the first component that has one, as TensorFlow looks at them.
  const Mismatch* mismatch() const;
  // The rows as one element: components [rows(), ...]. Only without a mismatch, and once: but when
  // it fails for want of memory it may be tried again.
  Result<Row> finish();

 private:
  struct Part {
    std::vector<Tensor> pieces;        // views or strings, [n, ...] each; side by side ones joined
    std::size_t counted = 0;           // of the pieces, by count_waiting()
    Tensor out;                        // rows are copied here once it has a value
    std::unique_ptr<Filling> filling;  // of `out`, where it is large
    std::unique_ptr<StringJoining> joining;  // of strings, begun by finish()
    Tensor joined;                           // the pieces as one, once there was room
    std::int64_t capacity = 0;
    std::int64_t claimed = 0;  // places of `out` handed out
    Shape shape;               // of a row
    std::int64_t rows = 0;
    std::optional<Mismatch> mismatch;
  };
  Status add_block(Part& part, const Tensor& block);
  Status add_row(Part& part, const Tensor& row);
  Status copy_in(Part& part, const Tensor& block);
  Status make_room(Part& part, DType dtype, std::int64_t rows);
  Result<Tensor> finish_pieces(Part& part);
  Tensor finish_copied(Part& part);
  bool reserve(std::span<const graph::Spec> row, std::int64_t rows);
  std::vector<Tensor> claim_offered(std::span<const graph::Spec> row, std::int64_t rows);
  static std::int64_t free_from(const Part& part);
  static void cut(Part& part, std::int64_t rows);
  void note_mismatch(Part& part, const Shape& shape);

  const AccountPtr account_;
  const std::int64_t most_;
  const std::int64_t likely_;
  std::vector<Part> parts_;
  std::vector<Tensor> offered_;
  std::int64_t offered_before_ = 0;  // rows of them that were handed out
  std::int64_t rows_ = 0;
  Origin origin_;
};

}  // namespace spillway
