package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Shapes of values that hold elements of other shapes. A List, a Set and a Map are `[count + 1][elements]` in
/// their order of iteration. No collection is sized by the count: collections grow as elements come.
final class ContainerShapes {
    private static final int ENTRY_BYTES_MIN = 2;

    // The byte before an Optional says whether it is null, empty or present.
    private static final byte NULL = 0;
    private static final byte EMPTY = 1;
    private static final byte PRESENT = 2;

    private ContainerShapes() {}

    static Shape optional(final Shape element) {
        return new Shape(
                (kryo, output, value) -> {
                    if (value instanceof final Optional<?> optional) {
                        output.writeByte(optional.isPresent() ? PRESENT : EMPTY);
                        optional.ifPresent(held -> element.write(kryo, output, held));
                    } else {
                        output.writeByte(NULL);
                    }
                },
                (kryo, input) -> readOptional(kryo, input, element));
    }

    private static @Nullable Object readOptional(final Kryo kryo, final Input input, final Shape element) {
        final byte tag = input.readByte();
        return switch (tag) {
            case NULL -> null;
            case EMPTY -> Optional.empty();
            case PRESENT -> {
                final Object value = element.read(kryo, input);
                if (value == null) {
                    throw new KryoException("an Optional holds null");
                }
                yield Optional.of(value);
            }
            default -> throw new KryoException("expected an Optional's 0, 1 or 2, got " + tag);
        };
    }

    static Shape list(final Shape element) {
        return collection(element, (kryo, input, count) -> {
            final List<@Nullable Object> elements = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                elements.add(element.read(kryo, input));
            }
            return Collections.unmodifiableList(elements);
        });
    }

    static Shape set(final Shape element) {
        return collection(element, (kryo, input, count) -> {
            final Set<@Nullable Object> elements = new LinkedHashSet<>();
            for (int i = 0; i < count; i++) {
                if (!elements.add(element.read(kryo, input))) {
                    throw new KryoException("a Set holds an element twice");
                }
            }
            return Collections.unmodifiableSet(elements);
        });
    }

    private static Shape collection(final Shape element, final Shape.CountReader reader) {
        return Shape.counted(
                1,
                value -> ((Collection<?>) value).size(),
                (kryo, output, value) -> {
                    for (final Object item : (Collection<?>) value) {
                        element.write(kryo, output, item);
                    }
                },
                reader);
    }

    static Shape map(final Shape key, final Shape value) {
        return Shape.counted(
                ENTRY_BYTES_MIN,
                map -> ((Map<?, ?>) map).size(),
                (kryo, output, map) -> ((Map<?, ?>) map).forEach((k, v) -> {
                    key.write(kryo, output, k);
                    value.write(kryo, output, v);
                }),
                (kryo, input, count) -> {
                    final Map<@Nullable Object, @Nullable Object> entries = new LinkedHashMap<>();
                    for (int i = 0; i < count; i++) {
                        final Object k = key.read(kryo, input);
                        if (entries.containsKey(k)) {
                            throw new KryoException("a Map holds a key twice");
                        }
                        entries.put(k, value.read(kryo, input));
                    }
                    return Collections.unmodifiableMap(entries);
                });
    }
}
