#include "spillway/pipeline/disk_failure.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/saved_rows.h"
#include "spillway/pipeline/saving.h"

namespace spillway {
namespace {

// Snapshots of different pipelines share a path: each has a folder by the hash of its input. Seeds
// of shuffles do not count, as in TensorFlow: a program that draws them anew finds its snapshot.
std::string folder_of(const Node& node) {
  return node.string_param("path") + "/" + std::to_string(node.inputs()[0]->hash_without_seeds());
}

Result<Inferred> infer(const Node& node) {
  SW_RETURN_IF_ERROR(Saving::check(node, true));
  return infer_same(node);
}

enum class Mode : std::uint8_t { kUndecided, kWriting, kReading };

// Hands on the rows of its input and writes them, or reads what an earlier pass wrote to the end.
// A failed element is handed on, and nothing is left of what was written: later passes must not
// miss it silently.
class SnapshotIterator final : public Iterator {
 public:
  explicit SnapshotIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        reader_func_(context.node().function_param("reader_func")) {}

  Next pull(const Demand& demand) override {
    if (over_) return end_of_data();
    if (mode_ == Mode::kUndecided) {
      if (Status decided = decide(); !decided.ok()) {
        over_ = over_ || is_position(decided);
        return over_ ? ending_source(std::move(decided)) : decided;
      }
    }
    if (mode_ == Mode::kReading) return read(demand);
    if (!error_.ok()) return std::exchange(error_, Status());
    Next next = input_->next(demand);
    if (!next.ok()) {
      if (is_position(next.error())) saving_.reset();
      return next;
    }
    if (!next.value()) return finish();
    return write(std::move(*next.value()));
  }

  Status save(StateWriter& out) const override {
    out.put(static_cast<std::int64_t>(mode_));
    if (mode_ == Mode::kReading) {
      out.put(saved_->run);
      return inner_->save(out);
    }
    // A pending error is met again when its row is.
    return mode_ == Mode::kUndecided
               ? Status()
               : input_->save(out, input_->position() - (error_.ok() ? 0 : 1));
  }
  // A pass that goes on in the middle does not have what came before: it writes nothing.
  Status restore(StateReader& in) override {
    std::int64_t mode = 0;
    SW_RETURN_IF_ERROR(in.get_count(mode, static_cast<std::int64_t>(Mode::kReading)));
    mode_ = static_cast<Mode>(mode);
    if (mode_ == Mode::kUndecided) return {};
    if (mode_ == Mode::kWriting) {
      SW_RETURN_IF_ERROR(open_input());
      return input_->restore(in);
    }
    std::string run;
    SW_RETURN_IF_ERROR(in.get(run));
    SW_ASSIGN(SavedDataset saved, read_saved(folder_of(context_.node())));
    if (saved.run != run) {
      return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                           "checkpoint: snapshot: ", saved.folder, " was written again since");
    }
    SW_RETURN_IF_ERROR(open_saved(std::move(saved)));
    return inner_->restore(in);
  }

 private:
  Status decide() {
    const std::string folder = folder_of(context_.node());
    auto saved = read_saved(folder);
    if (saved.ok()) return open_saved(std::move(saved).value());
    if (saved.error().code() != Code::kNotFound) {
      over_ = true;
      return std::move(saved).status();
    }
    SW_RETURN_IF_ERROR(open_input());
    saving_ = std::make_unique<Saving>(context_, folder);
    return {};
  }

  Status open_input() {
    SW_ASSIGN(IteratorPtr input, context_.open_input(0));
    input_.emplace(std::move(input));
    mode_ = Mode::kWriting;
    return {};
  }

  Status open_saved(SavedDataset saved) {
    const Node& node = context_.node();
    SW_RETURN_IF_ERROR(check_saved(saved, node.structure(), Value()));
    saved_ = std::make_unique<SavedDataset>(std::move(saved));
    SW_ASSIGN(const NodePtr rows, rows_of(saved_->folder));
    SW_ASSIGN(inner_, context_.open_nested(rows, context_.outer()));
    mode_ = Mode::kReading;
    return {};
  }

  // The dataset that is read: reader_func's, of the shards.
  Result<NodePtr> rows_of(const std::string& folder) const {
    const Node& node = context_.node();
    if (reader_func_ == nullptr) {
      return Node::make(*find_operator("load"),
                        {folder, node.structure() == nullptr ? Value() : Value(node.structure()),
                         Value(), node.int_param("cycle_length", 1)},
                        {}, node.line());
    }
    SW_ASSIGN(const NodePtr shards, Node::make(*find_operator("load_shards"),
                                               {folder, Value(), Value()}, {}, node.line()));
    const StructurePtr structure = Structure::dataset(shards->structure());
    std::vector<Tensor> values = {make_variant(std::make_shared<DatasetValue>(shards))};
    SW_ASSIGN(const Row made, call_row(stage(), *reader_func_, structure, std::move(values),
                                       context_.outer(), 0, epoch()));
    return dataset_result(made.values[0], "reader_func");
  }

  Next read(const Demand& demand) {
    Next next = inner_->next(demand);
    if (!next.ok() || !next.value()) return next;
    const StructurePtr& structure = stage().node().structure();
    Chunk rows = std::move(*next.value());
    if (structure == nullptr || structure == rows.structure()) return std::optional(rows);
    if (!structure->accepts(*rows.structure())) {
      over_ = true;
      return invalid_argument("`reader_func` must return a dataset of ", structure->to_string(),
                              ": ", rows.structure()->to_string());
    }
    return std::optional(rows.with_structure(structure));
  }

  Next write(Chunk rows) {
    if (saving_ == nullptr) return std::optional(std::move(rows));
    Saving::Put put = saving_->put(rows, input_->position() - rows.rows(), epoch());
    if (put.error.ok()) return std::optional(std::move(rows));
    saving_.reset();
    if (is_disk_failure(put.error)) {
      warn_of(put.error);
      return std::optional(std::move(rows));
    }
    if (!is_position(put.error)) {
      // Nothing of it is the rows' fault: they follow when asked for again.
      input_->unread(std::move(rows));
      return std::move(put.error);
    }
    if (put.rows + 1 < rows.rows()) input_->unread(rows.slice(put.rows + 1, rows.rows()));
    if (put.rows == 0) return std::move(put.error);
    error_ = std::move(put.error);
    return std::optional(rows.slice(0, put.rows));
  }

  Next finish() {
    over_ = true;
    const std::unique_ptr<Saving> done = std::move(saving_);
    if (done == nullptr) return end_of_data();
    if (Status finished = done->finish(false); is_disk_failure(finished)) {
      warn_of(finished);
    } else {
      SW_RETURN_IF_ERROR(finished);
    }
    return end_of_data();
  }
  // The disk is full or fails: the elements go on, and a later pass tries again.
  void warn_of(const Status& failed) {
    context_.run().warn(Run::Warned::kSource,
                        stage().name() + ", written at " + context_.node().line() + ": " +
                            std::string(failed.message()) +
                            ". The elements go on without the snapshot, and what was written of it "
                            "was removed: make room there or give snapshot() another path");
  }

  const OpenContext context_;
  const FunctionPtr reader_func_;
  Mode mode_ = Mode::kUndecided;
  bool over_ = false;
  std::unique_ptr<SavedDataset> saved_;  // what is read
  IteratorPtr inner_;                    // the same
  std::optional<Input> input_;
  std::unique_ptr<Saving> saving_;  // null: not written, or not any more
  Status error_;                    // of the row behind those handed out
};

constexpr ParamDef kParams[] = {
    {"path", ParamType::kString, "", "a folder; made where it is not there"},
    {"compression", ParamType::kString, "'AUTO'", "None, 'GZIP', 'SNAPPY' or 'AUTO'"},
    {"reader_func", ParamType::kFunction, "None", "dataset of shards -> dataset of elements"},
    {"shard_func", ParamType::kFunction, "None", "element -> shard (int64); None: one shard"},
    {"cycle_length", ParamType::kInt, "1", "shards that are read by turns"},
};

}  // namespace

extern constexpr OperatorDef snapshot_operator{
    .name = "snapshot",
    .summary = "Writes the elements of the first full pass to a folder, for later passes and runs.",
    .example =
        ">>> import tempfile\n"
        ">>> ds = sw.Dataset.range(3).snapshot(tempfile.mkdtemp())\n"
        ">>> [int(x) for x in ds.repeat(2)]\n"
        "[0, 1, 2, 0, 1, 2]",
    .params = kParams,
    .effects = Effects::kSharedState,
    .fallible = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<SnapshotIterator>(context));
    }};

}  // namespace spillway
