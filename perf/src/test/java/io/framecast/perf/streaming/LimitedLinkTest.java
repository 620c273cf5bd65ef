package io.framecast.perf.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.ParsedOptions;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Streams on links of which each has a rate: what each scheme sends over the source's.
final class LimitedLinkTest {
    private static final long RATE = 20_000_000;

    private static List<StreamingRow> rows(final String options) throws Exception {
        final String why = Networks.unavailable();
        Assumptions.assumeTrue(why.isEmpty(), () -> "skipped: no network namespaces: " + why);
        final String common = "--net bridge --net-rate " + RATE
                + " --device host --background none --frame-bytes 256K --quick --seconds 1 ";
        final StreamingPlan plan = ParsedOptions.of(new StreamingOptions(), (common + options).split(" "))
                .plan();
        try (StreamingRun run = new StreamingRun(plan, _ -> {})) {
            return run.run(_ -> {});
        }
    }

    @Tag("campaign")
    @Test
    void shouldCarryWhatASchemeSendsAndNoMoreThanTheLinksDo() throws Exception {
        final List<StreamingRow> rows = rows("--subscribers 3 --against ring,knomial-2,unicast");
        assertEquals(4, rows.size());
        for (final StreamingRow row : rows) {
            assertEquals(List.of(), row.failures(), row.contender().text());
            final LinkUse link = row.results().getFirst().link();
            // Three receivers: a binomial tree sends twice, and each header is some per cent.
            final double sent = switch (row.contender().scheme()) {
                case Scheme.KNOMIAL -> 2;
                case Scheme.UNICAST -> 3;
                default -> 1;
            };
            assertEquals(
                    sent, link.sourcePerByte(), 0.15 * sent, row.contender().text());
            // A burst passes at once.
            assertTrue(link.sourceShare() < 1.2, row.contender().text() + ": " + link);
            assertTrue(link.receiverPerByte() >= 1, row.contender().text() + ": " + link);
            assertTrue(
                    link.busyShare() > 0 && link.busyShare() <= 1,
                    row.contender().text() + ": " + link);
        }
    }

    @Tag("campaign")
    @Test
    void shouldHoldBackByItsDeliveryAlone() throws Exception {
        final List<StreamingRow> rows = rows("--loss 0,0.01 --slow reliable,latest --subscribers 1,3 --against none");
        // A receiver that is alone is not slow.
        assertEquals(4, rows.size());
        for (final StreamingRow row : rows) {
            final String text = row.setting().text();
            assertEquals(List.of(), row.failures(), text);
            final StreamingResult result = row.results().getFirst();
            final boolean reliable = row.setting().impairment().slowDelivery().equals("reliable");
            // A quarter of the rate, and all of it.
            assertEquals(
                    reliable ? 0.25 : 1,
                    result.broadcastMBps() * 1e6 / RATE,
                    reliable ? 0.1 : 0.4,
                    text + ": " + result);
            assertEquals(reliable, result.use().slowShare() == 1, text + ": " + result);
            assertTrue(result.use().slowShare() > 0.05, text + ": " + result);
            assertTrue(result.use().controlPerDatagram() > 0, text + ": " + result);
            assertTrue(result.use().receiver().threads() > 1, text + ": " + result);
        }
    }
}
