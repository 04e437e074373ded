#include "spillway/pipeline/sealed_json.h"

#include <cstdio>
#include <span>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

constexpr std::string_view kKey = ",\"crc32c\":\"";
constexpr std::string_view kEnd = "\"}";
constexpr std::size_t kDigits = 8;
constexpr std::size_t kSealBytes = kKey.size() + kDigits + kEnd.size();

std::string digits_of(std::string_view text) {
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%08x",
                crc32c(std::as_bytes(std::span(text.data(), text.size()))));
  return digits;
}

}  // namespace

std::string seal_json(std::string object) {
  object.pop_back();  // its closing brace
  const std::string digits = digits_of(object);
  return object.append(kKey).append(digits).append(kEnd);
}

JsonSeal check_json(std::string_view text) {
  if (text.size() < kSealBytes) return JsonSeal::kNone;
  const std::string_view covered = text.substr(0, text.size() - kSealBytes);
  const std::string_view seal = text.substr(covered.size());
  if (!seal.starts_with(kKey) || !seal.ends_with(kEnd)) return JsonSeal::kNone;
  return seal.substr(kKey.size(), kDigits) == digits_of(covered) ? JsonSeal::kWhole
                                                                 : JsonSeal::kBroken;
}

}  // namespace spillway
