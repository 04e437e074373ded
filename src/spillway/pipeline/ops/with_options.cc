#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

// Changes nothing itself: the run reads the options when it opens.
class WithOptionsIterator final : public Iterator {
 public:
  WithOptionsIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()), input_(std::move(input)) {}

  Next pull(const Demand& demand) override { return input_->next(demand); }
  Status skip(std::int64_t rows) override { return input_->skip(rows); }
  Status save(StateWriter& out) const override { return input_->save(out); }
  Status restore(StateReader& in) override { return input_->restore(in); }

 private:
  const IteratorPtr input_;
};

constexpr ParamDef kParams[] = {
    {"options", ParamType::kString, "", "what is chosen for the whole run, as JSON", true},
};

}  // namespace

extern constexpr OperatorDef with_options_operator{
    .name = "with_options",
    .summary = "Chooses how the pipeline runs; the elements stay the same.",
    .example =
        ">>> options = sw.Options()\n"
        ">>> options.deterministic = True\n"
        ">>> [int(x) for x in sw.Dataset.range(3).with_options(options)"
        ".as_numpy_iterator()]\n"
        "[0, 1, 2]",
    .params = kParams,
    .passes_rows = true,
    .infer = infer_same,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0, context.epoch(), context.bound()));
      return IteratorPtr(std::make_unique<WithOptionsIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) { return context.index_input(0); }};

}  // namespace spillway
