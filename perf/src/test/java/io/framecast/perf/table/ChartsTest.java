package io.framecast.perf.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

final class ChartsTest {
    private static final List<String> NAMES = List.of("framecast", "ring", "knomial");

    @BeforeAll
    static void requireFonts() {
        Fonts.require();
    }

    @Test
    void shouldDrawThePointsOfAllLinesAboveTheirValue() throws IOException {
        final List<Figure.Value> values = new ArrayList<>();
        for (int i = 0; i < NAMES.size(); i++) {
            for (final String category : List.of("1", "2", "4")) {
                final List<Double> rounds = category.equals("2") ? List.of(10 + 30.0 * i) : List.of();
                values.add(new Figure.Value(NAMES.get(i), category, Statistics.of(rounds)));
            }
        }
        final Figure figure = Figure.of("id", "title", "subscribers", "MB/s", values, true);
        final BufferedImage picture = ImageIO.read(new ByteArrayInputStream(Charts.png(figure)));
        final double first = column(picture, NAMES.getFirst());
        for (final String name : NAMES) {
            assertEquals(first, column(picture, name), 1.5, name);
        }
    }

    @Test
    void shouldDrawWellFormedSvgWithAnAxisThatHoldsAllValues() throws Exception {
        for (final double highest : List.of(0.003, 0.7, 12.0, 4_321.0, 5e6)) {
            final Figure bars = Figure.of(
                    "f", "t", "x", "y", List.of(new Figure.Value("udp", "a", Statistics.of(List.of(highest)))), false);
            final String svg = new String(Charts.svg(bars), StandardCharsets.UTF_8);
            final Document document = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
            assertEquals("svg", document.getDocumentElement().getTagName());
            assertFalse(svg.contains("NaN"), svg);
        }
    }

    @Test
    void shouldDrawNoWhiskersOverOneRound() throws IOException {
        assertTrue(strokes(List.of(10.0)) < strokes(List.of(9.0, 10.0, 12.0)));
    }

    private static long strokes(final List<Double> rounds) throws IOException {
        final Figure bars =
                Figure.of("f", "t", "x", "y", List.of(new Figure.Value("tcp", "a", Statistics.of(rounds))), false);
        return Pattern.compile("<(line|path|polyline|rect)\\b")
                .matcher(new String(Charts.svg(bars), StandardCharsets.UTF_8))
                .results()
                .count();
    }

    // The middle of what is drawn in a series' colour, the legend on the right left out.
    private static double column(final BufferedImage picture, final String name) {
        final int wanted = Integer.decode(Charts.colour(name));
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
