/// `framecast demo`: a publisher and several subscribers as processes, and whether they agree. Only the command
/// line calls it.
@NullMarked
package io.framecast.samples.demo;

import org.jspecify.annotations.NullMarked;
