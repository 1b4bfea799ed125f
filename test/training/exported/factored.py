# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: factorizations of matrices, and what is solved with them."""

import torch


def matrix(f):
    """Of a square matrix that is well conditioned."""
    return lambda x: f(x.mT @ x.flip(1) + 3 * torch.eye(3))


def definite(f):
    """Of a symmetric positive definite one, with eigenvalues apart from each other."""
    return lambda x: f(x.mT @ x + torch.tensor([1.0, 3.0, 6.0]) * torch.eye(3))


def projector(vectors):
    """What does not hang on the signs of vectors."""
    return vectors[..., :1] @ vectors[..., :1].mT


def lu_solution(a):
    factors, pivots = torch.linalg.lu_factor(a)
    return torch.linalg.lu_solve(factors, pivots, a[:, :2], adjoint=True)


def lu_product(a):
    p, l, u = torch.linalg.lu(a)
    return p @ l @ (u * 2)


def stacked(f):
    """Of a batch."""
    return matrix(lambda a: f(torch.stack([a, a.mT + 1, 2 * a]).reshape(3, 1, 3, 3)))


def large(f):
    """Of a matrix of several blocks, not symmetric, whose rows change their places; and no more of the result than tells."""
    def g(x):
        places = torch.arange(150)
        a = torch.outer((places * 0.37).sin(), (places * 0.21 + 1).cos()) * x[0, 0] + (places[:, None] + places == 149) * (2 + x[1, 1]) + 0.1 * x[0, 1]
        return f(a.to(x))
    return g


def large_likelihood(a):
    """A Gaussian process's."""
    covariance = a @ a.mT + torch.eye(150).to(a)
    factor = torch.linalg.cholesky(covariance)
    return torch.cholesky_solve(a[:, :1], factor)[::30] + factor.diagonal().log().sum()


FACTORED = {
    "large": large(lambda a: torch.linalg.inv(a)[::30, ::30]), "large_solve": large(lambda a: torch.linalg.solve(a, a[:, :2].exp())[::30]),
    "large_determinant": large(lambda a: torch.linalg.slogdet(a)[1]), "large_likelihood": large(large_likelihood),
    "large_upper": large(lambda a: torch.linalg.solve_triangular(a.triu() + 2 * torch.eye(150).to(a), a[:, :2], upper=True)[::30]),
    "cholesky": definite(torch.linalg.cholesky), "cholesky_upper": definite(lambda a: torch.linalg.cholesky(a, upper=True)),
    "cholesky_ex": definite(lambda a: torch.linalg.cholesky_ex(a).L), "cholesky_solve": definite(lambda a: torch.cholesky_solve(a[:, :2], torch.linalg.cholesky(a))),
    "cholesky_inverse": definite(lambda a: torch.cholesky_inverse(torch.linalg.cholesky(a))), "inv": matrix(torch.linalg.inv),
    "inv_ex": matrix(lambda a: torch.linalg.inv_ex(a).inverse), "inv_batch": stacked(torch.linalg.inv), "solve": matrix(lambda a: torch.linalg.solve(a, a[:, :2].exp())),
    "solve_right": matrix(lambda a: torch.linalg.solve(a, a[:2].exp(), left=False)), "solve_vector": stacked(lambda a: torch.linalg.solve(a, a[0, 0, 0])),
    "solve_triangular": matrix(lambda a: torch.linalg.solve_triangular(a.tril(), a[:, :2], upper=False)),
    "solve_triangular_right": matrix(lambda a: torch.linalg.solve_triangular(a.triu(), a[:2], upper=True, left=False, unitriangular=True)),
    "triangular_solve": matrix(lambda a: torch.triangular_solve(a[:, :1], a.triu(), transpose=True).solution), "lu_solve": matrix(lu_solution),
    "lu": matrix(lu_product), "lu_tall": lambda x: torch.linalg.lu_factor(x.t()).LU, "lu_wide": lambda x: torch.linalg.lu_factor(x).LU,
    "matrix_power": matrix(lambda a: torch.linalg.matrix_power(a, 5)), "matrix_power_negative": matrix(lambda a: torch.linalg.matrix_power(a, -2)),
    "multi_dot": lambda x: torch.linalg.multi_dot([x[0], x.t(), x, x.t()]), "vecdot": lambda x: torch.linalg.vecdot(x, x.flip(0).exp()),
    "pinv": lambda x: torch.linalg.pinv(x.t()), "tensorsolve": matrix(lambda a: torch.linalg.tensorsolve(a.reshape(3, 1, 1, 3), a[:, :1])),
    "tensorinv": matrix(lambda a: torch.linalg.tensorinv(a.reshape(3, 1, 3), ind=1)), "qr": matrix(lambda a: torch.linalg.qr(a).Q), "qr_r": stacked(lambda a: torch.linalg.qr(a).R),
    "qr_tall": lambda x: torch.linalg.qr(x.t()).Q, "qr_wide": lambda x: torch.cat(torch.linalg.qr(x), 1),
    "householder_product": lambda x: torch.linalg.householder_product(x.t(), x[:, 0].sigmoid()), "matrix_exp": matrix(torch.linalg.matrix_exp),
    "matrix_exp_skew": matrix(lambda a: torch.matrix_exp(20 * (a - a.mT))), "eigh": definite(lambda a: projector(torch.linalg.eigh(a).eigenvectors)),
    "eigvalsh": definite(lambda a: torch.linalg.eigvalsh(a, UPLO="U")), "svd": lambda x: projector(torch.linalg.svd(x * torch.tensor([[3.0], [1.0]]), full_matrices=False).U),
    "svdvals": lambda x: torch.linalg.svdvals(x.t()), "norm_2": lambda x: torch.linalg.matrix_norm(x, 2), "norm_nuclear": lambda x: torch.linalg.matrix_norm(x, "nuc"),
    "norm_1": lambda x: torch.linalg.norm(x, 1), "norm": lambda x: torch.linalg.norm(x), "cond": matrix(torch.linalg.cond), "logdet": definite(torch.logdet),
}
