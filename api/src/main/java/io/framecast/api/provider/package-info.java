/// The providers of transports and devices, which `ServiceLoader` finds. They own the names that a channel may
/// use. A module that holds a transport or a device implements these interfaces on top of `api.spi`; the engine
/// calls them. Users of `api` need none of them. [PseudoFiles] is for the modules that look at the machine,
/// [ScopedLock] for those that have threads of their own.
@NullMarked
package io.framecast.api.provider;

import org.jspecify.annotations.NullMarked;
