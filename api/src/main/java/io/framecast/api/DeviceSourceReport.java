package io.framecast.api;

import java.util.List;

/// How a publisher sends frames that lie in device memory, by their length.
///
/// @param readMaxBytes frames up to this length in the publisher's window ([Publisher#tryClaimDevice]) the CPU reads
///     through a mapping of it; 0: none
/// @param gatherMaxBytes longer ones there, up to this length, and those in memory that is lent ([Publisher#lend]), the
///     NIC sends from where they lie; 0: none
/// @param chunkBytes all others are copied to the host in pieces of this length, while the pieces before
///     are sent
/// @param refused why no frame is read or gathered, or up to which length was not measured, a line each
public record DeviceSourceReport(long readMaxBytes, long gatherMaxBytes, long chunkBytes, List<String> refused) {
    public DeviceSourceReport {
        refused = List.copyOf(refused);
    }

    /// One line.
    @Override
    public String toString() {
        final String text = "read up to " + readMaxBytes + " bytes, gathered up to " + gatherMaxBytes
                + ", else copied by " + chunkBytes;
        return refused.isEmpty() ? text : text + " (" + String.join("; ", refused) + ")";
    }
}
