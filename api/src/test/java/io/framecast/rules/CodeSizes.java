package io.framecast.rules;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;
import javax.tools.ToolProvider;

/// The main classes that have more code, more fields or longer constructors than a reader takes in at once. Lines
/// of code are neither blank nor comments nor imports. A file counts as one class, with the classes in it; fields
/// are those of an instance. Canonical constructors of records have as many parameters as they need.
final class CodeSizes {
    static final int LINES_MAX = 400;
    /// Of a machine of the protocol, which holds the rules of one role.
    static final int MACHINE_LINES_MAX = 700;

    static final int FIELDS_MAX = 30;
    static final int PARAMETERS_MAX = 7;
    static final int CONSTRUCTOR_LINES_MAX = 40;

    private static final Set<String> KINDS = Set.of("large", "fields", "parameters", "constructor");
    private static final Pattern MAIN = Pattern.compile(".*/src/main/java/io/framecast/(.*)\\.java");
    private static final String MACHINE = "reliability/.*Machine";

    private final Map<String, Integer> found = new TreeMap<>();

    private CodeSizes() {}

    /// Differences between a module's sources and the frozen lines, each `KIND CLASS SIZE`: a class may be as
    /// large as its line says. A class within its limit has no line.
    ///
    /// @param sources by path from the repository's root
    static List<String> differences(final Map<String, String> sources, final List<String> frozen) {
        final Map<String, Integer> sizes = excesses(sources);
        final Map<String, Integer> allowed = new TreeMap<>();
        frozen.stream()
                .map(line -> line.split(" ", -1))
                .filter(words -> KINDS.contains(words[0]))
                .forEach(words -> allowed.put(words[0] + " " + words[1], Integer.valueOf(words[2])));
        final List<String> all = new ArrayList<>();
        sizes.forEach((name, size) -> {
            if (size > allowed.getOrDefault(name, 0)) {
                all.add(name + " " + size + ", frozen " + allowed.getOrDefault(name, 0));
            }
        });
        // The lines of other modules are theirs.
        final Set<String> packages = sources.keySet().stream()
                .map(CodeSizes::className)
                .map(CodeSizes::packageOf)
                .collect(Collectors.toSet());
        allowed.forEach((name, size) -> {
            if (!sizes.containsKey(name) && packages.contains(packageOf(name.substring(name.indexOf(' ') + 1)))) {
                all.add(name + " is within its limit, frozen " + size);
            }
        });
        return all;
    }

    /// Sizes beyond the limits, by `KIND CLASS`.
    static Map<String, Integer> excesses(final Map<String, String> sources) {
        final CodeSizes sizes = new CodeSizes();
        final List<JavaStyle.Source> mains = new ArrayList<>();
        sources.forEach((path, text) -> {
            final String name = className(path);
            if (!name.isEmpty()) {
                final long lines = text.lines()
                        .map(String::strip)
                        .filter(CodeSizes::isCode)
                        .count();
                sizes.note("large", name, lines, name.matches(MACHINE) ? MACHINE_LINES_MAX : LINES_MAX);
                mains.add(new JavaStyle.Source(path, text));
            }
        });
        sizes.scan(mains);
        return sizes.found;
    }

    // As in `engine/udp/UdpLane`; empty for a test.
    private static String className(final String path) {
        final Matcher main = MAIN.matcher(path);
        return main.matches() ? main.group(1) : "";
    }

    private static String packageOf(final String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('/')));
    }

    private static boolean isCode(final String line) {
        return !line.isEmpty() && !line.startsWith("//") && !line.startsWith("import ") && !line.startsWith("package ");
    }

    private void note(final String kind, final String name, final long size, final int most) {
        if (size > most) {
            found.merge(kind + " " + name, (int) size, Math::max);
        }
    }

    private void scan(final List<JavaStyle.Source> mains) {
        if (mains.isEmpty()) {
            return;
        }
        final JavacTask task =
                (JavacTask) ToolProvider.getSystemJavaCompiler().getTask(null, null, _ -> {}, null, null, mains);
        final SourcePositions positions = Trees.instance(task).getSourcePositions();
        try {
            for (final CompilationUnitTree unit : task.parse()) {
                new Scanner(unit, positions).scan(unit, null);
            }
        } catch (final IOException e) {
            throw new IllegalStateException("sources in memory", e);
        }
    }

    /// Looks at each class of one file.
    private final class Scanner extends TreePathScanner<Void, Void> {
        private final String name;
        private final CompilationUnitTree unit;
        private final SourcePositions positions;

        Scanner(final CompilationUnitTree unit, final SourcePositions positions) {
            name = className(unit.getSourceFile().getName());
            this.unit = unit;
            this.positions = positions;
        }

        @Override
        public Void visitClass(final ClassTree tree, final Void none) {
            int fields = 0;
            for (final Tree member : tree.getMembers()) {
                fields += member instanceof final VariableTree field && isOfInstance(field) ? 1 : 0;
            }
            if (tree.getKind() != Tree.Kind.INTERFACE && tree.getKind() != Tree.Kind.ANNOTATION_TYPE) {
                note("fields", name, fields, FIELDS_MAX);
            }
            for (final Tree member : tree.getMembers()) {
                if (member instanceof final MethodTree method
                        && method.getName().contentEquals("<init>")) {
                    final int parameters = method.getParameters().size();
                    final boolean isCanonical =
                            tree.getKind() == Tree.Kind.RECORD && (parameters == 0 || parameters == fields);
                    if (!isCanonical) {
                        note("parameters", name, parameters, PARAMETERS_MAX);
                        note("constructor", name, lines(method), CONSTRUCTOR_LINES_MAX);
                    }
                }
            }
            return super.visitClass(tree, null);
        }

        private static boolean isOfInstance(final VariableTree field) {
            return !field.getModifiers().getFlags().contains(Modifier.STATIC);
        }

        private long lines(final MethodTree method) {
            return unit.getLineMap().getLineNumber(positions.getEndPosition(unit, method))
                    - unit.getLineMap().getLineNumber(positions.getStartPosition(unit, method))
                    + 1;
        }
    }
}
