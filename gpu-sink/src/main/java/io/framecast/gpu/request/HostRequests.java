package io.framecast.gpu.request;

import io.framecast.api.DeviceRequests;
import io.framecast.api.Publisher;
import io.framecast.api.RequestStats;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.SharedWords;
import io.framecast.gpu.arrival.Pause;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;

/// The host's end of a request queue. Requests are taken in the order of their tickets and then wait for
/// their publisher; at most as many as the queue holds are ever taken and not answered, for any words of a
/// kernel.
public final class HostRequests implements DeviceRequests {
    private static final int REQUESTS_MAX = 1 << 16;
    private static final int TAKEN_PER_TURN = 64;
    private static final int COUNTER_BYTES = 256;

    private final DeviceBackend device;
    private final int requests;
    private final MemorySegment queue;
    private final DeviceRegion tickets;
    private final List<RequestLane> lanes = new ArrayList<>();
    private final List<DeviceRegion> allowed = new ArrayList<>();
    private final Request request = new Request();
    private final ObjIntConsumer<Request> answers = this::answer;
    private final Pause pause = new Pause();
    private int next;
    private int waiting;
    private long published;
    private long bytes;
    private long refused;
    private long closedCount;
    private boolean closed;
    private boolean freed;

    /// @param requestsMax a power of two, 2 … 65536
    public HostRequests(final DeviceBackend device, final int requestsMax) {
        if (requestsMax < 2 || requestsMax > REQUESTS_MAX || Integer.bitCount(requestsMax) != 1) {
            throw new IllegalArgumentException(
                    "requests: expected a power of two, 2 … " + REQUESTS_MAX + ", got " + requestsMax);
        }
        this.device = device;
        requests = requestsMax;
        // The counter is device memory: atomics of the device on host memory would cross the link.
        tickets = device.allocate(COUNTER_BYTES);
        try {
            try (DeviceStream stream = device.openStream()) {
                stream.fill(tickets.address(), (byte) 0, COUNTER_BYTES);
            }
            queue = device.allocatePinned(RequestLayout.queueBytes(requestsMax));
        } catch (final RuntimeException e) {
            device.free(tickets);
            throw e;
        }
        queue.fill((byte) 0);
        for (int slot = 0; slot < requestsMax; slot++) {
            // As if the lap before had been answered: then the slots are free.
            final long answer = RequestLayout.answer(slot + 1 - requestsMax, RequestLayout.STATUS_FORGOTTEN);
            SharedWords.longAt(queue, RequestLayout.answerOffset(requestsMax, slot), answer);
        }
        SharedWords.intAt(queue, RequestLayout.REQUESTS_OFFSET, requestsMax);
        SharedWords.longAt(queue, RequestLayout.TICKETS_OFFSET, tickets.address());
    }

    @Override
    public long address() {
        return queue.address();
    }

    @Override
    public int bind(final Publisher publisher, final long frameMaxBytes) {
        requireOpen();
        if (frameMaxBytes < 1) {
            throw new IllegalArgumentException("requests: expected frames of 1 byte or more, got " + frameMaxBytes);
        }
        lanes.add(new RequestLane(device, publisher, frameMaxBytes, requests, answers));
        return lanes.size() - 1;
    }

    @Override
    public void allow(final DeviceRegion region) {
        requireOpen();
        allowed.add(region);
    }

    @Override
    public int doWork() {
        if (closed) {
            return 0;
        }
        int work = take();
        for (int i = 0; i < lanes.size(); i++) {
            work += lanes.get(i).work();
        }
        return work;
    }

    private int take() {
        int count = 0;
        while (count < TAKEN_PER_TURN && waiting < requests) {
            final long at = RequestLayout.requestOffset(next & (requests - 1));
            if (SharedWords.intAt(queue, at) != next + 1) {
                break;
            }
            request.read(queue, at, next);
            next++;
            waiting++;
            count++;
            if (isAllowed()) {
                lanes.get(request.channel).add(request);
            } else {
                answer(request, RequestLayout.STATUS_REFUSED);
            }
        }
        return count;
    }

    private boolean isAllowed() {
        if (request.channel < 0
                || request.channel >= lanes.size()
                || !lanes.get(request.channel).takes(request.length)) {
            return false;
        }
        for (int i = 0; i < allowed.size(); i++) {
            final DeviceRegion region = allowed.get(i);
            final long offset = request.address - region.address();
            // Unsigned: addresses below the region wrap to huge offsets.
            if (Long.compareUnsigned(offset, region.bytes()) < 0 && request.length <= region.bytes() - offset) {
                return true;
            }
        }
        return false;
    }

    private void answer(final Request done, final int status) {
        waiting--;
        switch (status) {
            case RequestLayout.STATUS_DONE -> {
                published++;
                bytes += done.length;
            }
            case RequestLayout.STATUS_REFUSED -> refused++;
            default -> closedCount++;
        }
        final long offset = RequestLayout.answerOffset(requests, done.ticket & (requests - 1));
        SharedWords.longAt(queue, offset, RequestLayout.answer(done.ticket + 1, status));
    }

    @Override
    public void serve(final Duration longest) {
        final long startNs = System.nanoTime();
        while (!closed && System.nanoTime() - startNs < longest.toNanos()) {
            if (doWork() > 0) {
                pause.reset();
            } else {
                pause.rest();
            }
        }
    }

    @Override
    public RequestStats stats() {
        return new RequestStats(published, bytes, refused, closedCount, waiting);
    }

    @Override
    public void close() {
        if (!closed) {
            answerAll();
        }
        free();
    }

    // Never by a deferred free: its memory is given out again beside a persistent kernel, and the kernel may still
    // write to this queue.
    private void free() {
        if (freed || !queue.scope().isAlive() || device.runsPersistentKernel() || device.isBusy()) {
            return;
        }
        freed = true;
        try {
            device.freePinned(queue);
        } finally {
            device.free(tickets);
        }
    }

    private void answerAll() {
        take();
        closed = true;
        SharedWords.intAt(queue, RequestLayout.REQUEST_STOP_OFFSET, 1);
        DeviceException failure = null;
        for (final RequestLane lane : lanes) {
            try {
                lane.close();
            } catch (final DeviceException e) {
                // The other requests hold claims too.
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new DeviceException(device.name() + ": the request queue is closed; open another");
        }
    }
}
