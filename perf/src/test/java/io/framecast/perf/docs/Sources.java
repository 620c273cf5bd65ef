package io.framecast.perf.docs;

import io.framecast.rules.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The files of the checkout, without those that builds make, and the types that they declare.
final class Sources {
    private static final Set<String> BUILT = Set.of("target", "build", ".git", ".framecast", "__pycache__");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|enum|record)\\s+([A-Z]\\w*)");
    private static final Pattern MAIN = Pattern.compile(".*/src/main/java/io/framecast/(.*)/[^/]+");

    // Of files and of the directories above them.
    private final Set<String> paths = new TreeSet<>();
    // By name of a type: the sources that declare it.
    private final Map<String, String> types = new HashMap<>();
    private final Set<String> clientWords = new HashSet<>();
    private final List<String> mainSources = new ArrayList<>();
    private final Set<String> packages = new TreeSet<>();

    Sources() {
        try {
            Files.walkFileTree(Repository.ROOT, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(final Path directory, final BasicFileAttributes attributes) {
                    return BUILT.contains(directory.getFileName().toString())
                            ? FileVisitResult.SKIP_SUBTREE
                            : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(final Path file, final BasicFileAttributes attributes)
                        throws IOException {
                    add(file);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void add(final Path file) throws IOException {
        final String path = Repository.ROOT.relativize(file).toString();
        for (String at = path; !at.isEmpty(); at = at.substring(0, Math.max(0, at.lastIndexOf('/')))) {
            paths.add(at);
        }
        if (path.endsWith(".java")) {
            final String text = Files.readString(file);
            final Matcher type = TYPE.matcher(text);
            while (type.find()) {
                types.merge(type.group(1), text, String::concat);
            }
            final Matcher main = MAIN.matcher(path);
            if (main.matches()) {
                packages.add(main.group(1).replace('/', '.'));
                mainSources.add(text);
            }
        } else if (path.startsWith("clients/") && path.matches(".*\\.(py|c|h|cpp)")) {
            clientWords.addAll(List.of(Files.readString(file).split("\\W+", -1)));
        }
    }

    /// Whether a file or directory has this path, or ends with it.
    boolean hasPath(final String path) {
        return paths.contains(path) || paths.stream().anyMatch(known -> known.endsWith("/" + path));
    }

    boolean isTop(final String name) {
        return paths.contains(name);
    }

    boolean hasType(final String name) {
        return types.containsKey(name);
    }

    /// Whether a source that declares the type has the word.
    boolean hasMember(final String type, final String word) {
        return Pattern.compile("\\b" + Pattern.quote(word))
                .matcher(types.getOrDefault(type, ""))
                .find();
    }

    /// Packages of the modules, tests aside, by their names below `io.framecast`.
    Set<String> packages() {
        return packages;
    }

    /// Texts of the modules' Java sources, tests aside.
    List<String> mainSources() {
        return mainSources;
    }

    /// Whether a program in another language has the word.
    boolean hasClientWord(final String word) {
        return clientWords.contains(word);
    }

    static String lines(final Collection<String> complaints) {
        return complaints.stream().collect(Collectors.joining("\n", "\n", "\n"));
    }
}
