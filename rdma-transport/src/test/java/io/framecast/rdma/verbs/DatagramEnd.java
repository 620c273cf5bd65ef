package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.rdma.verbs.QueuePairConfig.Limits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/// A UD queue pair on one device with a ring of receives `[routing header | header | payload]` in three
/// regions, and a ring of sends `[header | payload]`, for tests.
final class DatagramEnd implements AutoCloseable {
    static final int SLOTS = 16;
    static final int ROUTING_BYTES = 40;
    static final int HEADER_BYTES = 20;
    static final int PAYLOAD_BYTES = 4096;
    static final int QUEUE_KEY = 0x11111111;
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private final Deque<Runnable> opened = new ArrayDeque<>();
    final Arena arena = Arena.ofShared();
    final Context context;
    final GidEntry gid;
    final ProtectionDomain domain;
    final CompletionChannel channel;
    final CompletionQueue completions;
    final QueuePair queuePair;
    final WorkCompletions batch = new WorkCompletions(arena, 2 * SLOTS);
    final MemorySegment routing = arena.allocate((long) SLOTS * ROUTING_BYTES, 64);
    final MemorySegment headers = arena.allocate((long) SLOTS * HEADER_BYTES, 64);
    final MemorySegment payloads = arena.allocate((long) SLOTS * PAYLOAD_BYTES, 64);
    final MemorySegment sent = arena.allocate(HEADER_BYTES + 2L * PAYLOAD_BYTES, 64);
    final ReceiveRequests receives = new ReceiveRequests(arena, SLOTS, 3);
    final SendRequests sends = new SendRequests(arena, SLOTS, 2);
    final MemoryRegion sentRegion;

    DatagramEnd(final Fabric fabric, final int device) {
        context = keep(fabric.openRoce(device));
        gid = Fabric.ipv4(context).orElseThrow();
        domain = keep(context.protectionDomain());
        channel = keep(context.completionChannel());
        completions = keep(context.completionQueue(4 * SLOTS, channel));
        queuePair = keep(domain.queuePair(
                new QueuePairConfig(QueuePairConfig.Service.UD, completions, new Limits(SLOTS, SLOTS, 2, 3, 64))));
        queuePair.startDatagrams(1, 0, QUEUE_KEY);
        final int routingKey =
                keep(domain.register(routing, Access.LOCAL_WRITE)).localKey();
        final int headerKey = keep(domain.register(headers, Access.LOCAL_WRITE)).localKey();
        final int payloadKey =
                keep(domain.register(payloads, Access.LOCAL_WRITE)).localKey();
        sentRegion = keep(domain.register(sent, Access.LOCAL_READ));
        for (int i = 0; i < SLOTS; i++) {
            receives.element(i, 0, routing.address() + (long) i * ROUTING_BYTES, ROUTING_BYTES, routingKey);
            receives.element(i, 1, headers.address() + (long) i * HEADER_BYTES, HEADER_BYTES, headerKey);
            receives.element(i, 2, payloads.address() + (long) i * PAYLOAD_BYTES, PAYLOAD_BYTES, payloadKey);
            sends.element(i, 0, sent.address(), HEADER_BYTES, sentRegion.localKey());
            sends.element(i, 1, sent.address() + HEADER_BYTES, 0, sentRegion.localKey());
            sends.flags(i, true, false);
        }
        for (int i = 0; i < sent.byteSize(); i++) {
            sent.set(JAVA_BYTE, i, content(i));
        }
    }

    static byte content(final int index) {
        return (byte) (index * 31 + index / 251);
    }

    <T extends AutoCloseable> T keep(final T resource) {
        opened.push(() -> {
            try {
                resource.close();
            } catch (final RuntimeException e) {
                throw e;
            } catch (final Exception e) {
                throw new AssertionError(e);
            }
        });
        return resource;
    }

    /// Joins a group at both levels.
    void join(final InetAddress group) {
        keep(GroupMembership.join(group, gid.interfaceIndex()));
        keep(queuePair.attach(Gid.ofAddress(group), 0));
    }

    AddressHandle handleTo(final Gid destination) {
        return keep(domain.addressHandle(Fabric.path(gid, destination)));
    }

    /// Prepares a slot to send `payloadBytes`.
    void prepare(final int slot, final AddressHandle handle, final int queuePairNumber, final int payloadBytes) {
        sends.length(slot, 1, payloadBytes);
        sends.datagram(slot, handle, queuePairNumber, QUEUE_KEY);
    }

    /// Waits for completions.
    ///
    /// @return how many there were, at least 1
    int await() {
        final long deadline = System.nanoTime() + PATIENCE_NS;
        int count;
        do {
            count = completions.poll(batch);
        } while (count == 0 && System.nanoTime() < deadline);
        assertTrue(count > 0, "no completion in 20 s");
        return count;
    }

    /// Payload bytes of what arrived in a slot, when all of it is what was sent.
    boolean holds(final int slot, final int payloadBytes) {
        for (int i = 0; i < HEADER_BYTES; i++) {
            if (headers.get(JAVA_BYTE, (long) slot * HEADER_BYTES + i) != content(i)) {
                return false;
            }
        }
        for (int i = 0; i < payloadBytes; i++) {
            if (payloads.get(JAVA_BYTE, (long) slot * PAYLOAD_BYTES + i) != content(HEADER_BYTES + i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
        arena.close();
    }
}
