// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Convolution.h"

namespace standin {

std::optional<Type> elementsOf(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_HALF:
    return Type::F16;
  case CUDNN_DATA_BFLOAT16:
    return Type::BF16;
  case CUDNN_DATA_FLOAT:
    return Type::F32;
  case CUDNN_DATA_DOUBLE:
    return Type::F64;
  default:
    return std::nullopt;
  }
}

bool next(Index &index, const std::vector<int64_t> &extents) {
  for (size_t i = extents.size(); i-- > 0;) {
    if (++index[i] < extents[i])
      return true;
    index[i] = 0;
  }
  return false;
}

int64_t Strided::placeOf(const Index &index) const {
  int64_t place = 0;
  for (size_t i = 0; i < extents.size(); ++i)
    place += index[i] * strides[i];
  return place;
}

int64_t Strided::count() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

bool Strided::isPacked(bool channelsLast) const {
  size_t rank = extents.size();
  std::vector<size_t> order{0};
  for (size_t i = channelsLast ? 2 : 1; i < rank; ++i)
    order.push_back(i);
  if (channelsLast)
    order.push_back(1);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0; stride *= extents[order[i]])
    if (extents[order[i]] != 1 && strides[order[i]] != stride)
      return false;
  return true;
}

bool ConvolutionProblem::fits() const {
  size_t rank = x.extents.size();
  if (rank < 4 || rank > mostDims || y.extents.size() != rank || w.extents.size() != rank ||
      padding.size() + 2 != rank)
    return false;
  for (const Strided *each : {&x, &w, &y})
    for (int64_t extent : each->extents)
      if (extent < 1)
        return false;
  if (x.extents[0] != y.extents[0] || w.extents[0] != y.extents[1] || x.extents[1] % w.extents[1] ||
      w.extents[0] % groups())
    return false;
  for (size_t i = 2; i < rank; ++i) {
    int64_t reach = (w.extents[i] - 1) * dilation[i - 2] + 1;
    int64_t padded = x.extents[i] + padding[i - 2] + paddingBehind[i - 2];
    if (padded < reach || y.extents[i] != (padded - reach) / stride[i - 2] + 1)
      return false;
  }
  return true;
}

template <typename Body> void ConvolutionProblem::forProducts(Body body) const {
  int64_t inGroup = w.extents[1], outGroup = w.extents[0] / groups();
  Index output{};
  do {
    std::vector<int64_t> taps(w.extents.begin() + 1, w.extents.end());
    Index tap{};
    do {
      Index input{output[0], output[1] / outGroup * inGroup + tap[0]};
      Index weight{output[1], tap[0]};
      bool inside = true;
      for (size_t i = 2; i < x.extents.size(); ++i) {
        weight[i] = tap[i - 1];
        input[i] = output[i] * stride[i - 2] - padding[i - 2] + weight[i] * dilation[i - 2];
        inside = inside && input[i] >= 0 && input[i] < x.extents[i];
      }
      if (inside)
        body(x.placeOf(input), w.placeOf(weight), y.placeOf(output));
    } while (next(tap, taps));
  } while (next(output, y.extents));
}

namespace {

/// One operand as a whole, in the order in which it lies in memory.
struct Values {
  Values(Type type, int64_t count) : type(type), all(size_t(count)) {}
  void read(CUdeviceptr address, const char *name) {
    Operand operand(address, name);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = load(operand, type, int64_t(i));
  }
  void write(CUdeviceptr address, const char *name) const {
    Operand operand(address, name);
    for (size_t i = 0; i < all.size(); ++i)
      store(operand, type, int64_t(i), all[i]);
  }
  double &operator[](int64_t place) { return all[size_t(place)]; }

  Type type;
  std::vector<double> all;
};

} // namespace

void ConvolutionProblem::compute(ConvolutionKind kind, CUdeviceptr xAt, CUdeviceptr wAt,
                                 CUdeviceptr yAt) const {
  Values xs(type, x.count()), ws(type, w.count()), ys(type, y.count());
  if (kind != ConvolutionKind::Data)
    xs.read(xAt, "x");
  if (kind != ConvolutionKind::Weights)
    ws.read(wAt, "w");
  if (kind != ConvolutionKind::Forward)
    ys.read(yAt, "dy");
  forProducts([&](int64_t i, int64_t j, int64_t k) {
    if (kind == ConvolutionKind::Forward)
      ys[k] += xs[i] * ws[j];
    else if (kind == ConvolutionKind::Data)
      xs[i] += ys[k] * ws[j];
    else
      ws[j] += xs[i] * ys[k];
  });
  if (kind == ConvolutionKind::Forward)
    ys.write(yAt, "y");
  else if (kind == ConvolutionKind::Data)
    xs.write(xAt, "dx");
  else
    ws.write(wAt, "dw");
}

} // namespace standin
