package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;

/// Limits of a device, as `ibv_devinfo -v` shows them.
///
/// @param firmware version text
/// @param ports physical ports, numbered from 1
/// @param requestsMax requests outstanding in one queue
/// @param completionsMax entries of a completion queue
/// @param groupsMax multicast groups
public record DeviceAttributes(String firmware, int ports, int requestsMax, int completionsMax, int groupsMax) {
    private static final int FIRMWARE_BYTES = 64;

    static DeviceAttributes read(final MemorySegment attributes) {
        final MemorySegment firmware = attributes.asSlice(at("fw_ver"), FIRMWARE_BYTES);
        return new DeviceAttributes(
                // A driver that fills the field leaves no room for the final zero.
                firmware.get(JAVA_BYTE, FIRMWARE_BYTES - 1) == 0 ? firmware.getString(0) : "",
                Byte.toUnsignedInt(attributes.get(JAVA_BYTE, at("phys_port_cnt"))),
                attributes.get(JAVA_INT, at("max_qp_wr")),
                attributes.get(JAVA_INT, at("max_cqe")),
                attributes.get(JAVA_INT, at("max_mcast_grp")));
    }

    private static long at(final String member) {
        return VerbsLayouts.offset(VerbsLayouts.DEVICE_ATTR, member);
    }
}
