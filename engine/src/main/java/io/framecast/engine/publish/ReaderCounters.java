package io.framecast.engine.publish;

import io.framecast.engine.hostgroup.LocalReaders;
import io.framecast.engine.metrics.Counter;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.agrona.CloseHelper;

/// Counters of each subscriber that reads a source's window on its host, and a notice for each that keeps more frames
/// than the window has room for.
///
/// Used by the sender's thread.
final class ReaderCounters implements AutoCloseable {
    private final String channel;
    private final LocalReaders readers;
    private final CounterTable table;
    private final Consumer<String> notices;
    // By place.
    private final Map<Integer, Row> rows = new HashMap<>();

    /// The counters of one reader.
    private record Row(
            String name,
            String delivery,
            Counter lag,
            Counter credit,
            Counter heldBack,
            Counter framesHeld,
            Counter framesCopied) {
        boolean isOf(final LocalReaders.Reader reader) {
            return name.equals(reader.name()) && delivery.equals(reader.delivery());
        }

        void set(final LocalReaders.Reader reader) {
            lag.setOrdered(reader.lagDatagrams());
            credit.setOrdered(reader.creditDatagrams());
            heldBack.setOrdered(reader.heldBackNs());
            framesHeld.setOrdered(reader.framesHeld());
            framesCopied.setOrdered(reader.framesCopied());
        }

        void close() {
            CloseHelper.closeAll(lag, credit, heldBack, framesHeld, framesCopied);
        }
    }

    ReaderCounters(
            final String channel,
            final LocalReaders readers,
            final CounterTable table,
            final Consumer<String> notices) {
        this.channel = channel;
        this.readers = readers;
        this.table = table;
        this.notices = notices;
    }

    /// Reads the readers, ten times a second.
    ///
    /// @param committed datagrams so far
    /// @param windowSlots datagrams that the window holds
    void look(final long committed, final int windowSlots) {
        if (rows.isEmpty() && readers.count() == 0) {
            return;
        }
        final Map<Integer, LocalReaders.Reader> present = new HashMap<>();
        readers.readers(committed, windowSlots).forEach(reader -> present.put(reader.place(), reader));
        rows.entrySet().removeIf(entry -> {
            final LocalReaders.Reader reader = present.get(entry.getKey());
            final boolean gone = reader == null || !entry.getValue().isOf(reader);
            if (gone) {
                entry.getValue().close();
            }
            return gone;
        });
        present.values().forEach(this::show);
    }

    private void show(final LocalReaders.Reader reader) {
        final Row row = rows.computeIfAbsent(reader.place(), _ -> open(reader));
        final boolean copiedBefore = row.framesCopied.get() > 0;
        row.set(reader);
        if (!copiedBefore && reader.framesCopied() > 0) {
            notices.accept("publisher of " + channel + ": " + reader.name() + " keeps more frames than the window has"
                    + " room for, " + reader.framesHeld() + " now, and copies them; a larger window= or fewer frames"
                    + " that it holds at once spare the copies");
        }
    }

    private Row open(final LocalReaders.Reader reader) {
        final String labels = Labels.of("channel", channel, "member", reader.name(), "delivery", reader.delivery());
        return new Row(
                reader.name(),
                reader.delivery(),
                table.allocate(EngineCounter.MEMBER_LAG, labels),
                table.allocate(EngineCounter.MEMBER_CREDIT, labels),
                table.allocate(EngineCounter.MEMBER_HELD_BACK, labels),
                table.allocate(EngineCounter.MEMBER_FRAMES_HELD, labels),
                table.allocate(EngineCounter.MEMBER_FRAMES_COPIED, labels));
    }

    @Override
    public void close() {
        rows.values().forEach(Row::close);
        rows.clear();
    }
}
