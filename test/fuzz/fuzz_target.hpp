// The interface of every fuzzer: a function of untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>

// libFuzzer, or replay.cpp where it is missing, calls it in one process for one input after the other. The
// code under test may refuse the input with the errors that it documents. The function propagates every other
// exception, which is a finding. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
