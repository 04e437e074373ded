#include "spillway/pipeline/row_message.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "spillway/pipeline/structure_json.h"

namespace spillway {
namespace {

constexpr std::size_t kAlone = 64 * 1024;  // from here on a tensor has its own pages
constexpr std::size_t kMostDims = 64;

// How tensors follow each other in a message.
enum class Order : std::uint8_t { kByColumn, kByRow };

Status damaged(std::string_view what) {
  return internal_bug("a message between processes is damaged: ", what);
}

// Lays pieces out: small ones side by side, then the large ones, each on pages of its own.
class Layout {
 public:
  explicit Layout(std::size_t small, std::size_t small_used = 0, std::size_t large_used = 0)
      : small_(small_used), large_(std::max(large_used, SharedMemory::rounded(small))) {}
  static std::size_t small_step(std::size_t bytes) {
    return (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
  }
  std::size_t place(std::size_t bytes) {
    if (bytes < kAlone) return std::exchange(small_, small_ + small_step(bytes));
    return std::exchange(large_, large_ + SharedMemory::rounded(bytes));
  }
  std::size_t small_end() const { return small_; }
  std::size_t large_end() const { return large_; }

 private:
  std::size_t small_;
  std::size_t large_;
};

std::size_t string_bytes(const Tensor& strings) {
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < strings.count(); ++i) bytes += strings.string_at(i).size();
  return bytes;
}

std::size_t offsets_bytes(const Tensor& strings) {
  return (static_cast<std::size_t>(strings.count()) + 1) * sizeof(std::int64_t);
}

// What the small and the large ones take.
struct Sizes {
  std::size_t small = 0;
  std::size_t large = 0;
  void add(std::size_t bytes) {
    (bytes < kAlone ? small : large) +=
        bytes < kAlone ? Layout::small_step(bytes) : SharedMemory::rounded(bytes);
  }
  void add(const Tensor& tensor) {
    if (tensor.dtype() == DType::kVariant) return;
    if (tensor.dtype() == DType::kString) {
      add(offsets_bytes(tensor));
      add(string_bytes(tensor));
    } else {
      add(tensor.bytes());
    }
  }
};

template <class Visit>
void each_tensor(const Chunk& rows, const Visit& visit) {
  for (const Column& column : rows.columns()) {
    if (column.is_block()) {
      visit(column.block());
    } else {
      for (const Tensor& tensor : column.each()) visit(tensor);
    }
  }
}

Sizes sizes_of(const Chunk& rows) {
  Sizes sizes;
  each_tensor(rows, [&sizes](const Tensor& tensor) { sizes.add(tensor); });
  return sizes;
}

// Copies a tensor to its place and says where that is.
class TensorWriter {
 public:
  TensorWriter(Layout layout, std::uint64_t offset, std::span<std::byte> room, MessageWriter& out)
      : offset_(offset), room_(room), out_(out), layout_(layout) {}

  void write(const Tensor& tensor) {
    out_.add(tensor.dtype()).add(static_cast<std::uint64_t>(tensor.shape().rank()));
    for (int i = 0; i < tensor.shape().rank(); ++i) out_.add(tensor.shape()[i]);
    if (tensor.dtype() == DType::kString) {
      write_strings(tensor);
    } else if (std::byte* to = place(tensor.bytes()); tensor.bytes() > 0) {
      std::memcpy(to, tensor.data(), tensor.bytes());
    }
  }
  const Layout& layout() const { return layout_; }

 private:
  std::byte* place(std::size_t bytes) {
    const std::size_t at = layout_.place(bytes);
    out_.add(offset_ + at).add(static_cast<std::uint64_t>(bytes));
    return room_.data() + at;
  }
  void write_strings(const Tensor& strings) {
    std::byte* ends = place(offsets_bytes(strings));
    std::byte* to = place(string_bytes(strings));
    std::int64_t end = 0;
    std::memcpy(ends, &end, sizeof(end));
    for (std::int64_t i = 0; i < strings.count(); ++i) {
      const std::string_view text = strings.string_at(i);
      if (!text.empty()) std::memcpy(to + end, text.data(), text.size());
      end += static_cast<std::int64_t>(text.size());
      std::memcpy(ends + static_cast<std::size_t>(i + 1) * sizeof(end), &end, sizeof(end));
    }
  }
  const std::uint64_t offset_;
  const std::span<std::byte> room_;
  MessageWriter& out_;
  Layout layout_;
};

}  // namespace

void write_structure(const StructurePtr& structure, MessageWriter& out) {
  const std::string text = structure == nullptr ? "" : structure_to_json(*structure).dump();
  out.add(std::string_view(text));
}

Result<StructurePtr> read_structure(MessageReader& in) {
  const std::string_view text = in.text();
  if (!in.ok()) return damaged("the structure");
  if (text.empty()) return StructurePtr();
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return damaged("the structure");
  return structure_from_json(json);
}

std::size_t RowSender::room_for(const Chunk& rows) {
  const Sizes sizes = sizes_of(rows);
  return SharedMemory::rounded(sizes.small) + sizes.large;
}

Status RowSender::add(const Chunk& rows, std::uint64_t offset, std::span<std::byte> room,
                      MessageWriter& out) {
  Status refused;
  each_tensor(rows, [&refused](const Tensor& tensor) {
    if (tensor.dtype() == DType::kVariant) {
      refused = invalid_argument(
          "a dataset or Optional cannot travel to another process: make arrays of it first, or "
          "leave `isolate` away");
    }
  });
  SW_RETURN_IF_ERROR(refused);
  tell(rows.structure(), out);
  const std::size_t small = sizes_of(rows).small;
  out.add(static_cast<std::uint64_t>(small));
  out.add(rows.rows()).add(static_cast<std::uint64_t>(rows.columns().size()));
  out.add(Order::kByColumn);
  TensorWriter writer(Layout(small), offset, room, out);
  for (const Column& column : rows.columns()) {
    out.add(static_cast<std::uint8_t>(column.is_block() ? 1 : 0));
    if (column.is_block()) {
      writer.write(column.block());
    } else {
      for (const Tensor& tensor : column.each()) writer.write(tensor);
    }
  }
  return {};
}

void RowSender::tell(const StructurePtr& structure, MessageWriter& out) {
  const bool news = structure != told_;
  out.add(static_cast<std::uint8_t>(news ? 1 : 0));
  if (!news) return;
  told_ = structure;
  write_structure(told_, out);
}

void RowSender::add(const RowStream& rows, MessageWriter& out) {
  tell(rows.structure_, out);
  const bool large = rows.large_end_ > rows.small_;
  out.add(static_cast<std::uint64_t>(large ? rows.small_ : rows.small_used_));
  out.add(rows.rows_).add(static_cast<std::uint64_t>(rows.structure_->components()));
  out.add(Order::kByRow).append(rows.places_);
}

bool RowStream::add(const StructurePtr& structure, std::span<const Tensor> values) {
  Sizes sizes;
  for (const Tensor& value : values) {
    if (value.dtype() == DType::kVariant) return false;
    sizes.add(value);
  }
  if (rows_ == 0) structure_ = structure;
  if (large_end_ == 0 && sizes.large > 0) {
    // From the first large one on, pages before it are for small ones.
    const auto like_these = static_cast<std::size_t>(std::max<std::int64_t>(1, most_ - rows_));
    small_ = SharedMemory::rounded(small_used_ + sizes.small * like_these);
    large_end_ = small_;
  }
  const std::size_t small_room = large_end_ == 0 ? room_.size() : small_;
  if (structure != structure_ || small_ > room_.size() || sizes.small > small_room - small_used_ ||
      sizes.large > room_.size() - large_end_) {
    return false;
  }
  TensorWriter writer(Layout(small_, small_used_, large_end_), offset_, room_, places_);
  for (const Tensor& value : values) writer.write(value);
  small_used_ = writer.layout().small_end();
  if (sizes.large > 0) large_end_ = writer.layout().large_end();
  ++rows_;
  return true;
}

namespace {

BufferPtr empty() {
  static std::byte none{};
  return std::make_shared<Buffer>(Buffer::adopt(&none, 0, nullptr));
}

struct Facts {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t count = 1;
};

Result<Facts> read_facts(MessageReader& in) {
  Facts facts;
  facts.dtype = in.get<DType>();
  const auto rank = in.count(sizeof(std::int64_t));
  if (!in.ok() || rank > kMostDims || static_cast<int>(facts.dtype) >= kDTypeCount ||
      facts.dtype == DType::kVariant) {
    return damaged("no dtype and shape");
  }
  std::vector<std::int64_t> dims;
  std::int64_t count = 1;
  for (std::uint64_t i = 0; i < rank; ++i) {
    const auto dim = in.get<std::int64_t>();
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return damaged("a dimension");
    dims.push_back(dim);
  }
  facts.count = static_cast<std::uint64_t>(count);
  facts.shape = Shape(std::move(dims));
  return facts;
}

// Whether the values have the dtypes and shapes that were told for them.
bool as_told(const Structure& told, std::span<const Column> made) {
  const auto leaves = told.leaves();
  if (leaves.size() != made.size()) return false;
  for (std::size_t c = 0; c < made.size(); ++c) {
    const Structure& leaf = *leaves[c];
    const auto fits = [&leaf](const Tensor& value, const Shape& shape) {
      return value.dtype() == leaf.dtype() && leaf.shape().accepts(shape);
    };
    if (made[c].is_block()) {
      const Tensor& block = made[c].block();
      if (!fits(block, block.shape().without_leading())) return false;
      continue;
    }
    for (const Tensor& value : made[c].each()) {
      if (!fits(value, value.shape())) return false;
    }
  }
  return true;
}

}  // namespace

Result<Tensor> RowReceiver::read_tensor(MessageReader& in, const AccountPtr& account,
                                        const Find& find) {
  SW_ASSIGN(const Facts facts, read_facts(in));
  const auto next = [&]() -> Result<Place> {
    const auto offset = in.get<std::uint64_t>();
    const auto bytes = in.get<std::uint64_t>();
    if (!in.ok()) return damaged("a place");
    return find(offset, bytes);
  };
  SW_ASSIGN(const Place place, next());
  if (facts.dtype != DType::kString) {
    if (place.bytes != facts.count * size_of(facts.dtype) ||
        facts.count > SIZE_MAX / size_of(facts.dtype) || place.at % size_of(facts.dtype) != 0) {
      return damaged("a length");
    }
    return Tensor(facts.dtype, facts.shape, place.buffer,
                  static_cast<std::int64_t>(place.at / size_of(facts.dtype)));
  }
  SW_ASSIGN(const Place text, next());
  if (place.bytes % sizeof(std::int64_t) != 0 ||
      place.bytes / sizeof(std::int64_t) != facts.count + 1 ||
      place.at % sizeof(std::int64_t) != 0) {
    return damaged("the ends of strings");
  }
  // Copied: whoever wrote them could still change where they end.
  std::vector<std::int64_t> ends(facts.count + 1);
  std::memcpy(ends.data(), place.buffer->data() + place.at, place.bytes);
  std::vector<std::string_view> items;
  items.reserve(facts.count);
  for (std::uint64_t i = 0; i < facts.count; ++i) {
    if (ends[i] < 0 || ends[i + 1] < ends[i] ||
        static_cast<std::uint64_t>(ends[i + 1]) > text.bytes) {
      return damaged("the ends of strings");
    }
    items.emplace_back(reinterpret_cast<const char*>(text.buffer->data() + text.at) + ends[i],
                       static_cast<std::size_t>(ends[i + 1] - ends[i]));
  }
  return make_strings(account, facts.shape, items, Buffer::Ask::kOwed);
}

Result<std::vector<Column>> RowReceiver::read_columns(MessageReader& in, std::int64_t rows,
                                                      std::uint64_t columns, const Tensors& next) {
  std::vector<Column> made;
  for (std::uint64_t c = 0; c < columns; ++c) {
    if (in.get<std::uint8_t>() != 0) {
      SW_ASSIGN(Tensor block, next());
      if (block.shape().rank() < 1 || block.shape()[0] != rows) return damaged("a block");
      made.emplace_back(std::move(block));
      continue;
    }
    std::vector<Tensor> each;
    for (std::int64_t i = 0; i < rows; ++i) {
      SW_ASSIGN(Tensor one, next());
      each.push_back(std::move(one));
    }
    made.emplace_back(std::move(each));
  }
  return made;
}

Result<std::vector<Column>> RowReceiver::read_by_row(MessageReader& in, std::int64_t rows,
                                                     std::uint64_t columns, const Tensors& next) {
  std::vector<std::vector<Tensor>> each(columns);
  for (std::int64_t i = 0; columns > 0 && i < rows; ++i) {
    for (std::vector<Tensor>& column : each) {
      SW_ASSIGN(Tensor one, next());
      column.push_back(std::move(one));
    }
  }
  if (!in.ok()) return damaged("rows");
  std::vector<Column> made;
  made.reserve(each.size());
  for (std::vector<Tensor>& column : each) made.emplace_back(std::move(column));
  return made;
}

Result<Chunk> RowReceiver::read(MessageReader& in, const AccountPtr& account, const Find& find) {
  const auto rows = in.get<std::int64_t>();
  const auto columns = in.count(1);
  const auto order = in.get<Order>();
  if (!in.ok() || rows < 0) return damaged("the number of rows");
  const Tensors next = [&] { return read_tensor(in, account, find); };
  SW_ASSIGN(std::vector<Column> made, order == Order::kByRow
                                          ? read_by_row(in, rows, columns, next)
                                          : read_columns(in, rows, columns, next));
  if (!in.ok() || (told_ != nullptr && !as_told(*told_, made))) return damaged("rows");
  return Chunk(told_, rows, std::move(made), Origins());
}

Status RowReceiver::read_news(MessageReader& in) {
  if (in.get<std::uint8_t>() == 0) return {};
  SW_ASSIGN(told_, read_structure(in));
  return {};
}

Result<Chunk> RowReceiver::view(MessageReader& in, const AccountPtr& account,
                                const SharedMemory& memory, const std::shared_ptr<void>& keep) {
  SW_RETURN_IF_ERROR(read_news(in));
  in.get<std::uint64_t>();
  return read(in, account, [&](std::uint64_t offset, std::uint64_t bytes) -> Result<Place> {
    const std::span<std::byte> at = memory.at(offset, bytes);
    if (at.size() != bytes) return damaged("a place outside the shared memory");
    return Place{std::make_shared<Buffer>(Buffer::adopt(at.data(), bytes, keep)), 0, bytes};
  });
}

Result<Chunk> RowReceiver::copy(MessageReader& in, const AccountPtr& account,
                                SharedMemory::Piece room) {
  SW_RETURN_IF_ERROR(read_news(in));
  in.get<std::uint64_t>();
  const std::uint64_t begin = room ? room.offset() : 0;
  const std::span<std::byte> all = room ? room.bytes() : std::span<std::byte>();
  std::size_t left = all.size();  // values do not overlap: no more than that is copied in all
  used_ = 0;
  return read(in, account, [&](std::uint64_t offset, std::uint64_t bytes) -> Result<Place> {
    if (bytes == 0) return Place{empty(), 0, 0};
    if (offset < begin || offset - begin > all.size() || bytes > all.size() - (offset - begin)) {
      return damaged("a place outside its room");
    }
    if (bytes > left) return damaged("more than its room holds");
    left -= bytes;
    used_ = std::max(used_, SharedMemory::rounded(offset - begin + bytes));
    SW_ASSIGN(Buffer copied, Buffer::allocate(account, bytes, Buffer::Ask::kOwed));
    std::memcpy(copied.data(), all.data() + (offset - begin), bytes);
    copied.touch();
    return Place{std::make_shared<Buffer>(std::move(copied)), 0, bytes};
  });
}

Result<Chunk> RowReceiver::own(MessageReader& in, const AccountPtr& account,
                               SharedMemory::Piece room) {
  SW_RETURN_IF_ERROR(read_news(in));
  const auto small = in.get<std::uint64_t>();
  const std::uint64_t begin = room ? room.offset() : 0;
  const std::size_t size = room ? room.bytes().size() : 0;
  if (small > size) return damaged("a place outside its room");
  BufferPtr together;
  if (small > 0) together = room.split(SharedMemory::rounded(small)).share(small);
  used_ = SharedMemory::rounded(small);
  return read(in, account, [&](std::uint64_t offset, std::uint64_t bytes) -> Result<Place> {
    if (bytes < kAlone) {
      if (bytes == 0) return Place{together == nullptr ? empty() : together, 0, 0};
      if (offset < begin || offset - begin > small || bytes > small - (offset - begin)) {
        return damaged("a place outside its room");
      }
      return Place{together, offset - begin, bytes};
    }
    const std::size_t pages = SharedMemory::rounded(bytes);
    if (!room || offset != room.offset() || pages > room.bytes().size()) {
      return damaged("a place outside its room");
    }
    used_ += pages;
    return Place{room.split(pages).share(bytes), 0, bytes};
  });
}

Status check_sent(const Chunk& rows, std::int64_t most, const StructurePtr& declared) {
  if (rows.rows() > most) {
    return internal_bug("a worker sent more rows than it was asked for: expected at most ", most,
                        ", found ", rows.rows());
  }
  if (rows.rows() == 0) return {};
  const StructurePtr& found = rows.structure();
  if (found == nullptr) return internal_bug("a worker sent rows without their structure");
  if (declared == nullptr || declared == found || declared->accepts(*found)) return {};
  return internal_bug("a worker sent rows of another structure: expected ", declared->to_string(),
                      ", found ", found->to_string());
}

}  // namespace spillway
