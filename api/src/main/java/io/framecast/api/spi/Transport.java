package io.framecast.api.spi;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Moves datagrams of one channel between a source and its receivers. Shaped by InfiniBand verbs, the
/// strictest: registered memory known when a lane opens, receives posted before data arrives, sends in
/// batches from gather lists, completions polled.
///
/// Reliability is not a transport's business: it may lose, duplicate and reorder datagrams, but it must never
/// tear, merge or invent one (a datagram longer than a posted slot is dropped and counted).
///
/// Threading: a transport is opened by the conductor; each [Lane] is then used by one thread at a time.
/// Ownership: closing the transport closes its lanes; memory handed over in rings stays the caller's, and
/// must outlive the lane.
public interface Transport extends AutoCloseable {
    TransportCapabilities capabilities();

    /// Opens one lane. Never blocks on a peer.
    ///
    /// @throws io.framecast.api.error.TransportException when the system refuses; the message says how to
    ///     fix it
    Lane open(LaneConfig config);

    /// Whether this transport can receive payloads into such memory. Where only a trial shows it, the
    /// transport tries.
    ///
    /// @param memory exported by its device ([DeviceAccess#export])
    /// @return why it cannot; empty when it can
    default Optional<String> canReceiveInto(final DeviceRegion memory) {
        return capabilities().deviceMemory() || memory.hostAddressable()
                ? Optional.empty()
                : Optional.of("transport " + capabilities().name() + " receives into host memory only");
    }

    /// Registers device memory, from which lanes then gather payloads ([SendRing#places]). May take
    /// milliseconds.
    ///
    /// @param memory of an allocation that is known ([DeviceAccess#identify]), or exported
    /// @return null where this transport sends from host memory only
    /// @throws io.framecast.api.error.TransportException when its device cannot read that memory; the
    ///     message says why
    default @Nullable GatherSource gatherFrom(final DeviceRegion memory) {
        return null;
    }

    /// An address of this transport for people to read: host and port, where it has these.
    default String describe(final LaneAddress address) {
        return address.toString();
    }

    /// Whether two addresses of this transport are of one host: a source asks that of the control and the repair
    /// address of a receiver, which proves the first alone. Addresses may be anything that a peer names.
    ///
    /// @throws io.framecast.api.error.TransportException when one is no address of this transport
    default boolean isOneHost(final LaneAddress first, final LaneAddress second) {
        return first.equals(second);
    }

    /// The network interface that this transport uses, or its RDMA device; empty where that is not known or several.
    default String networkInterface() {
        return "";
    }

    /// A descriptor of the operating system that polls readable while a datagram waits in a lane that
    /// receives, but for lanes with a descriptor of their own ([Lane#readyDescriptor]), so that agents can
    /// sleep until then; it stays the transport's.
    ///
    /// @return -1 where there is none: agents then look for themselves
    default int readyDescriptor() {
        return -1;
    }

    /// One-sided operations on peers' memory, without their CPU; owned by the transport.
    ///
    /// @return null for a transport without one-sided operations: [TransportCapabilities#oneSidedWrite] and
    ///     `oneSidedRead` are false then
    default @Nullable OneSided oneSided() {
        return null;
    }

    /// Ranges of memory that this transport had to register with its device, so far.
    default long memoryRegistrations() {
        return 0;
    }

    /// Ranges that it found registered.
    default long registrationHits() {
        return 0;
    }

    /// Idempotent.
    @Override
    void close();
}
