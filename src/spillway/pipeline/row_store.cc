#include "spillway/pipeline/row_store.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/run.h"
#include "spillway/tensor/string_rows.h"

namespace spillway {
namespace {

constexpr RowStore::Slot kLargeBit = RowStore::Slot{1} << 62;
bool is_large(RowStore::Slot slot) { return (slot & kLargeBit) != 0; }
std::size_t large_index(RowStore::Slot slot) { return static_cast<std::size_t>(slot ^ kLargeBit); }

// The length of packed rows that need no description of their own.
constexpr std::uint32_t kInLayout = UINT32_MAX;

// Sizes of records for rows that differ: an eighth of the power of two below apart.
std::size_t rounded_record(std::size_t bytes) {
  std::size_t step = 16;
  while (step * 16 <= bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

// Whether a buffer is the user's own: keeping a view of it costs us nothing.
bool is_users(const Tensor& t) { return t.buffer()->adopted() && t.buffer()->charged() == 0; }

bool shared_by_others(const Tensor& t) {
  return t.buffer().use_count() > 1 ||
         (t.dtype() == DType::kString && t.string_offsets().use_count() > 1);
}

// Datasets that a scope is nested in.
std::int64_t levels_of(const OriginScope* scope) {
  std::int64_t levels = 0;
  for (; scope != nullptr && scope->outer.scope != nullptr; scope = scope->outer.scope.get()) {
    ++levels;
  }
  return levels;
}

// Whether two nested scopes differ at most in the elements they were made from.
bool alike(const OriginScope& a, const OriginScope& b) {
  if (&a == &b) return true;
  if (a.epoch != b.epoch || a.outer.weight != b.outer.weight) return false;
  if (a.source != b.source || a.file != b.file) return false;
  if (a.outer.scope == b.outer.scope) return true;
  // Scopes of sources are told apart by themselves.
  return a.outer.scope != nullptr && b.outer.scope != nullptr &&
         a.outer.scope->outer.scope != nullptr && b.outer.scope->outer.scope != nullptr &&
         alike(*a.outer.scope, *b.outer.scope);
}

// Equal for those alike, and for no others.
std::string key_of(const OriginScope& scope, std::int64_t weight) {
  std::string key = std::to_string(weight);
  const OriginScope* at = &scope;
  for (; at->outer.scope != nullptr; at = at->outer.scope.get()) {
    key += '|' + std::to_string(at->epoch) + ',' + std::to_string(at->outer.weight) + ',' +
           std::to_string(at->source.size()) + at->source + std::to_string(at->file.size()) +
           at->file;
  }
  return key + '|' + std::to_string(reinterpret_cast<std::uintptr_t>(at));
}

// `like`, made from other elements.
ScopePtr nested_in(const OriginScope& like, std::span<const std::int64_t> ordinals) {
  if (ordinals.empty()) return nullptr;
  OriginScope scope = like;
  scope.outer.ordinal = ordinals[0];
  if (ordinals.size() > 1) scope.outer.scope = nested_in(*like.outer.scope, ordinals.subspan(1));
  return std::make_shared<const OriginScope>(std::move(scope));
}

std::size_t charged(const Tensor& t) {
  return t.buffer()->charged() + (t.dtype() == DType::kString ? t.string_offsets()->charged() : 0);
}

}  // namespace

RowStore::RowStore(const StagePtr& stage)
    : RowStore(stage->account(), stage->run().budget(),
               LazySpill::Counter(stage, &stage->stats().spilled_bytes)) {}

RowStore::RowStore(AccountPtr account, Budget& budget, LazySpill::Counter spilled)
    : account_(std::move(account)),
      budget_(budget),
      disk_(std::move(spilled)),
      pages_(account_, disk_) {}

RowStore::~RowStore() { pressure_.reset(); }

// Nothing to give back, nothing to ask for: a store without rows is not known to the budget.
void RowStore::listen() {
  if (listening_.exchange(true)) return;
  pressure_ = budget_.on_pressure(ReclaimOrder::kSpill,
                                  [this](std::size_t wanted) { return spill(wanted); });
}

// ---- Putting

bool RowStore::in_layout(std::span<const Tensor> values,
                         std::vector<std::span<const std::byte>>& pieces) {
  if (!has_layout_) {
    for (const Tensor& value : values) {
      if (!is_plain(value.dtype())) return false;
    }
    const MutexLock lock(mutex_);
    if (!has_layout_) {
      for (const Tensor& value : values) {
        layout_.push_back({value.dtype(), value.shape(), value.bytes()});
        layout_bytes_ += value.bytes();
      }
      has_layout_ = true;
    }
  }
  if (values.size() != layout_.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].dtype() != layout_[i].dtype || !(values[i].shape() == layout_[i].shape)) {
      return false;
    }
    pieces.emplace_back(values[i].data(), layout_[i].bytes);
  }
  return true;
}

Result<RowStore::Slot> RowStore::put(const Chunk& rows, std::int64_t row) {
  // Blocks of the usual layout are copied without making a tensor a row.
  if (has_layout_ && rows.columns().size() == layout_.size()) {
    Packed packed;
    for (std::size_t c = 0; c < layout_.size(); ++c) {
      const Column& column = rows.columns()[c];
      const Component& usual = layout_[c];
      if (!column.is_block() || column.block().dtype() != usual.dtype) break;
      const auto dims = column.block().shape().dims();
      if (!std::ranges::equal(dims.subspan(1), usual.shape.dims())) break;
      packed.pieces.emplace_back(
          column.block().data() + static_cast<std::size_t>(row) * usual.bytes, usual.bytes);
    }
    if (packed.pieces.size() == layout_.size()) {
      packed.length = layout_bytes_;
      packed.record = layout_record();
      return put_packed(packed, rows.origins().at(row));
    }
  }
  return put(rows.row(row));
}

Result<RowStore::Slot> RowStore::put(const Row& row) {
  const bool has_variant =
      std::ranges::any_of(row.values, [](const Tensor& t) { return t.dtype() == DType::kVariant; });
  if (has_variant || row.footprint() >= kLargeRow) return put_large(row);
  Packed packed;
  if (in_layout(row.values, packed.pieces)) {
    packed.length = layout_bytes_;
    packed.record = layout_record();
  } else {
    packed.pieces.clear();
    SW_RETURN_IF_ERROR(append_row_bytes(row.values, packed.own));
    packed.length = packed.own.size();
    packed.record = rounded_record(sizeof(Header) + packed.length);
  }
  return put_packed(packed, row.origin);
}

void RowStore::fill(std::byte* to, const Packed& row, const Origin& origin) {
  const bool own = row.pieces.empty();
  const Header header{origin.ordinal, scope_id(origin),
                      own ? static_cast<std::uint32_t>(row.length) : kInLayout};
  std::memcpy(to, &header, sizeof header);
  to += sizeof header;
  const OriginScope* scope = origin.scope.get();
  for (; scope != nullptr && scope->outer.scope != nullptr; scope = scope->outer.scope.get()) {
    std::memcpy(to, &scope->outer.ordinal, sizeof scope->outer.ordinal);
    to += sizeof scope->outer.ordinal;
  }
  if (own && row.length > 0) std::memcpy(to, row.own.data(), row.length);
  for (const auto& piece : row.pieces) {
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
}

Result<RowStore::Slot> RowStore::put_packed(const Packed& row, const Origin& origin) {
  listen();
  const std::size_t record =
      row.record + static_cast<std::size_t>(levels_of(origin.scope.get())) * sizeof(std::int64_t);
  for (bool asked = false;; asked = true) {
    Status full;
    {
      const MutexLock lock(mutex_);
      const std::size_t kind = pages_.kind_of(record);
      Slot slot = 0;
      std::byte* to = pages_.claim(kind, slot);
      if (to == nullptr) {
        full = pages_.grow(kind);
        if (full.ok()) to = pages_.claim(kind, slot);
      }
      if (to != nullptr) {
        fill(to, row, origin);
        ++rows_;
        return slot;
      }
    }
    // Our own rows cannot go to disk: others may have something to give. Not under our lock.
    if (asked || budget_.reclaim(record) == 0) return full;
  }
}

// Moves a large row's charge here, copying what is only a view into something larger. False, and
// nothing lost, when there is no room.
bool RowStore::settle_in(Large& large) {
  for (Tensor& value : large.values) {
    if (value.dtype() == DType::kVariant || is_users(value)) continue;
    if (!value.owns_whole_buffer()) {
      auto copy = compact(account_, value, Buffer::Ask::kOptional);
      if (!copy.ok()) return false;
      value = std::move(copy).value();
      continue;
    }
    if (!value.buffer()->transfer(account_)) return false;
    if (value.dtype() == DType::kString && !value.string_offsets()->transfer(account_)) {
      return false;
    }
  }
  return true;
}

Result<RowStore::Slot> RowStore::put_large(const Row& row) {
  listen();
  Large large{row.values, {}, row.origin, true};
  for (const Tensor& value : row.values) large.plain &= value.dtype() != DType::kVariant;
  const std::size_t bytes = row.footprint();
  for (int attempt = 0;; ++attempt) {
    {
      const MutexLock lock(mutex_);
      // A row that cannot be written stays in memory, room or not.
      if (settle_in(large) || (attempt == 3 && !large.plain)) return add_large(std::move(large));
      if (attempt == 3) {
        large.values = row.values;
        SW_RETURN_IF_ERROR(write_large(large));
        return add_large(std::move(large));
      }
      if (SlabPool::process().drop_idle(bytes) > 0 || spill_locked(bytes) > 0) continue;
    }
    if (budget_.reclaim(bytes) == 0) attempt = 2;
  }
}

RowStore::Slot RowStore::add_large(Large large) {
  std::size_t at = large_.size();
  if (!free_large_.empty()) {
    at = free_large_.back();
    free_large_.pop_back();
    large_[at] = std::move(large);
  } else {
    large_.push_back(std::move(large));
    pay();
  }
  ++rows_;
  return static_cast<Slot>(at) | kLargeBit;
}

// ---- Origins

std::uint32_t RowStore::scope_id(const Origin& origin) {
  const std::int64_t levels = levels_of(origin.scope.get());
  if (last_scope_ < scopes_.size()) {
    Scope& last = scopes_[last_scope_];
    const bool same = last.scope == origin.scope ||
                      (levels > 0 && last.levels == levels && alike(*last.scope, *origin.scope));
    if (last.uses > 0 && same && last.weight == origin.weight) {
      ++last.uses;
      return last_scope_;
    }
  }
  std::uint32_t* id = nullptr;
  bool fresh = false;
  if (levels > 0) {
    const auto [it, added] = nested_ids_.try_emplace(key_of(*origin.scope, origin.weight), 0);
    id = &it->second;
    fresh = added;
  } else {
    const auto [it, added] = scope_ids_.try_emplace({origin.scope.get(), origin.weight}, 0);
    id = &it->second;
    fresh = added;
  }
  if (fresh) {
    if (free_scopes_.empty()) {
      *id = static_cast<std::uint32_t>(scopes_.size());
      scopes_.emplace_back();
      pay();
    } else {
      *id = free_scopes_.back();
      free_scopes_.pop_back();
    }
    scopes_[*id] = {origin.scope, origin.weight, 0, levels};
  }
  last_scope_ = *id;
  ++scopes_[last_scope_].uses;
  return last_scope_;
}

RowStore::Labelled RowStore::labelled(const std::byte* record) {
  const Header header = header_of(record);
  record += sizeof header;
  const Scope& scope = scopes_[header.scope];
  const auto levels = static_cast<std::size_t>(scope.levels);
  if (levels == 0) return {header, {scope.scope, header.ordinal, scope.weight}, record};
  std::vector<std::int64_t> ordinals(levels);
  std::memcpy(ordinals.data(), record, levels * sizeof(std::int64_t));
  if (made_ == nullptr || made_for_ != header.scope || made_from_ != ordinals) {
    made_ = nested_in(*scope.scope, ordinals);
    made_for_ = header.scope;
    made_from_ = std::move(ordinals);
  }
  return {header, {made_, header.ordinal, scope.weight}, record + levels * sizeof(std::int64_t)};
}

RowStore::Header RowStore::header_of(const std::byte* record) {
  Header header;
  std::memcpy(&header, record, sizeof header);
  return header;
}

// What stays in memory of large rows on disk, and of scopes.
void RowStore::pay() {
  constexpr std::size_t kALargeRow = 384;
  constexpr std::size_t kAScope = 384;
  const std::size_t bytes = large_.size() * kALargeRow + scopes_.size() * kAScope;
  if (bytes <= paid_.bytes() || large_.size() + scopes_.size() <= 64) return;
  Reservation more = account_->owe(bytes + bytes / 2 - paid_.bytes());
  more.touch();
  paid_.absorb(more);
}

// ---- Taking

void RowStore::free_slot(Slot slot, std::optional<std::uint32_t> scope_id) {
  --rows_;
  if (is_large(slot)) {
    Large& large = large_[large_index(slot)];
    for (const Stored& part : large.stored) {
      disk_.release(part.data);
      disk_.release(part.offsets);
    }
    large = Large();
    free_large_.push_back(static_cast<std::uint32_t>(large_index(slot)));
    return;
  }
  pages_.free(slot);
  if (!scope_id) return;
  Scope& scope = scopes_[*scope_id];
  if (--scope.uses > 0) return;
  if (scope.levels > 0) {
    nested_ids_.erase(key_of(*scope.scope, scope.weight));
    if (made_for_ == *scope_id) made_ = nullptr;
  } else {
    scope_ids_.erase({scope.scope.get(), scope.weight});
  }
  scope = Scope();
  free_scopes_.push_back(*scope_id);
}

void RowStore::erase(Slot slot) {
  const MutexLock lock(mutex_);
  std::optional<std::uint32_t> scope;
  if (!is_large(slot)) {
    if (auto record = pages_.read(slot); record.ok()) scope = header_of(record.value()).scope;
  }
  free_slot(slot, scope);
}

Result<Origin> RowStore::origin(Slot slot) {
  const MutexLock lock(mutex_);
  if (is_large(slot)) return large_[large_index(slot)].origin;
  auto record = pages_.read(slot);
  if (!record.ok()) return std::move(record).status();
  return labelled(record.value()).origin;
}

Result<Row> RowStore::get(Slot slot, Buffer::Ask ask, const AccountPtr& payer, bool remove) {
  if (is_large(slot)) return get_large(slot, ask, payer, remove);
  std::vector<std::byte> bytes;
  Header header{};
  Row row;
  {
    // Copied out first: reserving may make the budget ask this very store for memory.
    const MutexLock lock(mutex_);
    auto record = pages_.read(slot);
    if (!record.ok()) {
      if (remove) free_slot(slot, std::nullopt);
      return std::move(record).status();
    }
    Labelled found = labelled(record.value());
    header = found.header;
    row.origin = std::move(found.origin);
    const std::byte* from = found.row;
    bytes.assign(from, from + (header.length == kInLayout ? layout_bytes_ : header.length));
  }
  if (header.length != kInLayout) {
    SW_ASSIGN(row.values, parse_row_bytes(payer, bytes, ask));
  } else {
    const std::byte* from = bytes.data();
    for (const Component& component : layout_) {
      SW_ASSIGN(Tensor value, make_tensor(payer, component.dtype, component.shape, ask));
      if (component.bytes > 0) std::memcpy(value.mutable_data(), from, component.bytes);
      value.buffer()->touch();
      from += component.bytes;
      row.values.push_back(std::move(value));
    }
  }
  if (remove) {
    const MutexLock lock(mutex_);
    free_slot(slot, header.scope);
  }
  return row;
}

Result<Chunk> RowStore::get_rows(const StructurePtr& structure, std::span<const Slot> slots,
                                 Buffer::Ask ask, const AccountPtr& payer, bool remove) {
  const bool packed = has_layout_ && std::ranges::none_of(slots, is_large);
  if (packed) {
    SW_ASSIGN(std::optional<Chunk> blocks, get_blocks(structure, slots, ask, payer, remove));
    if (blocks) return std::move(*blocks);
  }
  // Rows of several forms: all are read before any is freed.
  std::vector<Row> rows;
  rows.reserve(slots.size());
  for (const Slot slot : slots) {
    SW_ASSIGN(Row row, get(slot, ask, payer, remove && slots.size() == 1));
    rows.push_back(std::move(row));
  }
  if (remove && slots.size() > 1) {
    for (const Slot slot : slots) erase(slot);
  }
  return Chunk::from_rows(structure, std::move(rows));
}

// One block a component; nullopt when some row is not of the usual layout.
Result<std::optional<Chunk>> RowStore::get_blocks(const StructurePtr& structure,
                                                  std::span<const Slot> slots, Buffer::Ask ask,
                                                  const AccountPtr& payer, bool remove) {
  const auto rows = static_cast<std::int64_t>(slots.size());
  std::vector<Tensor> blocks;
  for (const Component& component : layout_) {
    SW_ASSIGN(Tensor block,
              make_tensor(payer, component.dtype, component.shape.with_leading(rows), ask));
    blocks.push_back(std::move(block));
  }
  std::vector<Labelled> rows_found;
  rows_found.reserve(slots.size());
  Origins origins;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto record = pages_.read(slots[i]);
      if (!record.ok()) {
        if (remove && slots.size() == 1) free_slot(slots[i], std::nullopt);
        return std::move(record).status();
      }
      rows_found.push_back(labelled(record.value()));
      if (rows_found.back().header.length != kInLayout) return std::optional<Chunk>();
      const std::byte* from = rows_found.back().row;
      for (std::size_t c = 0; c < layout_.size(); ++c) {
        const std::size_t bytes = layout_[c].bytes;
        if (bytes > 0) std::memcpy(blocks[c].mutable_data() + i * bytes, from, bytes);
        from += bytes;
      }
    }
    origins = origins_of(rows_found);
    if (remove) {
      for (std::size_t i = 0; i < slots.size(); ++i) {
        free_slot(slots[i], rows_found[i].header.scope);
      }
    }
  }
  std::vector<Column> columns;
  for (Tensor& block : blocks) {
    block.buffer()->touch();
    columns.emplace_back(std::move(block));
  }
  return std::optional<Chunk>(Chunk(structure, rows, std::move(columns), std::move(origins)));
}

Origins RowStore::origins_of(std::span<const Labelled> rows) const {
  const ScopePtr& first = rows[0].origin.scope;
  const bool one_scope = std::ranges::all_of(rows, [&](const Labelled& row) {
    return row.origin.scope == first && row.origin.weight == 1;
  });
  if (one_scope) {
    std::vector<std::int64_t> ordinals;
    ordinals.reserve(rows.size());
    for (const Labelled& row : rows) ordinals.push_back(row.origin.ordinal);
    return Origins::scattered(first, std::move(ordinals));
  }
  std::vector<Origin> each;
  each.reserve(rows.size());
  for (const Labelled& row : rows) each.push_back(row.origin);
  return Origins::column(std::move(each));
}

Result<Row> RowStore::get_large(Slot slot, Buffer::Ask ask, const AccountPtr& payer, bool remove) {
  Row row;
  std::vector<Stored> stored;
  SpillFile* file = nullptr;
  {
    const MutexLock lock(mutex_);
    const Large& large = large_[large_index(slot)];
    row.origin = large.origin;
    if (large.stored.empty()) {
      row.values = large.values;
      if (remove) free_slot(slot, std::nullopt);
      return row;
    }
    stored = large.stored;
    file = disk_.file();
  }
  Status read;
  for (const Stored& part : stored) {
    SW_ASSIGN(Buffer data, Buffer::allocate(payer, part.data.length, ask));
    auto bytes = std::make_shared<Buffer>(std::move(data));
    read = file->read(part.data, bytes->data());
    bytes->touch();
    if (part.dtype != DType::kString) {
      if (!read.ok()) break;
      row.values.emplace_back(part.dtype, part.shape, std::move(bytes));
      continue;
    }
    SW_ASSIGN(Buffer space, Buffer::allocate(payer, part.offsets.length, ask));
    auto offsets = std::make_shared<Buffer>(std::move(space));
    if (read.ok()) read = file->read(part.offsets, offsets->data());
    if (!read.ok()) break;
    offsets->touch();
    auto* at = reinterpret_cast<std::int64_t*>(offsets->data());
    const std::int64_t base = at[0];
    for (std::int64_t i = 0; base != kApart && i <= part.shape.count(); ++i) at[i] -= base;
    row.values.push_back(Tensor::of_strings(part.shape, {std::move(offsets), std::move(bytes)}));
  }
  if (remove) erase(slot);
  if (!read.ok()) return read;
  return row;
}

// ---- Spilling

// The bytes go to disk straight from the tensors: no copy is made of what has no room.
Status RowStore::write_large(Large& large) {
  std::vector<Stored> stored;
  Status failed;
  for (const Tensor& value : large.values) {
    Stored part{value.dtype(), value.shape(), {}, {}};
    std::span<const std::byte> data;
    if (value.dtype() == DType::kString && strings_apart(value)) {
      // With what lies between them; the offsets count from the first.
      const auto [begin, end] = string_extent(value);
      data = {value.buffer()->data() + begin, static_cast<std::size_t>(end - begin)};
      std::vector<std::int64_t> offsets = {kApart};
      for (std::int64_t i = 0; i < value.count(); ++i) {
        const std::string_view item = value.string_at(i);
        offsets.push_back(reinterpret_cast<const std::byte*>(item.data()) - data.data());
        offsets.push_back(offsets.back() + std::ssize(item));
      }
      auto place = disk_.write(std::as_bytes(std::span(offsets)));
      if (place.ok()) part.offsets = place.value();
      failed = std::move(place).status();
    } else if (value.dtype() == DType::kString) {
      const auto* offsets =
          reinterpret_cast<const std::int64_t*>(value.string_offsets()->data()) + value.first();
      const auto count = static_cast<std::size_t>(value.count());
      data = {value.buffer()->data() + offsets[0],
              static_cast<std::size_t>(offsets[count] - offsets[0])};
      auto place = disk_.write(std::as_bytes(std::span(offsets, count + 1)));
      if (place.ok()) part.offsets = place.value();
      failed = std::move(place).status();
    } else {
      data = {value.data(), value.bytes()};
    }
    if (failed.ok()) {
      auto place = disk_.write(data);
      if (place.ok()) part.data = place.value();
      failed = std::move(place).status();
    }
    stored.push_back(std::move(part));
    if (!failed.ok()) break;
  }
  if (!failed.ok()) {
    for (const Stored& part : stored) {
      disk_.release(part.data);
      disk_.release(part.offsets);
    }
    return failed;
  }
  large.stored = std::move(stored);
  large.values.clear();
  return {};
}

std::size_t RowStore::spill(std::size_t wanted) {
  if (!mutex_.try_lock()) return 0;
  const std::size_t freed = spill_locked(wanted);
  mutex_.unlock();
  return freed;
}

std::size_t RowStore::spill_locked(std::size_t wanted) {
  std::size_t freed = 0;
  for (std::size_t at = large_.size(); at-- > 0 && freed < wanted;) {
    Large& large = large_[at];
    if (!large.plain || large.values.empty()) continue;
    if (std::ranges::any_of(large.values, shared_by_others)) continue;
    std::size_t bytes = 0;
    for (const Tensor& value : large.values) bytes += charged(value);
    if (bytes == 0) continue;
    if (!write_large(large).ok()) return freed;
    freed += bytes;
  }
  while (freed < wanted) {
    auto memory = pages_.spill_one();
    if (!memory.ok() || !memory.value()) break;
    freed += memory.value()->charged();
  }
  return freed;
}

std::size_t RowStore::drop_all() {
  if (!mutex_.try_lock()) return 0;
  std::size_t freed = pages_.clear();
  for (const Large& large : large_) {
    for (const Tensor& value : large.values) {
      if (value.dtype() != DType::kVariant && !shared_by_others(value)) freed += charged(value);
    }
    for (const Stored& part : large.stored) {
      disk_.release(part.data);
      disk_.release(part.offsets);
    }
  }
  large_.clear();
  free_large_.clear();
  scopes_.clear();
  free_scopes_.clear();
  scope_ids_.clear();
  nested_ids_.clear();
  made_ = nullptr;
  paid_.release();
  rows_ = 0;
  mutex_.unlock();
  return freed;
}

std::int64_t RowStore::rows() const {
  const MutexLock lock(mutex_);
  return rows_;
}

std::size_t RowStore::bytes_on_disk() const {
  const MutexLock lock(mutex_);
  return disk_.bytes_on_disk();
}

}  // namespace spillway
