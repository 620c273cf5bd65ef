package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A List, or a Set in its order of iteration: `[count + 1][elements]`. Nothing is sized by the count:
/// collections grow as elements come.
final class SequenceShape extends Shape {
    private final Shape element;
    private final boolean set;

    SequenceShape(final Shape element, final boolean set) {
        this.element = element;
        this.set = set;
    }

    @Override
    public void write(final Kryo kryo, final Output output, final @Nullable Object value) {
        if (value == null) {
            writeCount(output, NULL_COUNT);
            return;
        }
        final Collection<?> elements = (Collection<?>) value;
        writeCount(output, elements.size());
        for (final Object item : elements) {
            element.write(kryo, output, item);
        }
    }

    @Override
    public @Nullable Object read(final Kryo kryo, final Input input, final Class<?> type) {
        final int count = readCount(input, 1);
        if (count == NULL_COUNT) {
            return null;
        }
        return set ? readSet(kryo, input, count) : readList(kryo, input, count);
    }

    private List<@Nullable Object> readList(final Kryo kryo, final Input input, final int count) {
        final List<@Nullable Object> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            elements.add(element.read(kryo, input, Object.class));
        }
        return Collections.unmodifiableList(elements);
    }

    private Set<@Nullable Object> readSet(final Kryo kryo, final Input input, final int count) {
        final Set<@Nullable Object> elements = new LinkedHashSet<>();
        for (int i = 0; i < count; i++) {
            if (!elements.add(element.read(kryo, input, Object.class))) {
                throw new KryoException("a Set holds an element twice");
            }
        }
        return Collections.unmodifiableSet(elements);
    }
}
