package io.framecast.reliability.sim.secure;

import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimJournal;
import io.framecast.reliability.wire.StreamInfo.Seal;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The protected side of one run: all ends, the datagrams that they honestly sent, and the adversary.
///
/// One thread. It owns the keys of all ends, which [#close] wipes.
public final class SecureRun implements AutoCloseable {
    /// Time for which a receiver takes keys of an epoch after the source uses later ones.
    public static final long PREVIOUS_NS = 1_600_000_000;

    /// Room for the longest datagram that an end looks at.
    static final int SLOT_BYTES = (Wire.CONTROL_BYTES_MAX + 63) / 64 * 64;

    private static final long FOREVER_NS = Long.MAX_VALUE / 4;
    private static final int HANDSHAKES_PER_RECEIVER = 8;

    private final SimSecurity security;
    private final SplittableRandom random;
    private final SimEvents events;
    private final SimJournal journal;
    private final Plant plant;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment scratch = arena.allocate(2L * SLOT_BYTES, 64);
    private final Truth truth = new Truth();
    private final List<SecureEnd> ends = new ArrayList<>();
    private final Map<Integer, SecureReceiver> receivers = new HashMap<>();
    private final Adversary adversary;

    /// @param wire over which the adversary sends
    /// @param calmNs time at which it stops
    public SecureRun(
            final SimSecurity security,
            final SplittableRandom random,
            final SimEvents events,
            final SimJournal journal,
            final Plant plant,
            final Adversary.Wire wire,
            final long calmNs) {
        this.security = security;
        this.random = random;
        this.events = events;
        this.journal = journal;
        this.plant = plant;
        adversary = new Adversary(this, wire, random.split(), calmNs);
    }

    /// It sees all datagrams.
    public Adversary adversary() {
        return adversary;
    }

    /// The end of a source that begins a session.
    ///
    /// @param receivers hosts that may shake hands
    public SecureSource source(final long session, final int receivers, final SimSecurity.Output output) {
        final SecureSource made = new SecureSource(this, session, HANDSHAKES_PER_RECEIVER * receivers, output);
        ends.add(made);
        return made;
    }

    /// The end of a receiver's process that begins.
    ///
    /// @param number of its host
    /// @param address its control address
    /// @param clock its own
    /// @param onPlain takes a verified heartbeat
    public SecureReceiver receiver(
            final int number,
            final byte[] address,
            final LongSupplier clock,
            final SimSecurity.Output output,
            final SecureReceiver.Plain onPlain) {
        final SecureReceiver made = new SecureReceiver(this, address, clock, output, onPlain);
        ends.add(made);
        listen(number, made);
        return made;
    }

    /// This end receives the datagrams that are sent to a host.
    public void listen(final int number, final SecureReceiver end) {
        receivers.put(number, end);
    }

    @Nullable
    SecureReceiver receiverAt(final int number) {
        return receivers.get(number);
    }

    /// The seal of the data.
    public Seal seal() {
        return security.seal();
    }

    SimSecurity security() {
        return security;
    }

    SplittableRandom random() {
        return random;
    }

    SimEvents events() {
        return events;
    }

    SimJournal journal() {
        return journal;
    }

    Plant plant() {
        return plant;
    }

    long previousNs() {
        return plant == Plant.OLD_EPOCH_ACCEPTED ? FOREVER_NS : PREVIOUS_NS;
    }

    Truth truth() {
        return truth;
    }

    /// `[2][SLOT_BYTES]`, native: one place to seal in, one to open in.
    MemorySegment scratch() {
        return scratch;
    }

    void violation(final String text) {
        journal.violation(events.nowNs(), text);
    }

    @Override
    public void close() {
        ends.forEach(SecureEnd::close);
        adversary.close();
        arena.close();
    }
}
