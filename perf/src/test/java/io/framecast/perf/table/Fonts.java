package io.framecast.perf.table;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.GraphicsEnvironment;

/// Whether figures can be drawn here: AWT needs fontconfig and a font, which small systems lack.
public final class Fonts {
    private Fonts() {}

    public static boolean arePresent() {
        System.setProperty("java.awt.headless", "true");
        try {
            return GraphicsEnvironment.getLocalGraphicsEnvironment().getAvailableFontFamilyNames().length > 0;
        } catch (final RuntimeException | LinkageError | InternalError e) {
            return false;
        }
    }

    static void require() {
        assumeTrue(arePresent(), "no fonts to draw with; install fontconfig and a font");
    }
}
