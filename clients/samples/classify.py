#!/usr/bin/env python3
"""Classifies the pictures of a camera by a small network in PyTorch, and publishes its scores.

    framecast serve --publish SCORES &
    framecast publish CAMERA --input pictures.raw --video 64x64xrgb24 --rate 10 &
    python3 classify.py CAMERA [SCORES]

CAMERA is a channel of pictures with three bytes a pixel; of those that come while the network works, the newest is taken next
(delivery=latest). SCORES is a channel on which the scores are published, three numbers a frame. The network is trained at the
start, for some seconds, on squares, discs and stripes that this program draws.
"""

import sys

import framecast
import torch
from torch import nn

LABELS = ("square", "disc", "stripes")
SIDE = 32
STEPS = 300
BATCH = 32


def draw(label, generator):
    """One picture, 3 × SIDE × SIDE, of values 0 … 1: a bright shape of some size and colour at some place, with noise."""
    low, high, size = (torch.rand(3, generator=generator) * torch.tensor([0.3, 0.3, 0.25])).tolist()
    x0, y0 = (0.35 + 0.3 * torch.rand(2, generator=generator)).tolist()
    y, x = torch.meshgrid(torch.linspace(0, 1, SIDE), torch.linspace(0, 1, SIDE), indexing="ij")
    radius = 0.2 + size / 2
    if label == 0:
        shape = ((x - x0).abs() < radius) & ((y - y0).abs() < radius)
    elif label == 1:
        shape = (x - x0) ** 2 + (y - y0) ** 2 < radius**2
    else:
        shape = (x * (4 + 8 * size) + x0) % 1 < 0.5
    colour = 0.7 + high * torch.rand(3, 1, 1, generator=generator)
    return torch.where(shape, colour, torch.tensor(low)) + 0.05 * torch.randn(3, SIDE, SIDE, generator=generator)


def train():
    """The same network each time."""
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(7)
    network = nn.Sequential(
        nn.Conv2d(3, 12, 5, stride=2, padding=2), nn.ReLU(),
        nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(24 * (SIDE // 4) ** 2, len(LABELS)),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for _ in range(STEPS):
        wanted = torch.randint(len(LABELS), (BATCH,), generator=generator)
        pictures = torch.stack([draw(label, generator) for label in wanted.tolist()])
        loss = nn.functional.cross_entropy(network(pictures), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


def classify(network, frame):
    """The scores of a frame. Its bytes are read where they lie, by the one conversion to float."""
    picture = torch.from_dlpack(frame)
    batch = picture.permute(2, 0, 1)[None].float() / 255
    return torch.softmax(network(nn.functional.interpolate(batch, (SIDE, SIDE), mode="area")), 1)[0]


def is_picture(frame):
    shape = frame.format.shape if frame.format is not None else None
    return shape is not None and len(shape) == 3 and shape[2] == 3 and frame.format.dtype == "uint8"


def run(camera, scores):
    torch.set_num_threads(1)
    network = train()
    print("trained", flush=True)
    with torch.inference_mode(), framecast.subscribe(camera) as stream:
        for frame in stream:
            if not is_picture(frame):
                sys.exit(f"classify: expected pictures of three bytes a pixel such as rgb24, got {frame.format}")
            found = classify(network, frame)
            best = int(found.argmax())
            print(f"frame {frame.number}: {LABELS[best]} {found[best]:.2f}", flush=True)
            if scores is not None:
                scores.send(found, timestamp_ns=frame.timestamp_ns, metadata=b"frame %d" % frame.number)
        print(f"end of stream after {stream.stats().frames} frames, {stream.stats().lost.total} were superseded")


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        sys.exit("usage: classify.py CAMERA [SCORES]")
    camera = arguments[0] if "delivery=" in arguments[0] else arguments[0] + "|delivery=latest"
    try:
        if len(arguments) == 1:
            run(camera, None)
        else:
            described = {"dtype": "float32", "shape": (len(LABELS),), "keys": {"labels": " ".join(LABELS)}}
            with framecast.publish(arguments[1], format=described, wait_subscribers=0) as scores:
                run(camera, scores)
    except framecast.FramecastError as e:
        sys.exit(f"classify: {e}")


if __name__ == "__main__":
    main(sys.argv[1:])
