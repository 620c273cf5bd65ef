package io.framecast.engine.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A Map in its order of iteration: `[count + 1][key, value …]`.
final class MapShape extends Shape {
    private static final int ENTRY_BYTES_MIN = 2;

    private final Shape key;
    private final Shape value;

    MapShape(final Shape key, final Shape value) {
        this.key = key;
        this.value = value;
    }

    @Override
    public void write(final Kryo kryo, final Output output, final @Nullable Object map) {
        if (map == null) {
            writeCount(output, NULL_COUNT);
            return;
        }
        final Map<?, ?> entries = (Map<?, ?>) map;
        writeCount(output, entries.size());
        entries.forEach((k, v) -> {
            key.write(kryo, output, k);
            value.write(kryo, output, v);
        });
    }

    @Override
    public @Nullable Object read(final Kryo kryo, final Input input, final Class<?> type) {
        final int count = readCount(input, ENTRY_BYTES_MIN);
        if (count == NULL_COUNT) {
            return null;
        }
        final Map<@Nullable Object, @Nullable Object> entries = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            final Object k = key.read(kryo, input, Object.class);
            if (entries.containsKey(k)) {
                throw new KryoException("a Map holds a key twice");
            }
            entries.put(k, value.read(kryo, input, Object.class));
        }
        return Collections.unmodifiableMap(entries);
    }
}
