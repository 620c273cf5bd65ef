package io.framecast.rules;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// The rules on length of lines and methods, and on names. Complaints are lines `file:line: what, and the
/// limit`.
final class JavaStyle {
    static final int METHOD_LINES_MAX = 70;
    static final int DOC_COLUMNS_MAX = 120;

    private static final Pattern SUFFIX = Pattern.compile("\\w*(Manager|Helper|Helpers|Util|Utils|Impl|Base)");
    // Spelled in two parts, so that this file does not complain of itself.
    private static final Pattern MARK = Pattern.compile("\\b(TO" + "DO|FIX" + "ME|X" + "XX)\\b(?!\\(#\\d+\\))");

    private final List<String> complaints = new ArrayList<>();

    private JavaStyle() {}

    /// All sources go through one parser: starting it is what takes time.
    static List<String> complaints(final List<Source> sources) {
        final JavaStyle style = new JavaStyle();
        for (final Source source : sources) {
            style.checkLines(source.file, source.text.lines().toList());
        }
        style.checkTrees(sources);
        return style.complaints;
    }

    private void checkLines(final String file, final List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            final String line = lines.get(i);
            // The formatter leaves what it cannot break; a doc line it does break no longer compiles.
            if (line.stripLeading().startsWith("///") && line.length() > DOC_COLUMNS_MAX) {
                complain(file, i + 1, "doc line of " + line.length() + " columns, at most " + DOC_COLUMNS_MAX);
            }
            if (MARK.matcher(line).find()) {
                complain(file, i + 1, "a mark for work to do carries an issue number: TO" + "DO(#12)");
            }
        }
    }

    private void checkTrees(final List<Source> sources) {
        final JavacTask task =
                (JavacTask) ToolProvider.getSystemJavaCompiler().getTask(null, null, _ -> {}, null, null, sources);
        final SourcePositions positions = Trees.instance(task).getSourcePositions();
        try {
            for (final CompilationUnitTree unit : task.parse()) {
                new Scanner(unit, positions).scan(unit, null);
            }
        } catch (final IOException e) {
            throw new IllegalStateException("sources in memory", e);
        }
    }

    private void complain(final String file, final long line, final String what) {
        complaints.add(file + ":" + line + ": " + what);
    }

    /// Looks at each class and method of one file.
    private final class Scanner extends TreePathScanner<Void, Void> {
        private final String file;
        private final CompilationUnitTree unit;
        private final SourcePositions positions;

        Scanner(final CompilationUnitTree unit, final SourcePositions positions) {
            // javac wraps what it was given; the name passes through.
            this.file = unit.getSourceFile().getName().substring(1);
            this.unit = unit;
            this.positions = positions;
        }

        @Override
        public Void visitClass(final ClassTree tree, final Void none) {
            if (SUFFIX.matcher(tree.getSimpleName()).matches()) {
                complain(
                        file,
                        line(tree),
                        tree.getSimpleName() + ": name its purpose instead of Manager, Helper, Util, Impl, Base");
            }
            return super.visitClass(tree, null);
        }

        @Override
        public Void visitMethod(final MethodTree tree, final Void none) {
            final long lines = unit.getLineMap().getLineNumber(positions.getEndPosition(unit, tree)) - line(tree) + 1;
            if (lines > METHOD_LINES_MAX) {
                complain(file, line(tree), tree.getName() + " of " + lines + " lines, at most " + METHOD_LINES_MAX);
            }
            return super.visitMethod(tree, null);
        }

        private long line(final Tree tree) {
            return unit.getLineMap().getLineNumber(positions.getStartPosition(unit, tree));
        }
    }

    /// A source in memory.
    static final class Source extends SimpleJavaFileObject {
        private final String file;
        private final String text;

        /// @param file named in complaints
        Source(final String file, final String text) {
            super(URI.create("string:///" + file), JavaFileObject.Kind.SOURCE);
            this.file = file;
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(final boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
