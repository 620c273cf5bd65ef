package io.framecast.engine.session;

import io.framecast.api.LossReason;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceResources;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.Transport;
import io.framecast.engine.metrics.Counter;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.sink.NicCopyEngine;
import io.framecast.reliability.count.Export;
import io.framecast.reliability.count.Metric;
import io.framecast.reliability.flow.AckTrigger;
import io.framecast.reliability.flow.PublishInterval;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.secure.ProtectionEvent;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.VerdictCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/// The counters of one session: each has a place in the node's table and a source of its value. The session's own
/// thread publishes them at intervals.
public final class CounterBoard implements AutoCloseable {
    /// One counter and its source.
    private record Entry(Counter counter, LongSupplier value) {}

    private final CounterTable table;
    private final String labels;
    private final List<Entry> entries = new ArrayList<>();
    private final PublishInterval interval = new PublishInterval();

    /// @param labels the labels of every counter, from [Labels#of]
    public CounterBoard(final CounterTable table, final String labels) {
        this.table = table;
        this.labels = labels;
    }

    public CounterBoard add(final EngineCounter kind, final LongSupplier value) {
        return add(kind, labels, value);
    }

    private String labelled(final String name, final String value) {
        return Labels.join(labels, Labels.of(name, value));
    }

    private CounterBoard add(final EngineCounter kind, final String labels, final LongSupplier value) {
        return add(kind.metric(), labels, value);
    }

    private CounterBoard add(final Metric metric, final String labels, final LongSupplier value) {
        entries.add(new Entry(table.allocate(metric, labels), value));
        return this;
    }

    /// Counters of a machine: one for each constant that is exported in this scope.
    ///
    /// @param export gives how a constant is exported
    public <K extends Enum<K>> CounterBoard counts(
            final Counts<K> counts, final Function<K, Export> export, final Export.Scope scope) {
        for (final K kind : counts.kinds()) {
            final Export shown = export.apply(kind);
            if (shown.scope() == scope) {
                add(
                        shown.metric(),
                        shown.reason().isEmpty() ? labels : labelled("reason", shown.reason()),
                        counts.of(kind));
            }
        }
        return this;
    }

    /// The stream itself: role, `publisher` or `subscriber`, and transport.
    public CounterBoard stream(final String role, final String transport) {
        final String described = Labels.join(labels, Labels.of("role", role, "transport", transport));
        return add(EngineCounter.STREAM_INFO, described, () -> 1);
    }

    /// Counters of a lane that sends.
    public CounterBoard sends(final Lane lane, final String name) {
        return lane(lane, name, EngineCounter.SENT_DATAGRAMS, LaneCounter.SENT_DATAGRAMS)
                .lane(lane, name, EngineCounter.SENT_BYTES, LaneCounter.SENT_BYTES)
                .lane(lane, name, EngineCounter.SEND_BACK_PRESSURED, LaneCounter.SEND_BACK_PRESSURED)
                .lane(lane, name, EngineCounter.SYSTEM_ERRORS, LaneCounter.SYSTEM_ERRORS);
    }

    /// Counters of a lane that receives.
    public CounterBoard receives(final Lane lane, final String name) {
        return lane(lane, name, EngineCounter.RECEIVED_DATAGRAMS, LaneCounter.RECEIVED_DATAGRAMS)
                .lane(lane, name, EngineCounter.RECEIVED_BYTES, LaneCounter.RECEIVED_BYTES)
                .lane(lane, name, EngineCounter.RECEIVE_TRUNCATED, LaneCounter.TRUNCATED)
                .lane(lane, name, EngineCounter.RECEIVE_MALFORMED, LaneCounter.MALFORMED)
                .lane(lane, name, EngineCounter.RECEIVE_OVERRUNS, LaneCounter.RECEIVE_OVERRUNS);
    }

    private CounterBoard lane(
            final Lane lane, final String name, final EngineCounter kind, final LaneCounter laneCounter) {
        return add(kind, labelled("lane", name), () -> lane.counter(laneCounter));
    }

    /// Counters of a machine's rejected datagrams, by reason.
    public CounterBoard verdicts(final VerdictCounts verdicts) {
        add(EngineCounter.DUPLICATES, () -> verdicts.get(Verdict.DUPLICATE));
        add(EngineCounter.EARLY, () -> verdicts.get(Verdict.EARLY));
        for (final Verdict verdict : Verdict.values()) {
            if (verdict.isRejection()) {
                final String reason = verdict.name().toLowerCase(Locale.ROOT);
                add(EngineCounter.REJECTED, labelled("reason", reason), () -> verdicts.get(verdict));
            }
        }
        return this;
    }

    /// Counters of a stream with `auth=`, by event.
    public CounterBoard protection(final Counts<ProtectionEvent> events) {
        for (final ProtectionEvent event : ProtectionEvent.values()) {
            final String name = event.name().toLowerCase(Locale.ROOT);
            add(EngineCounter.PROTECTION, labelled("event", name), events.of(event));
        }
        return this;
    }

    /// Counters of the triggers of ACKs.
    public CounterBoard triggers(final ReceiverMachine machine) {
        for (final AckTrigger trigger : AckTrigger.values()) {
            final String name = trigger.name().toLowerCase(Locale.ROOT);
            add(EngineCounter.ACK_TRIGGERS, labelled("trigger", name), () -> machine.acks(trigger));
        }
        return this;
    }

    /// Counters of the NIC's copies into a device's memory, and of the copies that replaced them.
    public CounterBoard copies(final NicCopyEngine nic) {
        return add(EngineCounter.NIC_COPIED_BYTES, nic::copiedBytes)
                .add(EngineCounter.NIC_COPY_FALLBACKS, labelled("reason", "connecting"), nic::earlyRuns)
                .add(EngineCounter.NIC_COPY_FALLBACKS, labelled("reason", "broken"), nic::brokenRuns);
    }

    /// Counters of the resources that a device has given out.
    public CounterBoard device(final DeviceBackend device) {
        add(EngineCounter.DEVICE_ALLOCATED, device::allocatedBytes);
        final DeviceResources resources = device.resources();
        for (final DeviceResources.Kind kind : DeviceResources.Kind.values()) {
            if (kind == DeviceResources.Kind.PINNED_BYTES) {
                add(EngineCounter.DEVICE_PINNED, () -> resources.inUse(kind));
            } else {
                add(EngineCounter.DEVICE_OBJECTS, labelled("kind", kind.word()), () -> resources.inUse(kind));
            }
        }
        return this;
    }

    /// Counters of the memory that a transport registered with its device, or found registered.
    public CounterBoard registrations(final Transport transport) {
        return add(EngineCounter.MEMORY_REGISTRATIONS, transport::memoryRegistrations)
                .add(EngineCounter.REGISTRATION_HITS, transport::registrationHits);
    }

    /// Counters of lost frames, by reason.
    public CounterBoard losses(final ToLongFunction<LossReason> total) {
        for (final LossReason reason : LossReason.values()) {
            final String name = reason.name().toLowerCase(Locale.ROOT);
            add(EngineCounter.FRAMES_DROPPED, labelled("reason", name), () -> total.applyAsLong(reason));
        }
        return this;
    }

    /// Publishes when the interval is over.
    ///
    /// @param work done in this cycle
    public void tick(final int work, final long nowNs) {
        if (interval.onCycle(work, nowNs)) {
            publish();
        }
    }

    public void publish() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            entry.counter().setOrdered(entry.value().getAsLong());
        }
    }

    @Override
    public void close() {
        entries.forEach(entry -> entry.counter().close());
        entries.clear();
    }
}
