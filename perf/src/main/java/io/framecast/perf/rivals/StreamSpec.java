package io.framecast.perf.rivals;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;

/// One stream of equal frames to measure, the same for every system: what is sent, over what, and which of
/// its receivers a process is.
///
/// @param localAddress of the interface that this process uses
/// @param index of the receiver, 0 … receivers − 1; the publisher's means nothing
public record StreamSpec(Load load, Link link, String localAddress, int index) {
    /// Least room that a frame's stamp needs.
    public static final int FRAME_BYTES_MIN = FrameContent.BYTES_MIN;

    /// The frames of the stream.
    ///
    /// @param framesPerSecond 0 for as many as are taken
    /// @param warmUpNs frames due earlier than this after the first do not count
    /// @param measureNs how long is published after the warm-up
    /// @param bystander one more subscriber; its index is the number of receivers
    /// @param windowNs length of the windows that receivers report one by one; 0 for none
    /// @param readers what receivers do with frames
    public record Load(
            int frameBytes,
            int receivers,
            double framesPerSecond,
            long warmUpNs,
            long measureNs,
            Bystander bystander,
            long windowNs,
            Readers readers) {
        /// Subscribers of every kind.
        int members() {
            return receivers + bystanders();
        }

        int bystanders() {
            return bystander.isThere() ? 1 : 0;
        }
    }

    /// The work of receivers on frames.
    ///
    /// @param device where receivers have frames; empty for the host, and then they look at the ends of frames
    ///     alone; else they sum every byte, after copying it back from a device, and sources write every byte
    /// @param linkBytesPerSecond of an emulated device, each way; 0 for what the host can copy
    /// @param backgroundBytesPerSecond copied from the device to the host meanwhile
    public record Readers(String device, long linkBytesPerSecond, long backgroundBytesPerSecond) {
        /// Receivers on hosts of their own that look at the ends of frames.
        public static final Readers OF_ENDS = new Readers("", 0, 0);

        /// Whether they sum, and are on one host.
        public boolean areSumming() {
            return !device.isEmpty();
        }

        /// The receiver's device, for a system that brings frames there by itself.
        DeviceBackend open() {
            return choice().open(linkBytesPerSecond);
        }

        DeviceChoice choice() {
            return DeviceChoice.parse(device.isEmpty() ? DeviceChoice.HOST : device);
        }
    }

    /// The network of the stream.
    ///
    /// @param group IPv4 multicast group; odd at its end, for Aeron sends its feedback to the even neighbour
    /// @param port first of the eight ports that the stream may use
    /// @param sourceAddress the publisher's, which unicast goes to
    /// @param device the interface's name
    /// @param mtuBytes largest IP packet
    /// @param socketBufferBytes SO_RCVBUF and SO_SNDBUF of all processes, so that no system wins by larger
    ///     ones; 0 for what each system gets by itself
    /// @param batching whether the floor may hand the kernel many datagrams at once, UDP_SEGMENT and UDP_GRO
    /// @param injectedLoss chance of each datagram to be dropped by Framecast itself
    public record Link(
            String group,
            int port,
            String sourceAddress,
            String device,
            int mtuBytes,
            int socketBufferBytes,
            boolean batching,
            double injectedLoss) {}

    /// The same stream as another of its processes sees it.
    public StreamSpec of(final String address, final int receiver) {
        return new StreamSpec(load, link, address, receiver);
    }

    /// Whether this process is the bystander.
    boolean isBystander() {
        return index == load.receivers;
    }
}
