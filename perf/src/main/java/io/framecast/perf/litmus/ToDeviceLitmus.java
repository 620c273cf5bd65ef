package io.framecast.perf.litmus;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.PlacementReport;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Frames from host memory into a device, each checked by a kernel the moment it may run; the ring is short,
/// so that slots are written again the moment they may be.
final class ToDeviceLitmus extends Litmus {
    // Kernels that have not run, of frames that were closed too early.
    private static final int BEHIND_MAX = 32;

    private final FrameClaim claim = new FrameClaim();
    private long offered;
    private long polled;

    ToDeviceLitmus(final LitmusPlan plan) {
        super(plan);
    }

    @Override
    LitmusRow run() {
        return run("host", plan.device(), this::check);
    }

    private LitmusRow check(final Publisher publisher, final Subscriber subscriber) {
        final DeviceBackend device = subscriber.device();
        final DeviceRegion result = device.allocate(LitmusKernels.RESULT_BYTES);
        try (DeviceStream user = device.openStream()) {
            user.fill(result.address(), (byte) 0, result.bytes());
            user.synchronize();
            final Kernels kernels = new Kernels(
                    user, device.load(LitmusKernels.check()), device.load(LitmusKernels.late()), result.address());
            repeat(subscriber, () -> polled == plan.rounds(), () -> {
                final boolean published = publish(publisher);
                final DeviceFrame frame = subscriber.poll();
                if (frame != null) {
                    consume(frame, kernels);
                    polled++;
                }
                return published || frame != null;
            });
            final MemorySegment host = device.allocatePinned(LitmusKernels.RESULT_BYTES);
            // The frames' own stream may be behind.
            device.free(device.allocate(1));
            user.copyToHost(host, 0, result.address(), LitmusKernels.RESULT_BYTES);
            user.synchronize();
            return new LitmusRow(
                    "to-device",
                    subscriber.placement().map(PlacementReport::toString).orElse("host"),
                    plan.way(),
                    plan.rounds(),
                    host.getAtIndex(ValueLayout.JAVA_LONG, 1),
                    host.getAtIndex(ValueLayout.JAVA_LONG, 0));
        }
    }

    /// The kernels that are launched for each frame.
    ///
    /// @param result address of what `check` counts
    private record Kernels(DeviceStream user, DeviceKernel check, DeviceKernel late, long result) {}

    private boolean publish(final Publisher publisher) {
        if (offered == plan.rounds() || publisher.tryClaim(plan.frameBytes(), claim) < 0) {
            return false;
        }
        LitmusKernels.write(claim.segment(), offered);
        claim.commit(FrameOptions.DEFAULT);
        offered++;
        return true;
    }

    private void consume(final DeviceFrame frame, final Kernels kernels) {
        final DeviceStream stream = plan.way() == LitmusWay.FRAME_STREAM ? frame.stream() : kernels.user;
        switch (plan.way()) {
            case READY_EVENT, EARLY_RELEASE -> stream.await(frame.ready());
            case AWAIT_READY -> frame.awaitReady();
            case FRAME_STREAM, MISSING_WAIT -> {
                // The stream waits by itself, or not at all.
            }
        }
        if (plan.way() != LitmusWay.MISSING_WAIT && frame.frameId() % 2 == 0) {
            // So that memory given back too early is written before it was read.
            stream.launch(kernels.late, 1, 1, plan.lateNs());
        }
        final long address = frame.region().address();
        stream.launch(kernels.check, GRID, THREADS, address, plan.words(), frame.frameId(), kernels.result);
        if (plan.way() == LitmusWay.EARLY_RELEASE) {
            frame.close();
            if (polled % BEHIND_MAX == 0) {
                stream.synchronize();
            }
        } else {
            frame.release(stream);
        }
    }
}
