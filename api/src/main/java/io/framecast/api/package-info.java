/// The interface for users of Framecast: nodes, channels, publishers, subscribers, frames and their settings. Every
/// module may call it; it depends on `api.spi` for device memory and on nothing outside the JDK.
@NullMarked
package io.framecast.api;

import org.jspecify.annotations.NullMarked;
