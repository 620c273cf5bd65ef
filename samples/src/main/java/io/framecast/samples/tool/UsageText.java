package io.framecast.samples.tool;

import io.framecast.api.EditDistance;
import io.framecast.samples.ExitStatus;
import java.util.Comparator;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// The error of a command line in words for its user: the parser's own text names Java's types, and not the word
/// that was probably meant.
final class UsageText {
    private static final Pattern NOT_A_NUMBER = Pattern.compile("' is not an? (double|float)");
    private static final Pattern NOT_WHOLE = Pattern.compile("' is not an? (int|long|short)");

    private UsageText() {}

    static String of(final ParameterException failure) {
        final String line = ExitStatus.line(failure);
        if (failure instanceof UnmatchedArgumentException unmatched) {
            return unmatchedText(unmatched, line);
        }
        final Matcher whole = NOT_WHOLE.matcher(NOT_A_NUMBER.matcher(line).replaceFirst("' is not a number"));
        return whole.replaceFirst("' is not a whole number");
    }

    private static String unmatchedText(final UnmatchedArgumentException failure, final String line) {
        final String word = failure.getUnmatched().getFirst();
        final boolean command = failure.getCommandLine().getParent() == null;
        final String kind = failure.isUnknownOption() ? "option" : "command";
        final String text = command || failure.isUnknownOption() ? "unknown " + kind + " '" + word + "'" : line;
        final CommandSpec spec = failure.getCommandLine().getCommandSpec();
        final Set<String> known = failure.isUnknownOption()
                ? spec.optionsMap().keySet()
                : spec.subcommands().keySet();
        return text + nearest(word.replaceFirst("=.*", ""), known);
    }

    // Words that have less than half of their letters in common are no slips of the hand.
    private static String nearest(final String word, final Set<String> known) {
        return known.stream()
                .filter(candidate -> 2 * EditDistance.between(word, candidate) <= candidate.length())
                .min(Comparator.comparingInt((String candidate) -> EditDistance.between(word, candidate))
                        .thenComparing(Comparator.naturalOrder()))
                .map(candidate -> "; nearest is " + candidate)
                .orElse("");
    }
}
