/// `framecast simulate`: the protocol over a simulated network, one run for each seed. Only the command
/// line calls it.
@NullMarked
package io.framecast.samples.simulate;

import org.jspecify.annotations.NullMarked;
