// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training program, as a list of calls, which writes all that it computes.
//
//   combination LIB.so INPUTS.safetensors OUT.safetensors [SETTING=VALUE...] CALL...
//
// A call is WHAT[:STEP]@NUMBER[+FROM...][/HOW...]: a training `step`, an `eval`, or the `sum` of
// the gradients of two batches, with the batch of that number; or `rate`, the learning rate from
// here on. FROM gives inputs of the right shape other values: `outputs` of the call before,
// `variables`.
//
// HOW changes nothing of what is computed: combine.py compares a program with the same one without.
//   before the call   refused evaluated detour resumed through rewritten moved profiled prepared
//                     another (Detours.cpp)
//   where it is made  thread, team (a parallel region), beside (another trainer's steps)
//   a step            apart (grad_step and apply_step), copied (with a copy of the gradients),
//                     added (accumulate_step and update_step, where there are such), session
//   its inputs        shared (FROM without a copy), misaligned
//   its result        kept (read again at the end), late (read at the end alone)
//
// Settings: threads, rate, sizes of the batch, step (the name of the only one), weights (a file, or
// a library that has them), other (a library of the same variables), moved (each weight by a bit),
// graph=0.
// Ends with 10 and the kind of Error that the runtime threw, or with 1 where it did wrong.
#include "Program.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace accc;

static Call parseCall(const std::string &text, const std::string &stepName) {
  Call call{.text = text};
  size_t end = text.find_first_of("+/"), at = text.find('@');
  std::string head = text.substr(0, at);
  call.what = head.substr(0, head.find(':'));
  call.step = head.find(':') == std::string::npos ? stepName : head.substr(head.find(':') + 1);
  call.number = std::strtod(text.substr(at + 1, end - at - 1).c_str(), nullptr);
  while (end != std::string::npos) {
    size_t next = text.find_first_of("+/", end + 1);
    (text[end] == '+' ? call.from : call.how).insert(text.substr(end + 1, next - end - 1));
    end = next;
  }
  return call;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  std::string present = "begin";
  try {
    Settings settings;
    int i = 4;
    for (; i < argc && std::strchr(argv[i], '='); ++i)
      settings.emplace(std::string(argv[i], std::strchr(argv[i], '=')),
                       std::strchr(argv[i], '=') + 1);
    std::string step = settings["step"];
    Program program(argv[1], argv[2], argv[3], std::move(settings));
    for (; i < argc; ++i) {
      present = argv[i];
      program.run(parseCall(present, step));
    }
    present = "end";
    save_safetensors(argv[3], program.finish());
  } catch (const Error &error) {
    std::printf("%s: %s\n", present.c_str(), error.what());
    return 10 + error.exit_code();
  } catch (const std::exception &error) {
    std::printf("%s: %s\n", present.c_str(), error.what());
    return 1;
  }
  return 0;
}
