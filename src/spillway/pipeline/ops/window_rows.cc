#include <algorithm>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/held_rows.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/run.h"

namespace spillway {

namespace {

// Of one iterator's blocks: as they came, without a copy.
constexpr std::size_t kMostKept = kMiB;
// What a block takes beside its rows and the list of them.
constexpr std::size_t kBytesABlock = 768;

}  // namespace

HeldBlock::~HeldBlock() {
  const MutexLock lock(mutex_);  // the last owner: for the analysis
  // What cannot be read any more stays on disk until the store goes.
  if (slots_ != nullptr) {
    static_cast<void>(slots_->each([this](RowStore::Slot slot) { store_->erase(slot); }));
  }
  if (in_memory_ != nullptr) *in_memory_ -= in_memory_bytes_;
}

Result<Chunk> HeldBlock::read(std::int64_t begin, std::int64_t end, std::int64_t stride,
                              std::int64_t most, std::size_t bytes) const {
  const std::int64_t each = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes_) / rows_);
  const std::int64_t fit = static_cast<std::int64_t>(bytes) / each;
  const std::int64_t rows =
      std::min({(end - begin - 1) / stride + 1, most, std::max<std::int64_t>(1, fit)});
  if (store_ == nullptr && stride == 1) return kept_.slice(begin, begin + rows);
  if (store_ == nullptr) {
    std::vector<Chunk> parts;
    parts.reserve(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
      parts.push_back(kept_.slice(begin + i * stride, begin + i * stride + 1));
    }
    return join_rows(kept_.structure(), parts);
  }
  std::vector<RowStore::Slot> slots;
  slots.reserve(static_cast<std::size_t>(rows));
  {
    const MutexLock lock(mutex_);
    for (std::int64_t i = 0; i < rows; ++i) {
      SW_ASSIGN(const RowStore::Slot slot, slots_->read(begin + i * stride));
      slots.push_back(slot);
    }
  }
  return store_->peek_rows(structure_, slots);
}

Result<Origin> HeldBlock::origin(std::int64_t row) const {
  if (row == 0) return first_;
  if (store_ == nullptr) return kept_.origins().at(row);
  RowStore::Slot slot = 0;
  {
    const MutexLock lock(mutex_);
    SW_ASSIGN(slot, slots_->read(row));
  }
  return store_->origin(slot);
}

Amount HeldBlock::amount(std::int64_t begin, std::int64_t end, std::int64_t stride) const {
  if (end <= begin) return {};
  if (begin == 0 && end == rows_ && stride == 1) return amount();
  const std::int64_t rows = (end - begin - 1) / stride + 1;
  if (store_ != nullptr) return {rows, rows * first_.weight};
  if (stride == 1) return {rows, kept_.origins().slice(begin, rows).total_weight(rows)};
  Amount out{rows, 0};
  for (std::int64_t row = begin; row < end; row += stride)
    out.weight += kept_.origins().weight(row);
  return out;
}

Amount RowRun::amount() const { return block->amount(begin, end, stride); }

Status HeldBlock::add(const Chunk& rows, std::int64_t row) {
  SW_ASSIGN(const RowStore::Slot slot, store_->put(rows, row));
  Status listed;
  {
    const MutexLock lock(mutex_);
    listed = slots_->append(slot);
  }
  if (!listed.ok()) {
    store_->erase(slot);
    return listed;
  }
  if (rows_ == 0) {
    structure_ = rows.structure();
    first_ = rows.origins().at(row);
  }
  weight_ += rows.origins().weight(row);
  bytes_ += rows.footprint() / static_cast<std::size_t>(rows.rows());
  ++rows_;
  return {};
}

bool HeldBlock::alike(const Chunk& rows, std::int64_t row) const {
  return rows_ == 0 ||
         (rows.structure() == structure_ && rows.origins().weight(row) == first_.weight);
}

Result<std::int64_t> HeldBlock::add_alike(const Chunk& rows, std::int64_t most) {
  std::int64_t added = 0;
  for (; added < rows.rows() && rows_ < most && alike(rows, added); ++added) {
    Status put = add(rows, added);
    if (put.ok()) continue;
    if (added == 0) return put;
    break;
  }
  return added;
}

RowKeeper::RowKeeper(StagePtr stage)
    : stage_(std::move(stage)), in_memory_(std::make_shared<std::atomic<std::size_t>>(0)) {}

const std::shared_ptr<RowStore>& RowKeeper::store() {
  if (store_ == nullptr) store_ = std::make_shared<RowStore>(stage_);
  return store_;
}

std::shared_ptr<HeldBlock> RowKeeper::empty() {
  std::shared_ptr<HeldBlock> block(new HeldBlock);
  block->store_ = store();
  const MutexLock lock(block->mutex_);
  block->slots_ = std::make_unique<LongList<RowStore::Slot>>(
      stage_->account(), stage_->run().budget(),
      LazySpill::Counter(stage_, &stage_->stats().spilled_bytes));
  return block;
}

std::shared_ptr<HeldBlock> RowKeeper::one_of_many() {
  std::shared_ptr<HeldBlock> block = empty();
  block->paid_ = stage_->account()->owe(kBytesABlock);
  block->paid_.touch();
  return block;
}

std::shared_ptr<HeldBlock> RowKeeper::keep(const Chunk& rows) {
  const std::size_t bytes = rows.footprint();
  if (*in_memory_ + bytes + kBytesABlock > kMostKept) return nullptr;
  std::shared_ptr<HeldBlock> block(new HeldBlock);
  block->rows_ = rows.rows();
  block->weight_ = rows.amount().weight;
  block->structure_ = rows.structure();
  block->first_ = rows.origins().at(0);
  block->kept_ = rows;
  block->bytes_ = bytes;
  block->in_memory_bytes_ = bytes + kBytesABlock;
  block->in_memory_ = in_memory_;
  *in_memory_ += block->in_memory_bytes_;
  return block;
}

HeldRows::HeldRows(StructurePtr element, std::vector<RowRun> runs)
    : element_(std::move(element)), runs_(std::move(runs)) {
  for (const RowRun& run : runs_) rows_ += run.rows();
}

StructurePtr component_structure(const Structure& leaf) {
  if (leaf.kind() == Structure::Kind::kDataset) {
    return Structure::dataset(leaf.children()[0], leaf.shape());
  }
  if (leaf.kind() == Structure::Kind::kOptional) {
    return Structure::optional(leaf.children()[0], leaf.shape());
  }
  return Structure::tensor(leaf.dtype(), leaf.shape());
}

Amount HeldRows::amount() const {
  Amount all;
  for (const RowRun& run : runs_) all = all + run.amount();
  return all;
}

std::string HeldRows::describe() const { return std::to_string(rows_) + " rows"; }

namespace {

HeldRowsPtr held(const Node& node) {
  return std::dynamic_pointer_cast<HeldRows>(node.object_param("rows"));
}

Result<Inferred> infer(const Node& node) {
  const HeldRowsPtr rows = held(node);
  if (rows == nullptr) return internal_bug("window_rows: made from held rows only");
  const std::int64_t component = node.int_param("component", -1);
  if (component < 0) return Inferred{rows->element(), rows->rows()};
  return Inferred{
      component_structure(*rows->element()->leaves()[static_cast<std::size_t>(component)]),
      rows->rows()};
}

// Rows keep the origins they had before they were held. All are there from the beginning: those
// never asked for are in the audit as held.
class WindowRowsIterator final : public Iterator {
 public:
  explicit WindowRowsIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        rows_(held(context.node())),
        component_(context.node().int_param("component", -1)) {
    stats().in.add(rows_->amount());
  }

  Next pull(const Demand& demand) override {
    while (run_ < rows_->runs().size() && at_ >= rows_->runs()[run_].rows()) {
      ++run_;
      at_ = 0;
    }
    if (run_ == rows_->runs().size()) return end_of_data();
    const RowRun& run = rows_->runs()[run_];
    SW_ASSIGN(Chunk chunk, run.block->read(run.begin + at_ * run.stride, run.end, run.stride,
                                           demand.rows, demand.bytes));
    at_ += chunk.rows();
    done_ += chunk.rows();
    stats().in.add(Amount{} - chunk.amount());
    const StructurePtr& structure = stage().node().structure();
    if (component_ < 0) return std::optional<Chunk>(chunk.with_structure(structure));
    std::vector<Column> column{chunk.columns()[static_cast<std::size_t>(component_)]};
    return std::optional<Chunk>(Chunk(structure, chunk.rows(), std::move(column), chunk.origins()));
  }

  Status skip(std::int64_t rows) override {
    const std::int64_t before = weight_before();
    const std::int64_t from = done_;
    done_ = std::min(done_ + rows, rows_->rows());
    run_ = 0;
    at_ = done_;
    while (run_ < rows_->runs().size() && at_ >= rows_->runs()[run_].rows()) {
      at_ -= rows_->runs()[run_++].rows();
    }
    stats().in.add({from - done_, before - weight_before()});
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(done_);
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t done = 0;
    SW_RETURN_IF_ERROR(in.get_count(done));
    return skip(done);
  }

 private:
  // Source rows of what was handed out.
  std::int64_t weight_before() const {
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < run_; ++i) weight += rows_->runs()[i].amount().weight;
    if (at_ == 0) return weight;
    RowRun part = rows_->runs()[run_];
    part.end = part.begin + (at_ - 1) * part.stride + 1;
    return weight + part.amount().weight;
  }

  const HeldRowsPtr rows_;
  const std::int64_t component_;
  std::size_t run_ = 0;
  std::int64_t at_ = 0;    // rows of this run handed out
  std::int64_t done_ = 0;  // rows handed out
};

constexpr ParamDef kParams[] = {
    {"rows", ParamType::kObject, "", "the rows an operator holds"},
    {"component", ParamType::kInt, "-1", "which component of them; -1: whole elements"},
};

}  // namespace

extern constexpr OperatorDef window_rows_operator{
    .name = "window_rows",
    .summary = "The rows of one window or group.",
    .example = "",
    .params = kParams,
    .inputs = 0,
    .ratio = Ratio::kSource,
    .hidden = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<WindowRowsIterator>(context));
    }};

Result<Tensor> dataset_of(const HeldRowsPtr& rows, std::int64_t component, const Node& maker) {
  SW_ASSIGN(const NodePtr node,
            Node::make(window_rows_operator, {Value(ObjectPtr(rows)), Value(component)}, {},
                       maker.line()));
  return make_variant(std::make_shared<DatasetValue>(node));
}

}  // namespace spillway
