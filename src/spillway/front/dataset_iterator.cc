#include <cstring>

#include "spillway/front/front_access.h"
#include "spillway/pipeline/consumer.h"

namespace spillway {
namespace {

// A smaller row is copied out of its chunk: one kept sample never pins a thousand.
constexpr std::size_t kSmall = 64 * 1024;

Result<Array> handed_out(const Tensor& tensor) {
  if (tensor.dtype() == DType::kVariant) return FrontAccess::array(tensor);
  const bool view = tensor.owns_whole_buffer() || tensor.footprint() >= kSmall;
  if (!view && tensor.dtype() == DType::kString) {
    static const auto& account = *new AccountPtr(Budget::process().open_account("kept strings"));
    SW_ASSIGN(Tensor copy, compact(account, tensor, Buffer::Ask::kOwed));
    return FrontAccess::array(std::move(copy));
  }
  if (!view) {
    const std::shared_ptr<std::byte[]> heap(new std::byte[tensor.bytes()]);
    std::memcpy(heap.get(), tensor.data(), tensor.bytes());
    auto buffer = std::make_shared<Buffer>(Buffer::adopt(heap.get(), tensor.bytes(), heap));
    return FrontAccess::array(Tensor(tensor.dtype(), tensor.shape(), std::move(buffer)));
  }
  auto data = std::make_shared<ArrayData>(tensor);
  data->mark_exported();
  return FrontAccess::array(std::move(data));
}

}  // namespace

struct Dataset::Iterator::State {
  std::unique_ptr<Consumer> consumer;
  Chunk chunk;
  std::int64_t at = 0;  // rows of the chunk handed out
};

Dataset::Iterator::Iterator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Dataset::Iterator::Iterator(Iterator&&) noexcept = default;
Dataset::Iterator& Dataset::Iterator::operator=(Iterator&&) noexcept = default;
Dataset::Iterator::~Iterator() = default;

Result<Dataset::Iterator> Dataset::iterate(const IterateOptions& options) const {
  SW_RETURN_IF_ERROR(status());
  RunOptions run;
  if (!options.read_ahead) run.read_ahead_ns = 0;
  run.pipeline_name = options.name;
  auto state = std::make_unique<Iterator::State>();
  SW_ASSIGN(state->consumer, Consumer::open(data_->node, std::move(run)));
  return Iterator(std::move(state));
}

Result<std::optional<Sample>> Dataset::Iterator::next() {
  State& s = *state_;
  if (s.at >= s.chunk.rows()) {
    s.chunk = Chunk();
    s.at = 0;
    Next next = s.consumer->next();
    if (!next.ok()) return std::move(next).status();
    if (!next.value()) return std::optional<Sample>();
    s.chunk = std::move(*next.value());
    if (s.chunk.structure() == nullptr) return internal_bug("a chunk without a structure");
  }
  std::vector<Array> values;
  values.reserve(s.chunk.columns().size());
  for (const Column& column : s.chunk.columns()) {
    SW_ASSIGN(Array value, handed_out(column.row(s.at)));
    values.push_back(std::move(value));
  }
  s.consumer->handed_out(++s.at);
  return std::optional<Sample>(FrontAccess::sample(s.chunk.structure(), std::move(values)));
}

Result<std::string> Dataset::Iterator::save() const { return state_->consumer->save(); }

Status Dataset::Iterator::restore(std::string_view state) {
  return state_->consumer->restore(state);
}

void Dataset::Iterator::close() {
  state_->chunk = Chunk();
  state_->at = 0;
  state_->consumer->close();
}

AuditTotals Dataset::Iterator::audit() const {
  const Audit audit = state_->consumer->audit();
  return {audit.total,  audit.delivered, audit.filtered, audit.skipped,
          audit.failed, audit.dropped,   audit.held};
}

Dataset::Cursor Dataset::begin() const { return Cursor(iterate()); }

Dataset::Cursor::Cursor(Result<Iterator> pass) {
  if (!pass.ok()) {
    current_ = std::move(pass).status();
    return;
  }
  pass_ = std::move(pass).value();
  advance();
}

void Dataset::Cursor::advance() {
  current_.reset();
  if (!pass_) return;
  auto next = pass_->next();
  if (!next.ok()) {
    current_ = std::move(next).status();
  } else if (next.value()) {
    current_ = std::move(*next.value());
  }
}

}  // namespace spillway
