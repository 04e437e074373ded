#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// RFC 4648, with padding. Used where bytes go into JSON.
std::string to_base64(std::span<const std::byte> bytes);
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace spillway
