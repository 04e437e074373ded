#include <memory>
#include <vector>

#include "spillway/pipeline/ahead.h"
#include "spillway/pipeline/directed_interleave.h"

namespace spillway {
namespace {

// Walks its inputs in turn, one element of each; one that has ended is passed over. All begin with
// the first element that is asked for, and each is then one element ahead of its turn, on a driver
// of its own: so they run at the same time, and the order depends on none of them. An error takes
// the turn of its element.
class InTurnIterator final : public Iterator {
 public:
  InTurnIterator(const OpenContext& context, std::vector<IteratorPtr> inputs)
      : Iterator(context.stage(), context.epoch()) {
    for (IteratorPtr& input : inputs) {
      sources_.push_back(std::make_unique<Ahead>(
          stage(), std::make_unique<Input>(std::move(input), Input::Habit::kHolds),
          Ahead::Limits{.rows = 1, .rows_a_pull = 1}));
    }
    active_ = sources_.size();
  }

  Next pull(const Demand& demand) override {
    for (const auto& source : sources_) {
      if (source != nullptr) source->start();
    }
    std::vector<Chunk> parts;
    while (active_ > 0 && std::ssize(parts) < demand.rows) {
      std::unique_ptr<Ahead>& source = sources_[at_];
      if (source == nullptr) {
        advance();
        continue;
      }
      // What is finished is not held back for what must be waited for.
      if (!parts.empty() && !source->ready()) break;
      Next next = source->next(Demand::one());
      if (next.ok() || is_position(next.error())) advance();
      if (!next.ok()) return next;
      if (next.value()) {
        parts.push_back(std::move(*next.value()));
      } else {
        source = nullptr;
        --active_;
      }
    }
    if (parts.empty()) return end_of_data();
    const StructurePtr& known = stage().node().structure();
    const StructurePtr structure = known != nullptr ? known : parts[0].structure();
    return std::optional<Chunk>(join_rows(structure, parts).with_structure(structure));
  }

  Status save(StateWriter& out) const override {
    out.put(static_cast<std::int64_t>(at_));
    for (const auto& source : sources_) {
      out.put(source == nullptr ? 1 : 0);
      if (source != nullptr) SW_RETURN_IF_ERROR(source->save(out));
    }
    return {};
  }

  Status restore(StateReader& in) override {
    std::int64_t at = 0;
    SW_RETURN_IF_ERROR(in.get_count(at, std::ssize(sources_) - 1));
    at_ = static_cast<std::size_t>(at);
    for (auto& source : sources_) {
      std::int64_t ended = 0;
      SW_RETURN_IF_ERROR(in.get(ended));
      if (ended == 0) {
        SW_RETURN_IF_ERROR(source->restore(in));
      } else {
        source = nullptr;
        --active_;
      }
    }
    return {};
  }

 private:
  void advance() { at_ = at_ + 1 == sources_.size() ? 0 : at_ + 1; }

  std::vector<std::unique_ptr<Ahead>> sources_;  // null: has ended
  std::size_t active_ = 0;
  std::size_t at_ = 0;
};

Result<Inferred> infer(const Node& node) {
  if (node.inputs().empty()) return invalid_argument("in_turn: needs a dataset");
  SW_ASSIGN(StructurePtr structure, mixed_structure(node.inputs()));
  return Inferred{std::move(structure), mixed_cardinality(node.inputs())};
}

constexpr ParamDef kParams[] = {
    {"datasets", ParamType::kDatasets, "", "walked in turn"},
};

}  // namespace

extern constexpr OperatorDef in_turn_operator{
    .name = "in_turn",
    .summary = "Takes one element of each dataset in turn; all of them are read at the same time.",
    .example = "",
    .params = kParams,
    .inputs = 0,
    .fallible = true,
    .passes_rows = true,
    .hidden = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      std::vector<IteratorPtr> inputs;
      for (std::size_t i = 0; i < context.node().inputs().size(); ++i) {
        SW_ASSIGN(IteratorPtr input, context.open_input(i, context.epoch(), context.bound()));
        inputs.push_back(std::move(input));
      }
      return IteratorPtr(std::make_unique<InTurnIterator>(context, std::move(inputs)));
    }};

}  // namespace spillway
