package io.framecast.samples.options;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/// Numbers between commas, each once and written as a [Size] is.
///
/// @param text as the user wrote it
public record Sizes(String text, List<Long> values) {
    public static Sizes of(final long... values) {
        return new Sizes(
                LongStream.of(values).mapToObj(Long::toString).collect(Collectors.joining(",")),
                LongStream.of(values).boxed().toList());
    }

    /// The numbers where they are bounded by an int.
    public List<Integer> ints() {
        return values.stream().map(Math::toIntExact).toList();
    }

    @Override
    public String toString() {
        return text;
    }
}
