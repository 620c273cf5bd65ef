package io.framecast.rdma;

import io.framecast.api.HostPort;
import io.framecast.rdma.verbs.AddressPath;

/// The objects that the lanes of a channel share.
///
/// @param port the device they use
/// @param group the channel's group, as users name it
/// @param groupPath the path of its datagrams when the transport was opened, with its GID and, on InfiniBand,
///     its local identifier
/// @param handles address handles of peers
/// @param registrations of their rings
/// @param events of the device
record VerbsLink(
        RdmaPort port,
        HostPort group,
        AddressPath groupPath,
        AddressHandleCache handles,
        RegistrationCache registrations,
        DeviceEvents events) {
    /// The path of the group's datagrams now. Calls the system.
    ///
    /// @throws io.framecast.api.error.TransportException when the port has lost its address
    AddressPath pathToGroup() {
        return port.isInfiniBand() ? groupPath : handles.path(groupPath.destination(), 0);
    }
}
