package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import java.lang.invoke.VarHandle;
import org.agrona.CloseHelper;

/// A co-root's replica of the window as its source writes it, and the word in which the source announces the
/// replica's end. Registered apart from the members' registration, so a member's keys do not allow it to write.
///
/// Threading: any thread makes and closes it, the session's thread reads it. Ownership: owns its registrations.
public final class ReplicaMemory implements AutoCloseable {
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final WindowRegions regions;
    private final Region guards;

    /// @param memory of the replica; outlives this
    /// @param exposed the same replica as members read it; outlives this
    /// @throws RefusedException when the system refuses
    public ReplicaMemory(final OneSidedPort port, final WindowMemory memory, final ExposedWindow exposed) {
        regions = WindowRegions.of(port, Long.BYTES, memory.headers(), memory.payload(), Access.PEERS_WRITE);
        try {
            guards = port.register(exposed.regions().words().memory(), Access.PEERS_WRITE);
        } catch (final RuntimeException | Error e) {
            regions.close();
            throw e;
        }
    }

    /// The values that the source needs.
    public EndpointOffer offer() {
        return EndpointOffer.ofCopy(
                ExposedWindow.place(regions.words()),
                ExposedWindow.place(regions.headers()),
                ExposedWindow.place(regions.payload()),
                ExposedWindow.place(guards));
    }

    /// The word that the source wrote last.
    public long word() {
        return (long) WORD.getAcquire(regions.words().memory(), 0L);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(guards, regions);
    }
}
