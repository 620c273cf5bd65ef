package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.Records;
import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

final class RoundResultTest {
    private static final long SECOND_NS = 1_000_000_000L;

    @Test
    void shouldCountTheSlowestReceiverAndTheCpuOfAll() {
        final SourceReport source =
                new SourceReport("udp", 1_000, 1_000_000_000, SECOND_NS, SECOND_NS / 10, -1, -1, -1, 2_000);
        final RoundResult result = RoundResult.of(
                source, List.of(receiver(SECOND_NS, 3, 1_000), receiver(2 * SECOND_NS, 4, 9_000)), false, 0);
        assertEquals(500, result.goodputMBps());
        // One second of the publisher and half of one of each receiver, for 10^9 bytes delivered to each.
        assertEquals(2.0, result.cpuSecondsPerGB());
        assertEquals(1.0, result.sourceCpuSecondsPerGB());
        // A tenth of a second of the publisher's compilers and a twentieth of each receiver's.
        assertEquals(0.1, result.compilingShare(), 1e-9);
        assertEquals(7, result.lostFrames());
        assertEquals(1, result.p50Us(), 0.01);
        assertEquals(9, result.p99Us(), 0.01);
        assertTrue(Double.isNaN(result.overhead()) && Double.isNaN(result.wireOverhead()));
    }

    @Test
    void shouldCountHeadersOnTheWireAlone() {
        final SourceReport source = new SourceReport("udp", 1, 100_000, 1, 0, 107_000, 103_000, 105_800, 0);
        final List<ReceiverReport> receivers = List.of(receiver(SECOND_NS, 0, 1));
        final RoundResult result = RoundResult.of(source, receivers, false, 0);
        assertEquals(0.03, result.overhead(), 1e-9);
        assertEquals(0.058, result.wireOverhead(), 1e-9);
        assertEquals(1.058, result.wireBytesPerByte(), 1e-9);
        // An interface that sends datagrams singly knows better.
        assertEquals(0.03, RoundResult.of(source, receivers, true, 0).overhead(), 1e-9);
        assertEquals(0.07, RoundResult.of(source, receivers, true, 0).wireOverhead(), 1e-9);
    }

    @Test
    void shouldCountFrames() {
        final SourceReport source = new SourceReport("udp", 500, 1, 2_000_000, 0, -1, -1, -1, 2_000);
        final RoundResult result =
                RoundResult.of(source, List.of(receiver(SECOND_NS, 0, 1), receiver(2 * SECOND_NS, 0, 1)), false, 0);
        assertEquals(500, result.messagesPerSecond());
        assertEquals(4, result.sourceCpuUsPerFrame());
    }

    @Test
    void shouldCountWhatReceiversCostTheirHost() {
        final SourceReport source = new SourceReport("udp", 500, 1, 2_000_000, 0, -1, -1, -1, 2_000);
        final RoundResult.OnHost onHost = RoundResult.of(
                        source, List.of(receiver(SECOND_NS, 0, 1), receiver(2 * SECOND_NS, 0, 1)), false, 0)
                .onHost();
        // Half a second of each, for 10^9 bytes to each; 3,000 datagrams read by each, of 2,000 sent.
        assertEquals(new RoundResult.OnHost("host", 0.5, 6_000, 3, 10), onHost);
    }

    @Test
    void shouldReadBackWhatAProcessReports() {
        final ReceiverReport report = receiver(SECOND_NS, 3, 4_000);
        assertEquals(report, Records.read(ReceiverReport.class, Records.write(report)));
        final SourceReport source = new SourceReport("udp", 1, 2, 3, 4, 5, 6, 7, 0);
        assertEquals(source, Records.read(SourceReport.class, Records.write(source)));
    }

    private static ReceiverReport receiver(final long elapsedNs, final long lostFrames, final long latencyNs) {
        final Histogram latencies = new Histogram(3_600 * SECOND_NS, 3);
        latencies.recordValue(latencyNs);
        return new ReceiverReport(
                1_000,
                1_000_000_000,
                lostFrames,
                0,
                elapsedNs,
                SECOND_NS / 2,
                SECOND_NS / 20,
                ReceiverReport.encode(latencies),
                SECOND_NS,
                List.of(new ReceiverReport.Window(1, 2, 3)),
                new ReceiverReport.Footprint("host", 3_000, 5));
    }
}
