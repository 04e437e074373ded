#include <algorithm>
#include <map>
#include <optional>

#include "spillway/pipeline/call.h"
#include "spillway/pipeline/held_rows.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/key_sizes.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

Status typed(Status status, std::string type) {
  status.edit().type = std::move(type);
  return status;
}

Status check_scalar(const Node& node, std::string_view name) {
  const FunctionPtr function = node.function_param(name);
  const StructurePtr out = function == nullptr ? nullptr : function->output();
  if (out == nullptr) return {};
  if (out->kind() == Structure::Kind::kTensor && out->dtype() == DType::kInt64 &&
      out->shape().compatible(Shape())) {
    return {};
  }
  return typed(invalid_argument("Invalid `", name, "`. `", name,
                                "` must return a single `tf.int64` scalar tensor but its return "
                                "type is ",
                                out->to_string(), "."),
               "ValueError");
}

Result<Inferred> infer(const Node& node) {
  if (is_none(node.param("window_size")) == is_none(node.param("window_size_func"))) {
    return typed(invalid_argument("Either the `window_size` argument or the `window_size_func` "
                                  "argument must be specified."),
                 "ValueError");
  }
  SW_RETURN_IF_ERROR(check_scalar(node, "key_func"));
  SW_RETURN_IF_ERROR(check_scalar(node, "window_size_func"));
  const std::int64_t cardinality =
      node.inputs()[0]->cardinality() == kInfinite ? kInfinite : kUnknownCount;
  const StructurePtr out = node.function_param("reduce_func")->output();
  if (out == nullptr) return Inferred{nullptr, cardinality};
  if (out->kind() != Structure::Kind::kDataset || out->shape().rank() != 0) {
    return typed(invalid_argument("Invalid `reduce_func`. `reduce_func` must return a single "
                                  "`tf.data.Dataset` object but its return type is ",
                                  out->to_string(), "."),
                 "TypeError");
  }
  return Inferred{out->children()[0], cardinality};
}

// Rows of one key that wait for their window to be full. Positions are the rows' in the input.
struct Group {
  std::shared_ptr<HeldBlock> rows;
  std::unique_ptr<LongList<std::int64_t>> positions;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::vector<std::int64_t> restored;  // positions that a checkpoint names

  std::int64_t size() const { return positions == nullptr ? 0 : positions->size(); }
};

Status put_positions(StateWriter& out, const Group& group, std::int64_t from) {
  out.put(group.size());
  if (group.positions == nullptr) return {};
  return group.positions->each([&](std::int64_t position) {
    out.put(position - from);
    from = position;
  });
}

Status get_positions(StateReader& in, std::vector<std::int64_t>& positions) {
  std::int64_t count = 0;
  std::int64_t at = 0;
  SW_RETURN_IF_ERROR(in.get(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t delta = 0;
    SW_RETURN_IF_ERROR(in.get(delta));
    positions.push_back(at += delta);
  }
  return {};
}

// A full window is reduced and drained before more is read; what is left at the end follows in the
// order of the keys. A group whose reduce_func fails is given up, so that the next one's turn
// comes.
class GroupByWindowIterator final : public Iterator {
 public:
  GroupByWindowIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        input_(std::move(input), Input::Habit::kHolds),
        keeper_(context.stage()),
        key_func_(context.node().function_param("key_func")),
        reduce_func_(context.node().function_param("reduce_func")),
        size_func_(context.node().function_param("window_size_func")),
        size_(context.node().int_param("window_size")),
        overpull_(may_overpull(*context.node().inputs()[0])),
        sizes_(context.stage()->account()) {}

  Next pull(const Demand& demand) override {
    for (;;) {
      if (inner_ != nullptr) {
        Next next = inner_->next(demand);
        if (!next.ok()) return next;
        if (next.value()) return fitted(std::move(*next.value()));
        inner_ = nullptr;
        current_ = {};
        forget();
      }
      if (refused_) {
        SW_RETURN_IF_ERROR(flush(*refused_));
        continue;
      }
      if (ended_ && groups_.empty()) return end_of_data();
      if (ended_) {
        SW_RETURN_IF_ERROR(flush(groups_.begin()->first));
        continue;
      }
      Next next = input_.next(overpull_ ? demand : Demand::one());
      if (!next.ok()) return next;
      if (!next.value()) {
        ended_ = true;
        continue;
      }
      SW_RETURN_IF_ERROR(sort(*next.value()));
    }
  }

  // The rows held are named by their positions in the input, a byte or two each.
  Status save(StateWriter& out) const override {
    const std::int64_t oldest = oldest_needed();
    out.put(ended_ ? 1 : 0);
    out.put(inner_ != nullptr ? 1 : 0);
    out.put(current_key_);
    out.put(refused_ ? 1 : 0);
    out.put(refused_.value_or(0));
    SW_RETURN_IF_ERROR(put_positions(out, current_, oldest));
    out.put(static_cast<std::int64_t>(groups_.size()));
    for (const auto& [key, group] : groups_) {
      out.put(key);
      SW_RETURN_IF_ERROR(put_positions(out, group, oldest));
    }
    out.put(static_cast<std::int64_t>(sizes_.count()));
    for (const auto& [key, size] : sizes_.all()) {
      out.put(key);
      out.put(size);
    }
    out.put(input_.position() - oldest);
    SW_RETURN_IF_ERROR(input_.save(out, oldest));
    return inner_ != nullptr ? inner_->save(out) : Status();
  }

  Status restore(StateReader& in) override {
    std::int64_t ended = 0;
    std::int64_t inside = 0;
    std::int64_t count = 0;
    std::map<std::int64_t, Group*> owner;
    SW_RETURN_IF_ERROR(in.get(ended));
    SW_RETURN_IF_ERROR(in.get(inside));
    SW_RETURN_IF_ERROR(in.get(current_key_));
    std::int64_t refused = 0;
    std::int64_t refused_key = 0;
    SW_RETURN_IF_ERROR(in.get(refused));
    SW_RETURN_IF_ERROR(in.get(refused_key));
    SW_RETURN_IF_ERROR(get_positions(in, current_.restored));
    SW_RETURN_IF_ERROR(in.get(count));
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t key = 0;
      SW_RETURN_IF_ERROR(in.get(key));
      SW_RETURN_IF_ERROR(get_positions(in, groups_[key].restored));
    }
    for (auto& [key, group] : groups_) claim(owner, group);
    claim(owner, current_);
    SW_RETURN_IF_ERROR(in.get(count));
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t key = 0;
      std::int64_t size = 0;
      SW_RETURN_IF_ERROR(in.get(key));
      SW_RETURN_IF_ERROR(in.get(size));
      if (size <= 0)
        return invalid_argument("checkpoint: group_by_window: a window size of ", size);
      sizes_.set(key, size);
    }
    SW_RETURN_IF_ERROR(in.get(count));
    SW_RETURN_IF_ERROR(input_.restore(in));
    SW_RETURN_IF_ERROR(reread(owner, count));
    ended_ = ended != 0;
    const bool lost = std::ranges::any_of(
        groups_, [](const auto& entry) { return entry.second.rows == nullptr; });
    if (lost || (inside != 0 && current_.rows == nullptr) ||
        (refused != 0 && !groups_.contains(refused_key))) {
      return invalid_argument("checkpoint: group_by_window: a group without rows");
    }
    if (refused != 0) refused_ = refused_key;
    if (inside == 0) return {};
    SW_RETURN_IF_ERROR(enter());
    use(current_.rows->amount());
    return inner_->restore(in);
  }

 private:
  // Puts rows into their groups up to the one that fills a window; the others go back.
  Status sort(const Chunk& rows) {
    const std::int64_t first = input_.position() - rows.rows();
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      auto full = add(rows, i, first + i);
      const bool stop = !full.ok() || full.value();
      const std::int64_t passed = i + (full.ok() || is_position(full.error()) ? 1 : 0);
      if (stop && passed < rows.rows()) input_.unread(rows.slice(passed, rows.rows()));
      if (!full.ok()) return std::move(full).status();
      if (full.value()) return flush(last_key_);
    }
    return {};
  }

  // True when the row filled the window of last_key_.
  Result<bool> add(const Chunk& rows, std::int64_t i, std::int64_t position) {
    const Chunk row = rows.slice(i, i + 1);
    auto outcome = call_rows(stage(), *key_func_, row, position, epoch());
    if (!outcome.error.ok()) return std::move(outcome.error);
    auto key = int_result(outcome.out.columns()[0].row(0), "key_func");
    if (!key.ok()) return of_row(std::move(key).status(), row, 0);
    last_key_ = key.value();
    const auto size = size_of_window(row, position);
    if (!size.ok()) return of_row(size.error(), row, 0);
    Group& group = groups_[last_key_];
    if (Status status = keep(group, rows, i, position); !status.ok()) {
      if (group.size() == 0) groups_.erase(last_key_);
      return of_row(std::move(status), row, 0);
    }
    if (element_ == nullptr) learn(rows);
    return group.size() >= size.value();
  }

  Status keep(Group& group, const Chunk& rows, std::int64_t i, std::int64_t position) {
    if (group.rows == nullptr) {
      group.rows = keeper_.empty();
      group.positions = std::make_unique<LongList<std::int64_t>>(
          account(), stage().run().budget(),
          LazySpill::Counter(context_.stage(), &stats().spilled_bytes));
      group.first = position;
    }
    SW_RETURN_IF_ERROR(group.positions->append(position));
    if (Status added = group.rows->add(rows, i); !added.ok()) {
      group.positions->pop_back();
      return added;
    }
    group.last = position;
    return {};
  }

  // Asked once a key.
  Result<std::int64_t> size_of_window(const Chunk& row, std::int64_t position) {
    std::int64_t size = size_;
    if (size_func_ != nullptr) {
      if (const std::int64_t known = sizes_.find(last_key_); known > 0) return known;
      SW_ASSIGN(Tensor key, make_scalar(account(), DType::kInt64, last_key_));
      SW_ASSIGN(const Row out, call_row(stage(), *size_func_, key_spec(), {std::move(key)},
                                        row.origins().at(0), position, epoch()));
      SW_ASSIGN(size, int_result(out.values[0], "window_size_func"));
    }
    if (size <= 0) {
      return invalid_argument("Window size must be greater than zero, but got ", size, ".");
    }
    if (size_func_ != nullptr) sizes_.set(last_key_, size);
    return size;
  }

  static StructurePtr key_spec() { return Structure::tensor(DType::kInt64, {}); }

  void learn(const Chunk& rows) {
    const StructurePtr& known = stage().node().inputs()[0]->structure();
    element_ = known != nullptr ? known : rows.structure();
  }

  Status flush(std::int64_t key) {
    auto group = groups_.extract(key);
    refused_.reset();
    current_key_ = key;
    current_ = std::move(group.mapped());
    const Amount rows = current_.rows->amount();
    if (Status status = enter(); !status.ok()) {
      if (!is_position(status)) {
        groups_[key] = std::move(current_);
        current_ = {};
        refused_ = key;
        return status;
      }
      const Amount one{1, current_.rows->first_origin().weight};
      drop(rows - one, "of a group that failed");
      current_ = {};
      forget();
      return losing(std::move(status), one);
    }
    use(rows);
    return {};
  }

  // Opens what reduce_func makes of the current group.
  Status enter() {
    const Origin origin = current_.rows->first_origin();
    const auto rows = std::make_shared<HeldRows>(
        element_, std::vector<RowRun>{{current_.rows, 0, current_.rows->rows(), 1}});
    SW_ASSIGN(Tensor key, make_scalar(account(), DType::kInt64, current_key_));
    SW_ASSIGN(Tensor window, dataset_of(rows, -1, stage().node()));
    const StructurePtr structure = Structure::tuple({key_spec(), Structure::dataset(element_)});
    auto made = call_row(stage(), *reduce_func_, structure, {std::move(key), std::move(window)},
                         origin, current_.last, epoch());
    if (!made.ok()) return as_internal(std::move(made).status());
    SW_ASSIGN(const NodePtr dataset, dataset_result(made.value().values[0], "reduce_func"));
    SW_ASSIGN(inner_, context_.open_nested(dataset, origin));
    return {};
  }

  // What TensorFlow makes of an error in reduce_func.
  Status as_internal(Status error) const {
    if (error.code() == Code::kCancelled || error.kind() == ErrorKind::kResource) return error;
    ErrorInfo& info = error.edit();
    info.message = "Got error code " + std::string(to_string(info.code)) + " and message: {\n" +
                   info.message + "\n} \nfrom running user-defined function " +
                   reduce_func_->name();
    info.code = Code::kInternal;
    return error;
  }

  static void claim(std::map<std::int64_t, Group*>& owner, Group& group) {
    for (const std::int64_t position : group.restored) owner[position] = &group;
    group.restored = {};
  }

  // Comes back over `count` positions, keeping the rows that groups still hold.
  Status reread(const std::map<std::int64_t, Group*>& owner, std::int64_t count) {
    const std::int64_t from = input_.position();
    while (input_.position() - from < count) {
      const std::int64_t at = input_.position() - from;
      Next next = input_.next(Demand{count - at});
      if (!next.ok() && !is_position(next.error())) return std::move(next).status();
      if (!next.ok()) continue;
      if (!next.value()) return invalid_argument("checkpoint: group_by_window: an element is gone");
      for (std::int64_t i = 0; i < next.value()->rows(); ++i) {
        const auto group = owner.find(at + i);
        if (group == owner.end()) {
          use({1, next.value()->origins().weight(i)});
          continue;
        }
        if (element_ == nullptr) learn(*next.value());
        Group& to = *group->second;
        SW_RETURN_IF_ERROR(keep(to, *next.value(), i, from + at + i));
      }
    }
    return {};
  }

  std::int64_t oldest_needed() const {
    std::int64_t oldest = input_.position();
    for (const auto& [key, group] : groups_) oldest = std::min(oldest, group.first);
    if (inner_ != nullptr) oldest = std::min(oldest, current_.first);
    return oldest;
  }
  // Looking for the oldest costs a look at every group: once in so many groups that went.
  void forget() {
    if (++gone_ < groups_.size()) return;
    gone_ = 0;
    input_.forget_before(oldest_needed());
  }

  Next fitted(Chunk rows) const {
    const StructurePtr& structure = stage().node().structure();
    return std::optional<Chunk>(structure == nullptr ? std::move(rows)
                                                     : rows.with_structure(structure));
  }

  const OpenContext context_;
  Input input_;
  RowKeeper keeper_;
  const FunctionPtr key_func_;
  const FunctionPtr reduce_func_;
  const FunctionPtr size_func_;
  const std::int64_t size_;
  const bool overpull_;
  StructurePtr element_;
  std::map<std::int64_t, Group> groups_;
  KeySizes sizes_;
  std::size_t gone_ = 0;  // groups, since the input was last told what is needed
  std::int64_t last_key_ = 0;
  std::optional<std::int64_t> refused_;  // the group that found no memory: it is the next one
  std::int64_t current_key_ = 0;
  Group current_;  // the one being drained
  IteratorPtr inner_;
  bool ended_ = false;
};

constexpr ParamDef kParams[] = {
    {"key_func", ParamType::kFunction, "", "element -> int64 scalar"},
    {"reduce_func", ParamType::kFunction, "", "(key, dataset of the window) -> dataset"},
    {"window_size", ParamType::kInt, "None", "elements of one key in a window"},
    {"window_size_func", ParamType::kFunction, "None", "key -> elements in a window"},
};

}  // namespace

extern constexpr OperatorDef group_by_window_operator{
    .name = "group_by_window",
    .summary = "Collects elements of equal key into windows and makes a dataset of each.",
    .example =
        ">>> ds = sw.Dataset.range(6).group_by_window(\n"
        "...     key_func=lambda x: x % 2, reduce_func=lambda key, rows: rows.batch(3),\n"
        "...     window_size=3)\n"
        ">>> [batch.tolist() for batch in ds.as_numpy_iterator()]\n"
        "[[0, 2, 4], [1, 3, 5]]",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<GroupByWindowIterator>(context, std::move(input)));
    }};

}  // namespace spillway
