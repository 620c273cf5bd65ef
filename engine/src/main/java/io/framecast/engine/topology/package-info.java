/// Where the GPUs, network interfaces, CPUs and memory of this host are, as sysfs(5) shows it, and what is near to
/// what.
/// The node chooses by it, and `framecast doctor` prints it. The package only reads files.
@NullMarked
package io.framecast.engine.topology;

import org.jspecify.annotations.NullMarked;
