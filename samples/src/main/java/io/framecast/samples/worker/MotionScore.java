package io.framecast.samples.worker;

/// How much a frame differs from the one before.
///
/// @param frameId the frame's number in its session
/// @param comparedBytes bytes that both frames have; 0 for the first frame
/// @param changedBytes bytes that differ by more than the threshold
/// @param differenceSum sum of the absolute differences of all compared bytes, taken as 0 … 255
public record MotionScore(long frameId, long comparedBytes, long changedBytes, long differenceSum) {
    /// Changed bytes as a part of the compared ones, 0 … 1.
    public double changedShare() {
        return comparedBytes == 0 ? 0 : (double) changedBytes / comparedBytes;
    }
}
