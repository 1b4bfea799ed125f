# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of random modules that have state: what __init__ registers and what forward does, of x with 3 rows of 4.

A part is two texts with a line a statement; # stands for its number, {n} for a number that is drawn.
"""

BUFFER = 'self.register_buffer("b#", {})'
ZEROS = BUFFER.format("torch.zeros(4)")
COUNT = BUFFER.format("torch.zeros((), dtype=torch.int64)")
ROWS = BUFFER.format("torch.arange(24.0).view(6, 4) / 24")
WEIGHT = 'self.register_parameter("w#", torch.nn.Parameter(torch.randn(4, 4) * 0.5))'
TEACHER = 'self.register_parameter("t#", torch.nn.Parameter(torch.randn(4, 4) * 0.5, requires_grad=False))'
LINEAR = "self.l# = torch.nn.Linear(4, 4)"

PARTS = [
    # layers
    (LINEAR, "x = torch.tanh(self.l#(x))"),
    (WEIGHT, "x = x @ self.w#.T / 2 + {n}"),
    (WEIGHT, "x = F.linear(x, self.w#.detach() * {n}) + x * self.w#.mean()"),
    (WEIGHT, "y = F.linear(x, self.w#).detach()\nx = x + y"),  # no gradient: no weight decay
    (WEIGHT, "x = x + 0 * self.w#.sum()"),  # a gradient of zeros: weight decay
    (TEACHER, "x = x + F.linear(x, self.t#)"),
    ("self.n# = torch.nn.BatchNorm1d(4)", "x = self.n#(x)"),
    ("self.n# = torch.nn.BatchNorm1d(4, momentum=None)", "x = self.n#(x)"),
    ("self.n# = torch.nn.BatchNorm1d(4, momentum=0.3, affine=False)", "x = self.n#(x) + self.n#.running_mean"),
    ("self.n# = torch.nn.BatchNorm1d(4, track_running_stats=False)", "x = self.n#(x)"),
    ("self.n# = torch.nn.BatchNorm1d(4).eval()", "x = self.n#(self.n#(x))"),
    ("self.n# = torch.nn.InstanceNorm1d(3, track_running_stats=True, affine=True)", "x = self.n#(x[None])[0]"),
    ("self.n# = torch.nn.BatchNorm1d(4)", "x = self.n#(self.n#(x) * {n})"),
    ("self.n# = torch.nn.LayerNorm(4)", "x = self.n#(x)"),
    ("self.e# = torch.nn.Embedding(5, 4, max_norm=0.9)", "x = x + self.e#(words)"),
    ("self.e# = torch.nn.Embedding(5, 4, padding_idx=1)", "x = x + self.e#(words) * {n}"),
    ("self.g# = torch.nn.GRUCell(4, 4)\n" + BUFFER.format("torch.zeros(3, 4)"), "x = self.g#(x, self.b# * 1)\nself.b#.copy_(x.detach())"),
    ("self.w#, self.v# = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)\nself.v#.weight = self.w#.weight", "x = self.v#(torch.sin(self.w#(x)))"),
    # counters
    (COUNT, "self.b# += 1\nx = x / self.b#"),
    (COUNT, "self.b#.add_(1)\nx = x * torch.cos(self.b# * {n})"),
    (COUNT, "x = x + self.b# * {n}\nself.b# = self.b# + 2"),
    (COUNT, "self.b#.copy_((self.b# + 1) % 2)\nx = x * (self.b# * 2 - 1)"),
    (COUNT, "self.b# += (x > 0).sum()\nx = x + self.b# // 3"),
    (COUNT, "x = x * (torch.arange(4) <= self.b#)\nself.b# += 1"),
    (COUNT, "self.b#.fill_(3)\nself.b# -= 1\nx = x ** self.b#"),
    (BUFFER.format("torch.zeros(4, dtype=torch.int32)"), "self.b# += (x > 0).sum(0).int()\nx = x + self.b# * {n}"),
    (BUFFER.format("torch.zeros(4, dtype=torch.int64)"), "self.b#.index_add_(0, x.detach().argmax(1), torch.ones(3, dtype=torch.int64))\nx = x * (1 + self.b#.float() / 10)"),
    (BUFFER.format("torch.zeros(4, dtype=torch.int64)"), "self.b#.scatter_add_(0, words % 4, torch.ones_like(words))\nx = x + self.b#"),
    (BUFFER.format("torch.zeros(4, dtype=torch.int64)"), "self.b#[words % 4] += 1\nx = x + self.b# * {n}"),
    (BUFFER.format("torch.zeros((), dtype=torch.int64), persistent=False"), "self.b# += 1\nx = x * {n} + self.b#"),
    (BUFFER.format("torch.zeros(4, dtype=torch.int64)"), "self.b#.copy_(x.detach().sum(0) * 3)\nx = x + self.b#"),
    (BUFFER.format("torch.zeros(4, dtype=torch.bool)"), "self.b# |= x.detach().mean(0) > {n}\nx = torch.where(self.b#, x, x * 0.5)"),
    (BUFFER.format("torch.zeros(4, dtype=torch.bool)"), "self.b#[1] = True\nself.b#.logical_not_()\nx = x.masked_fill(self.b#, {n})"),
    # averages
    (ZEROS, "self.b#.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)\nx = x - self.b#"),
    (ZEROS, "x = x - self.b#\nself.b#.mul_(0.9).add_(x.detach().mean(0) * 0.1)"),
    (ZEROS, "self.b# = 0.9 * self.b# + 0.1 * x.detach().mean(0)\nx = x * (1 + self.b#)"),
    (ZEROS, "with torch.no_grad():\n    self.b#.lerp_(x.mean(0), 0.3)\nx = x + self.b#"),
    (ZEROS, "old = self.b#.clone()\nself.b#.copy_(x.detach().amax(0))\nx = x + old"),
    (ZEROS, "old = self.b#\nself.b#.copy_(x.detach().amax(0))\nx = x + old"),
    (ZEROS, "old = self.b#\nself.b# = x.detach().amax(0)\nx = x + old"),
    (ZEROS, "self.b#.zero_()\nself.b# += x.detach().sum(0)\nx = x + self.b#"),
    (ZEROS, "self.b#.copy_(torch.maximum(self.b#, x.detach().abs().amax(0)))\nx = x / (self.b# + 1)"),
    (ZEROS, "torch.add(self.b#, x.detach().mean(0), out=self.b#)\nx = x + self.b#"),
    (ZEROS, "self.b#.data.add_(x.detach().mean(0))\nx = x + self.b#"),
    (ZEROS, "self.b#.detach().add_(x.detach().mean(0))\nx = x + self.b#"),
    (ZEROS, "self.b#[1:].add_(x.detach()[0, :3])\nself.b#[::2] *= {n}\nx = x + self.b#"),
    (ZEROS, "row = self.b#.view(2, 2)[0]\nrow += x.detach()[0, :2]\nx = x + self.b#"),
    (ZEROS, "self.b#.masked_fill_(self.b# > 0.5, {n})\nself.b# += 0.3\nx = x * self.b#"),
    (ZEROS, "for row in x.detach():\n    self.b# += row * {n}\nx = x + self.b#"),
    (BUFFER.format("torch.zeros(4), persistent=False"), "self.b# += x.detach().mean(0)\nx = x + self.b#"),
    (BUFFER.format("torch.zeros((), dtype=torch.float64)"), "self.b# += x.detach().double().sum()\nx = x + self.b#.float()"),
    (BUFFER.format("torch.zeros((), dtype=torch.float64)"), "self.b# += {n}\nx = x * self.b#"),
    (BUFFER.format("torch.ones(2, dtype=torch.complex64)"), "self.b# *= 1j\nx = x + torch.view_as_real(self.b#).reshape(4)"),
    (BUFFER.format("torch.zeros(2, 4)"), "self.b#[0], self.b#[1] = self.b#[1].clone(), self.b#[0] + x.detach().mean(0)\nx = x + self.b#[0]"),
    (ZEROS + "\n" + ZEROS.replace('"b#', '"c#'), "self.b#, self.c# = self.c#, self.b# + x.detach().mean(0)\nx = x + self.c#"),
    (ZEROS + "\n" + ZEROS.replace('"b#', '"c#'), "self.b#.copy_(self.c#)\nself.c#.copy_(x.detach().mean(0))\nx = x + self.b#"),
    (ZEROS + "\n" + COUNT.replace('"b#', '"c#'), "self.c# += 1\nself.b# += (x.detach().mean(0) - self.b#) / self.c#\nx = x - self.b#"),
    (ZEROS, "m = x.detach().mean(0)\nself.b#.add_((m - self.b#) * {n})\nx = (x - self.b#) / (x.detach().var(0, unbiased=False) + 1).sqrt()"),
    # caches
    (ROWS, "self.b#[:3] = x.detach()\nx = x + self.b#.mean(0)"),
    (ROWS, "self.b#[1::2] = x.detach()\nx = x + self.b#[:3] * self.b#[3:]"),
    (ROWS, "self.b# = torch.cat([self.b#[3:], x.detach()])\nx = x + self.b#[:3]"),
    (ROWS, "self.b#.copy_(torch.roll(self.b#, 1, 0))\nself.b#[0] = x.detach()[0]\nx = x + self.b#.sum(0)"),
    (ROWS, "self.b#[:, 1:3].mul_(0.5).add_(x.detach().mean())\nx = x + self.b#[::2]"),
    (ROWS, "self.b#.T[1] = {n}\nself.b#[-1, :].neg_()\nx = x + self.b#.flip(0)[:3]"),
    (ROWS, "self.b#[words] = x.detach().mean(0)\nx = x + self.b#[words]"),
    (ROWS, "self.b#.index_add_(0, words, x.detach())\nx = x + self.b#.mean(0)"),
    (ROWS, "self.b#.index_copy_(0, torch.tensor([4, 0, 2]), x.detach())\nx = x + self.b#[:3]"),
    (ROWS, "self.b#.scatter_(0, words[:, None].expand(3, 4), {n})\nx = x + self.b#.sum(0)"),
    (ROWS + "\n" + COUNT.replace('"b#', '"c#'), "i = (self.c# + torch.arange(3)) % 6\nself.b#[i] = x.detach()\nself.c#.copy_((self.c# + 3) % 6)\nx = x + self.b#.sum(0)"),
    (ROWS + "\n" + COUNT.replace('"b#', '"c#'), "self.b#.index_put_((self.c#.view(1),), x.detach().mean(0))\nx = x + self.b#[self.c#.view(1)]\nself.c#.add_(1)"),
    (ROWS, "k = torch.cat([self.b#, x])\nx = F.scaled_dot_product_attention(x[None], k[None], k[None])[0]\nself.b# = k[3:].detach()"),
    (BUFFER.format("torch.zeros(3, 4)"), "self.b# = torch.tanh(x.detach() + self.b#)\nx = x * self.b#"),
    (BUFFER.format("torch.zeros(1, 4)"), "self.b#.expand(3, 4)[0].add_(x.detach().mean(0))\nx = x + self.b#"),
    # what no training step may forget
    (TEACHER + "\n" + WEIGHT, "with torch.no_grad():\n    self.t#.mul_(0.9).add_(self.w#, alpha=0.1)\nx = F.linear(x, self.w#) + F.linear(x, self.t#)"),
    (TEACHER + "\n" + WEIGHT, "self.t#.lerp_(self.w#.detach(), 0.2)\nx = F.linear(x, self.w#) * (1 + self.t#.mean())"),
    (WEIGHT, "with torch.no_grad():\n    self.w#.clamp_(-0.4, 0.4)\nx = F.linear(x, self.w#)"),
    (WEIGHT, "y = F.linear(x.detach(), self.w# * 1)\nwith torch.no_grad():\n    self.w#[0] *= 0.5\nx = torch.tanh(y) + x"),
    (WEIGHT, "self.w#.data.div_(self.w#.data.norm(2, dim=1, keepdim=True))\nx = F.linear(x, self.w#)"),
    (WEIGHT + "\n" + ZEROS.replace("torch.zeros(4)", "torch.ones(4)"), "with torch.no_grad():\n    v = F.normalize(self.w#.T @ self.b#, dim=0)\n    self.b#.copy_(F.normalize(self.w# @ v, dim=0))\nx = F.linear(x, self.w# / torch.dot(self.b#, self.w# @ v))"),
    (ROWS + "\n" + BUFFER.format("torch.ones(6)").replace('"b#', '"c#'), "hit = F.one_hot(torch.cdist(x.detach(), self.b#).argmin(1), 6).to(x.dtype)\nq = hit @ self.b#\nself.c#.mul_(0.9).add_(hit.sum(0), alpha=0.1)\nself.b#.add_(hit.T @ x.detach() * 0.1 / self.c#[:, None])\nx = x + (q - x).detach()"),
    (ZEROS + "\n" + BUFFER.format("torch.ones(4)").replace('"b#', '"c#'), "self.b#.copy_(torch.minimum(self.b#, x.detach().amin(0)))\nself.c#.copy_(torch.maximum(self.c#, x.detach().amax(0)))\nx = x + (((x - self.b#) / (self.c# - self.b#) * 7).round() / 7 - x).detach()"),
    (ZEROS, "if self.training:\n    self.b# += x.detach().mean(0)\nx = x + self.b#"),
    (ZEROS, "if self.b#.shape[0] > 3:\n    self.b#.sub_({n})\nx = x * self.b#"),
]
