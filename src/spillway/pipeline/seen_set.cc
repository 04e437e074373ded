#include "spillway/pipeline/seen_set.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/base/random.h"

namespace spillway {
namespace {

constexpr std::size_t kFirstCapacity = 64;
constexpr std::size_t kFilterBits = 10;  // a print: one look-up in a hundred goes to disk in vain
constexpr int kFilterProbes = 4;

// SipHash-2-4 with a result of 128 bits.
class SipHash {
 public:
  SipHash(std::uint64_t k0, std::uint64_t k1)
      : v0_(k0 ^ 0x736f6d6570736575ULL),
        v1_(k1 ^ 0x646f72616e646f6dULL ^ 0xee),
        v2_(k0 ^ 0x6c7967656e657261ULL),
        v3_(k1 ^ 0x7465646279746573ULL) {}

  std::array<std::uint64_t, 2> of(std::string_view bytes) {
    const std::size_t whole = bytes.size() / 8 * 8;
    for (std::size_t i = 0; i < whole; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      take(word);
    }
    std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
    for (std::size_t i = whole; i < bytes.size(); ++i) {
      last |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * (i - whole));
    }
    take(last);
    v2_ ^= 0xee;
    for (int i = 0; i < 4; ++i) round();
    const std::uint64_t first = v0_ ^ v1_ ^ v2_ ^ v3_;
    v1_ ^= 0xdd;
    for (int i = 0; i < 4; ++i) round();
    return {first, v0_ ^ v1_ ^ v2_ ^ v3_};
  }

 private:
  void round() {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }
  void take(std::uint64_t word) {
    v3_ ^= word;
    round();
    round();
    v0_ ^= word;
  }

  std::uint64_t v0_;
  std::uint64_t v1_;
  std::uint64_t v2_;
  std::uint64_t v3_;
};

// The places of a print in a filter of `words` words.
template <class F>
void each_bit(const std::array<std::uint64_t, 2>& print, std::size_t words, F&& f) {
  for (int i = 0; i < kFilterProbes; ++i) {
    const std::uint64_t bit =
        (print[0] + static_cast<std::uint64_t>(i) * (print[1] | 1)) % (words * 64);
    f(bit / 64, std::uint64_t{1} << (bit % 64));
  }
}

}  // namespace

// Takes prints in order, a page at a time to disk.
class SeenSet::RunWriter {
 public:
  RunWriter(LazySpill& disk, Run run) : disk_(disk), run_(std::move(run)) {
    page_.reserve(kPrintsAPage);
  }
  Status add(const Print& print) {
    page_.push_back(print);
    each_bit(print, run_.filter.size(),
             [&](std::size_t word, std::uint64_t bit) { run_.filter[word] |= bit; });
    ++run_.count;
    return page_.size() == kPrintsAPage ? end_page() : Status();
  }
  Result<Run> finish() {
    if (!page_.empty()) SW_RETURN_IF_ERROR(end_page());
    return std::move(run_);
  }

 private:
  Status end_page() {
    SW_ASSIGN(const SpillSlot slot, disk_.write(std::as_bytes(std::span(page_))));
    run_.pages.push_back(slot);
    run_.firsts.push_back(page_.front());
    page_.clear();
    return {};
  }

  LazySpill& disk_;
  Run run_;
  std::vector<Print> page_;
};

// Hands prints out in order.
class SeenSet::RunReader {
 public:
  RunReader(SeenSet& set, const Run& run) : set_(set), run_(run) {}
  // Null at the end.
  Result<const Print*> peek() {
    if (at_ == prints_.size()) {
      if (page_ == run_.pages.size()) return nullptr;
      SW_RETURN_IF_ERROR(set_.read_page(run_.pages[page_++], prints_));
      at_ = 0;
    }
    return &prints_[at_];
  }
  void pop() { ++at_; }

 private:
  SeenSet& set_;
  const Run& run_;
  std::vector<Print> prints_;
  std::size_t page_ = 0;
  std::size_t at_ = 0;
};

SeenSet::SeenSet(AccountPtr account, Budget& budget, LazySpill::Counter spilled)
    : account_(std::move(account)),
      budget_(budget),
      disk_(std::move(spilled)),
      key_{entropy64(), entropy64()} {}

SeenSet::~SeenSet() {
  for (Run& run : runs_) release(run);
}

void SeenSet::release(Run& run) {
  for (const SpillSlot& slot : run.pages) disk_.release(slot);
}

SeenSet::Print SeenSet::print_of(std::string_view value) const {
  Print print = SipHash(key_[0], key_[1]).of(value);
  if (print == Print{}) print[1] = 1;
  return print;
}

SeenSet::Print& SeenSet::slot_of(const Print& print) {
  std::size_t at = print[0] & (capacity_ - 1);
  while (slots()[at] != Print{} && slots()[at] != print) at = (at + 1) & (capacity_ - 1);
  return slots()[at];
}

Result<bool> SeenSet::add(std::string_view value) {
  SW_RETURN_IF_ERROR(broken_);
  const Print print = print_of(value);
  if (capacity_ > 0 && slot_of(print) == print) return false;
  for (const Run& run : runs_) {
    auto there = on_disk(run, print);
    if (!there.ok()) {
      broken_ = there.error();
      return broken_;
    }
    if (there.value()) return false;
  }
  if ((used_ + 1) * 4 > capacity_ * 3) SW_RETURN_IF_ERROR(make_room());
  slot_of(print) = print;
  ++used_;
  ++size_;
  return true;
}

Result<bool> SeenSet::on_disk(const Run& run, const Print& print) {
  bool may = true;
  each_bit(print, run.filter.size(), [&](std::size_t word, std::uint64_t bit) {
    may = may && (run.filter[word] & bit) != 0;
  });
  if (!may) return false;
  const auto behind = std::ranges::upper_bound(run.firsts, print);
  if (behind == run.firsts.begin()) return false;
  const auto page = static_cast<std::size_t>(behind - run.firsts.begin()) - 1;
  SW_RETURN_IF_ERROR(read_page(run.pages[page], page_));
  return std::ranges::binary_search(page_, print);
}

Status SeenSet::read_page(const SpillSlot& slot, std::vector<Print>& out) {
  out.resize(slot.length / sizeof(Print));
  return disk_.file()->read(slot, reinterpret_cast<std::byte*>(out.data()));
}

Status SeenSet::make_room() {
  const std::size_t wanted = std::max(kFirstCapacity, capacity_ * 2);
  const std::size_t bytes = wanted * sizeof(Print);
  const bool first = capacity_ == 0;
  if (first || bytes <= budget_.effective_limit() / 4) {
    auto larger =
        Buffer::allocate(account_, bytes, first ? Buffer::Ask::kRequired : Buffer::Ask::kOptional);
    if (larger.ok()) return grow(std::move(larger).value(), wanted);
    if (first) return std::move(larger).status();
  }
  return flush();
}

Status SeenSet::grow(Buffer larger, std::size_t capacity) {
  std::memset(larger.data(), 0, capacity * sizeof(Print));
  larger.touch();
  std::optional<Buffer> before = std::exchange(table_, std::move(larger));
  const std::size_t slots_before = std::exchange(capacity_, capacity);
  const auto* old = before ? reinterpret_cast<const Print*>(before->data()) : nullptr;
  for (std::size_t i = 0; i < slots_before; ++i) {
    if (old[i] != Print{}) slot_of(old[i]) = old[i];
  }
  return {};
}

// The bookkeeping of a run of up to `most` prints, paid for.
Result<SeenSet::Run> SeenSet::start_run(std::int64_t most) {
  const auto prints = static_cast<std::size_t>(most);
  const std::size_t words = prints * kFilterBits / 64 + 1;
  const std::size_t pages = prints / kPrintsAPage + 1;
  Run run;
  SW_ASSIGN(run.paid, account_->reserve(words * 8 + pages * (sizeof(SpillSlot) + sizeof(Print))));
  run.paid.touch();
  run.filter.assign(words, 0);
  run.pages.reserve(pages);
  run.firsts.reserve(pages);
  return run;
}

Status SeenSet::flush() {
  SW_ASSIGN(Run run, start_run(static_cast<std::int64_t>(used_)));
  // From here on the table is no table any more until it is empty.
  Print* const begin = slots();
  Print* const end = std::remove(begin, begin + capacity_, Print{});
  std::sort(begin, end);
  RunWriter writer(disk_, std::move(run));
  for (const Print* print = begin; print != end && broken_.ok(); ++print) {
    broken_ = writer.add(*print);
  }
  SW_RETURN_IF_ERROR(broken_);
  auto written = writer.finish();
  if (!written.ok()) broken_ = written.error();
  SW_RETURN_IF_ERROR(broken_);
  runs_.push_back(std::move(written).value());
  std::memset(table_->data(), 0, capacity_ * sizeof(Print));
  used_ = 0;
  while (runs_.size() > 1 && runs_[runs_.size() - 2].count <= 2 * runs_.back().count) {
    if (Status merged = merge_last_two(); !merged.ok()) {
      if (merged.info().type == "BudgetError") return {};  // two runs do as well
      broken_ = merged;
      return merged;
    }
  }
  return {};
}

Status SeenSet::merge_last_two() {
  Run& a = runs_[runs_.size() - 2];
  Run& b = runs_.back();
  SW_ASSIGN(Run run, start_run(a.count + b.count));
  RunWriter writer(disk_, std::move(run));
  RunReader left(*this, a);
  RunReader right(*this, b);
  for (;;) {
    SW_ASSIGN(const Print* x, left.peek());
    SW_ASSIGN(const Print* y, right.peek());
    if (x == nullptr && y == nullptr) break;
    RunReader& next = y == nullptr || (x != nullptr && *x < *y) ? left : right;
    SW_RETURN_IF_ERROR(writer.add(&next == &left ? *x : *y));
    next.pop();
  }
  SW_ASSIGN(Run merged, writer.finish());
  release(a);
  release(b);
  runs_.pop_back();
  runs_.back() = std::move(merged);
  return {};
}

}  // namespace spillway
