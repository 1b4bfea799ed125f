# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions, and the losses that distributions make of them."""

import torch
from torch import distributions as D, special as S

COUNTS = torch.tensor([[0.0, 1.0, 4.0], [2.0, 7.0, 3.0]])
SHARES = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
FAR = torch.tensor([[-30.0, 0.0, 3.0], [-2.0, 12.0, 40.0]])


def positive(f):
    """Of arguments from 0.2 to 2."""
    return lambda x: f(x.abs() % 1.8 + 0.2)


def unit(f):
    """Of arguments from -0.9 to 0.9."""
    return lambda x: f(x.sin() * 0.9)


SPECIAL = {
    "lgamma": lambda x: torch.lgamma(x * 3), "lgamma_far": lambda x: torch.lgamma(x + FAR), "digamma": lambda x: torch.digamma(x * 3), "trigamma": lambda x: torch.polygamma(1, x * 3),
    "polygamma": positive(lambda x: torch.polygamma(3, x * 5)), "polygamma_negative": lambda x: torch.special.polygamma(2, x * 2), "psi": positive(S.psi), "gammaln": positive(S.gammaln),
    "mvlgamma": positive(lambda x: torch.mvlgamma(x + 2, 4)), "multigammaln": positive(lambda x: S.multigammaln(x + 1, 2)), "zeta": positive(lambda x: S.zeta(torch.tensor([2.0, 1.5, 4.0]).to(x), x)),
    "zeta_negative": lambda x: S.zeta(3.0, -x.abs() - 0.3), "erfc": lambda x: torch.erfc(x * 3), "erfcx": lambda x: S.erfcx(x * 2), "erfcx_far": lambda x: S.erfcx(x + FAR.abs()), "erfinv": unit(torch.erfinv),
    "ndtr": lambda x: S.ndtr(x * 3), "ndtri": lambda x: S.ndtri(x.sigmoid()), "log_ndtr": lambda x: S.log_ndtr(x + FAR), "entr": positive(S.entr),
    "i0": lambda x: torch.i0(x * 3), "i0e": lambda x: S.i0e(x + FAR), "i1": lambda x: S.i1(x * 3), "i1e": lambda x: S.i1e(x + FAR),
    "xlogy_zero": lambda x: torch.xlogy(x * torch.tensor([0.0, 1.0, 1.0]), x.abs() + 0.5), "xlog1py": positive(lambda x: S.xlog1py(x, x + 1)), "xlog1py_zero": lambda x: S.xlog1py(x * torch.tensor([0.0, 1.0, 1.0]), x.exp()),
    "integers": lambda x: x * torch.lgamma(COUNTS.long() + 1) + x * torch.digamma(COUNTS.long() + 1), "exp2": S.exp2, "sinc": S.sinc,
}


def likelihood(make, value):
    """The log-probability of a value under a distribution of positive parameters."""
    return positive(lambda x: make(x).log_prob(value.to(x) if isinstance(value, torch.Tensor) else value(x)))


def divergence(make):
    """The divergence from one distribution of positive parameters to another."""
    return positive(lambda x: D.kl_divergence(make(x), make(x.flip(1) + 0.5)))


def gamma(x):
    return D.Gamma(x, x + 1, validate_args=False)


def beta(x):
    return D.Beta(x, x + 1, validate_args=False)


def dirichlet(x):
    return D.Dirichlet(x, validate_args=False)


def student(x):
    return D.StudentT(x + 2, x, x + 1, validate_args=False)


def inverse_gamma(x):
    return D.InverseGamma(x, x + 1, validate_args=False)


def negative_binomial(x):
    return D.NegativeBinomial(x, logits=x - 1, validate_args=False)


def von_mises(x):
    return D.VonMises(x, x * 3, validate_args=False)


def truncated(x):
    """A sample of a normal distribution cut off at 0, of given noise."""
    low = S.ndtr(-x)
    return x + torch.erfinv(2 * (low + SHARES.to(x) * (1 - low)) - 1) * 2**0.5


LIKELIHOODS = {
    "gamma": likelihood(gamma, COUNTS + 0.5), "gamma_of_sample": likelihood(gamma, lambda x: x * 2), "gamma_entropy": positive(lambda x: gamma(x).entropy()), "gamma_kl": divergence(gamma),
    "beta": likelihood(beta, SHARES), "beta_entropy": positive(lambda x: beta(x).entropy()), "beta_kl": divergence(beta),
    "dirichlet": likelihood(dirichlet, SHARES), "dirichlet_entropy": positive(lambda x: dirichlet(x).entropy()), "dirichlet_kl": divergence(dirichlet),
    "student": likelihood(student, COUNTS), "student_entropy": positive(lambda x: student(x).entropy()), "inverse_gamma": likelihood(inverse_gamma, COUNTS + 0.5),
    "negative_binomial": likelihood(negative_binomial, COUNTS), "poisson": likelihood(lambda x: D.Poisson(x, validate_args=False), COUNTS), "poisson_kl": divergence(lambda x: D.Poisson(x, validate_args=False)),
    "binomial": likelihood(lambda x: D.Binomial(9, logits=x, validate_args=False), COUNTS), "multinomial": likelihood(lambda x: D.Multinomial(10, logits=x, validate_args=False), COUNTS),
    "von_mises": likelihood(von_mises, SHARES), "chi2": likelihood(lambda x: D.Chi2(x, validate_args=False), COUNTS + 0.5), "weibull_entropy": positive(lambda x: D.Weibull(x, x + 1, validate_args=False).entropy()),
    "half_normal": likelihood(lambda x: D.HalfNormal(x, validate_args=False), COUNTS), "normal_quantile": lambda x: D.Normal(x, x.exp(), validate_args=False).icdf(SHARES.to(x)),
    "normal_cdf": lambda x: D.Normal(x, x.exp(), validate_args=False).cdf(COUNTS.to(x)), "truncated": positive(truncated), "bernoulli_kl": lambda x: D.kl_divergence(D.Bernoulli(logits=x), D.Bernoulli(logits=x.flip(1))),
}
