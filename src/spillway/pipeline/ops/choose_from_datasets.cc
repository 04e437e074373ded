#include <algorithm>

#include "spillway/pipeline/call.h"
#include "spillway/pipeline/directed_interleave.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

class DirectedIterator final : public Iterator {
 public:
  DirectedIterator(const OpenContext& context, DirectedParts parts, std::vector<IteratorPtr> inputs)
      : Iterator(context.stage(), context.epoch()),
        selector_(std::move(parts.selector)),
        overpull_selector_(parts.overpull_selector),
        counts_choices_(parts.first_input > 0),
        stop_on_empty_(parts.stop_on_empty) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool excluded = i < parts.excluded.size() && parts.excluded[i];
      if (!excluded) ++active_;
      const bool overpull = may_overpull(*context.node().inputs()[parts.first_input + i]);
      inputs_.push_back({std::make_unique<Input>(std::move(inputs[i])), overpull, excluded});
    }
  }

  Next pull(const Demand& demand) override {
    std::vector<Chunk> parts;
    std::int64_t rows = 0;
    while (!over_ && active_ > 0 && rows < demand.rows) {
      if (!parts.empty() && selector_.unread_rows() == 0) break;
      Next choice = selector_.next(overpull_selector_ ? demand : Demand::one());
      if (!choice.ok()) return choice;
      if (!choice.value()) {
        over_ = true;
        break;
      }
      SW_ASSIGN(const bool all, follow(*choice.value(), demand, parts, rows));
      if (!all) break;
    }
    if (over_ || active_ == 0) drop_rest();
    if (parts.empty()) return end_of_data();
    const StructurePtr& known = stage().node().structure();
    const StructurePtr structure = known != nullptr ? known : parts[0].structure();
    return std::optional<Chunk>(join_rows(structure, parts).with_structure(structure));
  }

  Status save(StateWriter& out) const override {
    out.put(over_ ? 1 : 0);
    SW_RETURN_IF_ERROR(selector_.save(out));
    for (const Source& source : inputs_) {
      out.put(source.ended ? 1 : 0);
      if (!source.ended) SW_RETURN_IF_ERROR(source.input->save(out));
    }
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t flag = 0;
    SW_RETURN_IF_ERROR(in.get(flag));
    over_ = flag != 0;
    SW_RETURN_IF_ERROR(selector_.restore(in));
    active_ = 0;
    for (Source& source : inputs_) {
      SW_RETURN_IF_ERROR(in.get(flag));
      source.ended = flag != 0;
      if (source.ended) continue;
      ++active_;
      SW_RETURN_IF_ERROR(source.input->restore(in));
    }
    return {};
  }

 private:
  struct Source {
    std::unique_ptr<Input> input;
    bool overpull;
    bool ended;
  };

  // Follows the choices as far as it goes without waiting; those not followed go back, and it is
  // false. An error comes first of all: it is met only where nothing was gathered yet.
  Result<bool> follow(const Chunk& choices, const Demand& demand, std::vector<Chunk>& parts,
                      std::int64_t& rows) {
    std::int64_t done = 0;
    bool chosen = true;  // by the last choice
    Status status;
    while (done < choices.rows() && status.ok() && !over_ && active_ > 0 && rows < demand.rows) {
      auto index = int_result(choices.columns()[0].row(done), "choice_dataset");
      const auto n = static_cast<std::int64_t>(inputs_.size());
      const bool valid = index.ok() && index.value() >= 0 && index.value() < n;
      Source* source = valid ? &inputs_[static_cast<std::size_t>(index.value())] : nullptr;
      const bool waits = !valid || (!source->ended && source->input->unread_rows() == 0);
      if (waits && !parts.empty()) break;
      ++done;
      if (!index.ok()) {
        status = std::move(index).status();
      } else if (!valid) {
        status = invalid_argument("Selector index out of range: ", index.value(), " >= ", n);
      }
      if (!status.ok()) {
        chosen = false;
        status = losing(std::move(status), {counts_choices_ ? 1 : 0, 0});  // the choice itself
      } else if (!source->ended) {
        status = take(*source, demand, parts, rows);
        if (!status.ok() && !is_position(status)) --done;  // the choice is followed another time
      }
    }
    if (counts_choices_) use({done - (chosen ? 0 : 1), 0});
    const bool all = done == choices.rows();
    if (!all) selector_.unread(choices.slice(done, choices.rows()));
    if (!status.ok()) return status;
    return all;
  }

  Status take(Source& source, const Demand& demand, std::vector<Chunk>& parts, std::int64_t& rows) {
    Next next = source.input->next(source.overpull ? demand : Demand::one());
    if (!next.ok()) return std::move(next).status();
    if (!next.value()) {
      source.ended = true;
      --active_;
      over_ = stop_on_empty_;
      return {};
    }
    const Chunk& chunk = *next.value();
    if (chunk.rows() > 1) source.input->unread(chunk.slice(1, chunk.rows()));
    parts.push_back(chunk.slice(0, 1));
    ++rows;
    return {};
  }

  void drop_rest() {
    constexpr std::string_view kWhy = "behind the end";
    for (const Source& source : inputs_) drop(source.input->take_rest(), kWhy);
    const std::optional<Chunk> choices = selector_.take_rest();
    if (choices && counts_choices_) drop(Amount{choices->rows(), 0}, kWhy);
  }

  Input selector_;
  const bool overpull_selector_;
  const bool counts_choices_;  // they are an input's
  const bool stop_on_empty_;
  std::vector<Source> inputs_;
  std::int64_t active_ = 0;
  bool over_ = false;
};

}  // namespace

Result<IteratorPtr> open_directed(const OpenContext& context, DirectedParts parts) {
  std::vector<IteratorPtr> inputs;
  for (std::size_t i = parts.first_input; i < context.node().inputs().size(); ++i) {
    SW_ASSIGN(IteratorPtr input, context.open_input(i));
    inputs.push_back(std::move(input));
  }
  return IteratorPtr(
      std::make_unique<DirectedIterator>(context, std::move(parts), std::move(inputs)));
}

Result<StructurePtr> mixed_structure(std::span<const NodePtr> inputs) {
  StructurePtr all = inputs[0]->structure();
  for (std::size_t i = 1; i < inputs.size() && all != nullptr; ++i) {
    const StructurePtr& next = inputs[i]->structure();
    if (next == nullptr) return StructurePtr();
    auto both = common_structure(all, next);
    if (!both.ok()) {
      std::string specs;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k]->structure() == nullptr) continue;
        specs += "\n Dataset " + std::to_string(k) +
                 " element_spec=" + inputs[k]->structure()->to_string() + ".";
      }
      Status status = invalid_argument(
          "Invalid `datasets`. `datasets` must have compatible element specs.", specs);
      status.edit().type = "TypeError";
      return status;
    }
    all = std::move(both).value();
  }
  return all;
}

std::int64_t mixed_cardinality(std::span<const NodePtr> inputs) {
  const bool endless = std::ranges::any_of(
      inputs, [](const NodePtr& input) { return input->cardinality() == kInfinite; });
  return endless ? kInfinite : kUnknownCount;
}

namespace {

Result<Inferred> infer(const Node& node) {
  if (node.inputs().size() < 2) {
    Status status = invalid_argument("Invalid `datasets`. `datasets` should not be empty.");
    status.edit().type = "ValueError";
    return status;
  }
  const StructurePtr& choice = node.inputs()[0]->structure();
  if (choice != nullptr && (choice->kind() != Structure::Kind::kTensor ||
                            choice->dtype() != DType::kInt64 || !(choice->shape() == Shape()))) {
    Status status = invalid_argument(
        "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors "
        "but are ",
        choice->to_string(), ".");
    status.edit().type = "TypeError";
    return status;
  }
  const std::span<const NodePtr> datasets = std::span(node.inputs()).subspan(1);
  SW_ASSIGN(StructurePtr structure, mixed_structure(datasets));
  return Inferred{std::move(structure), mixed_cardinality(datasets)};
}

constexpr ParamDef kParams[] = {
    {"choice_dataset", ParamType::kDataset, "", "int64 scalars: which dataset is next"},
    {"datasets", ParamType::kDatasets, "", "what is chosen from"},
    {"stop_on_empty_dataset", ParamType::kBool, "True",
     "whether choosing a dataset that has ended ends all; else the choice is passed over"},
};

}  // namespace

extern constexpr OperatorDef choose_from_datasets_operator{
    .name = "choose_from_datasets",
    .summary = "Takes each element from the dataset that `choice_dataset` names.",
    .example =
        ">>> a = sw.Dataset.range(0, 3)\n"
        ">>> b = sw.Dataset.range(10, 13)\n"
        ">>> choice = sw.Dataset.range(2).repeat(3)\n"
        ">>> ds = sw.Dataset.choose_from_datasets([a, b], choice)\n"
        ">>> [int(x) for x in ds.as_numpy_iterator()]\n"
        "[0, 10, 1, 11, 2, 12]",
    .params = kParams,
    .inputs = 0,
    .fallible = true,
    .weighs = Weighs::kAllButFirst,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      DirectedParts parts;
      SW_ASSIGN(parts.selector, context.open_input(0));
      parts.overpull_selector = may_overpull(*context.node().inputs()[0]);
      parts.first_input = 1;
      parts.stop_on_empty = context.node().bool_param("stop_on_empty_dataset", true);
      return open_directed(context, std::move(parts));
    }};

}  // namespace spillway
