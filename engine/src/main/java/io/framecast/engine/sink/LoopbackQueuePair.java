package io.framecast.engine.sink;

import io.framecast.api.spi.OneSided;
import java.util.function.Consumer;

/// A NIC that is to copy payloads within this host.
///
/// @param oneSided a transport's
/// @param notices told when it copies no more
public record LoopbackQueuePair(OneSided oneSided, Consumer<String> notices) {}
