/// The places of this host's GPUs, network interfaces, CPUs and memory, as sysfs(5) shows them, and their distances.
/// The node chooses by them, and `framecast doctor` prints them. The package only reads files.
@NullMarked
package io.framecast.engine.topology;

import org.jspecify.annotations.NullMarked;
