package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.rdma.verbs.QueuePairConfig.Limits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/// One end of a reliable connection, with one region that its peer may use in every way, for tests.
final class ConnectedEnd implements AutoCloseable {
    static final int BYTES = 1 << 17;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int ANYTHING = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ;
    // Some two seconds: tests of a peer that is gone need not wait long, and one that stands still is not given up.
    private static final RcPeer.Patience PATIENCE = new RcPeer.Patience(16, 6, 3, 1, 4);

    private final Deque<Runnable> opened = new ArrayDeque<>();
    final Arena arena = Arena.ofShared();
    final Context context;
    final ProtectionDomain domain;
    final CompletionQueue completions;
    final QueuePair queuePair;
    final WorkCompletions batch = new WorkCompletions(arena, 16);
    final MemorySegment memory = arena.allocate(BYTES, 4096);
    final MemoryRegion region;
    final ReceiveRequests receives = new ReceiveRequests(arena, 4, 1);
    final SendRequests sends = new SendRequests(arena, 4, 2);
    private final GidEntry gid;

    ConnectedEnd(final Fabric fabric, final int device) {
        context = keep(fabric.openRoce(device));
        gid = Fabric.ipv4(context).orElseThrow();
        domain = keep(context.protectionDomain());
        completions = keep(context.completionQueue(64, null));
        queuePair = keep(domain.queuePair(
                new QueuePairConfig(QueuePairConfig.Service.RC, completions, new Limits(16, 16, 2, 1, 0))));
        region = keep(domain.register(memory, ANYTHING));
        queuePair.initialize(1, 0, ANYTHING);
        for (int i = 0; i < 4; i++) {
            sends.flags(i, true, false);
        }
    }

    void connect(final ConnectedEnd peer) {
        final int mtu = Math.min(context.port(1).mtu().activeBytes(), 1024);
        queuePair.connect(new RcPeer(
                Fabric.path(gid, peer.gid.gid()),
                peer.queuePair.number(),
                peer.queuePair.number() * 7,
                queuePair.number() * 7,
                mtu,
                PATIENCE));
    }

    private <T extends AutoCloseable> T keep(final T resource) {
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

    long at(final long offset) {
        return memory.address() + offset;
    }

    /// Posts slot 0 of the sends, whose buffer is part of the region, and waits.
    ///
    /// @return its status
    int perform(final long offset, final int bytes) {
        sends.element(0, 0, at(offset), bytes, region.localKey());
        assertTrue(sends.post(queuePair, 0, 1) == 1);
        awaitOne();
        return batch.status(0);
    }

    void awaitOne() {
        final long deadline = System.nanoTime() + PATIENCE_NS;
        int count;
        do {
            count = completions.poll(batch);
        } while (count == 0 && System.nanoTime() < deadline);
        assertTrue(count > 0, "no completion in 30 s");
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
        arena.close();
    }
}
