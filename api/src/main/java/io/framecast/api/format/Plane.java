package io.framecast.api.format;

/// One plane of a picture.
///
/// @param offset of its first row in the frame, in bytes
/// @param stride from one row to the next, in bytes
public record Plane(long offset, long stride) {
    public Plane {
        if (offset < 0 || stride < 1) {
            throw new IllegalArgumentException(
                    "plane: expected an offset of at least 0 and a stride of at least 1, got " + offset + " and "
                            + stride);
        }
    }
}
