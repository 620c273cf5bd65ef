package io.framecast.perf.bench;

import java.io.IOException;
import java.util.List;

/// Where the processes of a stream run, and the addresses they have there.
interface BenchNetwork {
    String LOOPBACK_ADDRESS = "127.0.0.1";

    /// This machine's loopback.
    BenchNetwork LOOPBACK = new BenchNetwork() {
        @Override
        public Host source() {
            return new Host(List.of(), LOOPBACK_ADDRESS);
        }

        @Override
        public Host receiver(final int index) {
            return source();
        }

        // What the loopback counts is everybody's.
        @Override
        public String device() {
            return "";
        }
    };

    Host source();

    Host receiver(int index);

    /// The interface whose counters are the stream's alone; empty where there is none.
    String device();

    /// Makes it the network of a case: loss at every input, and no more receivers than these are sent to.
    ///
    /// @param filters whether what drops packets looks at them even without loss, for that costs time too
    /// @throws IOException when it cannot be done; the line says why
    default void set(final double loss, final boolean filters, final int receivers) throws IOException {
        // Loopback stays as it is.
    }

    /// Loses datagrams on the last step to each receiver and on the first step from it, and shows what is
    /// lost: data comes to another port of the receiver's host, and what else is lost there to the port
    /// behind that.
    ///
    /// @param losses of each receiver's link
    /// @param port that data is sent to
    /// @throws IOException when it cannot be done; the line says why
    default void divert(final List<Double> losses, final int port, final int divertedPort) throws IOException {
        throw new IOException("this network is everybody's");
    }

    /// One end.
    ///
    /// @param prefix command that a process is run by to be there
    record Host(List<String> prefix, String address) {}
}
