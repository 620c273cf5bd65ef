/// `framecast subscribe`: receives frames, checks and writes them. Only the command line calls it.
@NullMarked
package io.framecast.samples.subscribe;

import org.jspecify.annotations.NullMarked;
