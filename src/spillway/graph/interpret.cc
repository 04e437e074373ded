#include "spillway/graph/interpret.h"

#include <algorithm>
#include <unordered_map>

#include "spillway/graph/row_run.h"
#include "spillway/graph/run_op.h"

namespace spillway::graph {
namespace {

// Which file's bytes a node's value was made of, for those who find them damaged.
class FilesBehind {
 public:
  const std::string* of(std::span<const Operand> operands) const {
    if (by_node_.empty()) return nullptr;
    for (const Operand& operand : operands) {
      const auto found = by_node_.find(operand.node.get());
      if (found != by_node_.end()) return &found->second;
    }
    return nullptr;
  }
  static bool direct(std::span<const Operand> operands) {
    return std::ranges::any_of(
        operands, [](const Operand& operand) { return operand.node->op().name == "read_file"; });
  }
  void note(const Node& node, std::span<const Operand> operands, std::span<const Tensor> inputs) {
    if (node.op().name == "read_file") {
      by_node_[&node] = inputs[0].string_at(0);
    } else if (const std::string* file = of(operands)) {
      by_node_[&node] = std::string(*file);
    }
  }

 private:
  std::unordered_map<const Node*, std::string> by_node_;
};

// One row's values, as far as they are made and still needed.
class RowValues {
 public:
  struct Account {
    const AccountPtr& account;
    Buffer::Ask ask;
  };
  RowValues(const Graph& graph, std::span<const Tensor> parameters, Account pays, const Call& call)
      : graph_(graph), pays_(pays), call_(call) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      values_[graph.parameters()[i].get()] = {parameters[i]};
    }
  }

  bool has(const Node* node) const { return values_.contains(node); }
  const Tensor& of(const Operand& operand) const {
    if (const auto found = values_.find(operand.node.get()); found != values_.end()) {
      return found->second[static_cast<std::size_t>(operand.output)];
    }
    return *operand.value();
  }
  std::vector<Tensor> inputs(std::size_t step) const {
    std::vector<Tensor> out;
    out.reserve(graph_.order()[step].inputs.size());
    for (const Operand& input : graph_.order()[step].inputs) out.push_back(of(input));
    return out;
  }
  void set(std::size_t step, std::vector<Tensor> values) {
    values_[graph_.order()[step].node.get()] = std::move(values);
  }
  void forget(std::span<const Node* const> nodes) {
    for (const Node* node : nodes) values_.erase(node);
  }

  Status run(std::size_t step) { return run(step, inputs(step)); }
  Status run(std::size_t step, const std::vector<Tensor>& inputs) {
    const auto& [node, operands] = graph_.order()[step];
    auto made = run_op(node->op(), inputs, node->attrs(), pays_.account, pays_.ask, call_);
    if (!made.ok()) return told(step, std::move(made).status());
    files_.note(*node, operands, inputs);
    set(step, std::move(made).value());
    return {};
  }
  // An error with the op, the line and the file it is about.
  Status told(std::size_t step, Status status) const {
    const auto& [node, operands] = graph_.order()[step];
    Status error = std::move(status).at(node->op().name);
    if (error.info().line.empty()) error.edit().line = node->line();
    const std::string* file = files_.of(operands);
    if (file != nullptr && error.info().file.empty()) {
      error.edit().file = *file;
      // Of bytes that were made from the file's, the place in them is not one in the file.
      if (!FilesBehind::direct(operands)) error.edit().offset = -1;
    }
    return error;
  }
  // As run() leaves it.
  void note_file(std::size_t step) {
    const auto& [node, operands] = graph_.order()[step];
    files_.note(*node, operands, {});
  }

  std::vector<Tensor> results() const {
    std::vector<Tensor> out;
    out.reserve(graph_.results().size());
    for (const Operand& result : graph_.results()) out.push_back(of(result));
    return out;
  }
  const Call& call() const { return call_; }

 private:
  const Graph& graph_;
  const Account pays_;
  const Call call_;
  std::unordered_map<const Node*, std::vector<Tensor>> values_;
  FilesBehind files_;
};

// What the header says of an image that is not decoded yet. No rank: only decoding it will tell.
Shape shape_in_header(const DecodeCall& call, ImageBytes bytes, Workspace& workspace) {
  const auto found = find_image(bytes, call);
  const DecodeOptions& options = call.options;
  if (!found.ok() || options.ratio != 1 || options.crop || options.channels == 0) {
    return Shape::unknown_rank();
  }
  const ImageFormat format = found.value().codec->format;
  if (format != ImageFormat::kJpeg && format != ImageFormat::kPng) return Shape::unknown_rank();
  const auto info = found.value().codec->read_info(bytes, workspace);
  if (!info.ok()) return Shape::unknown_rank();
  return Shape({info.value().height, info.value().width, options.channels});
}

class RowsRun {
 public:
  explicit RowsRun(const RowsRequest& request) : request_(request) {
    rows_.reserve(request.parameters.size());
    for (std::size_t i = 0; i < request.parameters.size(); ++i) {
      const Call call{request.call.first_row + static_cast<std::int64_t>(i), request.call.epoch};
      rows_.emplace_back(request.graph, request.parameters[i],
                         RowValues::Account{request.account, request.ask}, call);
    }
    live_ = rows_.size();
  }

  RowsOutcome run() {
    const std::size_t steps = request_.graph.order().size();
    for (std::size_t begin = 0; begin < steps;) {
      std::size_t end = begin;
      while (end < steps && !is_tail(end)) ++end;
      for (std::size_t i = 0; i < live_; ++i) run_steps(i, begin, end);
      if (end < steps) run_chain(*request_.chains.of(end));
      begin = end + 1;
    }
    RowsOutcome outcome;
    for (std::size_t i = 0; i < live_; ++i) outcome.rows.push_back(rows_[i].results());
    outcome.error = std::move(error_);
    outcome.row_bytes = row_bytes_;
    return outcome;
  }

 private:
  // Rows from `row` on are of no use any more.
  void fail(std::size_t row, Status error) {
    live_ = row;
    error_ = std::move(error);
  }
  const Node* node_of(std::size_t step) const { return request_.graph.order()[step].node.get(); }

  bool is_tail(std::size_t step) const {
    const RowChain* chain = request_.chains.of(step);
    return chain != nullptr && chain->tail() == step;
  }

  // The steps of [begin, end) that belong to no chain.
  void run_steps(std::size_t row, std::size_t begin, std::size_t end) {
    for (std::size_t step = begin; step < end; ++step) {
      if (request_.chains.of(step) == nullptr) {
        if (Status status = run_step(rows_[row], step); !status.ok()) {
          fail(row, first_error(rows_[row], step, std::move(status)));
          return;
        }
      }
      rows_[row].forget(request_.chains.spent_after(step));
    }
  }

  // A step outside of the chains. One that asks for the shape of an image that is not decoded yet
  // gets it from the header.
  Status run_step(RowValues& row, std::size_t step) {
    for (const Operand& operand : request_.graph.order()[step].inputs) {
      const RowChain* chain = request_.chains.headed_by(operand.node.get());
      if (chain == nullptr || row.has(operand.node.get())) continue;
      SW_ASSIGN(const Shape shape, header_shape(row, *chain));
      if (shape.has_rank()) {
        row.note_file(chain->head);
        return row.run(step, {Tensor(DType::kUInt8, shape, nullptr)});
      }
      SW_RETURN_IF_ERROR(row.run(chain->head));
    }
    return row.run(step);
  }

  Result<Shape> header_shape(const RowValues& row, const RowChain& chain) const {
    const std::vector<Tensor> inputs = row.inputs(chain.head);
    auto call = chain.decodes->call(node_of(chain.head)->attrs(), inputs);
    if (!call.ok()) return row.told(chain.head, std::move(call).status());
    Workspace workspace(request_.account, request_.ask);
    return shape_in_header(call.value(), contents_of(inputs), workspace);
  }

  // Of what fails in a row, the first in the graph's order is told: an image whose chain runs later
  // is decoded to see.
  Status first_error(RowValues& row, std::size_t step, Status error) const {
    for (const RowChain& chain : request_.chains.all()) {
      if (chain.head > step || chain.tail() < step || row.has(node_of(chain.head))) continue;
      SW_RETURN_IF_ERROR(row.run(chain.head));
    }
    return error;
  }

  Tensor place_of(const RowChain& chain, std::size_t row) const {
    const auto& results = request_.graph.results();
    for (std::size_t i = 0; i < std::min(results.size(), request_.places.size()); ++i) {
      if (results[i].node.get() == node_of(chain.tail()) && request_.places[i].has_value()) {
        return request_.places[i].row(static_cast<std::int64_t>(row));
      }
    }
    return {};
  }

  struct Image {
    std::size_t row = 0;
    std::vector<Tensor> inputs;  // of the step that decodes: they hold the bytes
    std::unique_ptr<RowRun> run;
  };

  void run_chain(const RowChain& chain) {
    std::vector<Image> images;
    std::vector<RowJob> jobs;
    for (std::size_t i = 0; i < live_; ++i) {
      if (rows_[i].has(node_of(chain.head))) continue;
      if (Status status = add_image(chain, i, images, jobs); !status.ok()) {
        fail(i, rows_[i].told(chain.head, std::move(status)));
      }
    }
    decode_rows(jobs, request_.account, request_.ask);
    std::size_t next = 0;
    for (std::size_t i = 0; i < live_; ++i) {
      const bool streamed = next < images.size() && images[next].row == i;
      Status status = streamed ? finish(chain, rows_[i], images[next], jobs[next].status)
                               : run_one_by_one(chain, rows_[i]);
      if (streamed) ++next;
      if (!status.ok()) {
        fail(i, std::move(status));
      } else {
        rows_[i].forget(request_.chains.spent_after(chain.tail()));
      }
    }
  }

  Status add_image(const RowChain& chain, std::size_t row, std::vector<Image>& images,
                   std::vector<RowJob>& jobs) {
    Image image{row, rows_[row].inputs(chain.head), nullptr};
    SW_ASSIGN(const DecodeCall call,
              chain.decodes->call(node_of(chain.head)->attrs(), image.inputs));
    const ImageBytes bytes = contents_of(image.inputs);
    SW_ASSIGN(const FoundImage found, find_image(bytes, call));
    image.run = std::make_unique<RowRun>(
        RowRun::Request{request_.graph, chain,
                        [&values = rows_[row]](const Operand& operand) -> const Tensor& {
                          return values.of(operand);
                        },
                        call, found.codec->format, request_.account, request_.ask,
                        rows_[row].call(), place_of(chain, row)});
    jobs.push_back({found.codec, bytes, found.options, image.run.get(), {}});
    images.push_back(std::move(image));
    return {};
  }

  Status finish(const RowChain& chain, RowValues& row, Image& image, Status& status) {
    if (image.run->refused()) return run_one_by_one(chain, row);
    if (!status.ok()) return row.told(chain.head, std::move(status));
    row.note_file(chain.head);
    for (const RowChain::Link& link : chain.links) row.note_file(link.step);
    Tensor made = image.run->result();
    row_bytes_ = std::max(row_bytes_, contents_of(image.inputs).size() + made.bytes());
    row.set(chain.tail(), {std::move(made)});
    return {};
  }

  Status run_one_by_one(const RowChain& chain, RowValues& row) {
    row_bytes_ = SIZE_MAX;
    if (!row.has(node_of(chain.head))) SW_RETURN_IF_ERROR(row.run(chain.head));
    for (const RowChain::Link& link : chain.links) SW_RETURN_IF_ERROR(row.run(link.step));
    return {};
  }

  const RowsRequest& request_;
  std::vector<RowValues> rows_;
  std::size_t live_ = 0;  // rows that did not fail, nor follow one that did
  Status error_;
  std::size_t row_bytes_ = 0;
};

}  // namespace

Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> parameters,
                                      const AccountPtr& account, Buffer::Ask ask,
                                      const Call& call) {
  RowValues row(graph, parameters, {account, ask}, call);
  for (std::size_t step = 0; step < graph.order().size(); ++step) {
    SW_RETURN_IF_ERROR(row.run(step));
    row.forget(graph.spent_after(step));
  }
  return row.results();
}

RowsOutcome interpret_rows(const RowsRequest& request) { return RowsRun(request).run(); }

}  // namespace spillway::graph
