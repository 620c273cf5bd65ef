package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.onesided.OneSidedPort.Access;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.OneSidedPort.Region;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;

/// A co-root's replica of the window as its source writes it, and the word in which the source announces the
/// replica's end. Registered apart from the members' registration, so a member's keys do not allow it to write.
///
/// Threading: any thread makes and closes it, the session's thread reads it. Ownership: owns its registrations.
public final class ReplicaMemory implements AutoCloseable {
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final Region word;
    private final Region headers;
    private final Region payload;
    private final Region guards;

    /// @param memory of the replica; outlives this
    /// @param exposed the same replica as members read it; outlives this
    /// @throws RefusedException when the system refuses
    public ReplicaMemory(final OneSidedPort port, final WindowMemory memory, final ExposedWindow exposed) {
        final List<Region> made = new ArrayList<>();
        try {
            made.add(port.allocate(Long.BYTES, Access.PEERS_WRITE));
            made.add(port.register(memory.headers(), Access.PEERS_WRITE));
            made.add(port.register(memory.payload(), Access.PEERS_WRITE));
            made.add(port.register(exposed.guardRegion().memory(), Access.PEERS_WRITE));
        } catch (final RuntimeException | Error e) {
            CloseHelper.closeAll(made);
            throw e;
        }
        word = made.get(0);
        headers = made.get(1);
        payload = made.get(2);
        guards = made.get(3);
    }

    /// The values that the source needs.
    public EndpointOffer offer() {
        return EndpointOffer.ofCopy(
                ExposedWindow.place(word),
                ExposedWindow.place(headers),
                ExposedWindow.place(payload),
                ExposedWindow.place(guards));
    }

    /// The word that the source wrote last.
    public long word() {
        return (long) WORD.getAcquire(word.memory(), 0L);
    }

    @Override
    public void close() {
        CloseHelper.closeAll(guards, payload, headers, word);
    }
}
