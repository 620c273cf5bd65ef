package io.framecast.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Lines of code that are to go, counted by class. The counts are frozen: a count that grows is a failure, and one that
/// falls is to be written down.
final class ShrinkingLists {
    private static final String ENGINE = "engine/src/main/java/io/framecast/engine/";

    // A feature that is not there is an object that does nothing.
    private static final Pattern NULL_TEST = Pattern.compile(
            "\\b(local|shared|takeover|leader|inherited|protection|keys|seals|readers|security)\\w*(\\(\\))? [!=]= null");
    private static final Pattern QUESTION =
            Pattern.compile("\\b(isShared|isListened|isHandoverComplete|isResumed|hasFollowers|isEncrypting|isEncrypted"
                    + "|isAuthenticated|isFedOnly|isLeader|isAlone|isProtected)\\(\\)");
    // The simulator passes the time to what it drives. A class that compares times by itself decides outside of it.
    private static final Pattern TIME = Pattern.compile(
            "(nowNs|nanoTime\\(\\))\\s*(-|<|>)|[<>]=?\\s*(nowNs|System\\.nanoTime)|(-|<=?|>=?)\\s*\\w+Ns\\b\\s*(<|>|\\?|\\)|&&|;)");

    private static final Map<String, Kind> KINDS = Map.of(
            "null-test", new Kind("(publish|subscribe)/.*", NULL_TEST),
            "question", new Kind("(publish|subscribe)/.*", QUESTION),
            "decides", new Kind("(publish|subscribe|hostgroup|session|clients)/.*", TIME));

    /// @param files of the packages where lines are counted
    private record Kind(String files, Pattern line) {
        long count(final String text) {
            return text.lines()
                    .filter(one -> !one.stripLeading().startsWith("//"))
                    .filter(one -> line.matcher(one).find())
                    .count();
        }
    }

    private ShrinkingLists() {}

    /// Differences between a module's sources and the frozen lines, each `KIND CLASS COUNT`.
    ///
    /// @param sources by path from the repository's root
    static List<String> differences(final Map<String, String> sources, final List<String> frozen) {
        final List<String> all = new ArrayList<>();
        KINDS.forEach((word, kind) -> {
            final Map<String, Long> found = new TreeMap<>();
            sources.forEach((path, text) -> {
                final long count = path.matches(ENGINE + kind.files) ? kind.count(text) : 0;
                if (count > 0) {
                    found.put(path.substring(ENGINE.length()).replace(".java", ""), count);
                }
            });
            final Map<String, Long> allowed = frozen.stream()
                    .map(line -> line.split(" ", -1))
                    .filter(words -> words[0].equals(word))
                    .collect(Collectors.toMap(words -> words[1], words -> Long.valueOf(words[2])));
            found.forEach((name, count) -> {
                if (!count.equals(allowed.getOrDefault(name, 0L))) {
                    all.add(word + " " + name + " " + count + ", frozen " + allowed.getOrDefault(name, 0L));
                }
            });
            allowed.keySet().stream()
                    .filter(name -> !found.containsKey(name))
                    .forEach(name -> all.add(word + " " + name + " 0, frozen " + allowed.get(name)));
        });
        return all.stream().sorted().toList();
    }
}
