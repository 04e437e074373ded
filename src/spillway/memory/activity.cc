#include "spillway/memory/activity.h"

namespace spillway {
namespace {
thread_local int working_depth = 0;
}  // namespace

Working::Working(Budget& budget) : budget_(budget) {
  if (working_depth++ == 0) ++budget_.working;
}

Working::~Working() {
  if (--working_depth == 0) --budget_.working;
}

bool Working::here() { return working_depth > 0; }

Parked::Parked(Budget& budget) : budget_(budget), saved_(working_depth) {
  if (saved_ > 0) --budget_.working;
  working_depth = 0;
}

Parked::~Parked() {
  working_depth = saved_;
  if (saved_ > 0) ++budget_.working;
}

}  // namespace spillway
