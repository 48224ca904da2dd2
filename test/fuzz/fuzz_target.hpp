// What every fuzzer is: a function of bytes that a stranger has made.
#pragma once

#include <cstddef>
#include <cstdint>

// Called by libFuzzer, and where there is none by replay.cpp, with one input after the other in one process.
// The code under test may refuse the input with the errors that it documents; the function passes on every
// other exception, which is a finding. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
