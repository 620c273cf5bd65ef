package io.framecast.rdma;

import io.framecast.api.error.NativeException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.rdma.verbs.AsyncEvent;
import io.framecast.rdma.verbs.AsyncEvents;
import java.lang.foreign.Arena;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Reports the events of a device and its port to an operator, in one line each, and to lanes whether the device
/// has failed.
///
/// Threading: any lane's thread, when it has no other work; a thread that finds another at it goes on.
final class DeviceEvents implements AutoCloseable {
    /// A port that comes and goes must not fill a log.
    static final int LINES_MAX = 32;

    // Between queries of the MTU, whose change causes no event.
    private static final long ASK_NS = 1_000_000_000;

    private final String device;
    private final int port;
    private final Consumer<String> notices;
    private final Arena arena = Arena.ofShared();
    private final AsyncEvents events;
    private final ScopedLock lock = new ScopedLock();
    private volatile Consumer<AsyncEvent> failures = _ -> {};
    private volatile @Nullable String fatal;
    /// How often the port became active, or narrower.
    private volatile int returns;
    private long askedNs = System.nanoTime();
    private int mtuBytes;
    private int lines;
    private boolean closed;

    DeviceEvents(final RdmaPort port, final Consumer<String> notices) {
        this.port = port.gid().port();
        this.notices = notices;
        device = port.context().toString();
        events = port.context().asyncEvents(this.port, arena);
        mtuBytes = events.activeMtuBytes();
    }

    /// Sets the listener for queue pairs that failed by themselves.
    void onQueuePairFailed(final Consumer<AsyncEvent> listener) {
        failures = listener;
    }

    /// Why lanes cannot go on; null while they can.
    @Nullable
    String fatal() {
        return fatal;
    }

    /// How often the port came back or became narrower so far: lanes are to look at it then.
    int returns() {
        return returns;
    }

    /// Takes the waiting events. A call of the system: not for each datagram.
    void look() {
        if (!lock.tryLock()) {
            return;
        }
        try {
            AsyncEvent event = closed || fatal != null ? null : events.next();
            while (event != null) {
                on(event);
                event = events.next();
            }
            lookAtMtu();
        } catch (final NativeException e) {
            // A device that was removed says so, and then refuses.
            end(String.valueOf(e.getMessage()));
        } finally {
            lock.unlock();
        }
    }

    private void lookAtMtu() {
        final long nowNs = System.nanoTime();
        if (closed || fatal != null || nowNs - askedNs < ASK_NS) {
            return;
        }
        askedNs = nowNs;
        final int bytes = events.activeMtuBytes();
        if (bytes == 0) {
            return;
        }
        if (bytes < mtuBytes) {
            report(device + " port " + port + " has an MTU of " + bytes + " now, of " + mtuBytes + " before");
            onReturn();
        }
        mtuBytes = bytes;
    }

    private void on(final AsyncEvent event) {
        if (event.kind().subject() == AsyncEvent.Subject.PORT && event.port() != port) {
            return;
        }
        final String at = device + " port " + port;
        switch (event.kind()) {
            case DEVICE_FATAL ->
                end(device + ": the device is gone or failed (a fatal event); see dmesg and rdma link");
            case CQ_ERROR -> end("a completion queue on " + device + " overflowed or broke");
            case PORT_ERROR -> report(at + " went down: nothing is sent or received until it is back");
            case PORT_ACTIVE -> {
                report(at + " is active");
                onReturn();
            }
            case GID_CHANGE ->
                report(at + " has other addresses (GIDs) now; peers reach this end by the one it began with, so start"
                        + " it anew if that is gone");
            case LID_CHANGE -> report(at + " has another local identifier now; start this end anew");
            case PKEY_CHANGE -> report(at + " has other partition keys now; it uses the first");
            case SUBNET_MANAGER_CHANGE -> report(at + " has another subnet manager now");
            case CLIENT_REREGISTER ->
                report(at + ": the subnet manager has forgotten the registrations; if the group falls silent, start"
                        + " this end anew");
            case QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR, WQ_FATAL, SRQ_ERROR, PATH_MIGRATION_ERROR -> {
                report("a queue pair on " + device + " failed (" + event.kind()
                        + "); its lane or connection tries again" + " or ends");
                failures.accept(event);
            }
            case UNKNOWN -> report(device + " reports an event that this version does not know");
            case COMMUNICATION_ESTABLISHED, SQ_DRAINED, PATH_MIGRATED, SRQ_LIMIT_REACHED, QP_LAST_REQUEST_REACHED -> {
                // In the course of things.
            }
        }
    }

    // The caller holds the lock.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    private void onReturn() {
        returns++;
    }

    private void end(final String why) {
        if (fatal == null) {
            report(why);
            fatal = why;
        }
    }

    private void report(final String line) {
        lines++;
        if (lines < LINES_MAX) {
            notices.accept("verbs: " + line);
        } else if (lines == LINES_MAX) {
            notices.accept("verbs: " + line + "; further events of this channel's device are not reported");
        }
    }

    /// All lanes are closed.
    @Override
    public void close() {
        try (ScopedLock.Scope _ = lock.hold()) {
            if (!closed) {
                closed = true;
                arena.close();
            }
        }
    }
}
