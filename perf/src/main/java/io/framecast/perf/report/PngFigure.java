package io.framecast.perf.report;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;

/// Draws a figure as PNG, by XChart.
final class PngFigure {
    private static final int WIDTH = 1_140;
    private static final int HEIGHT = 570;

    private PngFigure() {}

    /// @throws IOException when it cannot be written
    static void write(final Figure figure, final Path file) throws IOException {
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
        styler.setYAxisLogarithmic(figure.logarithmic());
        styler.setYAxisDecimalPattern("#,##0.###");
        final Axis axis = Axis.of(figure);
        styler.setYAxisMin(axis.low());
        styler.setYAxisMax(axis.high());
        if (figure.lines()) {
            styler.setDefaultSeriesRenderStyle(CategorySeries.CategorySeriesRenderStyle.Line);
            // Else each series is drawn beside the one before, as bars are, and its points stand at other values.
            styler.setOverlapped(true);
        }
        for (final Figure.Series series : figure.series()) {
            // Towards zero a logarithmic axis has no room for the spread.
            final CategorySeries drawn = figure.logarithmic()
                    ? chart.addSeries(series.name(), figure.categories(), values(series))
                    : chart.addSeries(series.name(), figure.categories(), values(series), spread(series));
            final Color colour = Color.decode(Palette.light(series.name()));
            drawn.setFillColor(colour);
            drawn.setLineColor(colour);
            drawn.setMarkerColor(colour);
        }
        final BufferedImage picture = BitmapEncoder.getBufferedImage(chart);
        try (OutputStream stream = Files.newOutputStream(file)) {
            ImageIO.write(picture, "png", stream);
        }
    }

    // XChart leaves out what is null.
    private static List<@Nullable Double> values(final Figure.Series series) {
        final List<@Nullable Double> values = new ArrayList<>();
        series.points().forEach(point -> values.add(point.isKnown() ? point.value() : null));
        return values;
    }

    // XChart draws one length to both sides: the longer one.
    private static List<Double> spread(final Figure.Series series) {
        return series.points().stream()
                .map(point ->
                        point.isKnown() ? Math.max(point.high() - point.value(), point.value() - point.low()) : 0.0)
                .toList();
    }
}
