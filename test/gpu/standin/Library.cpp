// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Library.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace standin {

namespace {

template <typename T> T bitsOf(const std::byte *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

uint32_t roundedBits(float value, unsigned dropped) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return bits;
  uint32_t half = uint32_t(1) << (dropped - 1), odd = bits >> dropped & 1;
  return (bits + half - 1 + odd) & ~((uint32_t(1) << dropped) - 1);
}

} // namespace

double load(const Operand &operand, Type type, int64_t index) {
  const std::byte *data = operand.read(index * bytesOf(type), bytesOf(type));
  switch (type) {
  case Type::F16:
    return double(bitsOf<_Float16>(data));
  case Type::BF16:
    return std::bit_cast<float>(uint32_t(bitsOf<uint16_t>(data)) << 16);
  case Type::F32:
    return bitsOf<float>(data);
  case Type::F64:
    return bitsOf<double>(data);
  }
  return 0;
}

void store(Operand &operand, Type type, int64_t index, double value) {
  std::byte *data = operand.write(index * bytesOf(type), bytesOf(type));
  auto put = [&](auto element) { std::memcpy(data, &element, sizeof element); };
  switch (type) {
  case Type::F16:
    return put(_Float16(value));
  case Type::BF16:
    return put(uint16_t(roundedBits(float(value), 16) >> 16));
  case Type::F32:
    return put(float(value));
  case Type::F64:
    return put(value);
  }
}

double rounded(double value, Type type) {
  switch (type) {
  case Type::F16:
    return double(_Float16(value));
  case Type::BF16:
    return std::bit_cast<float>(roundedBits(float(value), 16));
  case Type::F32:
    return float(value);
  case Type::F64:
    return value;
  }
  return value;
}

double roundedToTf32(double value) { return std::bit_cast<float>(roundedBits(float(value), 13)); }

double scaleFactor(const void *value, Type type) {
  return type == Type::F64 ? *static_cast<const double *>(value)
                           : double(*static_cast<const float *>(value));
}

bool submit(CUstream stream, CUdeviceptr workspace, uint64_t bytes, Work work) {
  auto spoil = [=] {
    if (bytes)
      std::fill_n(Operand(workspace, "workspace").write(0, bytes), bytes, std::byte(0xEE));
  };
  return Device::get().submit(stream, [=] {
    spoil();
    work();
    spoil();
  }) == CUDA_SUCCESS;
}

} // namespace standin
