package io.framecast.perf.litmus;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;

/// Frames that a kernel writes in device memory, published from there: one buffer, written again the moment
/// the offer before was taken; received and checked in host memory.
final class ToHostLitmus {
    private static final int GRID = 16;
    private static final int THREADS = 128;

    private final LitmusPlan plan;
    private long filled;
    private long offered;
    private boolean offering;
    private long polled;
    private long wrongWords;

    ToHostLitmus(final LitmusPlan plan) {
        this.plan = plan;
    }

    LitmusRow run() {
        try (LitmusStream stream = new LitmusStream(plan, plan.device(), "host")) {
            final DeviceBackend device = stream.publisher().device();
            final DeviceKernel fill = device.load(LitmusKernels.fill());
            final DeviceKernel late = device.load(LitmusKernels.late());
            final DeviceRegion frame = device.allocate(plan.frameBytes());
            try (DeviceStream user = device.openStream();
                    DeviceEvent written = device.openEvent();
                    DeviceEvent never = device.openEvent()) {
                while (polled < plan.rounds()) {
                    if (offered < plan.rounds() && !offering) {
                        write(user, fill, late, frame, written);
                    }
                    final DeviceEvent event = plan.way() == LitmusWay.MISSING_WAIT ? never : written;
                    final boolean taken = offering && stream.publisher().offer(frame, event, FrameOptions.DEFAULT) > 0;
                    offering &= !taken;
                    offered += taken ? 1 : 0;
                    final boolean received = receive(stream.subscriber().poll());
                    if (taken || received) {
                        stream.progress();
                    } else {
                        stream.idle();
                    }
                }
            }
            return new LitmusRow(
                    "to-host", "source in " + device.name(), plan.way(), plan.rounds(), polled, wrongWords);
        }
    }

    // Which round the buffer holds when `written` is recorded is the one that is offered.
    private void write(
            final DeviceStream user,
            final DeviceKernel fill,
            final DeviceKernel late,
            final DeviceRegion frame,
            final DeviceEvent written) {
        while (filled <= offered) {
            user.launch(late, 1, 1, plan.lateNs());
            user.launch(fill, GRID, THREADS, frame.address(), plan.words(), filled++);
        }
        user.record(written);
        if (plan.way() == LitmusWay.EARLY_RELEASE) {
            user.launch(fill, GRID, THREADS, frame.address(), plan.words(), filled++);
        }
        offering = true;
    }

    private boolean receive(final @org.jspecify.annotations.Nullable DeviceFrame frame) {
        if (frame == null) {
            return false;
        }
        frame.awaitReady();
        wrongWords += LitmusKernels.wrongWords(frame.region().host(), frame.frameId());
        frame.close();
        polled++;
        return true;
    }
}
