package io.framecast.perf.tail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.framecast.perf.harness.Records;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TailLogTest {
    private static final TailReport REPORT = new TailReport(
            new TailLog(
                    new long[] {7, 0, Long.MAX_VALUE},
                    List.of(
                            new TailLog.Event(TailLog.Kind.LOST, 1L << 40, 3, -5),
                            new TailLog.Event(TailLog.Kind.LOST_REPAIR, 2, 4, 6))),
            9,
            2,
            0.5,
            List.of(5L),
            List.of());

    @Test
    void shouldReadWhatWasWritten() {
        assertEquals(REPORT, Records.read(TailReport.class, Records.write(REPORT)));
    }

    @Test
    void shouldRefuseWhatWasCutOrChanged() {
        final String whole = Records.write(REPORT);
        for (int length = 0; length < whole.length(); length++) {
            final String cut = whole.substring(0, length);
            assertThrows(IllegalArgumentException.class, () -> Records.read(TailReport.class, cut), cut);
        }
        for (final String changed : List.of(whole + "1", whole.replace("LOST", "FOUND"), whole.replace("atNs", "at"))) {
            assertThrows(IllegalArgumentException.class, () -> Records.read(TailReport.class, changed), changed);
        }
    }
}
