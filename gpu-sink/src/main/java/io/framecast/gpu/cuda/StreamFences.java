package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Events behind the work that was enqueued before some memory was freed: when all are complete nothing uses
/// it. Each is closed when it was found complete. By one thread at a time.
final class StreamFences implements BooleanSupplier, AutoCloseable {
    private final List<CudaEvent> marks = new ArrayList<>();
    // A stream could not be marked: nobody will know when its work is done.
    private boolean incomplete;

    void add(final CudaStream stream, final CudaEvent event) {
        marks.add(event);
        stream.record(event);
    }

    void giveUp() {
        incomplete = true;
    }

    @Override
    public boolean getAsBoolean() {
        try {
            while (!incomplete && !marks.isEmpty() && marks.getLast().isComplete()) {
                marks.removeLast().close();
            }
        } catch (final DeviceException _) {
            // A device that is lost gives nothing out again.
            incomplete = true;
        }
        return !incomplete && marks.isEmpty();
    }

    @Override
    public void close() {
        marks.forEach(CudaEvent::close);
        marks.clear();
    }
}
