package io.framecast.gpu.device;

import io.framecast.api.error.DeviceException;

/// The grid of a persistent kernel. Its blocks wait for each other, and none ends to make room: all must be
/// resident at once, or running blocks wait for blocks that never start.
///
/// That is asked before the launch. A cooperative launch (cuLaunchCooperativeKernel) refuses a grid that exceeds
/// the GPU, but not one that only other kernels leave no room for, and names no number; it also needs a device
/// attribute, and a kernel that launches no others.
///
/// Kernels of other processes, and kernels that this process launches by other libraries, are unknown here.
///
/// @param kernel its name
/// @param blocks in the grid
/// @param threads in a block
/// @param perProcessor blocks of this kind that one multiprocessor holds when it is empty; 0 when it holds none
/// @param processors multiprocessors of the device
public record ResidentGrid(String kernel, int blocks, int threads, int perProcessor, int processors) {
    /// Blocks of this kind that an empty device holds.
    public long capacity() {
        return (long) perProcessor * processors;
    }

    /// Blocks of this kind that another grid keeps off the device, at most, wherever its blocks lie. A block that takes
    /// a share 1/n of a multiprocessor's scarcest resource is in the way of no more than ⌈[#perProcessor] / n⌉.
    public long keptOffBy(final ResidentGrid other) {
        final int share = Math.max(1, other.perProcessor);
        return (long) other.blocks * ((perProcessor + share - 1) / share);
    }

    /// @param device as its backend's name
    /// @param taken by other persistent kernels, in blocks of this kind
    /// @throws DeviceException in one line that says how many blocks fit, when not all do
    public void check(final String device, final long taken) {
        final long room = Math.max(0, capacity() - taken);
        if (blocks > room) {
            throw new DeviceException(device + ": kernel " + kernel + ": expected at most " + room + " blocks of "
                    + threads
                    + " threads, got " + blocks + ": the blocks of a persistent kernel must run at once, the GPU holds "
                    + capacity() + " and other persistent kernels may take " + Math.min(taken, capacity())
                    + "; launch fewer or smaller blocks, or end another kernel first");
        }
    }
}
