package io.framecast.engine.codec;

import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/// Records of every supported shape, and random values of them.
final class Records {
    private static final int ELEMENTS_MAX = 4;

    private Records() {}

    enum Pixel {
        RGB,
        NV12 {
            @Override
            public String toString() {
                return "a constant with a body, so a class of its own";
            }
        },
        GREY
    }

    record Empty() {}

    record Scalars(boolean a, byte b, char c, short d, int e, long f, float g, double h) {}

    record Boxes(Boolean a, Byte b, Character c, Short d, Integer e, Long f, Float g, Double h) {}

    @SuppressWarnings("ArrayRecordComponent") // What users write, so what is tested.
    record Arrays(
            byte[] a, boolean[] b, char[] c, short[] d, int[] e, long[] f, float[] g, double[] h, String[] strings) {}

    record Words(String text, Pixel pixel, Optional<String> note, Optional<Pixel> other) {}

    record Collections(
            List<Integer> numbers,
            Set<String> tags,
            Map<String, Long> counts,
            List<List<Optional<Pixel>>> deep,
            Map<Pixel, Set<Range>> ranges,
            List<Empty> empties,
            List<byte[]> blobs) {}

    /// A record whose constructor refuses some values.
    record Range(int from, int to) {
        Range {
            if (from > to) {
                throw new IllegalArgumentException("range:\n from " + from + " is after " + to);
            }
        }
    }

    record Tree(String name, List<Tree> children) {}

    static final List<Class<? extends Record>> ALL = List.of(
            Empty.class,
            Scalars.class,
            Boxes.class,
            Arrays.class,
            Words.class,
            Collections.class,
            Range.class,
            Tree.class);

    /// A random record of this type; references are null now and then.
    static Record random(final RandomGenerator random, final Class<? extends Record> type, final int depth) {
        if (type == Range.class) {
            final int from = random.nextInt(1000);
            return new Range(from, from + random.nextInt(1000));
        }
        final RecordComponent[] components = type.getRecordComponents();
        final Class<?>[] types = new Class<?>[components.length];
        final Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = value(random, components[i].getGenericType(), depth);
        }
        try {
            return type.getDeclaredConstructor(types).newInstance(values);
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object value(final RandomGenerator random, final Type type, final int depth) {
        if (type instanceof final ParameterizedType generic) {
            return generic(random, generic, depth);
        }
        final Class<?> plain = (Class<?>) type;
        if (!plain.isPrimitive() && random.nextInt(8) == 0) {
            return null;
        }
        if (plain.isArray()) {
            final Object array = Array.newInstance(plain.getComponentType(), random.nextInt(ELEMENTS_MAX));
            for (int i = 0; i < Array.getLength(array); i++) {
                Array.set(array, i, value(random, plain.getComponentType(), depth));
            }
            return array;
        }
        if (plain.isRecord()) {
            return random(random, plain.asSubclass(Record.class), depth + 1);
        }
        return scalar(random, plain);
    }

    private static Object scalar(final RandomGenerator random, final Class<?> type) {
        return switch (type.getSimpleName()) {
            case "boolean", "Boolean" -> random.nextBoolean();
            case "byte", "Byte" -> (byte) random.nextInt();
            case "char", "Character" -> (char) random.nextInt();
            case "short", "Short" -> (short) random.nextInt();
            case "int", "Integer" -> random.nextInt() >> random.nextInt(32);
            case "long", "Long" -> random.nextLong() >> random.nextInt(64);
            case "float", "Float" -> random.nextInt(9) == 0 ? Float.NaN : random.nextFloat() - 0.5f;
            case "double", "Double" -> random.nextInt(9) == 0 ? -0.0 : random.nextDouble() * 1e9;
            case "Pixel" -> Pixel.values()[random.nextInt(Pixel.values().length)];
            case "String" -> text(random);
            default -> throw new IllegalStateException("no random " + type);
        };
    }

    private static String text(final RandomGenerator random) {
        final StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            final int point = random.nextInt(random.nextBoolean() ? 0x80 : 0x11_0000);
            text.appendCodePoint(point >= 0xD800 && point < 0xE000 ? 0x20AC : point);
        }
        return text.toString();
    }

    private static Object generic(final RandomGenerator random, final ParameterizedType type, final int depth) {
        final Type[] of = type.getActualTypeArguments();
        final int count = depth > 2 ? 0 : random.nextInt(ELEMENTS_MAX);
        if (type.getRawType() == Optional.class) {
            return Optional.ofNullable(value(random, of[0], depth));
        }
        if (type.getRawType() == Map.class) {
            final Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = 0; i < count; i++) {
                map.put(value(random, of[0], depth), value(random, of[1], depth));
            }
            return map;
        }
        final List<Object> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            list.add(value(random, of[0], depth));
        }
        return type.getRawType() == Set.class ? new LinkedHashSet<>(list) : list;
    }

    /// Equality by content, also of arrays within collections and records.
    static boolean same(final Object a, final Object b) {
        if (a == null || b == null) {
            return a == b;
        }
        if (a instanceof final Record record) {
            return a.getClass() == b.getClass() && same(components(record), components((Record) b));
        }
        if (a instanceof final List<?> list) {
            return b instanceof final List<?> other && sameItems(list, other);
        }
        if (a instanceof final Set<?> set) {
            return b instanceof final Set<?> other && sameItems(new ArrayList<>(set), new ArrayList<>(other));
        }
        if (a instanceof final Map<?, ?> map) {
            return b instanceof final Map<?, ?> other
                    && sameItems(new ArrayList<>(map.keySet()), new ArrayList<>(other.keySet()))
                    && sameItems(new ArrayList<>(map.values()), new ArrayList<>(other.values()));
        }
        return Objects.deepEquals(a, b);
    }

    private static boolean sameItems(final List<?> a, final List<?> b) {
        if (a.size() != b.size()) {
            return false;
        }
        for (int i = 0; i < a.size(); i++) {
            if (!same(a.get(i), b.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static List<Object> components(final Record record) {
        final List<Object> values = new ArrayList<>();
        for (final RecordComponent component : record.getClass().getRecordComponents()) {
            try {
                values.add(component.getAccessor().invoke(record));
            } catch (final ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        return values;
    }
}
