package io.framecast.api;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;

/// How far a word is from another, for messages that name what was probably meant: letters to insert, drop or
/// replace (Levenshtein distance).
public final class EditDistance {
    private EditDistance() {}

    /// The known word with the smallest distance; among equals the first.
    ///
    /// @param known at least one word
    public static String nearest(final String word, final Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt(candidate -> between(word, candidate)))
                .orElseThrow();
    }

    public static int between(final String a, final String b) {
        int[] previous = new int[b.length() + 1];
        Arrays.setAll(previous, i -> i);
        for (int i = 1; i <= a.length(); i++) {
            final int[] current = new int[b.length() + 1];
            current[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                final int substitute = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(substitute, 1 + Math.min(previous[j], current[j - 1]));
            }
            previous = current;
        }
        return previous[b.length()];
    }
}
