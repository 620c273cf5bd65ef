package io.framecast.samples.worker;

import io.framecast.api.DeviceFrame;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;

/// Frames as an engine makes them, from two slots: a slot is written again as soon as its frame's release is
/// done on the device, so a worker that releases early or reads before `ready` gets wrong bytes.
final class DeviceFramePool {
    private static final int SLOTS = 2;

    private final DeviceStream writer;
    private final Slot[] slots = new Slot[SLOTS];
    private long frames;

    DeviceFramePool(final DeviceBackend device, final long slotBytes) {
        writer = device.openStream();
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = new Slot(
                    device.allocate(slotBytes),
                    device.allocatePinned(slotBytes),
                    device.openEvent(),
                    device.openEvent());
        }
    }

    private record Slot(DeviceRegion memory, MemorySegment staging, DeviceEvent ready, DeviceEvent released) {}

    /// Makes a frame of `bytes`, `offset` into its slot.
    Frame frame(final MemorySegment bytes, final long offset) {
        final Slot slot = slots[(int) (frames % SLOTS)];
        slot.ready().synchronize();
        slot.staging().copyFrom(bytes);
        writer.await(slot.released());
        // The old frame is overwritten first, so a read that comes too early shows.
        writer.fill(slot.memory().address(), (byte) 0x5A, slot.memory().bytes());
        writer.copyToDevice(slot.memory().address() + offset, slot.staging(), 0, bytes.byteSize());
        writer.record(slot.ready());
        return new Frame(frames++, slot.memory().slice(offset, bytes.byteSize()), slot);
    }

    static final class Frame implements DeviceFrame {
        private final long frameId;
        private final DeviceRegion region;
        private final Slot slot;
        private int releases;

        private Frame(final long frameId, final DeviceRegion region, final Slot slot) {
            this.frameId = frameId;
            this.region = region;
            this.slot = slot;
        }

        int releases() {
            return releases;
        }

        @Override
        public long session() {
            return 1;
        }

        @Override
        public long frameId() {
            return frameId;
        }

        @Override
        public DeviceRegion region() {
            return region;
        }

        @Override
        public long length() {
            return region.bytes();
        }

        @Override
        public boolean keyframe() {
            return false;
        }

        @Override
        public long sourceTimestampNs() {
            return frameId;
        }

        @Override
        public byte[] metadata() {
            return new byte[0];
        }

        @Override
        public DeviceEvent ready() {
            return slot.ready();
        }

        @Override
        public void awaitReady() {
            slot.ready().synchronize();
        }

        @Override
        public void release(final DeviceStream stream) {
            releases++;
            stream.record(slot.released());
        }

        @Override
        public void close() {
            releases++;
        }
    }
}
