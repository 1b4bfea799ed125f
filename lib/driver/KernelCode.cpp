// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/KernelCode.h"

#include "llvm-c/Disassembler.h"
#include "llvm-c/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <span>

using namespace accc;
using llvm::StringRef;

// ---- GPUs ----

/// The text of each `.entry NAME(...) { ... }`.
static llvm::StringMap<StringRef> splitPtx(StringRef text) {
  llvm::StringMap<StringRef> entries;
  constexpr StringRef keyword = ".entry ";
  for (size_t at = text.find(keyword); at != StringRef::npos;) {
    StringRef rest = text.substr(at + keyword.size());
    size_t end = rest.find("\n}");
    entries[rest.take_until([](char c) { return c == '('; }).trim()] = rest.take_front(end);
    at = end == StringRef::npos ? end : text.find(keyword, at + keyword.size() + end);
  }
  return entries;
}

/// The bytes of each section `.text.NAME`.
static llvm::StringMap<StringRef> splitCubin(StringRef image) {
  llvm::StringMap<StringRef> entries;
  auto object = llvm::object::ObjectFile::createELFObjectFile({image, "cubin"});
  if (!object) {
    llvm::consumeError(object.takeError());
    return entries;
  }
  for (const llvm::object::SectionRef &section : (*object)->sections()) {
    llvm::Expected<StringRef> name = section.getName(), bytes = section.getContents();
    if (name && bytes && name->consume_front(".text."))
      entries[*name] = *bytes;
    llvm::consumeError(name.takeError());
    llvm::consumeError(bytes.takeError());
  }
  return entries;
}

static std::vector<uint64_t> fingerprintImage(const accc_code &code,
                                              std::span<const accc_kernel> kernels) {
  StringRef image(static_cast<const char *>(code.image), code.image_bytes);
  llvm::StringMap<StringRef> entries =
      StringRef(code.arch).starts_with("compute_") ? splitPtx(image) : splitCubin(image);
  std::vector<uint64_t> result;
  for (const accc_kernel &kernel : kernels) {
    auto found = entries.find(kernel.name);
    result.push_back(found == entries.end() ? 0 : llvm::xxh3_64bits(found->second));
  }
  return result;
}

// ---- CPUs ----

namespace {

/// Where functions end and constants lie, as offsets from where a library is loaded.
struct Layout {
  std::map<uint64_t, uint64_t> functions;                  // begin, size
  std::vector<std::pair<uint64_t, uint64_t>> constantData; // begin, end
};

Layout readLayout(const std::string &library) {
  Layout layout;
  auto binary = llvm::object::ObjectFile::createObjectFile(library);
  if (!binary) {
    llvm::consumeError(binary.takeError());
    return layout;
  }
  auto *elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(binary->getBinary());
  if (!elf)
    return layout;
  for (const llvm::object::ELFSymbolRef &symbol : elf->symbols()) {
    llvm::Expected<uint64_t> address = symbol.getAddress();
    if (address && symbol.getSize())
      layout.functions[*address] = symbol.getSize();
    llvm::consumeError(address.takeError());
  }
  for (const llvm::object::SectionRef &section : elf->sections())
    if (section.isData() && !section.isText())
      layout.constantData.emplace_back(section.getAddress(),
                                       section.getAddress() + section.getSize());
  return layout;
}

class Disassembler {
public:
  explicit Disassembler(const Layout &layout) : layout(layout) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    context = LLVMCreateDisasm("x86_64-unknown-linux-gnu", nullptr, 0, nullptr, nullptr);
  }
  Disassembler(const Disassembler &) = delete;
  Disassembler &operator=(const Disassembler &) = delete;
  ~Disassembler() {
    if (context)
      LLVMDisasmDispose(context);
  }

  /// Of the function that is loaded there; 0 where it cannot be read.
  uint64_t fingerprint(const void *function) {
    Dl_info info;
    if (!context || !dladdr(function, &info))
      return 0;
    auto *base = static_cast<uint8_t *>(info.dli_fbase);
    auto begin = static_cast<uint64_t>(static_cast<const uint8_t *>(function) - base);
    auto found = layout.functions.find(begin);
    if (found == layout.functions.end())
      return 0;
    std::string text;
    for (uint64_t at = begin, end = begin + found->second; at < end;) {
      char line[256];
      size_t size = LLVMDisasmInstruction(context, base + at, end - at, at, line, sizeof line);
      if (size == 0)
        return 0;
      at += size;
      addInstruction(line, base, at, end - begin, text);
    }
    return llvm::xxh3_64bits(text);
  }

private:
  /// Adds an instruction without its addresses. `next` is where it ends.
  void addInstruction(StringRef line, const uint8_t *base, uint64_t next, uint64_t functionBytes,
                      std::string &text) {
    line = line.trim();
    size_t pc = line.find("(%rip)");
    if (pc == StringRef::npos) {
      // What is called lies anywhere; jumps stay within the function.
      StringRef mnemonic = line.take_until([](char c) { return c == ' ' || c == '\t'; });
      int64_t distance;
      bool isFar = line.drop_front(mnemonic.size()).trim().getAsInteger(0, distance) == false &&
                   static_cast<uint64_t>(std::abs(distance)) > functionBytes;
      text += mnemonic.starts_with("call") || isFar ? mnemonic : line;
    } else {
      size_t number = line.take_front(pc).find_last_not_of("-x0123456789abcdef");
      number = number == StringRef::npos ? 0 : number + 1;
      text += line.take_front(number);
      text += line.drop_front(pc);
      int64_t displacement;
      if (!line.slice(number, pc).getAsInteger(0, displacement) && !line.starts_with("lea"))
        addConstant(base, next + static_cast<uint64_t>(displacement), text);
    }
    text += '\n';
  }

  /// Adds what an instruction reads there: four bytes, as any constant has, tell it from others.
  void addConstant(const uint8_t *base, uint64_t at, std::string &text) {
    for (auto [begin, end] : layout.constantData)
      if (begin <= at && at + 4 <= end)
        text.append(reinterpret_cast<const char *>(base + at), 4);
  }

  const Layout &layout;
  LLVMDisasmContextRef context;
};

} // namespace

std::vector<uint64_t> accc::fingerprintKernels(const std::string &library, const accc_code &code) {
  std::span kernels(code.kernels, static_cast<size_t>(code.num_kernels));
  if (code.image)
    return fingerprintImage(code, kernels);
  Layout layout = readLayout(library);
  Disassembler disassembler(layout);
  std::vector<uint64_t> result;
  for (const accc_kernel &kernel : kernels)
    result.push_back(disassembler.fingerprint(reinterpret_cast<const void *>(kernel.function)));
  return result;
}
