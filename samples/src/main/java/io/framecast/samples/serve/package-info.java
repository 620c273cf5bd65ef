/// `framecast serve`: streams for processes of this host that have no virtual machine of their own.
@NullMarked
package io.framecast.samples.serve;

import org.jspecify.annotations.NullMarked;
