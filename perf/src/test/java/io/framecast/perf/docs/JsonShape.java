package io.framecast.perf.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Fields and types of JSON objects, as text: a line per field with its path and the types of its values, such as
/// `rows[].goodput_MBps decimal`. `[]` stands for the elements of a list. `*` stands for all names of an object whose
/// names are data. A `?` behind a path marks a field that some objects lack.
///
/// A decimal may be null, for JSON has no NaN ([io.framecast.perf.table.Table]). A field whose only type is null, a
/// list without an element and an object without a field were empty when the shape was written: their content is not
/// compared.
final class JsonShape {
    private static final String ROOT = "";

    private final Map<String, Field> fields = new TreeMap<>();
    private final Map<String, Integer> objects = new TreeMap<>();
    private final Set<String> named;

    private static final class Field {
        private final Set<String> types = new TreeSet<>();
        private boolean optional;
        private int count;

        /// Null alone says nothing about the type.
        private boolean takes(final String type) {
            return types.equals(Set.of("null"))
                    || types.contains(type)
                    || (type.equals("null") && types.contains("decimal"));
        }
    }

    /// @param named paths of the objects whose names are data
    private JsonShape(final Set<String> named) {
        this.named = named;
    }

    static JsonShape parse(final List<String> lines) {
        final JsonShape shape = new JsonShape(new TreeSet<>());
        for (final String line : lines) {
            // Names that are data may have spaces.
            final int space = line.lastIndexOf(' ');
            final String marked = line.substring(0, space);
            final String path = marked.replace("?", "");
            final Field field = shape.field(path);
            field.optional = marked.endsWith("?");
            field.types.addAll(List.of(line.substring(space + 1).split("\\|")));
            shape.objects.put(parent(path), 1);
            if (path.endsWith("*")) {
                shape.named.add(parent(path));
            }
        }
        return shape;
    }

    /// The shape of an object, with the names that are data in this shape.
    JsonShape of(final Map<?, ?> json) {
        final JsonShape shape = new JsonShape(named);
        shape.add(ROOT, json);
        shape.fields.forEach((path, field) ->
                field.optional = path.endsWith("*") || field.count < shape.objects.getOrDefault(parent(path), 0));
        return shape;
    }

    private void add(final String path, final @Nullable Object value) {
        if (!path.equals(ROOT)) {
            final Field field = field(path);
            field.count++;
            field.types.add(type(value));
        }
        if (value instanceof Map<?, ?> map) {
            objects.merge(path, 1, Integer::sum);
            map.forEach((name, part) ->
                    add((path.equals(ROOT) ? "" : path + ".") + (named.contains(path) ? "*" : name), part));
        } else if (value instanceof List<?> list) {
            list.forEach(element -> add(path + "[]", element));
        }
    }

    private Field field(final String path) {
        return fields.computeIfAbsent(path, _ -> new Field());
    }

    private static String type(final @Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case Long _ -> "integer";
            case Number _ -> "decimal";
            case Boolean _ -> "boolean";
            case String _ -> "string";
            case Map<?, ?> _ -> "object";
            default -> "list";
        };
    }

    /// The object that a field belongs to. An element's is its list, which is none.
    private static String parent(final String path) {
        if (path.endsWith("[]")) {
            return path.substring(0, path.length() - 2) + "[";
        }
        return path.contains(".") ? path.substring(0, path.lastIndexOf('.')) : ROOT;
    }

    /// The fields and types of another shape that this one does not allow.
    List<String> differences(final JsonShape seen) {
        final List<String> all = new ArrayList<>();
        seen.fields.forEach((path, field) -> {
            final @Nullable Field expected = fields.get(path);
            if (expected == null && !isBelowEmpty(path)) {
                all.add("new: " + line(path, field));
            } else if (expected != null && !field.types.stream().allMatch(expected::takes)) {
                all.add("other type: " + line(path, field) + ", expected " + line(path, expected));
            } else if (expected != null && field.optional && !expected.optional) {
                all.add("missing in some objects: " + path);
            }
        });
        fields.forEach((path, field) -> {
            if (!field.optional && !seen.fields.containsKey(path) && seen.hasObject(parent(path))) {
                all.add("missing: " + path);
            }
        });
        return all;
    }

    // Whether a list or an object around the path had no content.
    private boolean isBelowEmpty(final String path) {
        return fields.entrySet().stream()
                .anyMatch(entry -> (path.startsWith(entry.getKey() + ".") || path.startsWith(entry.getKey() + "[]"))
                        && fields.keySet().stream()
                                .noneMatch(other -> other.startsWith(entry.getKey() + ".")
                                        || other.startsWith(entry.getKey() + "[]")));
    }

    private boolean hasObject(final String path) {
        return objects.containsKey(path);
    }

    /// Allows what another shape has, too.
    void merge(final JsonShape seen) {
        final Set<String> lacking = new TreeSet<>(fields.keySet());
        lacking.removeAll(seen.fields.keySet());
        lacking.removeIf(path -> !seen.hasObject(parent(path)));
        final Set<String> fresh = new TreeSet<>(seen.fields.keySet());
        fresh.removeAll(fields.keySet());
        fresh.removeIf(path -> !hasObject(parent(path)));
        seen.fields.forEach((path, field) -> {
            final Field own = field(path);
            own.types.addAll(field.types);
            own.optional |= field.optional || fresh.contains(path);
        });
        lacking.forEach(path -> field(path).optional = true);
        objects.putAll(seen.objects);
    }

    private static String line(final String path, final Field field) {
        return path + (field.optional ? "? " : " ") + String.join("|", field.types);
    }

    List<String> lines() {
        final List<String> lines = new ArrayList<>();
        fields.forEach((path, field) -> lines.add(line(path, field)));
        return lines;
    }
}
