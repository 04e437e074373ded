#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/call.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/seen_set.h"

namespace spillway {
namespace {

Status unsupported(const std::string& type) {
  Status status =
      invalid_argument("`tf.data.Dataset.unique` does not support type ", type,
                       " -- only `tf.int32`, `tf.int64`, and `tf.string` are supported.");
  status.edit().type = "TypeError";
  return status;
}

bool has_none(const Structure& structure) {
  if (structure.is_component()) return false;
  return structure.kind() == Structure::Kind::kNone ||
         std::ranges::any_of(structure.children(), [](const auto& c) { return has_none(*c); });
}

Status check(const Structure& structure) {
  for (const Structure* leaf : structure.leaves()) {
    const DType t = leaf->dtype();
    if (t != DType::kInt32 && t != DType::kInt64 && t != DType::kString) {
      return unsupported("<dtype: '" + std::string(name_of(t)) + "'>");
    }
  }
  if (has_none(structure)) return unsupported("NoneTensorSpec()");
  if (structure.components() != 1) {
    return invalid_argument("UniqueDataset only supports inputs with a single component.");
  }
  return {};
}

Result<Inferred> infer(const Node& node) {
  const StructurePtr& structure = node.inputs()[0]->structure();
  if (structure != nullptr) SW_RETURN_IF_ERROR(check(*structure));
  return Inferred{structure, kUnknownCount};
}

// Shape and content as bytes: equal exactly for equal values.
void write_key(const Tensor& value, std::string& key) {
  key.clear();
  const auto put = [&](std::int64_t n) { key.append(reinterpret_cast<const char*>(&n), sizeof n); };
  for (const std::int64_t dim : value.shape().dims()) put(dim);
  put(value.shape().rank());
  if (value.dtype() != DType::kString) {
    key.append(reinterpret_cast<const char*>(value.data()), value.bytes());
    return;
  }
  for (std::int64_t i = 0; i < value.count(); ++i) {
    put(static_cast<std::int64_t>(value.string_at(i).size()));
    key.append(value.string_at(i));
  }
}

// The values seen cannot be given up, and are too many for a checkpoint: it says how far the input
// was, and restoring goes through it once more.
class UniqueIterator final : public Iterator {
 public:
  UniqueIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input), Input::Habit::kHolds),
        checked_(context.node().structure() != nullptr),
        seen_(account(), context.run().budget(),
              {context.stage(), &context.stage()->stats().spilled_bytes}) {}

  Next pull(const Demand& demand) override {
    for (;;) {
      if (!error_.ok()) return std::exchange(error_, Status());
      Next next = input_.next(demand);
      if (!next.ok() || !next.value()) return next;
      const Chunk& rows = *next.value();
      std::vector<std::int64_t> kept;
      std::int64_t tested = 0;
      for (; tested < rows.rows() && error_.ok(); ++tested) {
        auto added = add(rows, tested);
        if (!added.ok()) {
          error_ = of_row(std::move(added).status(), rows, tested);
        } else if (added.value()) {
          kept.push_back(tested);
        }
      }
      const std::int64_t failed = told_of_row();
      if (failed == 0 && !error_.ok()) --tested;  // a row that found no memory comes again
      if (tested < rows.rows()) input_.unread(rows.slice(tested, rows.rows()));
      const Amount all = rows.amount(tested - failed);
      const auto count = static_cast<std::int64_t>(kept.size());
      if (count == 0) {
        leave_out(all);
        continue;
      }
      if (count == rows.rows()) return next;
      Chunk out = select_rows(account(), rows, kept);
      leave_out(all - out.amount());
      return std::optional<Chunk>(std::move(out));
    }
  }

  Status save(StateWriter& out) const override {
    out.put(input_.position() - told_of_row());
    return input_.save(out, 0);
  }
  Status restore(StateReader& in) override {
    std::int64_t passed = 0;
    SW_RETURN_IF_ERROR(in.get_count(passed));
    SW_RETURN_IF_ERROR(input_.restore(in));
    while (input_.position() < passed) {
      Next next = input_.next({passed - input_.position(), kMiB, 1'000'000});
      if (!next.ok()) {
        if (!is_position(next.error())) return std::move(next).status();
        continue;
      }
      if (!next.value()) return invalid_argument("checkpoint: the input has become shorter");
      use(next.value()->amount());
      for (std::int64_t i = 0; i < next.value()->rows(); ++i) {
        auto added = add(*next.value(), i);
        if (!added.ok()) return std::move(added).status();
      }
    }
    return {};
  }

 private:
  // 1: error_ stands in the place of the row before position().
  std::int64_t told_of_row() const { return error_.ok() || !is_position(error_) ? 0 : 1; }

  // Whether the value is new.
  Result<bool> add(const Chunk& rows, std::int64_t row) {
    if (!checked_) {
      if (rows.structure() != nullptr) SW_RETURN_IF_ERROR(check(*rows.structure()));
      checked_ = true;
    }
    write_key(rows.columns()[0].row(row), key_);
    return seen_.add(key_);
  }

  Input input_;
  bool checked_;  // the structure
  Status error_;  // not told yet
  SeenSet seen_;
  std::string key_;
};

}  // namespace

extern constexpr OperatorDef unique_operator{
    .name = "unique",
    .summary = "Leaves out elements that came before.",
    .example =
        ">>> ds = sw.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1])\n"
        ">>> list(ds.unique().as_numpy_iterator())\n"
        "[np.int32(1), np.int32(37), np.int32(2)]",
    .params = {},
    .fallible = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<UniqueIterator>(context, std::move(input)));
    }};

}  // namespace spillway
