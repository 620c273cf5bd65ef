package io.framecast.perf.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Figures as files: an SVG and, where that can be done, a PNG of each.
public final class Plots {
    private Plots() {}

    /// @param folder that is there
    /// @return what is to be told about it
    /// @throws IOException when something cannot be written
    public static List<String> write(final Path folder, final List<Figure> figures) throws IOException {
        final List<String> lines = new ArrayList<>();
        for (final Figure figure : figures) {
            Files.writeString(folder.resolve(figure.id() + ".svg"), SvgFigure.file(figure));
        }
        // AWT needs fonts and libraries that small systems lack; the other formats do not.
        try {
            for (final Figure figure : figures) {
                PngFigure.write(figure, folder.resolve(figure.id() + ".png"));
            }
        } catch (final RuntimeException | LinkageError | InternalError e) {
            lines.add("skipped: plots as PNG, install fontconfig and a font if they are missing: " + e);
        }
        return lines;
    }
}
