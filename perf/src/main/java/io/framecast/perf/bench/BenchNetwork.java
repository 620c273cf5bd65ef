package io.framecast.perf.bench;

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

    /// One end.
    ///
    /// @param prefix command that a process is run by to be there
    record Host(List<String> prefix, String address) {}
}
