package io.framecast.api.spi;

/// Device memory that a transport registered: its lanes gather payloads from there ([SendRing#places]).
///
/// Threading: any thread. Ownership: the transport's caller closes it, once no slot's payload lies there and
/// the lanes that sent from there have completed, or are closed.
public interface GatherSource extends AutoCloseable {
    DeviceRegion memory();

    /// Idempotent.
    @Override
    void close();
}
