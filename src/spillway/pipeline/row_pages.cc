#include "spillway/pipeline/row_pages.h"

#include <algorithm>
#include <cstring>

#include "spillway/base/bytes.h"
#include "spillway/memory/slab_pool.h"

namespace spillway {
namespace {

constexpr std::size_t kLeastPage = 4096;
// What one random read brings in and one checksum covers.
constexpr std::size_t kPart = 16 * kKiB;
constexpr int kIndexBits = 20;

std::uint32_t page_of(RowPages::Id id) { return static_cast<std::uint32_t>(id >> kIndexBits); }
std::uint32_t index_of(RowPages::Id id) {
  return static_cast<std::uint32_t>(id & ((1 << kIndexBits) - 1));
}
RowPages::Id id_of(std::uint32_t page, std::uint32_t index) {
  return (static_cast<RowPages::Id>(page) << kIndexBits) | index;
}

}  // namespace

Result<SpillSlot> LazySpill::write(std::span<const std::byte> bytes) {
  if (file_ == nullptr) {
    SW_ASSIGN(file_, SpillFile::create());
  }
  SW_ASSIGN(const SpillSlot slot, file_->write(bytes));
  if (written_ != nullptr) *written_ += static_cast<std::int64_t>(bytes.size());
  return slot;
}

RowPages::~RowPages() { clear(); }

std::size_t RowPages::clear() {
  std::size_t bytes = 0;
  for (const Page& page : pages_) {
    if (page.memory) bytes += page.memory->charged();
    disk_.release(page.place);
  }
  for (Kind& kind : kinds_) {
    kind.open.clear();
    kind.pages = 0;
  }
  std::vector<Page>().swap(pages_);
  pages_paid_.release();
  unused_.clear();
  resident_.clear();
  window_.reset();
  window_page_ = -1;
  return bytes;
}

std::size_t RowPages::kind_of(std::size_t bytes) {
  const auto [it, fresh] = kind_by_size_.try_emplace(bytes, kinds_.size());
  if (fresh) kinds_.push_back({bytes, {}, 0});
  return it->second;
}

std::byte* RowPages::claim(std::size_t kind, Id& id) {
  Kind& k = kinds_[kind];
  while (!k.open.empty()) {
    const std::uint32_t at = k.open.back();
    Page& page = pages_[at];
    if (!page.memory || page.kind != kind || page.full()) {
      if (page.kind == kind) page.listed = false;
      k.open.pop_back();
      continue;
    }
    std::int64_t index = page.free;
    std::byte* base = page.memory->data();
    if (index >= 0) {
      std::memcpy(&page.free, base + static_cast<std::size_t>(index) * k.record, sizeof page.free);
    } else {
      index = page.used++;
    }
    ++page.live;
    id = id_of(at, static_cast<std::uint32_t>(index));
    return base + static_cast<std::size_t>(index) * k.record;
  }
  return nullptr;
}

// Idle slabs give way first, then a page of our own, whose memory is used again as it is.
Result<Buffer> RowPages::memory_for(std::size_t record, std::size_t bytes) {
  auto got = Buffer::allocate(account_, bytes, Buffer::Ask::kOptional);
  if (!got.ok() && SlabPool::process().drop_idle(bytes) > 0) {
    got = Buffer::allocate(account_, bytes, Buffer::Ask::kOptional);
  }
  while (!got.ok()) {
    SW_ASSIGN(std::optional<Buffer> spilled, spill_one());
    if (!spilled) break;
    if (spilled->size() >= record) return std::move(*spilled);
    spilled.reset();
    got = Buffer::allocate(account_, bytes, Buffer::Ask::kOptional);
  }
  if (got.ok()) return got;
  return Buffer::allocate(account_, std::max(record, kPart), Buffer::Ask::kOwed);
}

std::uint32_t RowPages::new_page() {
  if (unused_.empty()) {
    if (pages_.size() == pages_.capacity()) {
      pages_.reserve(std::max<std::size_t>(8, 2 * pages_.size()));
      // With its checksums and its places in the lists.
      constexpr std::size_t kEach = sizeof(Page) + kPage / kPart * sizeof(std::uint32_t) + 48;
      Reservation more = account_->owe(pages_.capacity() * kEach - pages_paid_.bytes());
      more.touch();
      pages_paid_.absorb(more);
    }
    pages_.emplace_back();
    return static_cast<std::uint32_t>(pages_.size() - 1);
  }
  const std::uint32_t at = unused_.back();
  unused_.pop_back();
  return at;
}

Status RowPages::grow(std::size_t kind) {
  const std::size_t record = kinds_[kind].record;
  const std::size_t bytes = std::max(
      record, std::min(kPage, kLeastPage << std::min<std::uint32_t>(kinds_[kind].pages, 8)));
  SW_ASSIGN(Buffer memory, memory_for(record, bytes));
  memory.touch();
  const std::uint32_t at = new_page();
  Page& page = pages_[at];
  page.kind = kind;
  page.capacity = static_cast<std::uint32_t>(memory.size() / record);
  page.memory = std::move(memory);
  page.listed = true;
  kinds_[kind].open.push_back(at);
  ++kinds_[kind].pages;
  resident_.push_back(at);
  return {};
}

Status RowPages::write(Page& page, std::span<const std::byte> bytes) {
  SW_ASSIGN(page.place, disk_.write(bytes));
  page.checksums.clear();
  for (std::size_t at = 0; at < bytes.size(); at += kPart) {
    page.checksums.push_back(crc32c(bytes.subspan(at, std::min(kPart, bytes.size() - at))));
  }
  return {};
}

Result<std::optional<Buffer>> RowPages::spill_one() {
  // The newest full page: whoever reads in order needs the older ones first. Half-filled pages
  // only when there is nothing else.
  for (const bool want_full : {true, false}) {
    for (auto it = resident_.rbegin(); it != resident_.rend(); ++it) {
      Page& page = pages_[*it];
      if (want_full ? !page.full() : page.live == 0) continue;
      const std::size_t used = page.used * kinds_[page.kind].record;
      SW_RETURN_IF_ERROR(write(page, {page.memory->data(), used}));
      std::optional<Buffer> memory = std::exchange(page.memory, std::nullopt);
      page.free = -1;
      page.used = page.capacity;  // nothing is added on disk
      resident_.erase(std::next(it).base());
      return memory;
    }
  }
  return std::optional<Buffer>();
}

Result<const std::byte*> RowPages::read(Id id) {
  Page& page = pages_[page_of(id)];
  const std::size_t record = kinds_[page.kind].record;
  const std::size_t begin = index_of(id) * record;
  if (page.memory) return static_cast<const std::byte*>(page.memory->data() + begin);
  return fetch(page_of(id), begin, begin + record);
}

// Bytes [begin, end) of a page on disk. Reads whole parts, and the rest of the page too when the
// records are read in order.
Result<const std::byte*> RowPages::fetch(std::uint32_t at, std::size_t begin, std::size_t end) {
  const Page& page = pages_[at];
  const std::size_t length = page.place.length;
  const bool same = window_page_ == at;
  if (!same || begin < window_begin_ || end > window_end_) {
    std::size_t first = begin / kPart;
    std::size_t last = (end + kPart - 1) / kPart;
    const bool in_order =
        same ? window_end_ >= begin && begin >= window_begin_ : begin == 0 && window_at_end_;
    if (in_order) last = page.checksums.size();
    const std::size_t bytes = (last - first) * kPart;
    if (!window_ || window_->size() < bytes) {
      window_.reset();
      window_page_ = -1;
      SW_ASSIGN(Buffer buffer, Buffer::allocate(account_, bytes, Buffer::Ask::kOwed));
      window_ = std::move(buffer);
    }
    window_page_ = -1;
    for (std::size_t part = first; part < last; ++part) {
      const std::size_t from = part * kPart;
      const SpillSlot slot{page.place.offset + static_cast<std::int64_t>(from),
                           std::min(kPart, length - from), page.checksums[part]};
      SW_RETURN_IF_ERROR(disk_.file()->read(slot, window_->data() + (from - first * kPart)));
    }
    window_->touch();
    window_page_ = at;
    window_begin_ = first * kPart;
    window_end_ = std::min(length, last * kPart);
  }
  window_at_end_ = end == length;
  return static_cast<const std::byte*>(window_->data() + (begin - window_begin_));
}

void RowPages::free(Id id) {
  const std::uint32_t at = page_of(id);
  Page& page = pages_[at];
  --page.live;
  if (!page.memory) {
    if (page.live == 0) drop(at);
    return;
  }
  Kind& kind = kinds_[page.kind];
  // One page stays for the rows to come; a second empty one goes.
  const bool last_open = kind.open.empty() || (kind.open.size() == 1 && page.listed);
  if (page.live == 0 && !last_open) {
    drop(at);
    return;
  }
  const std::int64_t index = index_of(id);
  std::memcpy(page.memory->data() + static_cast<std::size_t>(index) * kind.record, &page.free,
              sizeof page.free);
  page.free = index;
  if (!page.listed) {
    page.listed = true;
    kind.open.push_back(at);
  }
}

void RowPages::drop(std::uint32_t at) {
  Page& page = pages_[at];
  if (page.memory) std::erase(resident_, at);
  if (page.listed) std::erase(kinds_[page.kind].open, at);
  disk_.release(page.place);
  if (window_page_ == at) window_page_ = -1;
  page = Page();
  unused_.push_back(at);
}

}  // namespace spillway
