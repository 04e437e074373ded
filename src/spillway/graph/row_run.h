#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "spillway/base/interrupt.h"
#include "spillway/graph/fused.h"
#include "spillway/graph/row_chain.h"
#include "spillway/graph/row_kernel.h"

namespace spillway::graph {

// One image on its way through a chain: takes its rows from the decoder and writes the rows of the
// chain's last step where they stay. The bits are those of the ops run one after another.
class RowRun final : public PixelSink {
 public:
  struct Request {
    const Graph& graph;
    const RowChain& chain;
    // The values of the chain's other operands; valid while it runs.
    std::function<const Tensor&(const Operand&)> value_of;
    DecodeCall call;
    ImageFormat format;
    AccountPtr account;
    Buffer::Ask ask;
    Call row;
    Tensor place;  // where the result may be made, if it fits; may be no value. Its owner touches
  };
  explicit RowRun(Request request) : request_(std::move(request)) {}

  // An error of its own, beside refused(), is that the room could not be had.
  Status begin(const PixelExtent& extent) override;
  Status take(const std::byte* rows, std::int64_t count, std::ptrdiff_t stride) override;

  // The chain cannot take this image row by row: run its ops as they are, which also gives the
  // error where one of them does not fit.
  bool refused() const { return refused_; }
  // Once all rows were taken.
  Tensor result();

 private:
  // Part of an image, and whether its rows lie in reverse order. In pixels of the image.
  struct Window {
    std::int64_t y = 0;
    std::int64_t x = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    bool turned = false;
    void crop(std::int64_t top, std::int64_t left, std::int64_t high, std::int64_t wide);
  };
  // Ops that go item by item, as one.
  struct Items {
    struct Step {
      Loop loop;
      std::vector<const Tensor*> operands;  // null: the image
      DType dtype;
    };
    std::vector<Step> steps;
    std::optional<Fused> fused;
    std::vector<const std::byte*> sources;  // the first is the row
    std::byte* scratch = nullptr;
  };
  struct Linked;  // an op of the chain with the specs of its operands

  bool add(const RowChain::Link& link);
  bool add_items(const Linked& linked);
  bool add_crop(const Linked& linked);
  bool add_turn(const Linked& linked);
  bool add_resize(const Linked& linked);
  void fuse(Items& items, DType from, const Window& window) const;
  Status make_room();
  void run(Items& items, const std::byte* row, std::byte* to) const;
  void finish_row(const std::byte* row);
  void write_turned(const std::byte* row, std::byte* to) const;

  Request request_;
  bool refused_ = false;
  Spec image_;     // as far as the links added so far make it
  Window before_;  // of the decoded image
  Window after_;   // of the resized one
  Items items_before_;
  Items items_after_;
  KernelPtr kernel_;
  RowKernel* resize_ = nullptr;
  std::int64_t after_width_ = 0;  // of the resized image before it is cropped
  DType decoded_ = DType::kUInt8;
  DType resized_ = DType::kFloat32;
  std::optional<Buffer> scratch_;
  std::byte* row_before_ = nullptr;  // what items_before_ made
  std::byte* row_after_ = nullptr;   // what resize_ made
  std::unique_ptr<RowStream> stream_;
  Tensor out_;
  std::int64_t taken_ = 0;  // rows of the decoded image
  std::int64_t made_ = 0;   // rows of the resized one
  Looks looks_;
  std::byte* to_ = nullptr;
  std::size_t out_row_ = 0;  // bytes
};

}  // namespace spillway::graph
