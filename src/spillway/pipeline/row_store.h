#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"
#include "spillway/pipeline/row_pages.h"
#include "spillway/pipeline/stage.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

// Rows an operator may not give up (shuffle, cache, window, groups), kept in memory while there is
// room and on disk when there is none. Putting never waits for memory (R4): without room some rows,
// or the new one, go to a nameless file; a full disk is a kResource error and the row stays the
// caller's. Taking reserves the row as the element that is waited for.
//
// Small rows lie packed in pages, so that a million scalars do not cost a million tensors; rows
// from 64 KiB on keep their tensors and move their charge here. Rows with datasets or Optionals
// cannot be written and stay in memory. A row comes back with its origin.
//
// Thread-safe; the budget may ask for memory back on any thread at any time. A slot belongs to
// whoever put it: two threads must not take the same one.
class RowStore {
 public:
  using Slot = std::int64_t;
  static constexpr std::size_t kLargeRow = 64 * 1024;

  explicit RowStore(const StagePtr& stage);
  // `spilled` counts bytes written to disk; may be null.
  RowStore(AccountPtr account, Budget& budget, LazySpill::Counter spilled);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  Result<Slot> put(const Chunk& rows, std::int64_t row);
  Result<Slot> put(const Row& row);
  // An error of take() for want of memory leaves the row in its slot; DATA_LOSS uses it up.
  Result<Row> take(Slot slot) { return get(slot, Buffer::Ask::kRequired, account_, true); }
  Result<Row> peek(Slot slot) { return get(slot, Buffer::Ask::kRequired, account_, false); }
  void erase(Slot slot);
  // Of a row that stays.
  Result<Origin> origin(Slot slot);

  // The rows in this order as one chunk, in blocks where they are packed alike. With kOptional it
  // fails instead of waiting for memory; callers then ask for fewer. When it fails every row stays.
  Result<Chunk> take_rows(const StructurePtr& structure, std::span<const Slot> slots,
                          Buffer::Ask ask = Buffer::Ask::kRequired) {
    return get_rows(structure, slots, ask, account_, true);
  }
  Result<Chunk> peek_rows(const StructurePtr& structure, std::span<const Slot> slots) {
    return get_rows(structure, slots, Buffer::Ask::kRequired, account_, false);
  }
  // `payer` is charged for what had to be copied.
  Result<Chunk> peek_rows(const StructurePtr& structure, std::span<const Slot> slots,
                          Buffer::Ask ask, const AccountPtr& payer) {
    return get_rows(structure, slots, ask, payer, false);
  }

  // Forgets all rows; about how many bytes of memory that gave back. 0, and nothing changed, while
  // another thread is in here. Never waits.
  std::size_t drop_all();
  // Writes about `wanted` bytes of rows to disk and gives their memory back; what it freed, 0 also
  // while another thread is in here. Never waits. The budget calls it under pressure.
  std::size_t spill(std::size_t wanted);

  std::int64_t rows() const;
  std::size_t bytes_on_disk() const;

 private:
  struct Header {  // before each packed row
    std::int64_t ordinal;
    std::uint32_t scope;
    std::uint32_t length;
  };
  struct Component {  // of rows that are packed without a description of their own
    DType dtype;
    Shape shape;
    std::size_t bytes;
  };
  struct Stored {  // one component of a large row on disk
    DType dtype;
    Shape shape;
    SpillSlot data;
    SpillSlot offsets;  // strings
  };
  struct Large {
    std::vector<Tensor> values;
    std::vector<Stored> stored;
    Origin origin;
    bool plain = true;  // may be written
  };
  // What origins share, counted. Rows of nested datasets have a scope for each of them, which may
  // be as many as rows: those that differ only in the elements they were made from count as one,
  // and the record names these elements, innermost first.
  struct Scope {
    ScopePtr scope;
    std::int64_t weight = 1;
    std::int64_t uses = 0;
    std::int64_t levels = 0;  // elements that the record names
  };
  // What goes into a record: pieces of the usual layout, or the row's own description.
  struct Packed {
    std::vector<std::span<const std::byte>> pieces;
    std::vector<std::byte> own;
    std::size_t length = 0;
    std::size_t record = 0;
  };

  Result<Row> get(Slot slot, Buffer::Ask ask, const AccountPtr& payer, bool remove);
  Result<Row> get_large(Slot slot, Buffer::Ask ask, const AccountPtr& payer, bool remove);
  Result<Chunk> get_rows(const StructurePtr& structure, std::span<const Slot> slots,
                         Buffer::Ask ask, const AccountPtr& payer, bool remove);
  Result<std::optional<Chunk>> get_blocks(const StructurePtr& structure,
                                          std::span<const Slot> slots, Buffer::Ask ask,
                                          const AccountPtr& payer, bool remove);

  bool in_layout(std::span<const Tensor> values, std::vector<std::span<const std::byte>>& pieces);
  Result<Slot> put_packed(const Packed& row, const Origin& origin);
  Result<Slot> put_large(const Row& row);
  bool settle_in(Large& large) SW_REQUIRES(mutex_);
  Slot add_large(Large large) SW_REQUIRES(mutex_);
  void fill(std::byte* to, const Packed& row, const Origin& origin) SW_REQUIRES(mutex_);
  void free_slot(Slot slot, std::optional<std::uint32_t> scope) SW_REQUIRES(mutex_);
  std::uint32_t scope_id(const Origin& origin) SW_REQUIRES(mutex_);
  // What a record says of its row, and where the row begins in it.
  struct Labelled {
    Header header;
    Origin origin;
    const std::byte* row;
  };
  Labelled labelled(const std::byte* record) SW_REQUIRES(mutex_);
  Origins origins_of(std::span<const Labelled> rows) const SW_REQUIRES(mutex_);
  static Header header_of(const std::byte* record);
  std::size_t layout_record() const { return (sizeof(Header) + layout_bytes_ + 7) / 8 * 8; }
  void pay() SW_REQUIRES(mutex_);
  Status write_large(Large& large) SW_REQUIRES(mutex_);
  std::size_t spill_locked(std::size_t wanted) SW_REQUIRES(mutex_);
  void listen();

  const AccountPtr account_;
  Budget& budget_;
  mutable Mutex mutex_;
  LazySpill disk_ SW_GUARDED_BY(mutex_);
  RowPages pages_ SW_GUARDED_BY(mutex_);
  // Set by the first row that fits and never changed: read without the lock once set.
  std::vector<Component> layout_;
  std::size_t layout_bytes_ = 0;
  std::atomic<bool> has_layout_{false};
  std::vector<Large> large_ SW_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> free_large_ SW_GUARDED_BY(mutex_);
  std::vector<Scope> scopes_ SW_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> free_scopes_ SW_GUARDED_BY(mutex_);
  std::map<std::pair<const OriginScope*, std::int64_t>, std::uint32_t> scope_ids_
      SW_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::uint32_t> nested_ids_ SW_GUARDED_BY(mutex_);
  std::uint32_t last_scope_ SW_GUARDED_BY(mutex_) = 0;
  // The nested scope made last for a row that came back.
  std::uint32_t made_for_ SW_GUARDED_BY(mutex_) = 0;
  std::vector<std::int64_t> made_from_ SW_GUARDED_BY(mutex_);
  ScopePtr made_ SW_GUARDED_BY(mutex_);
  Reservation paid_ SW_GUARDED_BY(mutex_);  // for large_ and scopes_
  std::int64_t rows_ SW_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> listening_{false};
  Budget::Registration pressure_;  // last: no call comes in once it is gone
};

}  // namespace spillway
