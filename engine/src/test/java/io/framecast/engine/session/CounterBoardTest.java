package io.framecast.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.Labels;
import io.framecast.reliability.count.Export;
import io.framecast.reliability.onesided.ReadCount;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.wire.Counts;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Each count of a machine reaches the counters file by what its constant says, and by nothing else.
final class CounterBoardTest {
    private static final String LABELS = Labels.of("channel", "cam1");

    @TempDir
    private Path directory;

    @Test
    void shouldExportEachCountOfASender() {
        check(SenderCount.class, SenderCount::export);
    }

    @Test
    void shouldExportEachCountOfAReceiver() {
        check(ReceiverCount.class, ReceiverCount::export);
    }

    @Test
    void shouldExportEachCountOfReads() {
        check(ReadCount.class, ReadCount::ofSource);
        check(ReadCount.class, ReadCount::ofCoRoot);
    }

    private <K extends Enum<K>> void check(final Class<K> kinds, final Function<K, Export> export) {
        final Counts<K> counts = new Counts<>(kinds);
        final Map<String, Long> expected = new HashMap<>();
        for (final K kind : counts.kinds()) {
            counts.set(kind, kind.ordinal() + 7);
            final Export shown = export.apply(kind);
            if (shown.scope() != Export.Scope.INTERNAL) {
                final String reason = shown.reason().isEmpty() ? "" : Labels.of("reason", shown.reason());
                expected.put(shown.metric().exportedName() + " " + Labels.join(LABELS, reason), kind.ordinal() + 7L);
            }
        }
        expected.put("framecast_counter_table_overflows_total ", 0L);
        final Path file = directory.resolve("table.counters");
        try (CounterTable table = CounterTable.create(file);
                CounterBoard board = new CounterBoard(table, LABELS);
                CounterReader reader = CounterReader.open(file)) {
            for (final Export.Scope scope :
                    Set.of(Export.Scope.SESSION, Export.Scope.ONE_SIDED, Export.Scope.ONE_SIDED_CO_ROOT)) {
                board.counts(counts, export, scope);
            }
            board.publish();
            final Map<String, Long> found = new HashMap<>();
            for (final CounterSample sample : reader.samples()) {
                found.put(sample.name() + " " + sample.labels(), sample.value());
            }
            assertEquals(expected, found);
        }
    }
}
