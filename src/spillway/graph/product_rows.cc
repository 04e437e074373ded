#include "spillway/graph/product_rows.h"

#include <algorithm>

#include "spillway/base/interrupt.h"
#include "spillway/base/mutex.h"
#include "spillway/base/workers.h"
#include "spillway/graph/elementwise.h"
#include "spillway/graph/gemm.h"

namespace spillway::graph {
namespace {

using Tileable = Types<float, double, std::int32_t, std::int64_t, std::complex<float>,
                       std::complex<double>, Half, BFloat16>;
constexpr std::int64_t kLeastPanel = 64;  // rows: of fewer, the sums are fetched too often
constexpr std::int64_t kMostPanel = 512;
constexpr std::int64_t kFew = 8;  // rows or columns that are summed otherwise, see gemm.cc

bool flag(const Attrs& attrs, std::string_view name) { return attrs.get_or(name, false); }

// Makes rows on another thread while these are worked on.
class Ahead {
 public:
  explicit Ahead(Rows& rows) : rows_(rows) {}
  ~Ahead() { (void)wait(); }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  void start(std::int64_t first, std::int64_t n, std::byte* to) {
    {
      const MutexLock lock(mutex_);
      under_way_ = true;
    }
    Workers::blocking().run([this, first, n, to] {
      Status status = rows_.make(first, n, to);
      const MutexLock lock(mutex_);
      status_ = std::move(status);
      under_way_ = false;
      done_.notify_all();
    });
  }
  Status wait() {
    const MutexLock lock(mutex_);
    while (under_way_) done_.wait(mutex_);
    return std::exchange(status_, Status());
  }

 private:
  Rows& rows_;
  Mutex mutex_;
  CondVar done_;
  bool under_way_ SW_GUARDED_BY(mutex_) = false;
  Status status_ SW_GUARDED_BY(mutex_);
};

template <class T>
class ProductRows final : public Rows {
 public:
  ProductRows(const Node& node, RowsPtr a, RowsPtr b, std::size_t panel_bytes)
      : Rows(node.outputs()[0]), a_(std::move(a)), b_(std::move(b)) {
    const Attrs& attrs = node.attrs();
    whole_.m = spec().shape[0];
    whole_.n = spec().shape[1];
    whole_.k = a_->spec().shape[1];
    turned_b_ = flag(attrs, "transpose_b") || flag(attrs, "adjoint_b");
    whole_.a = {whole_.k, 1};
    whole_.b = turned_b_ ? Layout{1, whole_.k} : Layout{whole_.n, 1};
    whole_.c = {whole_.n, 1};
    whole_.conjugate_b = flag(attrs, "adjoint_b");
    std::int64_t panel = b_->count();
    const bool cuts = turned_b_ ? whole_.n >= 2 * kFew : Gemm<T>(whole_).in_stretches();
    if (cuts && !b_->in_memory()) {
      const auto fits =
          static_cast<std::int64_t>(panel_bytes / std::max<std::size_t>(1, b_->row_bytes()));
      panel = std::min(panel, std::clamp(fits, kLeastPanel, kMostPanel));
    }
    panels_ = {b_->count(), (b_->count() + panel - 1) / panel};
    two_ = b_->reads() && panels_.parts > 1 && parallel_width() > 1;
  }

  Result<std::size_t> held(std::int64_t most) override {
    SW_ASSIGN(std::size_t bytes, a_->held(most));
    SW_ASSIGN(const std::size_t below, b_->held(panels_.most()));
    bytes += below;
    if (!a_->in_memory()) bytes += charge_of(a_bytes(most));
    if (!b_->in_memory()) bytes += charge_of(panel_bytes() * (two_ ? 2 : 1));
    return bytes + charge_of(scratch(most) * static_cast<std::size_t>(parallel_width()));
  }

  Status begin(std::int64_t most, const Paying& paying) override {
    SW_RETURN_IF_ERROR(a_->begin(most, paying));
    SW_RETURN_IF_ERROR(b_->begin(panels_.most(), paying));
    const auto take = [&](std::optional<Buffer>& room, std::size_t bytes) -> Status {
      SW_ASSIGN(room, Buffer::allocate(paying.account, bytes, paying.ask));
      return {};
    };
    if (!a_->in_memory()) SW_RETURN_IF_ERROR(take(a_room_, a_bytes(most)));
    if (!b_->in_memory()) {
      SW_RETURN_IF_ERROR(take(b_room_, panel_bytes() * (two_ ? 2 : 1)));
    }
    scratch_ = scratch(most);
    if (two_) ahead_.emplace(*b_);
    return take(scratch_room_, scratch_ * static_cast<std::size_t>(parallel_width()));
  }

  Status make(std::int64_t first, std::int64_t n, std::byte* to) override {
    const std::byte* a = a_->at(first);
    if (a == nullptr) {
      SW_RETURN_IF_ERROR(a_->make(first, n, a_room_->data()));
      a_room_->touch();
      a = a_room_->data();
    }
    for (std::int64_t i = 0; i < panels_.parts; ++i) {
      if (interrupted()) return cancelled();
      SW_ASSIGN(const std::byte* b, panel(i));
      SW_RETURN_IF_ERROR(multiply(i, n, reinterpret_cast<const T*>(a),
                                  reinterpret_cast<const T*>(b), reinterpret_cast<T*>(to)));
    }
    return {};
  }

  void end() override {
    ahead_.reset();
    next_ = -1;
    a_->end();
    b_->end();
    a_room_.reset();
    b_room_.reset();
    scratch_room_.reset();
  }
  std::int64_t least() const override {
    return std::max(a_->least(), turned_b_ ? std::min(kFew, count()) : 1);
  }
  bool wants_many() const override { return true; }

 private:
  std::size_t a_bytes(std::int64_t rows) const {
    return static_cast<std::size_t>(rows) * a_->row_bytes();
  }
  std::size_t panel_bytes() const {
    return static_cast<std::size_t>(panels_.most()) * b_->row_bytes();
  }
  Product product(std::int64_t rows, std::int64_t panel_rows) const {
    Product p = whole_;
    p.m = rows;
    (turned_b_ ? p.n : p.k) = panel_rows;
    return p;
  }
  std::size_t scratch(std::int64_t rows) const {
    std::size_t bytes = 0;
    for (const std::int64_t m : {rows, std::max<std::int64_t>(1, rows - 1)}) {
      for (const std::int64_t n : {panels_.most(), panels_.count / panels_.parts}) {
        bytes = std::max(bytes, Gemm<T>(product(m, n)).scratch());
      }
    }
    return (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
  }

  // Some rows of b; the next ones are on their way already, around to the first.
  Result<const std::byte*> panel(std::int64_t i) {
    const std::int64_t begin = panels_.begin(i);
    if (b_->in_memory()) return b_->at(begin);
    const auto room = [&](std::int64_t at) {
      return b_room_->data() + (two_ && side_ != (at == i) ? panel_bytes() : 0);
    };
    if (!two_) {
      SW_RETURN_IF_ERROR(b_->make(begin, panels_.begin(i + 1) - begin, b_room_->data()));
      b_room_->touch();
      return b_room_->data();
    }
    if (next_ == i) {
      SW_RETURN_IF_ERROR(ahead_->wait());
      side_ = !side_;
    } else {
      SW_RETURN_IF_ERROR(ahead_->wait());
      SW_RETURN_IF_ERROR(b_->make(begin, panels_.begin(i + 1) - begin, room(i)));
    }
    b_room_->touch();
    next_ = (i + 1) % panels_.parts;
    const std::int64_t after = panels_.begin(next_);
    ahead_->start(after, panels_.begin(next_ + 1) - after, room(-1));
    return room(i);
  }

  Status multiply(std::int64_t i, std::int64_t rows, const T* a, const T* b, T* c) {
    const std::int64_t begin = panels_.begin(i);
    const Gemm<T> gemm(product(rows, panels_.begin(i + 1) - begin));
    if (gemm.scratch() > scratch_) return internal_bug("matmul: a panel needs more scratch");
    const T* from = turned_b_ ? a : a + begin;
    T* to = turned_b_ ? c + begin : c;
    const bool more = !turned_b_ && i > 0;
    parallel_ranges(gemm.parts(), [&](std::int64_t part, int slot) {
      gemm.run_part(part, from, b, to,
                    scratch_room_->data() + scratch_ * static_cast<std::size_t>(slot), more);
    });
    return given_up() ? cancelled() : Status();
  }

  const RowsPtr a_;
  const RowsPtr b_;
  Product whole_;
  bool turned_b_ = false;
  Cut panels_;        // of b
  bool two_ = false;  // one is read while the other is used
  bool side_ = false;
  std::int64_t next_ = -1;  // the panel that is on its way
  std::optional<Buffer> a_room_;
  std::optional<Buffer> b_room_;
  std::optional<Buffer> scratch_room_;
  std::size_t scratch_ = 0;
  std::optional<Ahead> ahead_;
};

}  // namespace

bool is_tileable_product(const Node& node, std::span<const Operand> inputs) {
  return node.op().name == "matmul" && node.outputs()[0].shape.rank() == 2 && inputs.size() == 2 &&
         is_one_of(Tileable(), node.outputs()[0].dtype) && !flag(node.attrs(), "transpose_a") &&
         !flag(node.attrs(), "adjoint_a") && node.outputs()[0].shape.fully_known() &&
         inputs[0].spec().shape.fully_known() && inputs[1].spec().shape.fully_known() &&
         node.outputs()[0].shape.count() > 0 && inputs[0].spec().shape.count() > 0;
}

RowsPtr product_rows(const Node& node, RowsPtr a, RowsPtr b, std::size_t panel_bytes) {
  RowsPtr made;
  with_type(Tileable(), node.outputs()[0].dtype, [&]<class T>() {
    made = std::make_shared<ProductRows<T>>(node, std::move(a), std::move(b), panel_bytes);
  });
  return made;
}

}  // namespace spillway::graph
