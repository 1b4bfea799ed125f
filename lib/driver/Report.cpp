// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Report.h"

#include "codegen/host/Host.h"
#include "ir/exec/Exec.h"
#include "ir/prim/Cost.h"
#include "support/ModuleLocation.h"

#include "llvm/Support/JSON.h"

#include <set>

using namespace mlir;
using namespace accc;
namespace json = llvm::json;

/// Of each value once, of which a call may read several parts.
static double bytesOf(OperandRange buffers) {
  double sum = 0;
  std::set<std::pair<int64_t, int64_t>> seen;
  for (Value buffer : buffers)
    if (auto slice = buffer.getDefiningOp<exec::SliceOp>();
        seen.insert({slice.getValue(), slice.getPart().value_or(0)}).second)
      sum += bytesOf(cast<exec::BufferType>(buffer.getType()).getTensor());
  return sum;
}

/// What a product reads of views of its operands is these.
static double bytesRead(exec::LibraryCallOp call) {
  auto views = call.getConfig().getAs<ArrayAttr>("views");
  if (!views || call.getCallee() != "gemm")
    return bytesOf(call.getInputs());
  double sum = bytesOf(call.getInputs().drop_front(2)); // a bias
  for (Type view : views.getAsValueRange<TypeAttr>()) {
    auto memref = cast<MemRefType>(view);
    sum += bytesOf(RankedTensorType::get(memref.getShape(), memref.getElementType()));
  }
  return sum;
}

/// Two for each multiply-add.
static double flopsOf(exec::LibraryCallOp op) {
  FailureOr<accc_library_call> call = codegen::describeCall(op);
  if (failed(call))
    return 0;
  double flops = 2;
  if (call->kind == ACCC_CALL_MATMUL) {
    const accc_matmul &m = call->u.matmul;
    flops *= static_cast<double>(m.m) * static_cast<double>(m.n) * static_cast<double>(m.k);
    for (int i = 0; i < m.batch_rank; ++i)
      flops *= static_cast<double>(m.batch[i]);
    return flops;
  }
  if (call->kind == ACCC_CALL_ATTENTION || call->kind == ACCC_CALL_ATTENTION_BACKWARD) {
    const accc_attention &a = call->u.attention;
    double each = static_cast<double>(a.batch * a.heads) * static_cast<double>(a.queries) *
                  static_cast<double>(a.keys);
    bool isBackward = call->kind == ACCC_CALL_ATTENTION_BACKWARD;
    auto features = static_cast<double>(isBackward ? 3 * a.features + 2 * a.value_features
                                                   : a.features + a.value_features);
    return flops * each * features / (a.causal ? 2 : 1);
  }
  const accc_convolution &c = call->u.convolution;
  flops *= static_cast<double>(c.batch) * static_cast<double>(c.out_channels) *
           static_cast<double>(c.in_channels) / static_cast<double>(std::max<int64_t>(c.groups, 1));
  for (int i = 0; i < c.spatial_rank; ++i)
    flops *= static_cast<double>(c.out_size[i]) * static_cast<double>(c.kernel[i]);
  return flops;
}

static json::Object describeLaunch(exec::KernelOp kernel, double flops, OperandRange inputs,
                                   OperandRange outputs) {
  return json::Object{{"kernel", kernel.getSymName()},
                      {"kind", prim::stringifyKernelKind(kernel.getKind())},
                      {"label", kernel.getLabel()},
                      {"flops", flops},
                      {"bytes", bytesOf(inputs) + bytesOf(outputs)}};
}

static json::Object describeStep(Operation &op, SymbolTable &symbols) {
  if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
    auto kernel = symbols.lookup<exec::KernelOp>(launch.getKernel());
    return describeLaunch(kernel, flopsOf(kernel.getOperation()), launch.getInputs(),
                          launch.getOutputs());
  }
  if (auto launch = dyn_cast<exec::LaunchEachOp>(op)) {
    // The body is written for one nominal extent, which its results have.
    auto kernel = symbols.lookup<exec::KernelOp>(launch.getKernel());
    Type result = kernel.getBody().front().getTerminator()->getOperand(0).getType();
    auto extent = static_cast<double>(cast<RankedTensorType>(result).getNumElements());
    double elements = 0;
    for (int64_t size : launch.getSizes())
      elements += static_cast<double>(size);
    json::Object step = describeLaunch(kernel, flopsOf(kernel.getOperation()) * elements / extent,
                                       launch.getInputs(), launch.getOutputs());
    step["segments"] = static_cast<int64_t>(launch.getSizes().size());
    return step;
  }
  if (auto call = dyn_cast<exec::CustomCallOp>(op))
    return json::Object{{"custom_call", call.getCallee()},
                        {"backward", call.getBackward()},
                        {"flops", 0.0},
                        {"bytes", bytesOf(call.getInputs()) + bytesOf(call.getOutputs())}};
  if (auto collective = dyn_cast<exec::CollectiveOp>(op))
    return json::Object{
        {"collective", collective.getCallee()},
        {"tensors", static_cast<int64_t>(collective.getInputs().size())},
        {"flops", 0.0},
        {"bytes", bytesOf(collective.getInputs()) + bytesOf(collective.getOutputs())}};
  auto call = cast<exec::LibraryCallOp>(op);
  return json::Object{{"library_call", call.getCallee()},
                      {"flops", flopsOf(call)},
                      {"bytes", bytesRead(call) + bytesOf(call.getOutputs())}};
}

namespace {
struct StepCounts {
  int64_t launches = 0, libraryCalls = 0, customCalls = 0, collectives = 0;

  /// Whether the op computes something: slices and checks do not.
  bool add(Operation &op) {
    bool isLaunch = isa<exec::LaunchOp, exec::LaunchEachOp>(op);
    launches += isLaunch;
    libraryCalls += isa<exec::LibraryCallOp>(op);
    customCalls += isa<exec::CustomCallOp>(op);
    collectives += isa<exec::CollectiveOp>(op);
    return isLaunch || isa<exec::LibraryCallOp, exec::CustomCallOp, exec::CollectiveOp>(op);
  }
};
} // namespace

static void printEntry(json::OStream &out, exec::EntryOp entry, StringRef target,
                       SymbolTable &symbols) {
  double flops = 0, bytes = 0;
  StepCounts counts;
  out.attribute("name", entry.getEntryName());
  out.attribute("target", target);
  out.attribute("sizes", entry.getSizesText());
  out.attribute("arena_bytes", static_cast<int64_t>(entry.getArenaSize()));
  out.attributeArray("steps", [&] {
    for (Operation &op : entry.getBody().front()) {
      if (!counts.add(op))
        continue;
      json::Object step = describeStep(op, symbols);
      if (std::string module = moduleNames(op.getLoc()); !module.empty())
        step["module"] = module;
      flops += *step.getNumber("flops");
      bytes += *step.getNumber("bytes");
      out.value(std::move(step));
    }
  });
  out.attribute("launches", counts.launches);
  out.attribute("library_calls", counts.libraryCalls);
  out.attribute("custom_calls", counts.customCalls);
  out.attribute("collectives", counts.collectives);
  out.attribute("flops", flops);
  out.attribute("bytes", bytes);
}

static json::Object describeTime(const Clock &time) {
  return json::Object{{"seconds", time.wall}, {"cpu_seconds", time.cpu}};
}

static json::Array describeParts(ArrayRef<CompileLog::Part> parts) {
  json::Array list;
  for (const CompileLog::Part &part : parts) {
    json::Object described = describeTime(part.time);
    described["name"] = part.name;
    described["peak_memory_bytes"] = part.peakMemory;
    if (!part.sizes.empty())
      described["sizes"] = part.sizes;
    if (!part.parts.empty())
      described["parts"] = describeParts(part.parts);
    list.push_back(std::move(described));
  }
  return list;
}

static json::Object describeCompile(const CompileLog &log) {
  Clock total;
  for (const CompileLog::Part &phase : log.phases())
    total = {total.wall + phase.time.wall, total.cpu + phase.time.cpu};
  json::Object work;
  for (auto [name, value] : llvm::zip_equal(kCounterNames, log.work()))
    work[name] = value;
  json::Object compile = describeTime(total);
  compile["peak_memory_bytes"] = peakMemoryBytes();
  compile["phases"] = describeParts(log.phases());
  compile["work"] = std::move(work);
  return compile;
}

/// What people look for first.
static json::Object summarize(ArrayRef<TargetProgram> programs, StringRef model,
                              const CompileLog &log) {
  ModuleOp any = programs.front().program; // the variables are those of each
  int64_t tensors = 0, elements = 0;
  double parameterBytes = 0, state = 0;
  for (auto variable : any.getOps<exec::VariableOp>()) {
    state += bytesOf(variable.getType());
    if (variable.getRole() != prim::Role::Parameter)
      continue;
    ++tensors;
    elements += cast<RankedTensorType>(variable.getType()).getNumElements();
    parameterBytes += bytesOf(variable.getType());
  }
  json::Array entries;
  for (auto [program, target] : programs)
    for (auto entry : program.getOps<exec::EntryOp>()) {
      StepCounts counts;
      for (Operation &op : entry.getBody().front())
        counts.add(op);
      entries.push_back(json::Object{{"name", entry.getEntryName()},
                                     {"target", target->getName()},
                                     {"sizes", entry.getSizesText()},
                                     {"launches", counts.launches},
                                     {"library_calls", counts.libraryCalls},
                                     {"custom_calls", counts.customCalls},
                                     {"collectives", counts.collectives},
                                     {"arena_bytes", static_cast<int64_t>(entry.getArenaSize())}});
    }
  json::Object kernels, seconds;
  for (auto [program, target] : programs)
    kernels[target->getName()] =
        static_cast<int64_t>(llvm::range_size(program.getOps<exec::KernelOp>()));
  for (const CompileLog::Part &phase : log.phases())
    seconds[phase.name] = seconds.getNumber(phase.name).value_or(0) + phase.time.wall;
  return json::Object{
      {"model", model},
      {"parameters",
       json::Object{{"tensors", tensors}, {"elements", elements}, {"bytes", parameterBytes}}},
      {"entries", std::move(entries)},
      {"kernels", std::move(kernels)},
      {"state_bytes", state},
      {"phase_seconds", std::move(seconds)}};
}

void accc::printReport(llvm::raw_ostream &os, ArrayRef<TargetProgram> programs, StringRef manifest,
                       ArrayRef<FusionDecisions> decisions, const CompileLog &log) {
  ModuleOp any = programs.front().program; // the variables are those of each
  double state = 0;
  for (auto variable : any.getOps<exec::VariableOp>())
    state += bytesOf(variable.getType());
  json::OStream out(os, /*IndentSize=*/2);
  out.object([&] {
    if (llvm::Expected<json::Value> parsed = json::parse(manifest)) {
      StringRef model = parsed->getAsObject()->getString("model").value_or("");
      out.attribute("summary", summarize(programs, model, log));
      out.attribute("manifest", *parsed);
    } else {
      llvm::consumeError(parsed.takeError());
    }
    out.attribute("state_bytes", state);
    out.attributeArray("entries", [&] {
      for (auto [program, target] : programs) {
        SymbolTable symbols(program);
        for (auto entry : program.getOps<exec::EntryOp>())
          out.object([&, target = target] { printEntry(out, entry, target->getName(), symbols); });
      }
    });
    out.attributeArray("fusion", [&] {
      for (const auto &[target, sizes, notes] : decisions)
        for (const FusionNote &note : notes)
          out.value(json::Object{{"function", note.function},
                                 {"target", target},
                                 {"sizes", sizes},
                                 {"producer", note.producer},
                                 {"consumer", note.consumer},
                                 {"fused", note.decision.allowed},
                                 {"reason", note.decision.reason}});
    });
    out.attribute("compile", describeCompile(log));
  });
  os << "\n";
}
