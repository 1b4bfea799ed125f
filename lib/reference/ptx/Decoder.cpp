// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Decoder.h"
#include "reference/ptx/FunctionDecoder.h"

#include <algorithm>

namespace accc::ptx {

Modifiers::Modifiers(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(1); // the dot
    size_t end = std::min(text.find('.'), text.size());
    left.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

bool Modifiers::take(std::string_view name) {
  auto found = std::ranges::find(left, name);
  if (found == left.end())
    return false;
  left.erase(found);
  return true;
}

int Modifiers::takeAny(std::initializer_list<std::string_view> names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (take(names.begin()[i]))
      return int(i);
  return -1;
}

std::optional<Type> Modifiers::takeType() {
  for (auto name = left.begin(); name != left.end(); ++name)
    if (std::optional<Type> type = typeOf(*name)) {
      left.erase(name);
      return type;
    }
  return std::nullopt;
}

std::optional<Space> Modifiers::takeSpace() {
  for (auto name = left.begin(); name != left.end(); ++name)
    if (std::optional<Space> space = spaceOf(*name)) {
      left.erase(name);
      return space;
    }
  return std::nullopt;
}

std::optional<Rounding> Modifiers::takeRounding() {
  int which = takeAny({"rn", "rz", "rm", "rp", "rna"});
  return which < 0 ? std::nullopt : std::optional(Rounding(which));
}

const Operand &Decoder::operand(size_t i) const {
  if (i >= statement.operands.size())
    malformed("operands are missing");
  return statement.operands[i];
}

void Decoder::expectOperands(size_t least, size_t most) {
  if (numOperands() < least || numOperands() > most)
    malformed("it has " + std::to_string(numOperands()) + " operands");
}

Type Decoder::type() {
  std::optional<Type> found = modifiers.takeType();
  if (!found)
    malformed("its type is missing");
  return *found;
}

namespace {

std::optional<Special> specialOf(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    Special special;
  } names[] = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NumWarps},
      {"%lanemask_eq", Special::LaneMaskEq},
      {"%lanemask_le", Special::LaneMaskLe},
      {"%lanemask_lt", Special::LaneMaskLt},
      {"%lanemask_ge", Special::LaneMaskGe},
      {"%lanemask_gt", Special::LaneMaskGt},
      {"%dynamic_smem_size", Special::DynamicSharedSize},
      {"%total_smem_size", Special::TotalSharedSize},
  };
  auto *found = std::ranges::find(names, name, [](const auto &row) { return row.name; });
  return found == std::end(names) ? std::nullopt : std::optional(found->special);
}

} // namespace

uint32_t Decoder::constant(uint64_t value, unsigned bytes) {
  if (bytes < 8)
    value &= (uint64_t(1) << (8 * bytes)) - 1;
  Constant constant;
  constant.bytes = uint8_t(bytes);
  constant.value = value;
  return function.constant(constant);
}

uint32_t Decoder::source(const Operand &operand, Type type) {
  if (type.isPredicate() && operand.kind == Operand::Integer) // as LLVM writes "not": xor -1
    return constant(operand.value ? ~uint32_t(0) : 0, sizeof(uint32_t));
  if (type.isPredicate())
    return predicate(operand);
  Place place = wideSource(operand, type);
  if (place.bytes != type.bytes())
    malformed("'" + std::string(operand.name) + "' has not " + std::to_string(type.bits) + " bits");
  return place.slot;
}

uint32_t Decoder::predicate(const Operand &operand) {
  if (operand.kind != Operand::Name || !operand.symbol || !operand.symbol->isRegister ||
      !operand.symbol->type.isPredicate())
    malformed("a predicate register is expected");
  return function.slotOf(*operand.symbol);
}

Place Decoder::wideSource(const Operand &operand, Type type) {
  const uint8_t bytes = uint8_t(type.bytes());
  switch (operand.kind) {
  case Operand::Integer:
    if (!type.isInteger() && type.kind != TypeKind::UnsignedPair &&
        type.kind != TypeKind::SignedPair && !type.isHalf())
      malformed("an integer stands for a value of floating point");
    return {constant(uint64_t(operand.value), bytes), bytes};
  case Operand::Float32:
  case Operand::Float64:
    if (type.bits < 32 || (type.isInteger() && type.kind != TypeKind::Bits))
      malformed("a floating-point literal stands for a value of another type");
    return {constant(literalBits(type, operand.kind == Operand::Float64, uint64_t(operand.value)),
                     bytes),
            bytes};
  case Operand::Name:
    break;
  default:
    malformed("a register or literal is expected");
  }
  if (!operand.symbol) {
    if (operand.name == "WARP_SZ")
      return {constant(warpSize, bytes), bytes};
    std::optional<Special> special = specialOf(operand.name);
    if (!special)
      unsupported("'" + std::string(operand.name) + "'");
    return {specialSlots + unsigned(*special) * 4 * warpSize, 4};
  }
  if (operand.symbol->isRegister) {
    if (operand.symbol->type.isPredicate())
      malformed("'" + std::string(operand.name) + "' is a predicate");
    return {function.slotOf(*operand.symbol), uint8_t(operand.symbol->type.bytes())};
  }
  return {function.addressOf(*operand.symbol, operand.value, bytes), bytes};
}

uint32_t Decoder::result(const Operand &operand, Type type) {
  if (operand.kind == Operand::Sink)
    return scratch(type.isPredicate() ? 0 : type.bytes());
  if (type.isPredicate())
    return predicate(operand);
  Place place = wideResult(operand, type);
  if (place.bytes != type.bytes())
    malformed("'" + std::string(operand.name) + "' has not " + std::to_string(type.bits) + " bits");
  return place.slot;
}

Place Decoder::wideResult(const Operand &operand, Type type) {
  if (operand.kind == Operand::Sink)
    return {0, uint8_t(type.bytes())};
  if (operand.kind != Operand::Name || !operand.symbol || !operand.symbol->isRegister ||
      operand.symbol->type.isPredicate())
    malformed("a register is expected for the result");
  if (operand.symbol->type.bytes() < type.bytes())
    malformed("'" + std::string(operand.name) + "' is too narrow for the result");
  return {function.slotOf(*operand.symbol), uint8_t(operand.symbol->type.bytes())};
}

uint32_t Decoder::scratch(unsigned bytes) { return function.scratch(bytes); }

void Decoder::address(const Operand &operand, Access &access) {
  if (operand.kind != Operand::Address)
    malformed("an address in brackets is expected");
  access.offset = operand.value;
  if (operand.name.empty()) {
    access.address = {constant(0, 8), 8};
    return;
  }
  if (!operand.symbol)
    malformed("there is no '" + std::string(operand.name) + "'");
  if (operand.symbol->isRegister) {
    if (operand.symbol->type.bits != 64 && operand.symbol->type.bits != 32)
      malformed("'" + std::string(operand.name) + "' is too narrow for an address");
    access.address = {function.slotOf(*operand.symbol), uint8_t(operand.symbol->type.bytes())};
    return;
  }
  Space space = operand.symbol->space;
  if (access.space == Space::Generic ? space != Space::Global && space != Space::Const
                                     : space != access.space)
    malformed("'" + std::string(operand.name) + "' is in ." + name(space) + " space");
  access.address = {function.addressOf(*operand.symbol, 0, 8), 8};
}

uint32_t Decoder::addAccess(const Access &access) {
  function.program.accesses.push_back(access);
  return uint32_t(function.program.accesses.size() - 1);
}

namespace {

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
  return result + "'";
}

} // namespace

void Decoder::unsupported(const std::string &what) const {
  failParse(ErrorKind::Unsupported, statement.line,
            "unsupported instruction " + quoted(statement.text) +
                (what.empty() ? "" : ": " + what));
}

void Decoder::malformed(const std::string &what) const {
  failParse(ErrorKind::Syntax, statement.line, quoted(statement.text) + ": " + what);
}

} // namespace accc::ptx
