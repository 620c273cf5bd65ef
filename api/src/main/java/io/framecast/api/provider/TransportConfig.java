package io.framecast.api.provider;

import io.framecast.api.Channel;
import java.util.function.Consumer;

/// Arguments for a transport that opens the lanes of one channel.
///
/// @param channel the parsed channel: group or fan-out address, interface, MTU, TTL, socket buffers
/// @param warnings takes one-line notices that an operator should see once (buffer smaller than asked for …)
public record TransportConfig(Channel channel, Consumer<String> warnings) {}
