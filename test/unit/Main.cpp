// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The main function of every unit test executable, compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
