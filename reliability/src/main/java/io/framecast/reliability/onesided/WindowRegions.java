package io.framecast.reliability.onesided;

import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;

/// Registered memory of a window, or of a replica of one: words of the caller's choice, headers, payloads.
///
/// @param words allocated here
record WindowRegions(Region words, Region headers, Region payload) implements AutoCloseable {
    /// @param words bytes of the words
    /// @throws OneSidedPort.RefusedException when the system refuses
    static WindowRegions of(
            final OneSidedPort port,
            final long words,
            final MemorySegment headers,
            final MemorySegment payload,
            final Access access) {
        final List<Region> made = new ArrayList<>();
        try {
            made.add(port.allocate(words, access));
            made.add(port.register(headers, access));
            made.add(port.register(payload, access));
        } catch (final RuntimeException | Error e) {
            CloseHelper.closeAll(made);
            throw e;
        }
        return new WindowRegions(made.get(0), made.get(1), made.get(2));
    }

    @Override
    public void close() {
        CloseHelper.closeAll(words, payload, headers);
    }
}
