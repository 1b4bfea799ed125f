// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnOperations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace standin {

namespace {

/// A tensor as its descriptor says it.
struct Tensor {
  int64_t id;
  cudnnDataType_t type;
  Strided elements;
  bool isVirtual, isNumber;
  int64_t alignment; ///< in bytes

  bool operator==(const Tensor &other) const {
    return id == other.id && type == other.type && elements.extents == other.elements.extents &&
           elements.strides == other.elements.strides && isVirtual == other.isVirtual &&
           isNumber == other.isNumber;
  }
  int64_t extent(size_t dimension) const { return elements.extents[dimension]; }
};

/// All elements, in the order of their indices.
using Elements = std::vector<double>;

double roundedTo(cudnnDataType_t type, double value) {
  auto known = elementsOf(type);
  return known ? rounded(value, *known) : value;
}

} // namespace

struct Step {
  cudnnBackendDescriptorType_t kind;
  std::vector<Tensor> from;
  Tensor to;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  int64_t axis = -1; // of CUDNN_POINTWISE_GEN_INDEX
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;

  bool fits() const;
  Elements compute(const std::vector<Elements> &given) const;

private:
  bool fitsPointwise() const;
  Elements multiply(const Elements &a, const Elements &b) const;
  Elements elementwise(const std::vector<Elements> &given) const;
  Elements reduce(const Elements &x) const;
  Elements reshape(const Elements &x) const;
};

// ---- Operations as they are described ----

namespace {

/// How many operands an elementwise operation reads; 0 for one that the stand-in does not have.
size_t operandsOf(cudnnPointwiseMode_t mode) {
  switch (mode) {
  case CUDNN_POINTWISE_EXP:
  case CUDNN_POINTWISE_LOG:
  case CUDNN_POINTWISE_GEN_INDEX:
  case CUDNN_POINTWISE_IDENTITY:
    return 1;
  case CUDNN_POINTWISE_ADD:
  case CUDNN_POINTWISE_SUB:
  case CUDNN_POINTWISE_MUL:
  case CUDNN_POINTWISE_DIV:
  case CUDNN_POINTWISE_CMP_GE:
    return 2;
  case CUDNN_POINTWISE_BINARY_SELECT:
    return 3;
  default:
    return 0;
  }
}

std::optional<Tensor> tensorOf(const Node &operation, cudnnBackendAttributeName_t name) {
  const Node *node = operation.node(name, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  if (!node)
    return std::nullopt;
  return Tensor{*node->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
                *node->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE),
                {node->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
                 node->all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)},
                node->is(CUDNN_ATTR_TENSOR_IS_VIRTUAL),
                node->is(CUDNN_ATTR_TENSOR_IS_BY_VALUE),
                *node->one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)};
}

/// Where an operation's tensors are, and its descriptor if it has one.
struct Names {
  std::vector<cudnnBackendAttributeName_t> from;
  cudnnBackendAttributeName_t to, how;
  cudnnBackendDescriptorType_t howType;
};

std::optional<Names> namesOf(cudnnBackendDescriptorType_t kind) {
  switch (kind) {
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    return Names{{CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
                 CUDNN_ATTR_OPERATION_MATMUL_CDESC,
                 CUDNN_ATTR_OPERATION_MATMUL_DESC,
                 CUDNN_BACKEND_MATMUL_DESCRIPTOR};
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return Names{{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                  CUDNN_ATTR_OPERATION_POINTWISE_TDESC},
                 CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                 CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                 CUDNN_BACKEND_POINTWISE_DESCRIPTOR};
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    return Names{{CUDNN_ATTR_OPERATION_REDUCTION_XDESC},
                 CUDNN_ATTR_OPERATION_REDUCTION_YDESC,
                 CUDNN_ATTR_OPERATION_REDUCTION_DESC,
                 CUDNN_BACKEND_REDUCTION_DESCRIPTOR};
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    return Names{{CUDNN_ATTR_OPERATION_RESHAPE_XDESC},
                 CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
                 CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
                 CUDNN_BACKEND_TENSOR_DESCRIPTOR};
  default:
    return std::nullopt;
  }
}

} // namespace

bool isPointwise(const Node &node) {
  auto mode = node.one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  auto precision = node.one<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC);
  return mode && operandsOf(*mode) &&
         precision == (mode == CUDNN_POINTWISE_CMP_GE ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT) &&
         (mode == CUDNN_POINTWISE_GEN_INDEX) ==
             node.one<int64_t>(CUDNN_ATTR_POINTWISE_AXIS).has_value();
}

bool isMatmul(const Node &node) {
  return node.one<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE) == CUDNN_DATA_FLOAT;
}

bool isReduction(const Node &node) {
  auto operation = node.one<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  return node.one<cudnnDataType_t>(CUDNN_ATTR_REDUCTION_COMP_TYPE) == CUDNN_DATA_FLOAT &&
         (operation == CUDNN_REDUCE_TENSOR_ADD || operation == CUDNN_REDUCE_TENSOR_MAX);
}

std::shared_ptr<const Step> stepOf(const Node &operation) {
  auto names = namesOf(operation.type);
  auto to = names ? tensorOf(operation, names->to) : std::nullopt;
  const Node *how = names ? operation.node(names->how, names->howType) : nullptr;
  if (!to || !how)
    return nullptr;
  auto made = std::make_shared<Step>(Step{operation.type, {}, *to});
  for (cudnnBackendAttributeName_t name : names->from)
    if (operation.attributes.contains(name)) {
      auto tensor = tensorOf(operation, name);
      if (!tensor)
        return nullptr;
      made->from.push_back(*tensor);
    }
  made->mode = how->one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE).value_or(made->mode);
  made->axis = how->one<int64_t>(CUDNN_ATTR_POINTWISE_AXIS).value_or(made->axis);
  made->reduction =
      how->one<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR).value_or(made->reduction);
  return made->fits() ? made : nullptr;
}

bool Step::fitsPointwise() const {
  if (from.size() != operandsOf(mode) || from[0].elements.extents != to.elements.extents)
    return false;
  for (const Tensor &each : from)
    for (size_t i = 0; i < to.elements.extents.size(); ++i)
      if (each.extent(i) != to.extent(i) && each.extent(i) != 1)
        return false;
  if (mode == CUDNN_POINTWISE_GEN_INDEX)
    return axis >= 0 && axis < int64_t(to.elements.extents.size()) && to.type == CUDNN_DATA_INT32;
  if (mode == CUDNN_POINTWISE_CMP_GE)
    return to.type == CUDNN_DATA_BOOLEAN;
  if (mode == CUDNN_POINTWISE_BINARY_SELECT && from[2].type != CUDNN_DATA_BOOLEAN)
    return false;
  return elementsOf(to.type).has_value();
}

bool Step::fits() const {
  size_t rank = to.elements.extents.size();
  for (const Tensor &each : from)
    if (each.elements.extents.size() != rank)
      return false;
  if (to.isNumber)
    return false;
  switch (kind) {
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: {
    if (from.size() != 2)
      return false;
    const Tensor &a = from[0], &b = from[1];
    for (size_t i = 0; i + 2 < rank; ++i)
      if (a.extent(i) != to.extent(i) || to.extent(i) % b.extent(i))
        return false;
    return a.extent(rank - 2) == to.extent(rank - 2) && a.extent(rank - 1) == b.extent(rank - 2) &&
           b.extent(rank - 1) == to.extent(rank - 1);
  }
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return fitsPointwise();
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    if (from.size() != 1)
      return false;
    for (size_t i = 0; i < rank; ++i)
      if (from[0].extent(i) % to.extent(i))
        return false;
    return true;
  default: // a reshape
    return from.size() == 1 && from[0].elements.count() == to.elements.count();
  }
}

// ---- What they compute ----

/// Where b has fewer batches than the result, several that follow each other share one.
Elements Step::multiply(const Elements &a, const Elements &b) const {
  size_t rank = to.elements.extents.size();
  int64_t m = to.extent(rank - 2), n = to.extent(rank - 1), k = from[0].extent(rank - 1);
  Elements c(size_t(to.elements.count()));
  std::vector<int64_t> batches(to.elements.extents.begin(), to.elements.extents.end() - 2);
  Index batch{};
  size_t done = 0;
  do {
    int64_t other = 0;
    for (size_t i = 0; i < batches.size(); ++i)
      other = other * from[1].extent(i) + batch[i] / (batches[i] / from[1].extent(i));
    const double *left = a.data() + done * size_t(m * k);
    const double *right = b.data() + other * k * n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += left[i * k + l] * right[l * n + j];
        c[done * size_t(m * n) + size_t(i * n + j)] = sum;
      }
    ++done;
  } while (next(batch, batches));
  return c;
}

Elements Step::elementwise(const std::vector<Elements> &given) const {
  Elements y;
  Index index{};
  auto operand = [&](size_t which) {
    const Tensor &tensor = from[which];
    int64_t place = 0;
    for (size_t i = 0; i < tensor.elements.extents.size(); ++i)
      place = place * tensor.extent(i) + (tensor.extent(i) == 1 ? 0 : index[i]);
    return given[which][size_t(place)];
  };
  do {
    switch (mode) {
    case CUDNN_POINTWISE_EXP:
      y.push_back(std::exp(operand(0)));
      break;
    case CUDNN_POINTWISE_LOG:
      y.push_back(std::log(operand(0)));
      break;
    case CUDNN_POINTWISE_GEN_INDEX:
      y.push_back(double(index[size_t(axis)]));
      break;
    case CUDNN_POINTWISE_ADD:
      y.push_back(operand(0) + operand(1));
      break;
    case CUDNN_POINTWISE_SUB:
      y.push_back(operand(0) - operand(1));
      break;
    case CUDNN_POINTWISE_MUL:
      y.push_back(operand(0) * operand(1));
      break;
    case CUDNN_POINTWISE_DIV:
      y.push_back(operand(0) / operand(1));
      break;
    case CUDNN_POINTWISE_CMP_GE:
      y.push_back(operand(0) >= operand(1));
      break;
    case CUDNN_POINTWISE_BINARY_SELECT:
      y.push_back(operand(2) != 0 ? operand(0) : operand(1));
      break;
    default:
      y.push_back(operand(0));
    }
  } while (next(index, to.elements.extents));
  return y;
}

Elements Step::reduce(const Elements &x) const {
  bool isSum = reduction == CUDNN_REDUCE_TENSOR_ADD;
  Elements y(size_t(to.elements.count()), isSum ? 0 : -std::numeric_limits<double>::infinity());
  Index index{};
  size_t read = 0;
  do {
    int64_t place = 0;
    for (size_t i = 0; i < to.elements.extents.size(); ++i)
      place = place * to.extent(i) + index[i] / (from[0].extent(i) / to.extent(i));
    double &into = y[size_t(place)];
    into = isSum ? into + x[read] : std::max(into, x[read]);
    ++read;
  } while (next(index, from[0].elements.extents));
  return y;
}

/// The same places in memory under other indices.
Elements Step::reshape(const Elements &x) const {
  std::map<int64_t, double> memory;
  Index index{};
  size_t read = 0;
  do
    memory[from[0].elements.placeOf(index)] = x[read++];
  while (next(index, from[0].elements.extents));
  Elements y;
  index = {};
  do
    y.push_back(memory.at(to.elements.placeOf(index)));
  while (next(index, to.elements.extents));
  return y;
}

Elements Step::compute(const std::vector<Elements> &given) const {
  switch (kind) {
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    return multiply(given[0], given[1]);
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return elementwise(given);
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    return reduce(given[0]);
  default:
    return reshape(given[0]);
  }
}

// ---- Graphs of them ----

namespace {

class Steps final : public Computation {
public:
  /// False where they do not fit each other.
  bool take(std::vector<std::shared_ptr<const Step>> given);

  /// Rows of 16-bit tensors in products must begin at multiples of 16 bytes.
  bool isSupported() const override {
    auto isAligned = [](const Tensor &tensor) {
      return tensor.isVirtual || tensor.isNumber || tensor.type == CUDNN_DATA_FLOAT ||
             std::ranges::all_of(tensor.elements.strides,
                                 [](int64_t stride) { return stride == 1 || stride % 8 == 0; });
    };
    return std::ranges::all_of(steps, [&](const auto &step) {
      return step->kind != CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR ||
             (std::ranges::all_of(step->from, isAligned) && isAligned(step->to));
    });
  }
  void run(const std::map<int64_t, CUdeviceptr> &at,
           const std::map<int64_t, double> &numbers) const override;

private:
  std::vector<std::shared_ptr<const Step>> steps; // each after those that it reads from
  std::map<int64_t, Tensor> tensors;
};

bool Steps::take(std::vector<std::shared_ptr<const Step>> given) {
  std::set<int64_t> written;
  for (const auto &step : given) {
    for (const Tensor &each : step->from)
      if (tensors.emplace(each.id, each).first->second != each)
        return false;
    if (tensors.emplace(step->to.id, step->to).first->second != step->to ||
        !written.insert(step->to.id).second)
      return false;
  }
  for (const auto &[id, tensor] : tensors) {
    if (tensor.isVirtual && !written.contains(id))
      return false;
    if (!tensor.isVirtual)
      (tensor.isNumber ? numberIds : tensorIds).push_back(id);
    if (!tensor.isVirtual && !tensor.isNumber)
      alignments[id] = tensor.alignment;
  }
  while (!given.empty()) {
    auto ready = std::ranges::find_if(given, [&](const auto &step) {
      return std::ranges::none_of(step->from,
                                  [&](const Tensor &each) { return written.contains(each.id); });
    });
    if (ready == given.end())
      return false;
    written.erase((*ready)->to.id);
    steps.push_back(*ready);
    given.erase(ready);
  }
  return true;
}

void Steps::run(const std::map<int64_t, CUdeviceptr> &at,
                const std::map<int64_t, double> &numbers) const {
  std::map<int64_t, Elements> inner;
  auto read = [&](const Tensor &tensor) -> Elements {
    if (tensor.isNumber)
      return {numbers.at(tensor.id)};
    if (tensor.isVirtual)
      return inner.at(tensor.id);
    Operand operand(at.at(tensor.id), "an operand of a graph");
    Elements elements;
    Index index{};
    do
      elements.push_back(load(operand, *elementsOf(tensor.type), tensor.elements.placeOf(index)));
    while (next(index, tensor.elements.extents));
    return elements;
  };
  for (const auto &step : steps) {
    std::vector<Elements> given;
    for (const Tensor &each : step->from)
      given.push_back(read(each));
    Elements made = step->compute(given);
    if (step->to.isVirtual) {
      for (double &each : made)
        each = roundedTo(step->to.type, each);
      inner[step->to.id] = std::move(made);
      continue;
    }
    Operand operand(at.at(step->to.id), "a result of a graph");
    Index index{};
    size_t next = 0;
    do
      store(operand, *elementsOf(step->to.type), step->to.elements.placeOf(index), made[next++]);
    while (standin::next(index, step->to.elements.extents));
  }
}

} // namespace

std::shared_ptr<const Computation> computationOf(std::vector<std::shared_ptr<const Step>> steps) {
  auto made = std::make_shared<Steps>();
  return made->take(std::move(steps)) ? made : nullptr;
}

} // namespace standin
