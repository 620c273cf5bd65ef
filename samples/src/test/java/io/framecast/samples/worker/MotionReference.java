package io.framecast.samples.worker;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The motion score on the host, byte by byte: what the kernels are compared with.
public final class MotionReference {
    private MotionReference() {}

    /// Compares the first bytes of two frames, as many as both have.
    ///
    /// @param threshold differences above it count as changed
    public static MotionScore score(
            final long frameId, final MemorySegment current, final MemorySegment previous, final int threshold) {
        final long bytes = Math.min(current.byteSize(), previous.byteSize());
        long changed = 0;
        long sum = 0;
        for (long i = 0; i < bytes; i++) {
            final int difference = Math.abs(Byte.toUnsignedInt(current.get(ValueLayout.JAVA_BYTE, i))
                    - Byte.toUnsignedInt(previous.get(ValueLayout.JAVA_BYTE, i)));
            if (difference > threshold) {
                changed++;
            }
            sum += difference;
        }
        return new MotionScore(frameId, bytes, changed, sum);
    }
}
