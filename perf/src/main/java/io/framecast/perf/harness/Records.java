package io.framecast.perf.harness;

import io.framecast.samples.json.Json;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Records as JSON objects and back. Components are numbers, booleans, strings, enums, paths, records, and
/// lists of these.
public final class Records {
    private Records() {}

    /// One line.
    public static String write(final Object value) {
        return Json.write(json(value));
    }

    private static @Nullable Object json(final @Nullable Object value) {
        return switch (value) {
            case Record record -> {
                final Map<String, @Nullable Object> map = new LinkedHashMap<>();
                for (final RecordComponent component : record.getClass().getRecordComponents()) {
                    map.put(component.getName(), json(get(record, component)));
                }
                yield map;
            }
            case Enum<?> word -> word.name();
            case Path path -> path.toString();
            case Collection<?> list -> list.stream().map(Records::json).toList();
            case null, default -> value;
        };
    }

    private static @Nullable Object get(final Record record, final RecordComponent component) {
        try {
            component.getAccessor().setAccessible(true);
            return component.getAccessor().invoke(record);
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Reads the text that [#write] made of a record.
    ///
    /// @throws IllegalArgumentException when the text is no such record
    public static <T extends Record> T read(final Class<T> type, final String text) {
        return type.cast(value(type, Json.parse(text)));
    }

    private static Object value(final Type type, final @Nullable Object json) {
        return switch (json) {
            case Collection<?> values
            when type instanceof ParameterizedType list ->
                values.stream()
                        .map(value -> value(list.getActualTypeArguments()[0], value))
                        .toList();
            case Map<?, ?> map when type instanceof Class<?> plain && plain.isRecord() -> record(plain, map);
            case Number number when type == int.class || type == Integer.class -> Math.toIntExact(number.longValue());
            case Number number when type == long.class || type == Long.class -> number.longValue();
            case Number number when type == double.class || type == Double.class -> number.doubleValue();
            case Boolean flag when type == boolean.class -> flag;
            case String text when type == String.class -> text;
            case String text when type == Path.class -> Path.of(text);
            case String text when type instanceof Class<?> plain && plain.isEnum() -> word(plain, text);
            case null, default ->
                throw new IllegalArgumentException("expected " + type.getTypeName() + ", got " + json);
        };
    }

    private static Object word(final Class<?> type, final String text) {
        return Stream.of(type.getEnumConstants())
                .filter(word -> ((Enum<?>) word).name().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("expected " + type.getName() + ", got " + text));
    }

    private static Object record(final Class<?> type, final Map<?, ?> json) {
        final RecordComponent[] components = type.getRecordComponents();
        final Class<?>[] types =
                Stream.of(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        final Object[] values = Stream.of(components)
                .map(component -> value(component.getGenericType(), json.get(component.getName())))
                .toArray();
        try {
            final Constructor<?> constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (final ReflectiveOperationException e) {
            throw new IllegalArgumentException("expected " + type.getSimpleName() + ", got " + json, e);
        }
    }
}
