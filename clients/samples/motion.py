#!/usr/bin/env python3
"""Detects motion in a stream of pictures: prints each frame in which enough pixels changed, and where.

    motion.py [--threshold N] [--share PERCENT] URI

Exit status: 0 the stream ended, 2 an error, 3 the source or the leader is gone.
"""

import argparse
import sys

import framecast
import numpy as np

# Weights of ITU-R BT.601 for luma, in 256ths.
WEIGHTS = {"rgb24": (77, 150, 29), "bgr24": (29, 150, 77), "rgba": (77, 150, 29, 0), "bgra": (29, 150, 77, 0)}
# Their first plane is luma already.
PLANAR = {"gray", "nv12", "nv21", "yuv420p", "yuv422p", "yuv444p"}


def luma(frame):
    """The picture's luma, height × width; an array of its own. None for frames that are no such picture."""
    picture = frame.format and frame.format.picture
    if not picture or not (picture.pixels in WEIGHTS or picture.pixels in PLANAR):
        return None
    channels = len(WEIGHTS.get(picture.pixels, (1,)))
    offset, stride = picture.planes[0]
    if offset + (picture.height - 1) * stride + picture.width * channels > len(frame):
        return None
    shape, strides = (picture.height, picture.width, channels), (stride, channels, 1)
    pixels = np.ndarray(shape, np.uint8, frame.numpy("u1"), offset, strides)
    if channels == 1:
        return pixels[:, :, 0].astype(np.int16)
    return (pixels.astype(np.int32) @ np.array(WEIGHTS[picture.pixels]) >> 8).astype(np.int16)


def changes(before, now, threshold):
    """Which pixels differ by more than a threshold: above sensor noise, below an object's edge."""
    return np.abs(now - before) > threshold


def box(changed):
    """Left, top, width and height of what changed."""
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    return columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1


def watch(uri, threshold, share):
    before, passed, moved, frames = None, 0, 0, 0
    with framecast.subscribe(uri) as stream:
        for frame in stream:
            frames += 1
            # Computed from the ring itself; the frame is given back before the next one is asked for.
            with frame:
                now = luma(frame)
                number = frame.number
            if now is None:
                passed += 1
            elif before is not None and before.shape == now.shape:
                changed = changes(before, now, threshold)
                if changed.mean() * 100 >= share:
                    moved += 1
                    left, top, width, height = box(changed)
                    print(f"frame {number}: {changed.mean():.1%} changed, {width}x{height} at {left},{top}", flush=True)
            before = now
    print(f"{moved} of {frames} frames moved" + (f", {passed} were no pictures of a known kind" if passed else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("uri")
    parser.add_argument("--threshold", type=int, default=16, help="luma steps that count as a change (%(default)s)")
    parser.add_argument("--share", type=float, default=0.1, help="percent of the pixels that must change (%(default)s)")
    arguments = parser.parse_args()
    try:
        watch(arguments.uri, arguments.threshold, arguments.share)
    except (framecast.SourceLost, framecast.LeaderGone) as e:
        print(f"motion: {e}", file=sys.stderr)
        return 3
    except framecast.FramecastError as e:
        print(f"motion: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
