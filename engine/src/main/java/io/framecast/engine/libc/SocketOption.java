package io.framecast.engine.libc;

/// A socket option as C names it.
///
/// @param level protocol level, such as [Linux#SOL_SOCKET]
/// @param name number of the option within its level
public record SocketOption(int level, int name) {}
