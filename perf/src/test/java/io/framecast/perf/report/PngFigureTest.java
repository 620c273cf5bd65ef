package io.framecast.perf.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PngFigureTest {
    private static final List<String> NAMES = List.of("framecast", "ring", "knomial");

    @TempDir
    private Path folder;

    @Test
    void shouldDrawThePointsOfAllLinesAboveTheirValue() throws IOException {
        final List<Figure.Series> series = new ArrayList<>();
        for (int i = 0; i < NAMES.size(); i++) {
            final double height = 10 + 30.0 * i;
            final Figure.Point point = new Figure.Point(height, height, height);
            series.add(new Figure.Series(NAMES.get(i), List.of(Figure.Point.NONE, point, Figure.Point.NONE)));
        }
        final Path file = folder.resolve("lines.png");
        PngFigure.write(
                new Figure("id", "title", "subscribers", "MB/s", List.of("1", "2", "4"), series, true, false), file);
        final BufferedImage picture = ImageIO.read(file.toFile());
        final double first = column(picture, NAMES.getFirst());
        for (final String name : NAMES) {
            assertEquals(first, column(picture, name), 1.5, name);
        }
    }

    // The middle of what is drawn in a series' colour, the legend on the right left out.
    private static double column(final BufferedImage picture, final String name) {
        final int wanted = Integer.decode(Palette.light(name));
        long sum = 0;
        long count = 0;
        for (int x = 0; x < picture.getWidth() * 3 / 4; x++) {
            for (int y = 60; y < picture.getHeight(); y++) {
                if ((picture.getRGB(x, y) & 0xffffff) == wanted) {
                    sum += x;
                    count++;
                }
            }
        }
        assertTrue(count > 0, () -> "nothing is drawn of " + name);
        return (double) sum / count;
    }
}
