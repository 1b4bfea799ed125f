// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_IR_NN_RESIZE
#define ACCC_IR_NN_RESIZE

include "ir/nn/NnDialect.td"

def Nn_ResizeOp : Nn_Op<"resize"> {
  let summary = "samples x at the positions of another grid, separably in each dimension";
  let description = [{
    `scales` gives dim(result) / dim(x) for each dimension as the model gave it (it may differ from the
    quotient by rounding); dimensions of equal extent and scale 1 are left alone. `coordinates` maps a result
    index to a position in x, and `mode` interpolates there: nearest (rounding as `nearest` says), linear
    between two, or cubic between four elements (with the given coefficient), the edge repeated outside.
    With tf_crop_and_resize the grid spans the `region` of x, given as the start and the end of each dimension
    as shares of its extent, and results from outside x are the `extrapolation`.
    With `exclude_outside` elements outside x do not count instead. With `antialias` linear and cubic kernels
    that shrink a dimension are as wide as a step of the result's grid. In both cases weights are divided by
    their sum.
    Source: ONNX Resize; Keys, "Cubic convolution interpolation", 1981.
    resize_c1: scales has rank(x) = rank(result) positive entries; the element types agree.
    resize_c2: there is a region, of 2 rank(x) entries, if and only if the coordinates are tf_crop_and_resize.}];
  let arguments = (ins Prim_FloatTensor:$x, DenseF64ArrayAttr:$scales, Nn_ResizeModeAttr:$mode,
                       Nn_ResizeCoordinatesAttr:$coordinates, Nn_ResizeNearestAttr:$nearest,
                       DefaultValuedAttr<Nn_NumberAttr, "-0.75">:$cubic_coefficient,
                       OptionalAttr<DenseF64ArrayAttr>:$region,
                       DefaultValuedAttr<Nn_NumberAttr, "0.0">:$extrapolation,
                       UnitAttr:$exclude_outside, UnitAttr:$antialias);
  let results = (outs Prim_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif
