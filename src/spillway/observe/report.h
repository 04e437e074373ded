#pragma once

#include <string>
#include <string_view>

namespace spillway {

// Told what a user should know while it lasts; called on any thread, without locks of ours.
using GuardReport = void (*)(const std::string& text);
void set_guard_report(GuardReport report);
// Tells it, if anybody listens.
void guard_report(const std::string& text);

// A stack as faulthandler writes it, without the frames that are ours (and those of files in the
// folder `package`) and what it says beside it.
std::string users_part(std::string_view stack, std::string_view package = "");
// The frames of one thread, of a dump of all; empty: it is not among them.
std::string part_of_thread(std::string_view stacks, unsigned long long ident);

}  // namespace spillway
