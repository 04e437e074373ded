#include "spillway/pipeline/input.h"
#include "spillway/pipeline/saving.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  SW_RETURN_IF_ERROR(Saving::check(node, true));
  return Inferred{Structure::tensor(DType::kInt64, Shape()), 1};
}

// One element, once everything is on the disk: the number of rows. An element that fails ends it,
// and nothing is left of what was written.
class SaveIterator final : public Iterator {
 public:
  SaveIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        saving_(std::make_unique<Saving>(context, context.node().string_param("path"))) {}

  Next pull(const Demand&) override {
    if (saving_ == nullptr) return end_of_data();
    for (;;) {
      if (stage().run().stop()) return cancelled();
      Next next = input_.next(Demand{256});
      if (!next.ok()) {
        if (is_position(next.error())) saving_.reset();
        return next;
      }
      if (!next.value()) break;
      const Chunk& rows = *next.value();
      Saving::Put put = saving_->put(rows, input_.position() - rows.rows(), epoch());
      use(rows.amount(put.rows));
      if (put.error.ok()) continue;
      if (!is_position(put.error)) {
        input_.unread(rows.slice(put.rows, rows.rows()));
        return std::move(put.error);
      }
      const std::int64_t done = put.rows + 1;
      if (done < rows.rows()) drop(rows.slice(done, rows.rows()), "what was saved failed");
      saving_.reset();
      return std::move(put.error);
    }
    const std::int64_t rows = saving_->rows();
    const Status finished = saving_->finish(true);
    if (!finished.ok() && !is_position(finished)) return finished;
    saving_.reset();
    SW_RETURN_IF_ERROR(finished);
    SW_ASSIGN(Tensor count, make_scalar(account(), DType::kInt64, rows, Buffer::Ask::kPressing));
    const Origin origin{std::make_shared<OriginScope>(), 0, rows};
    return std::optional(Chunk::from_row(stage().node().structure(), {{count}, origin}));
  }

  Status save(StateWriter& out) const override {
    out.put(saving_ == nullptr ? kDone : saving_->rows() > 0 ? kUnderWay : kBefore);
    return input_.save(out);
  }
  Status restore(StateReader& in) override {
    std::int64_t where = kBefore;
    SW_RETURN_IF_ERROR(in.get_count(where, kDone));
    if (where == kUnderWay) {
      return Status::error(ErrorKind::kUser, Code::kUnimplemented,
                           "checkpoint: save: what was written is gone: save it again");
    }
    if (where == kDone) saving_.reset();
    return input_.restore(in);
  }

 private:
  static constexpr std::int64_t kBefore = 0;
  static constexpr std::int64_t kUnderWay = 1;
  static constexpr std::int64_t kDone = 2;

  Input input_;
  std::unique_ptr<Saving> saving_;  // null: done
};

constexpr ParamDef kParams[] = {
    {"path", ParamType::kString, "", "a folder; made where it is not there"},
    {"compression", ParamType::kString, "None", "None or 'GZIP'"},
    {"shard_func", ParamType::kFunction, "None", "element -> shard (int64); None: one shard"},
};

}  // namespace

extern constexpr OperatorDef save_operator{
    .name = "save",
    .summary = "Writes all elements to a folder, for `load`.",
    .example =
        ">>> import tempfile\n"
        ">>> path = tempfile.mkdtemp()\n"
        ">>> sw.Dataset.range(3).save(path)\n"
        ">>> len(sw.Dataset.load(path))\n"
        "3",
    .params = kParams,
    .effects = Effects::kSharedState,
    .fallible = true,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<SaveIterator>(context, std::move(input)));
    }};

}  // namespace spillway
