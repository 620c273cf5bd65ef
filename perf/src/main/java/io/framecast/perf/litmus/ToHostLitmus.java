package io.framecast.perf.litmus;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;

/// Frames that a kernel writes in device memory, published from there: one buffer, written again the moment
/// the offer before was taken; received and checked in host memory.
final class ToHostLitmus extends Litmus {

    private long filled;
    private long offered;
    private boolean offering;
    private long polled;
    private long wrongWords;

    ToHostLitmus(final LitmusPlan plan) {
        super(plan);
    }

    @Override
    LitmusRow run() {
        return run(plan.device(), "host", this::send);
    }

    private LitmusRow send(final Publisher publisher, final Subscriber subscriber) {
        final DeviceBackend device = publisher.device();
        final DeviceKernel fill = device.load(LitmusKernels.fill());
        final DeviceKernel late = device.load(LitmusKernels.late());
        final DeviceRegion frame = device.allocate(plan.frameBytes());
        try (DeviceStream user = device.openStream();
                DeviceEvent written = device.openEvent();
                DeviceEvent never = device.openEvent()) {
            final DeviceEvent event = plan.way() == LitmusWay.MISSING_WAIT ? never : written;
            repeat(subscriber, () -> polled == plan.rounds(), () -> {
                if (offered < plan.rounds() && !offering) {
                    write(user, fill, late, frame, written);
                }
                final boolean taken = offering && publisher.offer(frame, event, FrameOptions.DEFAULT) > 0;
                offering &= !taken;
                offered += taken ? 1 : 0;
                return receive(subscriber.poll()) || taken;
            });
        }
        return new LitmusRow("to-host", "source in " + device.name(), plan.way(), plan.rounds(), polled, wrongWords);
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
