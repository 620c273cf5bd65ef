package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Events behind the work that streams held when some memory was freed: once all are complete, no work uses the
/// memory. An event is closed when it is found complete. One thread at a time.
final class StreamFences implements BooleanSupplier, AutoCloseable {
    private final List<CudaEvent> marks = new ArrayList<>();
    // A stream took no event, so its work has no known end.
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
