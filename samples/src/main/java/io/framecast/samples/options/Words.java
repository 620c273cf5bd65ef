package io.framecast.samples.options;

import java.util.List;

/// Words between commas, each once.
public record Words(List<String> values) {
    /// The word for an empty list.
    public static final String NONE = "none";

    public static Words of(final String... values) {
        return new Words(List.of(values));
    }

    boolean areNone() {
        return values.equals(List.of(NONE));
    }

    /// The words; without any where [#NONE] stands in their place.
    public List<String> some() {
        return areNone() ? List.of() : values;
    }

    @Override
    public String toString() {
        return String.join(",", values);
    }
}
