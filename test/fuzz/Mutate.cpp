// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Feeds a fuzz target with good files and, for each, a number of damaged copies, always the same
// ones:
//   fuzz_onnx COUNT FILE...
// What makes it crash, or takes longer than kSeconds, is left in ./crash-<target>.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

constexpr unsigned kSeconds = 60;

/// What runs now, for the handler of signals.
std::string input, crashFile;

void leaveInput(int signal) {
  int file = open(crashFile.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (file >= 0 && write(file, input.data(), input.size()) >= 0)
    close(file);
  const char *message = signal == SIGALRM ? "no end: input left as " : "crash: input left as ";
  for (std::string_view part :
       {std::string_view(message), std::string_view(crashFile), std::string_view("\n")})
    if (write(STDERR_FILENO, part.data(), part.size()) < 0)
      break;
  _exit(1);
}

void run(std::string bytes) {
  input = std::move(bytes);
  alarm(kSeconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()), input.size());
  alarm(0);
}

/// One to four changes: a bit, a byte, a number where a length might be, a cut, a repetition, a
/// piece of another place.
std::string damaged(std::string bytes, std::mt19937 &random) {
  auto below = [&](size_t limit) { return static_cast<size_t>(random() % (limit ? limit : 1)); };
  for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    size_t at = below(bytes.size()), length = 1 + below(std::min<size_t>(64, bytes.size() - at));
    switch (below(6)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      for (size_t i = at; i < bytes.size() && i < at + 8; ++i)
        bytes[i] = static_cast<char>(i + 1 == at + 8 ? 0x7f : 0xff);
      break;
    case 3:
      bytes.erase(at, length);
      break;
    case 4:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 5:
      bytes.replace(below(bytes.size()), length, bytes.substr(at, length));
      break;
    }
  }
  return bytes;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s COUNT FILE...\n", argv[0]);
    return 2;
  }
  std::string program = argv[0];
  crashFile = "crash-" + program.substr(program.rfind('/') + 1);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM})
    std::signal(signal, leaveInput);
  int count = std::atoi(argv[1]);
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::string seed{std::istreambuf_iterator<char>(file), {}};
    if (!file || seed.empty()) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return 1;
    }
    run(seed);
    std::mt19937 random(static_cast<unsigned>(i));
    for (int mutation = 0; mutation < count; ++mutation)
      run(damaged(seed, random));
  }
}
