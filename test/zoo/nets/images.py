# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classifiers and detectors of images."""

import torch
from torch import nn
from torch.nn import functional


def convolution(inputs, outputs, size=3, stride=1, norm=nn.BatchNorm2d, activation=nn.ReLU):
    """A convolution without bias, a norm and an activation."""
    layer = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
    return nn.Sequential(layer, norm(outputs), activation())


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs, outputs, stride=1, norm=nn.BatchNorm2d):
        super().__init__()
        self.body = nn.Sequential(
            convolution(inputs, outputs, 3, stride, norm),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            norm(outputs),
        )
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet(channels=3, classes=10, norm=nn.BatchNorm2d):
    """phlippe_resnet; with group norm functorch_dp_cifar10 and opacus_cifar10; LearningToPaint's actor."""
    return nn.Sequential(
        convolution(channels, 8, norm=norm),
        Residual(8, 8, norm=norm),
        Residual(8, 16, 2, norm),
        Residual(16, 24, 2, norm),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(24, classes),
    )


def group_norm(channels):
    return nn.GroupNorm(4, channels)


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm2d(inputs),
            nn.ReLU(),
            nn.Conv2d(inputs, 2 * growth, 1, bias=False),
            nn.BatchNorm2d(2 * growth),
            nn.ReLU(),
            nn.Conv2d(2 * growth, growth, 3, padding=1, bias=False),
        )

    def forward(self, x):
        return torch.cat([self.body(x), x], 1)


def densenet(growth=8, layers=3):
    """phlippe_densenet: two dense blocks with a transition between."""
    parts, width = [nn.Conv2d(3, 16, 3, padding=1)], 16
    for block in range(2):
        for _ in range(layers):
            parts.append(DenseLayer(width, growth))
            width += growth
        if block == 0:
            parts += [nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width // 2, 1), nn.AvgPool2d(2)]
            width //= 2
    return nn.Sequential(
        *parts, nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)
    )


class Yolo(nn.Module):
    """yolov3: residual stages, an upsampled route, boxes decoded from a grid at two scales."""

    def __init__(self, anchors=3, classes=4):
        super().__init__()
        self.anchors, self.values = anchors, 5 + classes
        leaky = lambda: nn.LeakyReLU(0.1)  # noqa: E731
        self.stem = nn.Sequential(convolution(3, 8, activation=leaky), convolution(8, 16, 3, 2, activation=leaky))
        self.fine = nn.Sequential(Residual(16, 16), convolution(16, 24, 3, 2, activation=leaky))
        self.coarse = nn.Sequential(Residual(24, 24), convolution(24, 32, 3, 2, activation=leaky))
        self.coarse_head = nn.Conv2d(32, anchors * self.values, 1)
        self.route = convolution(32, 16, 1, activation=leaky)
        self.fine_head = nn.Conv2d(16 + 24, anchors * self.values, 1)
        self.register_buffer("sizes", torch.tensor([[10.0, 13.0], [16.0, 30.0], [33.0, 23.0]])[:anchors])

    def forward(self, images):
        fine = self.fine(self.stem(images))
        coarse = self.coarse(fine)
        up = functional.interpolate(self.route(coarse), scale_factor=2, mode="nearest")
        heads = (self.coarse_head(coarse), 8), (self.fine_head(torch.cat([up, fine], 1)), 4)
        return torch.cat([self._boxes(x, stride) for x, stride in heads], 1)

    def _boxes(self, x, stride):
        batch, _, rows, columns = x.shape
        x = x.view(batch, self.anchors, self.values, rows, columns).permute(0, 1, 3, 4, 2).contiguous()
        y_at, x_at = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        grid = torch.stack([x_at, y_at], 2).to(x.dtype)
        centre = (torch.sigmoid(x[..., :2]) + grid) * stride
        size = torch.exp(x[..., 2:4]) * self.sizes.view(1, self.anchors, 1, 1, 2)
        return torch.cat([centre / 32, size / 32, torch.sigmoid(x[..., 4:])], -1).view(batch, -1, self.values)


class TextRecogniser(nn.Module):
    """doctr_reco_predictor (CRNN): convolutions, then a bidirectional LSTM along the columns."""

    def __init__(self, letters=20):
        super().__init__()
        self.features = nn.Sequential(
            convolution(3, 8),
            nn.MaxPool2d(2),
            convolution(8, 16),
            nn.MaxPool2d((2, 1)),
            convolution(16, 16),
            nn.MaxPool2d((2, 1)),
        )
        self.decoder = nn.LSTM(16 * 2, 16, num_layers=2, batch_first=True, bidirectional=True)
        self.linear = nn.Linear(32, letters)

    def forward(self, images):
        x = self.features(images)
        x = x.permute(0, 3, 1, 2).flatten(2)
        return self.linear(self.decoder(x)[0])


class TextDetector(nn.Module):
    """doctr_det_predictor: a feature pyramid whose levels are resized to the finest and joined."""

    def __init__(self):
        super().__init__()
        widths = (8, 16, 24)
        self.stages = nn.ModuleList(Residual(inputs, outputs, 2) for inputs, outputs in zip((3, *widths), widths))
        self.lateral = nn.ModuleList(convolution(width, 8, 1) for width in widths)
        self.head = nn.Sequential(
            convolution(24, 8), nn.ConvTranspose2d(8, 8, 2, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 1, 1)
        )

    def forward(self, images):
        levels = []
        for stage in self.stages:
            images = stage(images)
            levels.append(images)
        size = levels[0].shape[-2:]
        joined = [functional.interpolate(f(x), size=size, mode="bilinear") for f, x in zip(self.lateral, levels)]
        return torch.sigmoid(self.head(torch.cat(joined, 1)))


class Contrast(nn.Module):
    """moco: two encoders and a queue of keys; the second follows the first by a moving average."""

    def __init__(self, width=16, queue=32):
        super().__init__()
        self.query, self.key = resnet(classes=width), resnet(classes=width)
        self.key.load_state_dict(self.query.state_dict())
        for parameter in self.key.parameters():
            parameter.requires_grad_(False)
        generator = torch.Generator().manual_seed(3)
        self.register_buffer("queue", functional.normalize(torch.randn(width, queue, generator=generator), dim=0))

    def forward(self, query, key):
        q = functional.normalize(self.query(query), dim=1)
        with torch.no_grad():
            k = functional.normalize(self.key(key), dim=1)
        positive = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        negative = torch.einsum("nc,ck->nk", q, self.queue)
        logits = torch.cat([positive, negative], 1) / 0.07
        return functional.cross_entropy(logits, torch.zeros(len(q), dtype=torch.int64))


class FakeQuantised(nn.Module):
    """The *_quantized_qat models: weights and values rounded to 8 bits, with straight-through gradients."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 16, 3, 2, 1, bias=False)
        self.out = nn.Linear(16, 10)

    def forward(self, images):
        x = functional.relu6(self.norm(functional.conv2d(images, _rounded(self.first.weight), None, 2, 1)))
        x = torch.fake_quantize_per_tensor_affine(x, 6.0 / 255, 0, 0, 255)
        scales = self.second.weight.detach().abs().amax((1, 2, 3)) / 127
        weight = torch.fake_quantize_per_channel_affine(
            self.second.weight, scales, torch.zeros(16, dtype=torch.int32), 0, -128, 127
        )
        x = functional.relu(functional.conv2d(x, weight, None, 2, 1))
        return self.out(x.mean((2, 3)))


def _rounded(weight):
    return torch.fake_quantize_per_tensor_affine(weight, 1.0 / 127, 0, -128, 127)
