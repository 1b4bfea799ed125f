# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc diff where rounding decides a tensor: the gradient of a bias whose mean is subtracted afterwards is zero but for
rounding, and Adam divides it by its size. What computes the same in another order passes, a wrong gradient does not."""

import json
import unittest

from command_line import DATA, DONE, CommandLineTest, read_safetensors, write_safetensors

# y = tanh((z - mean) v) + %leak, z = x w + b, the mean over the rows
CENTRED = """
func.func @forward(%w: tensor<16x32xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %b: tensor<32xf32> {accc.name = "b", accc.role = #prim.role<parameter>},
                   %v: tensor<32x8xf32> {accc.name = "v", accc.role = #prim.role<parameter>},
                   %x: tensor<64x16xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<64x8xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<32xf32>) -> tensor<64x32xf32>
  %z = prim.add %0, %1 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  MEAN
  %2 = prim.broadcast %mean {dimensions = array<i64: 1>} : (tensor<32xf32>) -> tensor<64x32xf32>
  %3 = prim.sub %z, %2 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %4 = prim.dot_general %3, %v {lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
  %5 = prim.tanh %4 : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %k = prim.constant dense<LEAK> : tensor<32xf32>
  %6 = prim.mul %b, %k : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %7 = prim.reduce sum %6 {dimensions = array<i64: 0>} : (tensor<32xf32>) -> tensor<f32>
  %8 = prim.broadcast %7 {dimensions = array<i64>} : (tensor<f32>) -> tensor<64x8xf32>
  %y = prim.add %5, %8 : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
"""
SUM = """%s = prim.reduce sum %z {dimensions = array<i64: 0>} : (tensor<64x32xf32>) -> tensor<32xf32>
  %n = prim.constant dense<0.015625> : tensor<32xf32>
  %mean = prim.mul %s, %n : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>"""
PRODUCT = """%n = prim.constant dense<0.015625> : tensor<64xf32>
  %mean = prim.dot_general %n, %z {lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>}
    : (tensor<64xf32>, tensor<64x32xf32>) -> tensor<32xf32>"""


class Rounding(CommandLineTest):
    def compile(self, name, mean=SUM, leak=0.0, optimizer="adam,lr=0.1"):
        (self.folder / "m.mlir").write_text(CENTRED.replace("MEAN", mean).replace("LEAK", f"{leak:e}"))
        self.accc("compile", "m.mlir", "-o", name, "--loss", "mse", "--optimizer", optimizer)
        return name

    def failed(self, *arguments, code=DONE):
        report = json.loads(self.accc("diff", *arguments, "--only", "numbers", "--json", code=code)[0])
        (section,) = report["sections"]
        return section["tensors"], {tensor["name"] for tensor in section["tensors"] if not tensor["passed"]}

    def test_what_rounding_decides_passes(self):
        self.compile("a.so")
        self.compile("b.so", PRODUCT)
        self.accc("golden", "a.so", "-o", "g")
        for other, name in (("a.so", "b"), ("g", "param.b")):
            tensors, _ = self.failed("b.so", other)
            (bias,) = [tensor for tensor in tensors if tensor["name"] == name]
            # Otherwise this says nothing: it must differ by more than the tolerance.
            self.assertGreater(bias["worst_abs"], 3e-4)
            self.assertEqual(bias["verdict"], "rounding")
            others = {tensor["name"]: tensor["verdict"] for tensor in tensors if tensor["name"] != name}
            self.assertEqual({name: how for name, how in others.items() if how != "close"}, {})
        self.failed("b.so", "a.so", "--tolerance", "0", code=DATA)

    def test_what_did_not_move_at_all_passes(self):
        """Where the sums of the golden's run happen to cancel: a bias that was zero is zero still, and has no size."""
        self.compile("a.so", optimizer="sgd,lr=0.1")
        self.compile("b.so", PRODUCT, optimizer="sgd,lr=0.1")
        self.accc("golden", "a.so", "-o", "first")
        weights = read_safetensors(self.folder / "first" / "initial.safetensors")
        weights["b"] = (*weights["b"][:2], bytes(len(weights["b"][2])))
        write_safetensors(self.folder / "zero.safetensors", weights)
        self.accc("golden", "a.so", "-o", "g", "--params", "zero.safetensors")
        golden = read_safetensors(self.folder / "g" / "golden.safetensors")
        write_safetensors(self.folder / "g" / "golden.safetensors", golden | {name: weights["b"] for name in ("grad.b", "param.b")})
        meta = json.loads((self.folder / "g" / "meta.json").read_text())
        meta["updates"]["param.b"] = 0.0
        (self.folder / "g" / "meta.json").write_text(json.dumps(meta))
        tensors, _ = self.failed("b.so", "g")
        self.assertEqual({tensor["verdict"] for tensor in tensors if tensor["name"] == "param.b"}, {"rounding"})
        del meta["noise"]["param.b"]
        (self.folder / "g" / "meta.json").write_text(json.dumps(meta | {"noise": meta["noise"] | {"param.b": 0.0}}))
        _, failed = self.failed("b.so", "g", code=DATA)
        self.assertEqual(failed, {"param.b"})

    def test_a_wrong_gradient_is_seen(self):
        """Also one that is far below the tolerance, of any optimizer."""
        for optimizer in ("adam,lr=0.1", "sgd"):
            self.compile("a.so", optimizer=optimizer)
            self.accc("golden", "a.so", "-o", "g")
            for leak in (1e-3, 1e-5):
                self.compile("wrong.so", PRODUCT, leak, optimizer)
                for other in ("a.so", "g"):
                    _, failed = self.failed("wrong.so", other, code=DATA)
                    self.assertIn("grad.b", failed)

    def test_a_wrong_update_is_seen(self):
        """Of a bias that only rounding moves, too: all start an update with the same gradients."""
        self.compile("a.so")
        self.compile("wrong.so", PRODUCT, optimizer="adam,lr=0.1,eps=1e-3")
        _, failed = self.failed("a.so", "wrong.so", code=DATA)
        self.assertIn("apply_step b", failed)


if __name__ == "__main__":
    unittest.main()
