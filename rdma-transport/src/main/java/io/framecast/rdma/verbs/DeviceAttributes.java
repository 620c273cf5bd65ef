package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;

/// Limits of a device, as `ibv_devinfo -v` shows them.
///
/// @param firmware version text
/// @param nodeGuid in network order
/// @param vendorId IEEE number of the maker
/// @param ports physical ports, numbered from 1
/// @param pkeysMax entries of a partition table
/// @param hasAtomics whether fetch-and-add and compare-and-swap work
/// @param queues limits of queues
/// @param multicast limits of multicast
public record DeviceAttributes(
        String firmware,
        long nodeGuid,
        int vendorId,
        int ports,
        int pkeysMax,
        boolean hasAtomics,
        Queues queues,
        Multicast multicast) {
    private static final int FIRMWARE_BYTES = 64;

    /// @param queuePairsMax queue pairs
    /// @param requestsMax requests outstanding in one queue
    /// @param elementsMax elements of a scatter or gather list
    /// @param completionQueuesMax completion queues
    /// @param completionsMax entries of a completion queue
    /// @param sharedRequestsMax requests of a shared receive queue; 0 without those
    /// @param regionBytesMax bytes of one memory region, unsigned
    public record Queues(
            int queuePairsMax,
            int requestsMax,
            int elementsMax,
            int completionQueuesMax,
            int completionsMax,
            int sharedRequestsMax,
            long regionBytesMax) {}

    /// @param groupsMax groups
    /// @param membersMax queue pairs in one group
    /// @param membershipsMax of all queue pairs together
    /// @param addressHandlesMax address handles; 0 where the device sets no limit
    public record Multicast(int groupsMax, int membersMax, int membershipsMax, int addressHandlesMax) {}

    static DeviceAttributes read(final MemorySegment attributes) {
        return new DeviceAttributes(
                firmware(attributes),
                attributes.get(JAVA_LONG, at("node_guid")),
                attributes.get(JAVA_INT, at("vendor_id")),
                Byte.toUnsignedInt(attributes.get(JAVA_BYTE, at("phys_port_cnt"))),
                Short.toUnsignedInt(attributes.get(JAVA_SHORT, at("max_pkeys"))),
                attributes.get(JAVA_INT, at("atomic_cap")) != VerbsConstants.IBV_ATOMIC_NONE,
                new Queues(
                        attributes.get(JAVA_INT, at("max_qp")),
                        attributes.get(JAVA_INT, at("max_qp_wr")),
                        attributes.get(JAVA_INT, at("max_sge")),
                        attributes.get(JAVA_INT, at("max_cq")),
                        attributes.get(JAVA_INT, at("max_cqe")),
                        attributes.get(JAVA_INT, at("max_srq_wr")),
                        attributes.get(JAVA_LONG, at("max_mr_size"))),
                new Multicast(
                        attributes.get(JAVA_INT, at("max_mcast_grp")),
                        attributes.get(JAVA_INT, at("max_mcast_qp_attach")),
                        attributes.get(JAVA_INT, at("max_total_mcast_qp_attach")),
                        attributes.get(JAVA_INT, at("max_ah"))));
    }

    private static String firmware(final MemorySegment attributes) {
        final MemorySegment text = attributes.asSlice(at("fw_ver"), FIRMWARE_BYTES);
        // A driver that fills the field leaves no room for its end.
        return text.get(JAVA_BYTE, FIRMWARE_BYTES - 1) == 0 ? text.getString(0) : "";
    }

    private static long at(final String member) {
        return VerbsLayouts.offset(VerbsLayouts.DEVICE_ATTR, member);
    }
}
