package io.framecast.api.format;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/// A frame's bytes as one tensor, in the terms of DLPack (DLTensor).
///
/// @param shape 0 … [#DIMENSIONS_MAX] dimensions of at least 1
/// @param strides in elements, one for each dimension; empty: row-major without gaps
public record Tensor(ElementType type, List<Long> shape, List<Long> strides) {
    public static final int DIMENSIONS_MAX = 16;

    public Tensor {
        shape = List.copyOf(shape);
        strides = List.copyOf(strides);
        if (shape.size() > DIMENSIONS_MAX || shape.stream().anyMatch(length -> length < 1)) {
            throw new IllegalArgumentException(
                    "shape: expected up to " + DIMENSIONS_MAX + " dimensions of at least 1, got " + shape);
        }
        if (!strides.isEmpty()
                && (strides.size() != shape.size() || strides.stream().anyMatch(step -> step < 0))) {
            throw new IllegalArgumentException(
                    "strides: expected one of at least 0 for each of " + shape + ", or none, got " + strides);
        }
        try {
            extent(type, shape, strides);
        } catch (final ArithmeticException e) {
            throw new IllegalArgumentException("shape: " + shape + " of " + type + " is longer than 2^63 bytes", e);
        }
    }

    /// Row-major without gaps.
    public static Tensor of(final ElementType type, final long... shape) {
        return new Tensor(type, Arrays.stream(shape).boxed().toList(), List.of());
    }

    /// Bytes from the first element to behind the last.
    public long bytes() {
        return extent(type, shape, strides);
    }

    private static long extent(final ElementType type, final List<Long> shape, final List<Long> strides) {
        if (strides.isEmpty()) {
            long elements = 1;
            for (final long length : shape) {
                elements = Math.multiplyExact(elements, length);
            }
            return Math.multiplyExact(elements, type.bytes());
        }
        long last = 0;
        for (int i = 0; i < shape.size(); i++) {
            last = Math.addExact(last, Math.multiplyExact(shape.get(i) - 1, strides.get(i)));
        }
        return Math.multiplyExact(Math.addExact(last, 1), type.bytes());
    }

    @Override
    public String toString() {
        return type + shape.stream().map(String::valueOf).collect(Collectors.joining("x", "[", "]"));
    }
}
