// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/FreshLayout.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

namespace {

enum class Kind {
  /// Contiguous, however the arguments lie.
  Contiguous,
  /// TensorIterator's: see Layout::ofElementwise.
  Elementwise,
  /// The same, of operators that draw numbers, reduce or know dimensions by their place.
  LikeElementwise,
  /// As the first argument, or as the memory format says.
  Like,
  /// Contiguous where no argument of four or five dimensions has its channels last.
  InChannelOrder,
  /// Contiguous where all arguments are.
  WhereContiguous,
};

struct Family {
  Kind kind;
  const char *names;
};

// Found by running each operator of PyTorch 2.15 on arguments of many layouts. What is not here is
// not known.
constexpr Family kFamilies[] = {
    {Kind::Contiguous,
     "zeros ones full empty new_zeros new_ones new_full new_empty arange linspace eye rand randn "
     "randint scalar_tensor one_hot tril_indices triu_indices fft_fftfreq fft_rfftfreq "
     "softmax _softmax log_softmax special_log_softmax _log_softmax log_sigmoid layer_norm "
     "native_layer_norm "
     "sum mean prod amax amin argmax argmin std var std_mean var_mean any all norm logsumexp "
     "linalg_vector_norm max.dim min.dim median.dim special_logsumexp count_nonzero cumsum cumprod "
     "cummax cummin "
     "logcumsumexp cosine_similarity topk tril triu diag_embed repeat tile repeat_interleave "
     "linear matmul linalg_matmul mm bmm addmm baddbmm addbmm mv addmv outer ger dot cdist "
     "bilinear "
     "embedding index_select gather take_along_dim scatter scatter_add index_add index_copy "
     "masked_fill masked_scatter instance_norm grid_sampler adaptive_avg_pool1d avg_pool1d "
     "max_pool1d pow.Scalar as_strided_copy expand_copy permute_copy transpose_copy select_copy "
     "slice_copy "
     "squeeze_copy unsqueeze_copy unfold_copy view_copy diagonal_copy split_copy "
     "split_with_sizes_copy unbind_copy"},
    {Kind::Elementwise,
     "add sub subtract rsub.Scalar mul multiply div divide true_divide floor_divide remainder fmod "
     "pow "
     "maximum minimum max.other min.other atan2 arctan2 hypot logaddexp xlogy eq ne lt le gt ge "
     "not_equal less less_equal greater greater_equal nextafter gcd lcm "
     "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
     "bitwise_not __and__ __or__ __xor__ where addcmul addcdiv lerp clamp clamp_min clamp_max clip "
     "abs absolute neg negative exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal "
     "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh arcsin arccos arctan arcsinh "
     "arccosh arctanh erf erfc floor ceil round trunc fix "
     "frac sign sgn sigmoid logit sinc nan_to_num isnan isinf special_expit special_erf "
     "special_expm1 special_log1p special_logit lgamma digamma polygamma erfinv i0 xlogy "
     "special_i0e "
     "special_i1 special_i1e special_erfcx special_ndtri special_log_ndtr special_entr "
     "special_zeta "
     "special_xlog1py relu relu6 leaky_relu elu selu celu gelu silu mish "
     "softplus softsign hardtanh hardswish hardsigmoid hardshrink softshrink threshold polar "
     "complex"},
    {Kind::LikeElementwise, "prelu dropout native_dropout alpha_dropout mse_loss smooth_l1_loss"},
    {Kind::Like, "clone zeros_like ones_like full_like empty_like rand_like randn_like "
                 "randint_like sort argsort flip index_put index_fill"},
    {Kind::InChannelOrder,
     "cat concat concatenate stack pad constant_pad_nd reflection_pad1d reflection_pad2d "
     "replication_pad1d replication_pad2d roll glu pixel_shuffle pixel_unshuffle channel_shuffle "
     "batch_norm group_norm avg_pool2d avg_pool3d max_pool2d adaptive_avg_pool2d "
     "adaptive_max_pool2d upsample_nearest1d upsample_nearest2d upsample_nearest3d "
     "upsample_bilinear2d conv2d conv3d conv_transpose2d"},
    {Kind::WhereContiguous, "conv1d _convolution convolution index rms_norm isfinite l1_loss "
                            "kl_div"},
};

std::optional<Kind> kindOf(StringRef op) {
  static const llvm::StringMap<Kind> all = [] {
    llvm::StringMap<Kind> kinds;
    for (const Family &family : kFamilies) {
      SmallVector<StringRef> names;
      StringRef(family.names).split(names, ' ');
      for (StringRef name : names)
        kinds.insert({name, family.kind});
    }
    return kinds;
  }();
  for (StringRef name : {op, op.split('.').first})
    if (auto found = all.find(name); found != all.end())
      return found->second;
  return std::nullopt;
}

} // namespace

// Elementwise operators whose results lie otherwise than those of arithmetic, or of which that is
// not known.
constexpr StringRef kOthersElementwise =
    " clone copy detach alias fill to _to_copy ones_like full_like zeros_like empty_like "
    "masked_fill "
    "sigmoid_backward tanh_backward threshold_backward hardtanh_backward leaky_relu_backward "
    "elu_backward softplus_backward gelu_backward silu_backward mish_backward hardswish_backward "
    "hardsigmoid_backward log_sigmoid_backward logit_backward hardshrink_backward "
    "softshrink_backward native_dropout_backward log_sigmoid pow.Scalar float_power rsub "
    "isfinite isposinf isneginf signbit copysign heaviside deg2rad rad2deg logaddexp2 ldexp ";

bool accc::aten::isElementwise(StringRef op) {
  std::optional<Operator> known = findOperator(op);
  if (!known)
    return false;
  auto [name, overload] = op.split('.');
  std::string plain = known->inPlace ? functionalName(name) : name.str();
  std::string whole = (plain + "." + overload).str();
  return kOthersElementwise.contains(" " + plain + " ") ||
         kOthersElementwise.contains(" " + whole + " ") || kindOf(whole) == Kind::Elementwise;
}

// Their other dimensions have elements that are treated alike.
constexpr StringRef kAlongDims[] = {"select",
                                    "slice",
                                    "unsqueeze",
                                    "squeeze",
                                    "unbind",
                                    "split",
                                    "split_with_sizes",
                                    "chunk",
                                    "transpose",
                                    "flip",
                                    "softmax",
                                    "_softmax",
                                    "_log_softmax",
                                    "log_softmax",
                                    "special_log_softmax",
                                    "sum",
                                    "mean",
                                    "amax",
                                    "amin",
                                    "logsumexp",
                                    "special_logsumexp",
                                    "cumsum",
                                    "cumprod",
                                    "max",
                                    "min",
                                    "argmax",
                                    "argmin",
                                    "var",
                                    "std",
                                    "prod",
                                    "any",
                                    "all",
                                    "norm",
                                    "linalg_vector_norm",
                                    "sort",
                                    "argsort",
                                    "topk",
                                    "gather",
                                    "scatter",
                                    "scatter_add"};

bool accc::aten::isAlongDims(StringRef op) {
  std::optional<Operator> known = findOperator(op);
  return known && !known->inPlace && llvm::is_contained(kAlongDims, op.split('.').first) &&
         llvm::any_of(known->signature.parameters,
                      [](const auto &parameter) { return namesDims(parameter.name); });
}

bool accc::aten::namesDims(StringRef parameter) {
  return llvm::is_contained({"dim", "dims", "dim0", "dim1"}, parameter);
}

FreshLayout::FreshLayout(StringRef op, const Signature &signature,
                         const llvm::StringMap<Local> &locals, std::optional<MemoryFormat> format)
    : op(op), format(format), isCrop(onlyCrops(locals)) {
  auto add = [&](const MutableTensor &tensor) {
    if (tensor)
      operands.push_back({tensor.layout(), getElementTypeOrSelf(tensor.type())});
  };
  for (const Signature::Parameter &parameter : signature.parameters) {
    auto local = locals.find(parameter.name);
    if (local == locals.end())
      continue;
    if (auto *tensor = std::get_if<MutableTensor>(&local->second))
      add(*tensor);
    else if (auto *list = std::get_if<MutableTensors>(&local->second))
      llvm::for_each(*list, add);
  }
}

bool FreshLayout::onlyCrops(const llvm::StringMap<Local> &locals) const {
  auto pads = locals.find("pad");
  auto *given = pads == locals.end() ? nullptr : std::get_if<Integers>(&pads->second);
  return given && llvm::all_of(*given, [](int64_t pad) { return pad <= 0; });
}

Layout FreshLayout::unknown(ArrayRef<int64_t> shape) const {
  // The operator that the user can do something about is the first one.
  for (const Operand &each : operands)
    if (!each.layout.isKnown())
      return Layout::unknown(shape, each.layout.origin());
  return unknownHere(shape);
}

Layout FreshLayout::unknownHere(ArrayRef<int64_t> shape) const {
  return Layout::unknown(shape, StringRef(op).split('.').first.str());
}

bool FreshLayout::isInChannelOrder() const {
  return llvm::all_of(operands, [](const Operand &each) {
    size_t rank = each.layout.shape().size();
    return rank < 4 || rank > 5 ||
           (each.layout.isKnown() && each.layout.suggestedFormat() == MemoryFormat::Contiguous);
  });
}

/// PyTorch may compute it by the transposed product, whose result is no copy.
bool FreshLayout::isMatrixTimesStack() const {
  return operands.size() == 2 && operands[1].layout.shape().size() > 2 &&
         operands[0].layout.shape().size() < operands[1].layout.shape().size();
}

Layout FreshLayout::ofElementwise(ArrayRef<int64_t> shape) const {
  // where() of a condition alone gives indices.
  auto isLonger = [&](const Operand &each) { return each.layout.shape().size() > shape.size(); };
  if (llvm::any_of(operands, isLonger))
    return unknownHere(shape);
  SmallVector<Layout> layouts;
  Type type;
  bool isMixed = false;
  for (const Operand &each : operands) {
    layouts.push_back(each.layout);
    bool isCondition = layouts.size() == 1 && StringRef(op).starts_with("where");
    if (isCondition || each.layout.shape().empty())
      continue;
    isMixed |= type && type != each.elementType;
    type = each.elementType;
  }
  // Those of another element type are converted first, which keeps the strides of dense ones.
  auto isLoose = [](const Layout &x) { return x.isKnown() && !x.isDense(); };
  if (isMixed && llvm::any_of(layouts, isLoose))
    return unknownHere(shape);
  Layout result = Layout::ofElementwise(shape, layouts);
  // Some operators make tensors of their numbers.
  layouts.push_back(Layout::contiguous({}));
  return result == Layout::ofElementwise(shape, layouts) ? result : unknownHere(shape);
}

Layout FreshLayout::of(RankedTensorType result) const {
  ArrayRef<int64_t> shape = result.getShape();
  if (shape.empty())
    return Layout::contiguous(shape);
  std::optional<Kind> kind = kindOf(op);
  if (!kind)
    return unknownHere(shape);
  auto contiguousIf = [&](bool condition) {
    return condition ? Layout::contiguous(shape) : unknown(shape);
  };
  switch (*kind) {
  case Kind::Contiguous:
    return contiguousIf(!(StringRef(op).starts_with("matmul") && isMatrixTimesStack()) &&
                        format.value_or(MemoryFormat::Contiguous) == MemoryFormat::Contiguous);
  case Kind::Elementwise:
  case Kind::LikeElementwise:
    return ofElementwise(shape);
  case Kind::Like: {
    if (operands.empty() || operands.front().layout.shape() != shape)
      return unknownHere(shape);
    return operands.front().layout.copied(format.value_or(MemoryFormat::Preserve));
  }
  case Kind::InChannelOrder:
    return contiguousIf(isInChannelOrder() && !isCrop);
  case Kind::WhereContiguous:
    return contiguousIf(llvm::all_of(operands, [](const Operand &each) {
      return each.layout.isKnown() && each.layout == Layout::contiguous(each.layout.shape());
    }));
  }
  llvm_unreachable("all kinds");
}
