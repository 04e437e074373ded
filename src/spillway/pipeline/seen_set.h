#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "spillway/memory/buffer.h"
#include "spillway/pipeline/row_pages.h"

namespace spillway {

// Which values came before, by a fingerprint of 128 bits under a secret key: that two values are
// taken for one has a chance of 2^-64 after four thousand million of them, and nobody can arrange
// it. In memory it takes up to a quarter of the limit; then sorted runs of fingerprints go to disk,
// and about 1.4 bytes a value stay: a filter that answers nearly every look-up for a new value, and
// where the run's pages are. Not thread-safe.
class SeenSet {
 public:
  SeenSet(AccountPtr account, Budget& budget, LazySpill::Counter spilled);
  ~SeenSet();
  SeenSet(const SeenSet&) = delete;
  SeenSet& operator=(const SeenSet&) = delete;

  // Whether `value` is new; then it is there. After BudgetError it may be tried again.
  Result<bool> add(std::string_view value);
  std::int64_t size() const { return size_; }
  std::size_t runs() const { return runs_.size(); }

 private:
  using Print = std::array<std::uint64_t, 2>;  // {0, 0}: no value
  static constexpr std::size_t kPrintsAPage = 4096 / sizeof(Print);

  // Prints on disk, in order.
  struct Run {
    std::int64_t count = 0;
    std::vector<SpillSlot> pages;
    std::vector<Print> firsts;  // of each page
    std::vector<std::uint64_t> filter;
    Reservation paid;
  };
  class RunWriter;
  class RunReader;

  Print print_of(std::string_view value) const;
  Print* slots() { return reinterpret_cast<Print*>(table_->data()); }
  // Where `print` is in the table, or would be.
  Print& slot_of(const Print& print);
  Result<bool> on_disk(const Run& run, const Print& print);
  // Room for one more in the table: a larger one, or its content goes to disk.
  Status make_room();
  Status grow(Buffer larger, std::size_t capacity);
  Status flush();
  Status merge_last_two();
  Result<Run> start_run(std::int64_t most);
  Status read_page(const SpillSlot& slot, std::vector<Print>& out);
  void release(Run& run);

  const AccountPtr account_;
  Budget& budget_;
  LazySpill disk_;
  const Print key_;
  std::optional<Buffer> table_;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t used_ = 0;
  std::vector<Run> runs_;  // each more than twice the next
  std::vector<Print> page_;
  Status broken_;  // a run could not be written or read
  std::int64_t size_ = 0;
};

}  // namespace spillway
