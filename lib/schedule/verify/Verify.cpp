// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof of a schedule, on every compile: runs an entry on memory that holds, in place of
// numbers, which value each byte belongs to.
#include "accc/abi.h"
#include "ir/prim/InPlace.h"
#include "schedule/Schedule.h"
#include "schedule/verify/Contents.h"
#include "support/Fault.h"
#include "support/TensorBytes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace accc;

namespace {
using Space = exec::Space;

/// A memory: the state block, the arena, or one tensor of the caller's or the library's.
using Memory = std::pair<Space, int64_t>;

/// An exec.slice, read.
struct Buffer {
  Memory memory;
  ByteRange range;
  int64_t value, part;

  explicit Buffer(Value buffer) {
    auto slice = buffer.getDefiningOp<exec::SliceOp>();
    auto offset = static_cast<int64_t>(slice.getOffset());
    bool isBlock = slice.getSpace() == Space::state || slice.getSpace() == Space::arena;
    int64_t size = tensorBytes(cast<exec::BufferType>(buffer.getType()).getTensor());
    memory = {slice.getSpace(), isBlock ? 0 : offset};
    range = isBlock ? ByteRange{offset, offset + size} : ByteRange{0, size};
    value = static_cast<int64_t>(slice.getValue());
    part = static_cast<int64_t>(slice.getPart().value_or(0));
  }
  bool overlaps(const Buffer &other) const {
    return memory == other.memory && range.overlaps(other.range);
  }
};

const char *name(Space space) { return exec::stringifySpace(space).data(); }

/// What a launch or a call reads and writes.
struct Access {
  SmallVector<Buffer> inputs, outputs;
  exec::KernelOp kernel; // null for a call
  size_t numSegments = 1;
  bool isInPlace = false; // output i may lie where input i does
};

class EntryVerifier {
public:
  EntryVerifier(exec::EntryOp entry, const llvm::StringMap<exec::VariableOp> &variables,
                const llvm::StringMap<exec::KernelOp> &kernels, int64_t stateSize)
      : entry(entry), variables(variables), kernels(kernels), stateSize(stateSize) {}

  LogicalResult verify();

private:
  LogicalResult begin();
  LogicalResult end();
  LogicalResult run(Operation &op);
  FailureOr<Access> accessOf(Operation &op);
  LogicalResult checkBounds(Operation &op, const Buffer &buffer);
  LogicalResult checkRead(Operation &op, const Buffer &buffer);
  LogicalResult checkWrite(Operation &op, const Buffer &buffer);
  LogicalResult checkOverlaps(Operation &op, const Access &access);

  exec::EntryOp entry;
  const llvm::StringMap<exec::VariableOp> &variables;
  const llvm::StringMap<exec::KernelOp> &kernels;
  int64_t stateSize;
  std::map<Memory, Contents> memories;
  llvm::DenseMap<int64_t, Attribute> constantOf; // by value
  bool checked = false;
  bool exchanges = false, agreed = false; // with other processes
};
} // namespace

/// What the entry finds: the caller's inputs, and the variables.
LogicalResult EntryVerifier::begin() {
  for (auto [i, value] : llvm::enumerate(entry.getInputValues()))
    memories[{Space::input, static_cast<int64_t>(i)}].write({0, INT64_MAX}, value, 0);
  for (auto each : entry.getVariables().getAsRange<DictionaryAttr>()) {
    auto variable = variables.lookup(each.getAs<StringAttr>("name").getValue());
    if (!variable)
      return emitBug(entry.getLoc())
             << "the entry speaks of the unknown variable " << each.get("name");
    auto offset = static_cast<int64_t>(variable.getOffset());
    int64_t size = tensorBytes(cast<RankedTensorType>(variable.getType()));
    if (int64_t before = each.getAs<IntegerAttr>("before").getInt(); before >= 0)
      memories[{Space::state, 0}].write({offset, offset + size}, before, 0);
  }
  return success();
}

/// What the entry must leave: every output, and every variable with its new value or its old one.
LogicalResult EntryVerifier::end() {
  for (auto [i, output, value] :
       llvm::enumerate(entry.getOutputs().getAsRange<DictionaryAttr>(), entry.getOutputValues())) {
    auto type = cast<RankedTensorType>(output.getAs<TypeAttr>("type").getValue());
    int64_t other = -1;
    if (memories[{Space::output, static_cast<int64_t>(i)}].find({0, tensorBytes(type)}, value, 0,
                                                                other) != Contents::Finding::Holds)
      return emitBug(entry.getLoc())
             << "the schedule does not write the output " << output.get("name");
  }
  for (auto each : entry.getVariables().getAsRange<DictionaryAttr>()) {
    auto variable = variables.lookup(each.getAs<StringAttr>("name").getValue());
    auto offset = static_cast<int64_t>(variable.getOffset());
    int64_t size = tensorBytes(cast<RankedTensorType>(variable.getType())), other = -1;
    if (memories[{Space::state, 0}].find({offset, offset + size},
                                         each.getAs<IntegerAttr>("after").getInt(), 0,
                                         other) != Contents::Finding::Holds)
      return emitBug(entry.getLoc())
             << "the schedule leaves a wrong value in the variable " << each.get("name");
  }
  return success();
}

/// The buffers of a step; fails for an op that is none of an entry's.
FailureOr<Access> EntryVerifier::accessOf(Operation &op) {
  Access access;
  auto read = [&](auto step) {
    for (Value input : step.getInputs())
      access.inputs.emplace_back(input);
    for (Value output : step.getOutputs())
      access.outputs.emplace_back(output);
  };
  StringRef symbol;
  if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
    read(launch);
    symbol = launch.getKernel();
  } else if (auto each = dyn_cast<exec::LaunchEachOp>(op)) {
    read(each);
    symbol = each.getKernel();
    access.numSegments = each.getSizes().size();
  } else if (auto call = dyn_cast<exec::LibraryCallOp>(op)) {
    read(call);
    return access;
  } else if (auto call = dyn_cast<exec::CustomCallOp>(op)) {
    read(call);
    return access;
  } else if (auto collective = dyn_cast<exec::CollectiveOp>(op)) {
    read(collective);
    access.isInPlace = true;
    if (access.inputs.size() != access.outputs.size())
      return emitBug(op.getLoc()) << "a collective does not give a tensor for each that it sends";
    return access;
  } else {
    return emitBug(op.getLoc()) << "not an op of an entry";
  }
  access.kernel = kernels.lookup(symbol);
  if (!access.kernel)
    return emitBug(op.getLoc()) << "the schedule launches the unknown kernel '" << symbol << "'";
  Block &body = access.kernel.getBody().front();
  if (access.inputs.size() != body.getNumArguments() * access.numSegments ||
      access.outputs.size() != body.getTerminator()->getNumOperands() * access.numSegments)
    return emitBug(op.getLoc()) << "the launch does not have the kernel's numbers of buffers";
  return access;
}

LogicalResult EntryVerifier::checkBounds(Operation &op, const Buffer &buffer) {
  Space space = buffer.memory.first;
  auto inBlock = [&](int64_t begin, int64_t size) -> LogicalResult {
    if (buffer.range.begin % ACCC_ALIGNMENT)
      return emitBug(op.getLoc()) << "a buffer in the " << name(space) << " is not aligned";
    if (buffer.range.begin < begin || buffer.range.end > size)
      return emitBug(op.getLoc()) << "a buffer lies outside the " << name(space);
    return success();
  };
  if (space == Space::arena) // the status word lies at its beginning
    return inBlock(ACCC_ALIGNMENT, static_cast<int64_t>(entry.getArenaSize()));
  if (space == Space::state)
    return inBlock(0, stateSize);
  if (buffer.part != 0)
    return emitBug(op.getLoc()) << "a buffer begins inside the " << name(space);
  int64_t number = buffer.memory.second;
  if ((space == Space::input && number >= static_cast<int64_t>(entry.getInputs().size())) ||
      (space == Space::output && number >= static_cast<int64_t>(entry.getOutputs().size())))
    return emitBug(op.getLoc()) << "the entry has no " << name(space) << " " << number;
  return success();
}

/// That the buffer holds the value that it is said to hold.
LogicalResult EntryVerifier::checkRead(Operation &op, const Buffer &buffer) {
  if (buffer.range.empty() || buffer.memory.first == Space::constant)
    return success();
  int64_t other = -1;
  Space space = buffer.memory.first;
  switch (memories[buffer.memory].find(buffer.range, buffer.value, buffer.part, other)) {
  case Contents::Finding::Holds:
    return success();
  case Contents::Finding::Unwritten:
    return emitBug(op.getLoc()) << "the schedule reads value " << buffer.value << " at byte "
                                << buffer.range.begin << " of the " << name(space)
                                << ", which is not written";
  case Contents::Finding::HoldsAnother:
    return emitBug(op.getLoc()) << "the schedule reads value " << buffer.value << " at byte "
                                << buffer.range.begin << " of the " << name(space)
                                << ", which holds value " << other;
  }
  llvm_unreachable("covered switch");
}

LogicalResult EntryVerifier::checkWrite(Operation &op, const Buffer &buffer) {
  Space space = buffer.memory.first;
  if (space == Space::constant || space == Space::input)
    return emitBug(op.getLoc()) << "the schedule writes a read-only buffer";
  if (space == Space::state && !checked)
    return emitBug(op.getLoc()) << "a variable changes before the data has been checked";
  return success();
}

/// Whether a kernel that is given the same memory for an input and an output reads each element
/// before it writes it.
static bool mayWriteOver(exec::KernelOp kernel, size_t input, size_t output) {
  Block &body = kernel.getBody().front();
  auto number = static_cast<unsigned>(input);
  auto read = cast<RankedTensorType>(body.getArgument(number).getType());
  auto written = cast<RankedTensorType>(body.getTerminator()->getOperand(output).getType());
  return haveSamePlaces(read, written) && prim::readsInPlace(body, kernel.getKind(), number);
}

/// That nothing is written twice at once, and that what is written over an input is written by a
/// kernel, and a segment of it, that reads the element before it writes it.
LogicalResult EntryVerifier::checkOverlaps(Operation &op, const Access &access) {
  struct Write {
    const Buffer *buffer;
    size_t segment, number; // of an output within its segment
  };
  size_t inputs = access.inputs.size() / access.numSegments,
         outputs = access.outputs.size() / access.numSegments;
  exec::KernelOp kernel = access.kernel;
  std::vector<Write> writes;
  for (auto [i, output] : llvm::enumerate(access.outputs))
    if (!output.range.empty())
      writes.push_back({&output, i / outputs, i % outputs});
  auto place = [](const Buffer &buffer) { return std::pair(buffer.memory, buffer.range.begin); };
  llvm::sort(writes,
             [&](const Write &a, const Write &b) { return place(*a.buffer) < place(*b.buffer); });
  for (size_t i = 1; i < writes.size(); ++i)
    if (writes[i - 1].buffer->overlaps(*writes[i].buffer))
      return emitBug(op.getLoc()) << "two outputs of a step overlap";
  for (auto [i, input] : llvm::enumerate(access.inputs)) {
    if (input.range.empty())
      continue;
    // They are disjoint: only the last that begins before the input, and those that begin in it.
    auto it = llvm::partition_point(
        writes, [&](const Write &write) { return place(*write.buffer) <= place(input); });
    if (it != writes.begin())
      --it;
    for (; it != writes.end() && place(*it->buffer) < std::pair(input.memory, input.range.end);
         ++it) {
      if (!it->buffer->overlaps(input))
        continue;
      if (access.isInPlace && it->number == i && it->buffer->range == input.range)
        continue;
      if (!kernel || it->buffer->range != input.range || it->segment != i / inputs ||
          !mayWriteOver(kernel, i % inputs, it->number))
        return emitBug(op.getLoc()) << "an output of a step overlaps one of its inputs";
    }
  }
  return success();
}

LogicalResult EntryVerifier::run(Operation &op) {
  if (auto slice = dyn_cast<exec::SliceOp>(op)) {
    if (slice.getSpace() != Space::constant)
      return success();
    // A number stands for one value.
    auto [it, isNew] = constantOf.try_emplace(slice.getValue(), slice.getSymbolAttr());
    if (!isNew && it->second != slice.getSymbolAttr())
      return emitBug(op.getLoc()) << "two constants are called value " << slice.getValue();
    return success();
  }
  if (isa<exec::AgreeOp>(op)) {
    agreed = true;
    return success();
  }
  if (isa<exec::CheckOp>(op)) {
    checked = true;
    return success();
  }
  if (isa<exec::CollectiveOp>(op)) {
    exchanges = true;
    if (agreed)
      return emitBug(op.getLoc()) << "processes exchange data after having agreed to go on";
  }
  FailureOr<Access> access = accessOf(op);
  if (failed(access))
    return failure();
  if (checked && (!access->kernel || prim::mayReportErrors(access->kernel.getBody().front())))
    return emitBug(op.getLoc()) << "a step that can fail stands behind the check of the data";
  for (const Buffer &input : access->inputs)
    if (failed(checkBounds(op, input)) || failed(checkRead(op, input)))
      return failure();
  for (const Buffer &output : access->outputs)
    if (failed(checkBounds(op, output)) || failed(checkWrite(op, output)))
      return failure();
  if (failed(checkOverlaps(op, *access)))
    return failure();
  for (const Buffer &output : access->outputs)
    memories[output.memory].write(output.range, output.value, output.part);
  return success();
}

LogicalResult EntryVerifier::verify() {
  if (failed(begin()))
    return failure();
  for (Operation &op : entry.getBody().front()) {
    if (failed(run(op)))
      return failure();
    if (checked && exchanges && !agreed)
      return emitBug(op.getLoc()) << "processes go on without having agreed to";
  }
  if (exchanges && !agreed)
    return emitBug(entry.getLoc()) << "processes end without having agreed on how";
  return end();
}

LogicalResult accc::verifySchedule(ModuleOp program) {
  llvm::StringMap<exec::VariableOp> variables;
  llvm::StringMap<exec::KernelOp> kernels;
  int64_t stateSize = 0;
  for (auto variable : program.getOps<exec::VariableOp>()) {
    variables[variable.getName()] = variable;
    stateSize = std::max(stateSize, static_cast<int64_t>(variable.getOffset()) +
                                        tensorBytes(cast<RankedTensorType>(variable.getType())));
  }
  for (auto kernel : program.getOps<exec::KernelOp>())
    kernels[kernel.getSymName()] = kernel;
  for (auto entry : program.getOps<exec::EntryOp>())
    if (failed(EntryVerifier(entry, variables, kernels, stateSize).verify()))
      return failure();
  return success();
}
