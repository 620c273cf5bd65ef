package io.framecast.rdma.verbs;

/// An RDMA device of this machine, as listed; not open.
///
/// @param name the kernel's name, such as `mlx5_0`
/// @param isInfiniBandVerbs whether the device speaks InfiniBand's verbs (InfiniBand and RoCE), and so has
///     datagram queue pairs with multicast; iWARP and others do not
public record Device(String name, boolean isInfiniBandVerbs) {}
