#include "spillway/pipeline/saved_rows.h"

#include <algorithm>

namespace spillway {
namespace {

class SavedRowsIterator final : public Iterator {
 public:
  SavedRowsIterator(const OpenContext& context, SavedPtr saved, std::int64_t cycle)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        saved_(std::move(saved)),
        slots_(static_cast<std::size_t>(std::clamp<std::int64_t>(
            cycle, 1,
            std::max<std::int64_t>(1, static_cast<std::int64_t>(saved_->shards.size()))))) {}

  Next pull(const Demand& demand) override {
    std::vector<Row> rows;
    std::size_t bytes = 0;
    while (static_cast<std::int64_t>(rows.size()) < demand.rows &&
           (rows.empty() || bytes < demand.bytes)) {
      auto row = next_row();
      if (!row.ok()) {
        if (!rows.empty()) break;  // rows before a bad one come first; it is met again
        return failed(std::move(row).status());
      }
      if (!row.value()) break;
      bytes += row.value()->footprint();
      rows.push_back(std::move(*row.value()));
      turn();
    }
    if (rows.empty()) return end_of_data();
    ordinal_ += static_cast<std::int64_t>(rows.size());
    return std::optional(Chunk::from_rows(stage().node().structure(), std::move(rows)));
  }

  Status save(StateWriter& out) const override {
    out.put(static_cast<std::int64_t>(at_));
    out.put(static_cast<std::int64_t>(next_shard_));
    out.put(ordinal_);
    for (const Slot& slot : slots_) {
      out.put(slot.shard);
      if (slot.shard < 0) continue;
      out.put(slot.reader == nullptr ? slot.row : slot.reader->row());
      out.put(static_cast<std::int64_t>(slot.reader == nullptr ? slot.position
                                                               : slot.reader->position()));
    }
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t at = 0;
    std::int64_t next = 0;
    const auto shards = static_cast<std::int64_t>(saved_->shards.size());
    SW_RETURN_IF_ERROR(in.get_count(at, static_cast<std::int64_t>(slots_.size()) - 1));
    SW_RETURN_IF_ERROR(in.get_count(next, shards));
    SW_RETURN_IF_ERROR(in.get_count(ordinal_));
    for (Slot& slot : slots_) {
      SW_RETURN_IF_ERROR(in.get(slot.shard));
      if (slot.shard < 0) continue;
      if (slot.shard >= shards) return invalid_argument("checkpoint: load: no such shard");
      std::int64_t position = 0;
      SW_RETURN_IF_ERROR(in.get_count(slot.row));
      SW_RETURN_IF_ERROR(in.get_count(position));
      slot.position = static_cast<std::uint64_t>(position);
    }
    at_ = static_cast<std::size_t>(at);
    next_shard_ = static_cast<std::size_t>(next);
    return {};
  }

 private:
  struct Slot {
    std::int64_t shard = -1;  // none under way
    std::unique_ptr<RowFileReader> reader;
    ScopePtr scope;
    std::int64_t row = 0;        // until it is open
    std::uint64_t position = 0;  // 0: the first row
  };

  void turn() { at_ = (at_ + 1) % slots_.size(); }
  std::string path_of(const Slot& slot) const {
    return shard_path(saved_->folder, saved_->run, facts_of(slot).id);
  }
  const SavedShard& facts_of(const Slot& slot) const {
    return saved_->shards[static_cast<std::size_t>(slot.shard)];
  }

  Status open(Slot& slot) {
    const std::string path = path_of(slot);
    SW_ASSIGN(auto reader, open_shard(path, facts_of(slot), saved_->compression,
                                      stage().node().structure(), account()));
    if (slot.position > 0) SW_RETURN_IF_ERROR(reader->seek(slot.row, slot.position));
    slot.scope = context_.source_scope(path);
    slot.reader = std::move(reader);
    return {};
  }

  // The row whose turn it is; the turn is then the caller's to pass on. An error passes nothing.
  Result<std::optional<Row>> next_row() {
    std::size_t idle = 0;
    while (idle < slots_.size()) {
      Slot& slot = slots_[at_];
      if (slot.shard < 0) {
        if (next_shard_ == saved_->shards.size()) {
          ++idle;
          turn();
          continue;
        }
        slot.shard = static_cast<std::int64_t>(next_shard_++);
      }
      idle = 0;
      if (slot.reader == nullptr) SW_RETURN_IF_ERROR(open(slot));
      const std::int64_t at = slot.reader->row();
      const std::uint64_t offset = slot.reader->position();
      SW_ASSIGN(auto values, slot.reader->next());
      if (values) return std::optional(Row{std::move(*values), {slot.scope, at, 1}});
      if (at != facts_of(slot).rows) {
        return corrupt_file(path_of(slot), offset, "saved dataset ", path_of(slot),
                            ": the shard must have as many rows as its metadata say: expected ",
                            facts_of(slot).rows, ", found ", at);
      }
      slot = {};
      turn();
    }
    return std::optional<Row>();
  }

  // One that stands in a row's place ends its shard: where the next row begins is not known.
  Status failed(Status error) {
    if (!is_position(error)) return error;
    Slot& slot = slots_[at_];
    ErrorInfo& info = error.edit();
    if (info.file.empty()) info.file = path_of(slot);
    if (info.index < 0) info.index = ordinal_;
    if (info.origin.empty()) info.origin = context_.source_scope(info.file)->source;
    ++ordinal_;
    const bool partly = slot.reader != nullptr;
    slot = {};
    turn();
    return partly ? ending_file(std::move(error)) : error;
  }

  const OpenContext context_;
  const SavedPtr saved_;
  std::vector<Slot> slots_;
  std::size_t at_ = 0;  // in slots_: whose turn it is
  std::size_t next_shard_ = 0;
  std::int64_t ordinal_ = 0;
};

// Bytes of a row in a file that is not compressed; 0 where rows may differ.
std::uint64_t fixed_record(const Structure& structure) {
  if (structure.static_bytes() < 0) return 0;
  std::uint64_t bytes = sizeof(RowHead) + static_cast<std::uint64_t>(structure.static_bytes());
  for (const Structure* leaf : structure.leaves()) {
    bytes += 2 + sizeof(std::int64_t) * static_cast<std::uint64_t>(leaf->shape().rank());
  }
  return bytes;
}

class SavedIndexed final : public Indexed {
 public:
  SavedIndexed(const OpenContext& context, SavedPtr saved, std::uint64_t record)
      : Indexed(context),
        saved_(std::move(saved)),
        record_(record),
        path_(shard_path(saved_->folder, saved_->run, saved_->shards[0].id)),
        scope_(context.source_scope(path_)) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    SW_ASSIGN(const auto reader, open_shard(path_, saved_->shards[0], saved_->compression,
                                            node().structure(), account()));
    std::vector<Row> rows;
    for (const std::int64_t index : indices) {
      SW_RETURN_IF_ERROR(
          reader->seek(index, sizeof(RowFileMagic) + static_cast<std::uint64_t>(index) * record_));
      SW_ASSIGN(auto values, reader->next());
      if (!values) return out_of_range(index, saved_->rows);
      rows.push_back({std::move(*values), {scope_, index, 1}});
    }
    return Chunk::from_rows(node().structure(), std::move(rows));
  }

 private:
  const SavedPtr saved_;
  const std::uint64_t record_;
  const std::string path_;
  const ScopePtr scope_;
};

struct Found {
  Result<SavedPtr> saved;
};

Result<SavedPtr> shared(Result<SavedDataset> read) {
  if (!read.ok()) return std::move(read).status();
  return SavedPtr(std::make_shared<const SavedDataset>(std::move(read).value()));
}

}  // namespace

Result<SavedPtr> saved_of(const Node& node) {
  return node
      .shared<Found>([&] {
        return std::make_shared<Found>(Found{shared(read_saved(node.string_param("path")))});
      })
      ->saved;
}

IteratorPtr open_saved_rows(const OpenContext& context, SavedPtr saved, std::int64_t cycle) {
  return std::make_unique<SavedRowsIterator>(context, std::move(saved), cycle);
}

Result<IndexedPtr> index_saved_rows(const OpenContext& context, SavedPtr saved) {
  const std::uint64_t record = fixed_record(*context.node().structure());
  if (saved->shards.size() != 1) return no_random_access(context.node(), "of several shards");
  if (saved->compression != Compression::kNone) {
    return no_random_access(context.node(), "of what is compressed");
  }
  if (record == 0) return no_random_access(context.node(), "of rows of different sizes");
  return IndexedPtr(std::make_unique<SavedIndexed>(context, std::move(saved), record));
}

Status check_saved(const SavedDataset& saved, const StructurePtr& element_spec,
                   const Value& compression) {
  const std::string path = metadata_path(saved.folder);
  if (const auto* name = std::get_if<std::string>(&compression)) {
    SW_ASSIGN(const Compression wanted, saved_compression(*name, true));
    if (wanted != saved.compression) {
      return corrupt_file(
          path, 0, "load: ", saved.folder, ": `compression` must be the saved one, ",
          saved.compression == Compression::kGzip ? "\"GZIP\"" : "None", ": \"", *name, "\"");
    }
  }
  if (element_spec == nullptr) return {};
  const auto refuse = [&](const auto&... parts) {
    Status status = invalid_argument("load: ", saved.folder, ": ", parts..., " (saved was ",
                                     saved.structure->to_string(), ")");
    status.edit().file = path;
    return status;
  };
  if (!element_spec->same_nest(*saved.structure)) {
    return refuse("`element_spec` must have the structure that was saved: ",
                  element_spec->to_string());
  }
  const auto want = element_spec->leaves();
  const auto have = saved.structure->leaves();
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i]->dtype() != have[i]->dtype()) {
      return refuse("Data type mismatch at component ", i, ": expected ", name_of(want[i]->dtype()),
                    " but got ", name_of(have[i]->dtype()));
    }
    if (!want[i]->shape().compatible(have[i]->shape())) {
      return refuse("Incompatible shapes at component ", i, ": expected ",
                    want[i]->shape().bracketed(), " but got ", have[i]->shape().bracketed());
    }
  }
  return {};
}

}  // namespace spillway
