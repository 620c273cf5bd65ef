package io.framecast.perf.table;

import java.awt.Color;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/// Draws figures, by XChart. Needs AWT with fonts, which small systems lack: there a method throws an
/// unchecked exception or an error.
final class Charts {
    private static final int WIDTH = 1_140;
    private static final int HEIGHT = 570;
    private static final double MARGIN = 1.05;
    private static final String BLUE = "#1f6feb";
    private static final String TEAL = "#0f9d8a";
    private static final String ORANGE = "#e07a1f";
    private static final String PURPLE = "#7c3aed";
    private static final String GREY = "#8a93a0";

    // One colour per series, the same in every plot.
    private static final Map<String, String> COLOURS = Map.ofEntries(
            Map.entry("framecast (aeron)", TEAL),
            Map.entry("framecast (verbs)", PURPLE),
            Map.entry("floor", GREY),
            Map.entry("stock-aeron", ORANGE),
            Map.entry("tcp", "#b5366f"),
            Map.entry("framecast, streaming", "#8cb8f5"),
            Map.entry("host-group", TEAL),
            Map.entry("host-group, streaming", "#8fd6cc"),
            Map.entry("independent, streaming", "#8cb8f5"),
            Map.entry("shmem", ORANGE),
            Map.entry("shmem, streaming", "#f3bf8f"),
            Map.entry("local", PURPLE),
            Map.entry("copy", GREY),
            Map.entry("ring", ORANGE),
            Map.entry("ring, streaming", "#f3bf8f"),
            Map.entry("knomial", TEAL),
            Map.entry("knomial, streaming", "#8fd6cc"),
            Map.entry("multicast-staged", "#8cb8f5"),
            Map.entry("ring-pipeline", ORANGE),
            Map.entry("ring-staged", "#f3bf8f"),
            Map.entry("knomial-2", TEAL),
            Map.entry("knomial-2-staged", "#8fd6cc"),
            Map.entry("knomial-2-pipeline", "#065a4e"),
            Map.entry("knomial-4", PURPLE),
            Map.entry("knomial-4-pipeline", PURPLE),
            Map.entry("unicast", GREY));
    // A prediction has the colour of what it predicts, darker, and a broken line.
    private static final List<String> PREDICTED = List.of(", model", ", eq. 9");

    private Charts() {}

    static String colour(final String series) {
        return COLOURS.getOrDefault(series, BLUE);
    }

    private static String predicted(final String series) {
        return PREDICTED.stream()
                .filter(series::endsWith)
                .map(suffix -> series.substring(0, series.length() - suffix.length()))
                .findFirst()
                .orElse("");
    }

    static byte[] png(final Figure figure) throws IOException {
        return ChartEncoder.getBytes(draw(figure), "png");
    }

    /// Without a document type, which would name an address to be fetched.
    static byte[] svg(final Figure figure) throws IOException {
        return new String(ChartEncoder.getBytes(draw(figure), "svg"), StandardCharsets.UTF_8)
                .replaceFirst("<!DOCTYPE[^>]*>", "")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static CategoryChart draw(final Figure figure) {
        // Without a display there is still a picture.
        System.setProperty("java.awt.headless", "true");
        final CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(figure.title())
                .xAxisTitle(figure.xTitle())
                .yAxisTitle(figure.yTitle())
                .build();
        final CategoryStyler styler = chart.getStyler();
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        styler.setYAxisDecimalPattern("#,##0.###");
        final DoubleSummaryStatistics known = figure.known();
        styler.setYAxisLogarithmic(figure.isLogarithmic());
        if (figure.isLogarithmic()) {
            styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(known.getMin()))));
            styler.setYAxisMax(Math.pow(10, Math.ceil(Math.log10(known.getMax()))));
        } else {
            styler.setYAxisMin(0.0);
            styler.setYAxisMax(highest(figure) * MARGIN);
        }
        if (figure.lines()) {
            styler.setDefaultSeriesRenderStyle(CategorySeries.CategorySeriesRenderStyle.Line);
            // Without it each series is drawn beside the one before, as bars are, and its points stand at
            // other values.
            styler.setOverlapped(true);
        }
        figure.series().forEach((name, values) -> {
            // Towards zero a logarithmic axis has no room for the spread; one round has none.
            final List<Double> spreads = spreads(values);
            final CategorySeries drawn =
                    figure.isLogarithmic() || spreads.stream().allMatch(spread -> spread == 0)
                            ? chart.addSeries(name, figure.categories(), medians(values))
                            : chart.addSeries(name, figure.categories(), medians(values), spreads);
            final String what = predicted(name);
            final Color colour = what.isEmpty()
                    ? Color.decode(colour(name))
                    : Color.decode(colour(what)).darker();
            drawn.setLineStyle(what.isEmpty() ? SeriesLines.SOLID : SeriesLines.DASH_DASH);
            if (!what.isEmpty()) {
                drawn.setMarker(SeriesMarkers.NONE);
            }
            drawn.setFillColor(colour);
            drawn.setLineColor(colour);
            drawn.setMarkerColor(colour);
        });
        return chart;
    }

    private static double highest(final Figure figure) {
        final double highest = figure.series().values().stream()
                .flatMap(List::stream)
                .mapToDouble(Statistics::q3)
                .filter(value -> value > 0)
                .max()
                .orElse(1);
        return Math.max(highest, figure.known().getMax());
    }

    // XChart leaves out what is null.
    private static List<@Nullable Double> medians(final List<Statistics> values) {
        final List<@Nullable Double> medians = new ArrayList<>();
        values.forEach(value -> medians.add(Double.isNaN(value.median()) ? null : value.median()));
        return medians;
    }

    // XChart draws one length to both sides: the longer one.
    private static List<Double> spreads(final List<Statistics> values) {
        return values.stream()
                .map(value -> Math.max(value.q3() - value.median(), value.median() - value.q1()))
                .map(spread -> Double.isNaN(spread) ? 0 : spread)
                .toList();
    }
}
