package io.framecast.engine.publish;

import io.framecast.api.Eviction;
import io.framecast.api.MemberStats;
import io.framecast.api.spi.LaneAddress;
import io.framecast.engine.metrics.Counter;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.session.Policies;
import io.framecast.reliability.send.MemberStatus;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.wire.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The members as the source's operator sees them: counters of each, a notice for each eviction, and both for
/// [io.framecast.api.Publisher#stats].
///
/// Used by the sender's thread, except for [#members] and [#evictions].
final class MemberCounters implements AutoCloseable {
    /// Members with counters; a table has room for about a thousand.
    static final int MEMBERS_MAX = 64;

    private static final int EVICTIONS_KEPT_MAX = 16;

    private final SenderMachine machine;
    private final CounterTable table;
    private final Function<LaneAddress, String> describe;
    private final Consumer<String> notices;
    private final LongConsumer onEvicted;
    private final @Nullable Row[] rows;
    private int open;
    private volatile List<Row> shown = List.of();
    private volatile List<Eviction> evictions = List.of();

    /// The counters of one member.
    private record Row(
            long id,
            String address,
            Delivery delivery,
            Counter lag,
            Counter credit,
            Counter repairs,
            Counter heldBack) {
        // Its delivery may change, and names the counters.
        boolean isOf(final MemberStatus member) {
            return id == member.id() && delivery.equals(member.delivery());
        }

        void set(final MemberStatus member, final long next) {
            lag.setOrdered(Math.max(0, next - member.acknowledged()));
            credit.setOrdered(Math.max(0, member.grant() - next));
            repairs.setOrdered(member.requested());
            heldBack.setOrdered(member.holdsBackNs());
        }

        MemberStats stats() {
            return new MemberStats(
                    address, name(delivery), lag.get(), credit.get(), repairs.get(), Duration.ofNanos(heldBack.get()));
        }

        void close() {
            lag.close();
            credit.close();
            repairs.close();
            heldBack.close();
        }
    }

    /// @param describe gives an address in the transport's form
    /// @param onEvicted gets the receiver's id of each member that was evicted
    MemberCounters(
            final SenderMachine machine,
            final CounterTable table,
            final Function<LaneAddress, String> describe,
            final Consumer<String> notices,
            final LongConsumer onEvicted) {
        this.machine = machine;
        this.table = table;
        this.describe = describe;
        this.notices = notices;
        this.onEvicted = onEvicted;
        rows = new Row[machine.membersMax()];
    }

    /// Any thread: members with counters.
    List<MemberStats> members() {
        return shown.stream().map(Row::stats).toList();
    }

    /// Any thread: the latest evictions, the oldest first.
    List<Eviction> evictions() {
        return evictions;
    }

    /// Reads the members: when one came or went, and ten times a second.
    void look() {
        boolean changed = false;
        for (int place = 0; place < rows.length; place++) {
            final MemberStatus member = machine.member(place);
            final Row row = rows[place];
            if (row != null && (!member.isActive() || !row.isOf(member))) {
                row.close();
                rows[place] = null;
                open--;
                changed = true;
            }
            if (rows[place] == null && member.isActive() && open < MEMBERS_MAX) {
                rows[place] = open(member);
                open++;
                changed = true;
            }
            if (rows[place] != null) {
                rows[place].set(member, machine.nextSequence());
            }
        }
        if (changed) {
            shown = java.util.Arrays.stream(rows)
                    .filter(java.util.Objects::nonNull)
                    .toList();
        }
        takeEvictions();
    }

    private Row open(final MemberStatus member) {
        final String address = describe.apply(new LaneAddress(member.controlAddress()));
        final String labels = Labels.of(
                "channel", machine.stream().channel(), "member", address, "delivery", name(member.delivery()));
        return new Row(
                member.id(),
                address,
                member.delivery(),
                table.allocate(EngineCounter.MEMBER_LAG, labels),
                table.allocate(EngineCounter.MEMBER_CREDIT, labels),
                table.allocate(EngineCounter.MEMBER_REPAIRS, labels),
                table.allocate(EngineCounter.MEMBER_HELD_BACK, labels));
    }

    private static String name(final Delivery delivery) {
        return Policies.ofWire(delivery).toString();
    }

    private void takeEvictions() {
        for (var one = machine.pollEviction(); one != null; one = machine.pollEviction()) {
            onEvicted.accept(one.id());
            final Eviction eviction = new Eviction(
                    describe.apply(new LaneAddress(one.addresses().control())), reason(one), Instant.now());
            final List<Eviction> latest = new ArrayList<>(evictions);
            latest.add(eviction);
            evictions = List.copyOf(latest.subList(Math.max(0, latest.size() - EVICTIONS_KEPT_MAX), latest.size()));
            notices.accept("publisher of " + machine.stream().channel() + ": " + eviction.address() + " was evicted: "
                    + eviction.reason());
        }
    }

    private static String reason(final io.framecast.reliability.send.Eviction one) {
        return switch (one.reason()) {
            case SLOW ->
                "it held the source back for longer than delivery=" + name(one.delivery()) + " allows, " + one.lag()
                        + " datagrams behind";
            case UNREPAIRABLE ->
                "it asks for datagrams that were acknowledged for it and are freed, " + one.lag() + " datagrams behind";
            default ->
                "silent for " + TimeUnit.NANOSECONDS.toMillis(one.silentNs()) / 1e3 + " s, " + one.lag()
                        + " datagrams behind";
        };
    }

    @Override
    public void close() {
        for (final Row row : shown) {
            row.close();
        }
        shown = List.of();
    }
}
