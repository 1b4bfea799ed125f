// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions and their two gradients as oneDNN primitives.
//
// Measured with oneDNN 2.6.3 on two Zen 5 cores (peak about 530 GFLOP/s), in GFLOP/s, copies
// between layouts included; forward / gradient of x / gradient of w:
//
//                                   channels first,    channels first,    channels last
//                                   as it is           by way of blocks   as it is
//   7x7/2    3 -> 64   224 x 224    254 /  -  / 178    387 /  -  / 319    526 /  -  / 321
//   3x3     64 -> 64    56 x 56     329 / 257 / 204    492 / 485 / 479    521 / 530 / 517
//   3x3    512 -> 512    7 x 7      312 / 314 / 374    432 / 529 / 460    464 / 504 / 550
//   1x1     16 -> 96   112 x 112    290 / 232 / 189    138 /  99 / 133    353 / 348 / 217
//   1x1    672 -> 112   14 x 14     480 / 493 / 465    472 / 481 / 471    512 / 529 / 499
//   3x3 depthwise 32   112 x 112     14 /   7 /   6     70 /  80 /  66    134 / 153 / 124
//   5x5 depthwise 672   14 x 14      10 /   7 /  10    217 / 140 /  10    252 / 120 /  27
//
// Channels last is the layout to compile for. Channels first goes by way of the library's blocked
// layouts, except 1x1 convolutions over large images, which are matrix products as they are.
#include "DepthwiseWeights.h"
#include "LibraryCall.h"
#include "OneDnn.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

namespace accc::detail {

namespace {

using dnnl::memory;

/// The tensors of a convolution in oneDNN's terms, without a layout.
struct Geometry {
  memory::data_type type; // of all of them
  memory::dims x, w, y, strides, dilates, low, high;
  memory::format_tag activations, weights;

  Geometry(const accc_convolution &c, memory::data_type type)
      : type(type), x{c.batch, c.in_channels}, y{c.batch, c.out_channels} {
    bool grouped = c.groups != 1;
    w = grouped ? memory::dims{c.groups, c.out_channels / c.groups, c.in_channels / c.groups}
                : memory::dims{c.out_channels, c.in_channels};
    for (int32_t i = 0; i < c.spatial_rank; ++i) {
      x.push_back(c.in_size[i]);
      w.push_back(c.kernel[i]);
      y.push_back(c.out_size[i]);
      strides.push_back(c.stride[i]);
      dilates.push_back(c.dilation[i] - 1); // oneDNN counts the elements left out
      low.push_back(c.pad_low[i]);
      // What the last window leaves over is not read, and oneDNN insists on not being told of it.
      high.push_back((c.out_size[i] - 1) * c.stride[i] + (c.kernel[i] - 1) * c.dilation[i] + 1 -
                     c.in_size[i] - c.pad_low[i]);
    }
    using tag = memory::format_tag;
    const tag first[] = {tag::ncw, tag::nchw, tag::ncdhw};
    const tag last[] = {tag::nwc, tag::nhwc, tag::ndhwc};
    const tag plain[] = {tag::oiw, tag::oihw, tag::oidhw};
    const tag perGroup[] = {tag::goiw, tag::goihw, tag::goidhw};
    activations = (c.layout == ACCC_CHANNELS_LAST ? last : first)[c.spatial_rank - 1];
    weights = (grouped ? perGroup : plain)[c.spatial_rank - 1];
  }

  memory::desc describe(const memory::dims &dims, memory::format_tag tag) const {
    return {dims, type, tag};
  }
  uint64_t bytesOf(const memory::dims &dims) const {
    return elementsOf(dims) * memory::data_type_size(type);
  }
  static uint64_t elementsOf(const memory::dims &dims) {
    uint64_t elements = 1;
    for (int64_t extent : dims)
      elements *= static_cast<uint64_t>(extent);
    return elements;
  }
};

/// A primitive of one of the three kinds with the layouts it works in. Which of x, w and y is the
/// result is the kind's.
struct Kernel {
  dnnl::primitive primitive;
  memory::desc x, w, y, scratchpad;
  std::string implementation;
};

/// Whether a kernel of oneDNN (2.6.3) overruns its scratch memory. For weights of a 1x1 convolution
/// with strides it gathers the pixels that count, and where activations lie channels last, each as
/// whole vectors of channels; it reserves, for each thread, only the channels that there are.
bool overrunsScratch(const dnnl::convolution_backward_weights::primitive_desc &found,
                     const Geometry &g) {
  constexpr int64_t widestVector = 16;
  bool strides =
      std::any_of(g.strides.begin(), g.strides.end(), [](int64_t stride) { return stride != 1; });
  return strides && g.x[1] < widestVector && found.src_desc() == g.describe(g.x, g.activations) &&
         std::strstr(found.impl_info_str(), "jit_1x1");
}

/// Whether a kernel of oneDNN (2.6.3) adds up what lies beside a tensor. For weights over three
/// dimensions with a stride along the first, where windows begin more than a stride in front of an
/// image that is hardly deeper than they are, it takes one too many of the planes there.
bool readsBeside(const dnnl::convolution_backward_weights::primitive_desc &found,
                 const Geometry &g) {
  if (g.strides.size() != 3 || g.strides[0] == 1 || !std::strstr(found.impl_info_str(), "jit"))
    return false;
  int64_t kernel = g.w[g.w.size() - 3], reach = (kernel - 1) * (g.dilates[0] + 1) + 1;
  return g.low[0] > g.strides[0] && g.x[2] < reach + g.strides[0];
}

/// The best kernel that oneDNN has where the activations have the layout `tag` (or any).
Kernel makeKernel(accc_call_kind kind, const Geometry &g, memory::format_tag tag) {
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const memory::desc x = g.describe(g.x, tag), y = g.describe(g.y, tag),
                     w = g.describe(g.w, memory::format_tag::any);
  dnnl::convolution_forward::desc forward(dnnl::prop_kind::forward_training, algorithm, x, w, y,
                                          g.strides, g.dilates, g.low, g.high);
  dnnl::convolution_forward::primitive_desc forwardDesc(forward, userScratchpad(), cpuEngine());
  if (kind == ACCC_CALL_CONVOLUTION)
    return {dnnl::convolution_forward(forwardDesc),
            forwardDesc.src_desc(),
            forwardDesc.weights_desc(),
            forwardDesc.dst_desc(),
            forwardDesc.scratchpad_desc(),
            forwardDesc.impl_info_str()};
  if (kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA) {
    dnnl::convolution_backward_data::desc desc(algorithm, x, w, y, g.strides, g.dilates, g.low,
                                               g.high);
    dnnl::convolution_backward_data::primitive_desc found(desc, userScratchpad(), cpuEngine(),
                                                          forwardDesc);
    return {dnnl::convolution_backward_data(found),
            found.diff_src_desc(),
            found.weights_desc(),
            found.diff_dst_desc(),
            found.scratchpad_desc(),
            found.impl_info_str()};
  }
  dnnl::convolution_backward_weights::desc desc(algorithm, x, w, y, g.strides, g.dilates, g.low,
                                                g.high);
  dnnl::convolution_backward_weights::primitive_desc found(desc, userScratchpad(), cpuEngine(),
                                                           forwardDesc);
  while (overrunsScratch(found, g) || readsBeside(found, g))
    if (!found.next_impl())
      throw Error(ErrorKind::machine, "oneDNN has no sound kernel for a convolution's weights");
  return {dnnl::convolution_backward_weights(found),
          found.src_desc(),
          found.diff_weights_desc(),
          found.diff_dst_desc(),
          found.scratchpad_desc(),
          found.impl_info_str()};
}

/// Whether an implementation is oneDNN's definition of the operation, element by element: 50 times
/// as slow as a product of gathered windows, which with one thread there is for fewer layouts.
bool isReference(const std::string &implementation) {
  return implementation.find("ref") != std::string::npos;
}

/// Whether an implementation is one of those that are there so that everything works.
bool isFallback(const std::string &implementation) {
  return isReference(implementation) || implementation.find("gemm") != std::string::npos;
}

/// Whether the convolution is, image by image, one large matrix product.
bool isMatmul(const Geometry &g) {
  auto kernel = g.w.end() - static_cast<std::ptrdiff_t>(g.strides.size());
  uint64_t pixels = Geometry::elementsOf({g.y.begin() + 2, g.y.end()});
  bool grouped = g.w.size() > g.x.size();
  return !grouped && pixels >= 28 * 28 &&
         std::all_of(kernel, g.w.end(), [](int64_t extent) { return extent == 1; }) &&
         std::all_of(g.strides.begin(), g.strides.end(), [](int64_t s) { return s == 1; });
}

/// Whether copies in the layouts that a kernel works in are sensible: those in blocks of 16
/// channels of an image with one would take 16 times its memory, and within an image of 2 GiB the
/// library counts bytes in 32 bits, past which it reads anywhere.
bool canCopy(const Kernel &kernel, const Geometry &g) {
  auto fits = [&](const memory::desc &copy, const memory::dims &dims) {
    return copy.get_size() <= 2 * g.bytesOf(dims) &&
           copy.get_size() / static_cast<uint64_t>(dims[0]) <= std::numeric_limits<int32_t>::max();
  };
  return fits(kernel.x, g.x) && fits(kernel.y, g.y);
}

/// The rule that the measurements above speak for.
Kernel chooseKernel(accc_call_kind kind, const Geometry &g) {
  Kernel plain = makeKernel(kind, g, g.activations);
  if (!isFallback(plain.implementation) || isMatmul(g))
    return plain;
  Kernel free = makeKernel(kind, g, memory::format_tag::any);
  bool isBetter = !isFallback(free.implementation) ||
                  (isReference(plain.implementation) && !isReference(free.implementation));
  return isBetter && canCopy(free, g) ? free : plain;
}

void check(dnnl_status_t status) {
  if (status != dnnl_success)
    throw Error(ErrorKind::machine,
                std::string("oneDNN refused a convolution: ") + dnnl_status2str(status));
}

uint64_t roundedUp(uint64_t bytes) {
  return (bytes + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT;
}

/// x, w or y: the caller's buffer, and where the kernel works in another layout one in the scratch
/// block and the copy between them.
struct Slot {
  memory outer, inner;
  bool converts = false;
  dnnl::primitive reorder;
  memory reorderScratchpad;
  uint64_t innerOffset = 0, padOffset = 0;

  /// Reserves scratch from `offset` on; gives where the next may begin.
  uint64_t place(uint64_t offset) {
    if (!converts)
      return offset;
    innerOffset = offset;
    padOffset = innerOffset + roundedUp(inner.get_desc().get_size());
    return padOffset + roundedUp(reorderScratchpad.get_desc().get_size());
  }

  void bind(char *buffer, char *scratch) {
    outer.set_data_handle(buffer);
    inner.set_data_handle(converts ? scratch + innerOffset : buffer);
    if (converts)
      reorderScratchpad.set_data_handle(scratch + padOffset);
  }

  void copyIn() const { copy(outer, inner); }
  void copyOut() const { copy(inner, outer); }

private:
  // Through the C interface: its C++ face builds a map and a vector for every call.
  void copy(const memory &from, const memory &to) const {
    if (!converts)
      return;
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()},
                                         {DNNL_ARG_TO, to.get()},
                                         {DNNL_ARG_SCRATCHPAD, reorderScratchpad.get()}};
    check(dnnl_primitive_execute(reorder.get(), cpuStream().get(), 3, arguments));
  }
};

Slot makeSlot(const memory::desc &outer, const memory::desc &inner, bool isResult = false) {
  Slot slot;
  slot.outer = memory(outer, cpuEngine(), nullptr);
  slot.inner = memory(inner, cpuEngine(), nullptr);
  slot.converts = outer != inner;
  if (slot.converts) {
    dnnl::reorder::primitive_desc desc(cpuEngine(), isResult ? inner : outer, cpuEngine(),
                                       isResult ? outer : inner, userScratchpad());
    slot.reorder = dnnl::reorder(desc);
    slot.reorderScratchpad = memory(desc.scratchpad_desc(), cpuEngine(), nullptr);
  }
  return slot;
}

class Convolution : public LibraryCall {
public:
  Convolution(accc_call_kind kind, const Geometry &g, const Kernel &kernel) : kind(kind) {
    primitive = kernel.primitive;
    slots = {makeSlot(g.describe(g.x, g.activations), kernel.x, resultIndex() == 0),
             makeSlot(g.describe(g.w, g.weights), kernel.w, resultIndex() == 1),
             makeSlot(g.describe(g.y, g.activations), kernel.y, resultIndex() == 2)};
    scratchpad = memory(kernel.scratchpad, cpuEngine(), nullptr);
    scratchBytesNeeded = roundedUp(kernel.scratchpad.get_size());
    for (Slot &slot : slots)
      scratchBytesNeeded = slot.place(scratchBytesNeeded);
    const int names[3][3] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                             {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                             {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}};
    for (int i = 0; i < 3; ++i)
      arguments[i] = {names[kind - ACCC_CALL_CONVOLUTION][i], slots[i].inner.get()};
    arguments[3] = {DNNL_ARG_SCRATCHPAD, scratchpad.get()};
  }

  uint64_t scratchBytes() const override { return scratchBytesNeeded; }

  void run(char *const *buffers, char *scratch) override {
    // The order in which the ABI names the buffers of each kind, as indices of x, w, y.
    static constexpr int order[3][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
    for (int i = 0; i < 3; ++i)
      slots[order[kind - ACCC_CALL_CONVOLUTION][i]].bind(buffers[i], scratch);
    scratchpad.set_data_handle(scratch);
    for (int i = 0; i < 3; ++i)
      if (i != resultIndex())
        slots[i].copyIn();
    check(dnnl_primitive_execute(primitive.get(), cpuStream().get(),
                                 static_cast<int>(arguments.size()), arguments.data()));
    slots[resultIndex()].copyOut();
  }

private:
  /// Of x, w and y the one that the kind computes.
  int resultIndex() const {
    return kind == ACCC_CALL_CONVOLUTION ? 2 : kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA ? 0 : 1;
  }

  accc_call_kind kind;
  dnnl::primitive primitive;
  std::array<Slot, 3> slots; // x, w, y
  memory scratchpad;
  uint64_t scratchBytesNeeded = 0;
  std::array<dnnl_exec_arg_t, 4> arguments;
};

/// The gradient of depthwise weights by our own kernel, to which activations that lie channels
/// first are copied channels last.
class DepthwiseWeights : public LibraryCall {
public:
  DepthwiseWeights(const accc_convolution &call, const Geometry &g, const Team &team)
      : call(call), team(team),
        slots{makeSlot(g.describe(g.x, g.activations), g.describe(g.x, memory::format_tag::nhwc)),
              makeSlot(g.describe(g.y, g.activations), g.describe(g.y, memory::format_tag::nhwc))} {
    for (Slot &slot : slots)
      scratchBytesNeeded = slot.place(scratchBytesNeeded);
  }

  uint64_t scratchBytes() const override { return scratchBytesNeeded; }

  void run(char *const *buffers, char *scratch) override {
    for (int i = 0; i < 2; ++i) {
      slots[i].bind(buffers[i], scratch);
      slots[i].copyIn();
    }
    depthwiseWeights(call, static_cast<const float *>(slots[0].inner.get_data_handle()),
                     static_cast<const float *>(slots[1].inner.get_data_handle()),
                     reinterpret_cast<float *>(buffers[2]), team);
  }

private:
  accc_convolution call;
  const Team &team;
  std::array<Slot, 2> slots; // x, dy
  uint64_t scratchBytesNeeded = 0;
};

/// Without elements on one side: nothing to do, or a result of zeros.
class EmptyConvolution : public LibraryCall {
public:
  explicit EmptyConvolution(uint64_t zeroBytes) : zeroBytes(zeroBytes) {}
  void run(char *const *buffers, char *) override {
    if (zeroBytes)
      std::memset(buffers[2], 0, zeroBytes); // every kind names its result last
  }

private:
  uint64_t zeroBytes;
};

/// A convolution over one dimension as one over two, of which the first has one element: oneDNN has
/// kernels for depthwise convolutions over two, and so have we for their weights.
accc_convolution inPlane(const accc_convolution &line) {
  accc_convolution plane = line;
  plane.spatial_rank = 2;
  const auto insert = [](int64_t(&values)[ACCC_MAX_SPATIAL_DIMS], int64_t first) {
    values[1] = values[0];
    values[0] = first;
  };
  for (auto *values :
       {&plane.in_size, &plane.out_size, &plane.kernel, &plane.stride, &plane.dilation})
    insert(*values, 1);
  for (auto *values : {&plane.pad_low, &plane.pad_high})
    insert(*values, 0);
  return plane;
}

/// Whether oneDNN's kernels (2.6.3) for weights in bf16 are sound, and the way to go: over three
/// dimensions, and along rows shorter than a stride, they add up what lies beside a tensor.
bool hasBrainWeights(const accc_convolution &call, const Geometry &g) {
  return g.strides.size() == 2 && g.x.back() >= g.strides.back() && !isDepthwiseForWeights(call);
}

} // namespace

std::unique_ptr<LibraryCall> createConvolution(accc_call_kind kind, const accc_convolution &given,
                                               const Team &team) {
  const accc_convolution call = given.spatial_rank == 1 ? inPlane(given) : given;
  Geometry g(call, memory::data_type::f32);
  if (!g.bytesOf(g.x) || !g.bytesOf(g.w) || !g.bytesOf(g.y))
    return std::make_unique<EmptyConvolution>(
        g.bytesOf(kind == ACCC_CALL_CONVOLUTION                 ? g.y
                  : kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA ? g.x
                                                                : g.w));
  try {
    if (kind == ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS && isDepthwiseForWeights(call))
      return std::make_unique<DepthwiseWeights>(call, g, team);
    return std::make_unique<Convolution>(kind, g, chooseKernel(kind, g));
  } catch (const dnnl::error &error) {
    throw Error(ErrorKind::machine,
                std::string("oneDNN has no kernel for a convolution: ") + error.what());
  }
}

std::unique_ptr<LibraryCall> createBrainConvolution(accc_call_kind kind,
                                                    const accc_convolution &given) {
  const accc_convolution call = given.spatial_rank == 1 ? inPlane(given) : given;
  Geometry g(call, memory::data_type::bf16);
  if (!multipliesBrainFloats() || !g.bytesOf(g.x) || !g.bytesOf(g.w) || !g.bytesOf(g.y) ||
      (kind == ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS && !hasBrainWeights(call, g)))
    return nullptr;
  try {
    Kernel kernel = chooseKernel(kind, g);
    return isFallback(kernel.implementation) ? nullptr
                                             : std::make_unique<Convolution>(kind, g, kernel);
  } catch (const dnnl::error &) {
    return nullptr;
  }
}

} // namespace accc::detail
