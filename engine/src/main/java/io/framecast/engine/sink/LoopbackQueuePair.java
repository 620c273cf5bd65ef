package io.framecast.engine.sink;

import io.framecast.api.spi.OneSided;
import java.util.function.Consumer;

/// A NIC that copies payloads within this host, by a connection of the process with itself.
///
/// @param oneSided the transport's one-sided operations
/// @param notices takes a notice when the NIC stops copying
public record LoopbackQueuePair(OneSided oneSided, Consumer<String> notices) {}
