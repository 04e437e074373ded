#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spillway/memory/buffer.h"
#include "spillway/memory/spill_file.h"

namespace spillway {

// A spill file made when it is first written to.
class LazySpill {
 public:
  using Counter = std::shared_ptr<std::atomic<std::int64_t>>;
  explicit LazySpill(Counter written) : written_(std::move(written)) {}
  Result<SpillSlot> write(std::span<const std::byte> bytes);
  SpillFile* file() { return file_.get(); }
  void release(const SpillSlot& slot) {
    if (slot.offset >= 0) file_->release(slot);
  }
  std::size_t bytes_on_disk() const { return file_ == nullptr ? 0 : file_->bytes_on_disk(); }

 private:
  const Counter written_;  // bytes, may be null
  std::unique_ptr<SpillFile> file_;
};

// Small records of a few sizes, packed in pages; a page is in memory or, as a whole, on disk. A
// freed record of a page in memory is used again, so that a buffer whose rows come and go stays as
// dense as it began. Pages grow with their number up to 256 KiB. Not thread-safe.
class RowPages {
 public:
  using Id = std::int64_t;
  static constexpr std::size_t kPage = 256 * 1024;
  static constexpr std::size_t kLeastRecord = 16;

  RowPages(AccountPtr account, LazySpill& disk) : account_(std::move(account)), disk_(disk) {}
  ~RowPages();
  RowPages(const RowPages&) = delete;
  RowPages& operator=(const RowPages&) = delete;

  // Records of exactly `bytes`.
  std::size_t kind_of(std::size_t bytes);

  // Where to write a new record, and its id; null when no page in memory has room.
  std::byte* claim(std::size_t kind, Id& id);
  // One more page, if need be in the memory of one that goes to disk; the first small one even on
  // credit. Never waits. Fails when the disk does.
  Status grow(std::size_t kind);

  // Valid until the next call of any method.
  Result<const std::byte*> read(Id id);
  void free(Id id);

  // Writes one page to disk and gives back its memory: nothing when there is no page to write.
  Result<std::optional<Buffer>> spill_one();
  // Forgets everything; the bytes of memory given back.
  std::size_t clear();

 private:
  struct Page {
    std::optional<Buffer> memory;
    std::size_t kind = 0;
    std::uint32_t capacity = 0;
    std::uint32_t used = 0;  // records handed out at least once
    std::uint32_t live = 0;
    std::int64_t free = -1;  // first free record; each holds the next
    bool listed = false;     // in its kind's `open`
    SpillSlot place;
    std::vector<std::uint32_t> checksums;  // a part each
    bool full() const { return free < 0 && used == capacity; }
  };
  struct Kind {
    std::size_t record = 0;
    std::vector<std::uint32_t> open;  // pages that may have room
    std::uint32_t pages = 0;          // ever made
  };

  std::uint32_t new_page();
  Result<Buffer> memory_for(std::size_t record, std::size_t bytes);
  Status write(Page& page, std::span<const std::byte> bytes);
  Result<const std::byte*> fetch(std::uint32_t page, std::size_t begin, std::size_t end);
  void drop(std::uint32_t page);

  const AccountPtr account_;
  LazySpill& disk_;
  std::vector<Kind> kinds_;
  std::map<std::size_t, std::size_t> kind_by_size_;
  std::vector<Page> pages_;
  Reservation pages_paid_;               // for what is known of each
  std::vector<std::uint32_t> unused_;    // ids of pages that are gone
  std::vector<std::uint32_t> resident_;  // in memory, oldest first
  // The parts last read, [begin, end) of one page: records read in order cost one read a page.
  std::optional<Buffer> window_;
  std::int64_t window_page_ = -1;
  std::size_t window_begin_ = 0;
  std::size_t window_end_ = 0;
  bool window_at_end_ = false;
};

}  // namespace spillway
