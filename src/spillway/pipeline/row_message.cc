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

Status damaged(std::string_view what) {
  return internal_bug("a message between processes is damaged: ", what);
}

// Lays pieces out: small ones side by side, then the large ones, each on pages of its own.
class Layout {
 public:
  explicit Layout(std::size_t small) : large_(SharedMemory::rounded(small)) {}
  static std::size_t small_step(std::size_t bytes) {
    return (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
  }
  std::size_t place(std::size_t bytes) {
    if (bytes < kAlone) return std::exchange(small_, small_ + small_step(bytes));
    return std::exchange(large_, large_ + SharedMemory::rounded(bytes));
  }

 private:
  std::size_t small_ = 0;
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
  TensorWriter(std::size_t small, std::uint64_t offset, std::span<std::byte> room,
               MessageWriter& out)
      : offset_(offset), room_(room), out_(out), layout_(small) {}

  void write(const Tensor& tensor) {
    out_.add(tensor.dtype()).add(static_cast<std::uint64_t>(tensor.shape().rank()));
    for (int i = 0; i < tensor.shape().rank(); ++i) out_.add(tensor.shape()[i]);
    if (tensor.dtype() == DType::kString) {
      write_strings(tensor);
    } else if (std::byte* to = place(tensor.bytes()); tensor.bytes() > 0) {
      std::memcpy(to, tensor.data(), tensor.bytes());
    }
  }

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
  const bool news = rows.structure() != told_;
  out.add(static_cast<std::uint8_t>(news ? 1 : 0));
  if (news) {
    told_ = rows.structure();
    write_structure(told_, out);
  }
  const std::size_t small = sizes_of(rows).small;
  out.add(static_cast<std::uint64_t>(small));
  out.add(rows.rows()).add(static_cast<std::uint64_t>(rows.columns().size()));
  TensorWriter writer(small, offset, room, out);
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
  if (place.bytes / sizeof(std::int64_t) != facts.count + 1 || facts.count + 1 == 0 ||
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

Result<Chunk> RowReceiver::read(MessageReader& in, const AccountPtr& account, const Find& find) {
  const auto rows = in.get<std::int64_t>();
  const auto columns = in.count(1);
  if (!in.ok() || rows < 0) return damaged("the number of rows");
  std::vector<Column> made;
  for (std::uint64_t c = 0; c < columns; ++c) {
    if (in.get<std::uint8_t>() != 0) {
      SW_ASSIGN(Tensor block, read_tensor(in, account, find));
      if (block.shape().rank() < 1 || block.shape()[0] != rows) return damaged("a block");
      made.emplace_back(std::move(block));
      continue;
    }
    std::vector<Tensor> each;
    for (std::int64_t i = 0; i < rows; ++i) {
      SW_ASSIGN(Tensor one, read_tensor(in, account, find));
      each.push_back(std::move(one));
    }
    made.emplace_back(std::move(each));
  }
  if (!in.ok() || (told_ != nullptr && told_->components() != made.size())) return damaged("rows");
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
  return read(in, account, [&](std::uint64_t offset, std::uint64_t bytes) -> Result<Place> {
    if (bytes == 0) return Place{empty(), 0, 0};
    if (offset < begin || offset - begin > all.size() || bytes > all.size() - (offset - begin)) {
      return damaged("a place outside its room");
    }
    if (bytes > left) return damaged("more than its room holds");
    left -= bytes;
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
    return Place{room.split(pages).share(bytes), 0, bytes};
  });
}

}  // namespace spillway
