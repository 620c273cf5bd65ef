package io.framecast.api;

import java.util.List;

/// How a publisher sends frames that lie in device memory, by their length.
///
/// @param readMaxBytes frames up to this length the CPU reads through a mapping of the device's memory; 0: none
/// @param gatherMaxBytes longer ones, up to this length, the NIC sends from where they lie, if their
///     memory is the publisher's ([Publisher#tryClaimDevice]) or lent to it ([Publisher#lend]); 0: none
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
