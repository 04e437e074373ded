#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spillway/testing/pipelines.h"

namespace spillway::testing {

struct OperatorCase {
  // Builds the pipeline anew: equal pipelines, nothing shared.
  std::function<NodePtr()> build;
  std::vector<std::string> expect;  // as show() writes them
  std::size_t most = 10'000;        // for endless ones: stop after so many
  bool checkpoint = true;
};

// Runs the contract every operator owes, so that an operator's own test only states what is
// particular to it: the same events with one row and with many rows demanded at a time; end stays
// end; equal pipelines hash equal; a checkpoint taken after any event resumes to the same
// remainder in a separately built pipeline; the ledger returns to zero; cardinality, where known,
// is the number of rows; random access, where offered, agrees, but for the order of a shuffle; the
// audit balances at the end, with nothing held, as well as half-way, and after a restore; whoever
// is refused memory, anywhere in a pass, loses and doubles nothing when asked again.
void check_operator(const OperatorCase& c);

// For operators that make batches of 4 of large_rows(16): one that finds no memory says so, loses
// no row, and goes on when there is some, itself or from a checkpoint taken meanwhile.
void check_scarcity(const std::function<NodePtr()>& build);

}  // namespace spillway::testing
