#include <algorithm>
#include <cstring>

#include "spillway/graph/example_parser.h"

namespace spillway::graph {
namespace {

constexpr unsigned kVarint = 0;
constexpr unsigned kFixed64 = 1;
constexpr unsigned kBytes = 2;
constexpr unsigned kFixed32 = 5;

// Protocol buffers' wire format, from the front.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }

  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned i = 0; i < 10 && i < rest_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      value |= std::uint64_t{byte & 0x7FU} << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }
  bool tag(std::uint64_t& field, unsigned& type) {
    std::uint64_t value = 0;
    if (!varint(value)) return false;
    field = value >> 3U;
    type = static_cast<unsigned>(value & 7U);
    return field != 0;
  }
  bool bytes(std::string_view& out) {
    std::uint64_t size = 0;
    if (!varint(size) || size > rest_.size()) return false;
    return take(static_cast<std::size_t>(size), out);
  }
  bool take(std::size_t size, std::string_view& out) {
    if (size > rest_.size()) return false;
    out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  // A field nobody asked for. Groups are refused: no Example has any.
  bool skip(unsigned type) {
    std::uint64_t number = 0;
    std::string_view ignored;
    switch (type) {
      case kVarint:
        return varint(number);
      case kFixed64:
        return take(8, ignored);
      case kBytes:
        return bytes(ignored);
      case kFixed32:
        return take(4, ignored);
      default:
        return false;
    }
  }

 private:
  std::string_view rest_;
};

// Feature: one of three lists; the first one counts.
bool read_feature(std::string_view bytes, FeatureList& list) {
  list = {};
  Wire wire(bytes);
  while (!wire.done()) {
    std::uint64_t field = 0;
    unsigned type = 0;
    if (!wire.tag(field, type)) return false;
    std::string_view body;
    if (type != kBytes || field > 3) {
      if (!wire.skip(type)) return false;
      continue;
    }
    if (!wire.bytes(body)) return false;
    if (list.kind == FeatureList::Kind::kMissing) {
      list = {static_cast<FeatureList::Kind>(field), body};
    }
  }
  return true;
}

// An entry of the map: both a key and a value, in any order.
bool read_entry(std::string_view bytes, std::string_view& key, std::string_view& value) {
  Wire wire(bytes);
  bool has_key = false;
  bool has_value = false;
  while (!wire.done()) {
    std::uint64_t field = 0;
    unsigned type = 0;
    if (!wire.tag(field, type)) return false;
    if (type == kBytes && field == 1) {
      if (!wire.bytes(key)) return false;
      has_key = true;
    } else if (type == kBytes && field == 2) {
      if (!wire.bytes(value)) return false;
      has_value = true;
    } else if (!wire.skip(type)) {
      return false;
    }
  }
  return has_key && has_value;
}

// Calls `take` with the bytes of every field 1; others are skipped.
template <class Take>
bool each_first_field(std::string_view bytes, Take take) {
  Wire wire(bytes);
  while (!wire.done()) {
    std::uint64_t field = 0;
    unsigned type = 0;
    if (!wire.tag(field, type)) return false;
    if (field == 1 && type == kBytes) {
      std::string_view body;
      if (!wire.bytes(body) || !take(body)) return false;
    } else if (!wire.skip(type)) {
      return false;
    }
  }
  return true;
}

// A list of numbers is one packed run, or one field for each.
template <class Packed, class Each>
bool read_numbers(std::string_view body, unsigned each_type, Packed packed, Each each) {
  Wire wire(body);
  while (!wire.done()) {
    std::uint64_t field = 0;
    unsigned type = 0;
    if (!wire.tag(field, type)) return false;
    if (field == 1 && type == kBytes) {
      std::string_view run;
      return wire.bytes(run) && packed(run);
    }
    if (field == 1 && type == each_type) {
      if (!each(wire)) return false;
    } else if (!wire.skip(type)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<int> by_key(const std::vector<Feature>& features) {
  std::vector<int> order(features.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return features[static_cast<std::size_t>(a)].key < features[static_cast<std::size_t>(b)].key;
  });
  return order;
}

bool find_features(std::string_view example, const std::vector<Feature>& features,
                   const std::vector<int>& order, std::span<FeatureList> found) {
  std::ranges::fill(found, FeatureList());
  const auto entry = [&](std::string_view bytes) {
    std::string_view key;
    std::string_view value;
    if (!read_entry(bytes, key, value)) return false;
    const auto at =
        std::lower_bound(order.begin(), order.end(), key, [&](int i, std::string_view wanted) {
          return features[static_cast<std::size_t>(i)].key < wanted;
        });
    if (at == order.end() || features[static_cast<std::size_t>(*at)].key != key) return true;
    return read_feature(value, found[static_cast<std::size_t>(*at)]);
  };
  return each_first_field(example,
                          [&](std::string_view map) { return each_first_field(map, entry); });
}

bool read_integers(std::string_view body, std::vector<std::int64_t>& out) {
  const auto each = [&](Wire& wire) {
    std::uint64_t value = 0;
    if (!wire.varint(value)) return false;
    out.push_back(static_cast<std::int64_t>(value));
    return true;
  };
  const auto packed = [&](std::string_view run) {
    Wire wire(run);
    while (!wire.done()) {
      if (!each(wire)) return false;
    }
    return true;
  };
  return read_numbers(body, kVarint, packed, each);
}

bool read_floats(std::string_view body, std::vector<float>& out) {
  const auto packed = [&](std::string_view run) {
    const std::size_t n = run.size() / sizeof(float);  // a rest is ignored, as TensorFlow does
    const std::size_t had = out.size();
    out.resize(had + n);
    if (n > 0) std::memcpy(out.data() + had, run.data(), n * sizeof(float));
    return true;
  };
  const auto each = [&](Wire& wire) {
    std::string_view bytes;
    return wire.take(sizeof(float), bytes) && packed(bytes);
  };
  return read_numbers(body, kFixed32, packed, each);
}

bool read_strings(std::string_view body, std::vector<std::string_view>& out) {
  return each_first_field(body, [&](std::string_view item) {
    out.push_back(item);
    return true;
  });
}

}  // namespace spillway::graph
