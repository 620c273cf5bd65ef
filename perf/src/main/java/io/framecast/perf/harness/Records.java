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

    /// Reads the text that [#write] made of a map.
    public static Map<?, ?> map(final String text) {
        if (Json.parse(text) instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException("expected a report, got " + text);
    }

    private static Object value(final Type type, final @Nullable Object json) {
        if (type instanceof ParameterizedType list && json instanceof Collection<?> values) {
            final Type element = list.getActualTypeArguments()[0];
            return values.stream().map(value -> value(element, value)).toList();
        }
        if (type instanceof Class<?> plain) {
            if (plain.isRecord() && json instanceof Map<?, ?> map) {
                return record(plain, map);
            }
            if (json instanceof Number number && (plain.isPrimitive() || Number.class.isAssignableFrom(plain))) {
                return number(plain, number);
            }
            if (json instanceof String text) {
                return word(plain, text);
            }
            if (json instanceof Boolean flag && plain == boolean.class) {
                return flag;
            }
        }
        throw new IllegalArgumentException("expected " + type.getTypeName() + ", got " + json);
    }

    private static Object number(final Class<?> type, final Number number) {
        if (type == int.class || type == Integer.class) {
            return Math.toIntExact(number.longValue());
        }
        if (type == double.class || type == Double.class) {
            return number.doubleValue();
        }
        return number.longValue();
    }

    private static Object word(final Class<?> type, final String text) {
        if (type == String.class) {
            return text;
        }
        if (type == Path.class) {
            return Path.of(text);
        }
        return Stream.of(type.isEnum() ? type.getEnumConstants() : new Object[0])
                .filter(word -> ((Enum<?>) word).name().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("expected " + type.getName() + ", got " + text));
    }

    private static Object record(final Class<?> type, final Map<?, ?> json) {
        final RecordComponent[] components = type.getRecordComponents();
        final Class<?>[] types = new Class<?>[components.length];
        final Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = value(components[i].getGenericType(), json.get(components[i].getName()));
        }
        try {
            final Constructor<?> constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (final ReflectiveOperationException e) {
            throw new IllegalArgumentException("expected " + type.getSimpleName() + ", got " + json, e);
        }
    }
}
