package io.framecast.engine.codec;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Finds the shape for a component's declared type, or the reason why there is none.
final class ShapeFactory {
    /// Collections within collections.
    private static final int NESTING_MAX = 8;

    private static final String SUPPORTED = "use primitives and their boxes, String, arrays of primitives or String,"
            + " enums, listed records, or Optional, List, Set and Map of these";

    private final Map<Class<?>, RecordShape> records;

    ShapeFactory(final Map<Class<?>, RecordShape> records) {
        this.records = records;
    }

    /// @throws IllegalArgumentException when the type is not supported
    Shape shapeOf(final Type type) {
        return shapeOf(type, 0);
    }

    private Shape shapeOf(final Type type, final int nesting) {
        if (nesting > NESTING_MAX) {
            throw new IllegalArgumentException(
                    "collections nest deeper than " + NESTING_MAX + ", put a record between");
        }
        if (type instanceof final Class<?> plain) {
            return shapeOf(plain);
        }
        if (type instanceof final ParameterizedType generic) {
            final Type[] arguments = generic.getActualTypeArguments();
            final Type raw = generic.getRawType();
            if (raw == Optional.class) {
                return ContainerShapes.optional(shapeOf(arguments[0], nesting + 1));
            }
            if (raw == List.class) {
                return ContainerShapes.list(shapeOf(arguments[0], nesting + 1));
            }
            if (raw == Set.class) {
                return ContainerShapes.set(shapeOf(hashable(arguments[0]), nesting + 1));
            }
            if (raw == Map.class) {
                return ContainerShapes.map(
                        shapeOf(hashable(arguments[0]), nesting + 1), shapeOf(arguments[1], nesting + 1));
            }
        }
        throw unsupported(type);
    }

    private Shape shapeOf(final Class<?> type) {
        final Shape leaf = LeafShapes.of(type);
        if (leaf != null) {
            return leaf;
        }
        final RecordShape nested = records.get(type);
        if (nested != null) {
            return nested.nested();
        }
        if (type.isRecord()) {
            throw new IllegalArgumentException("record " + type.getName() + " is not listed, list it too");
        }
        throw unsupported(type);
    }

    private static Type hashable(final Type element) {
        if (element instanceof final Class<?> plain && plain.isArray()) {
            throw new IllegalArgumentException("arrays have no equality, so they cannot be keys or elements of a set");
        }
        return element;
    }

    private static IllegalArgumentException unsupported(final Type type) {
        return new IllegalArgumentException(type.getTypeName() + " is not supported, " + SUPPORTED);
    }
}
