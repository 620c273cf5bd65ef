/// The command line `framecast`: finds the command, parses its options, reports its failures. The launcher
/// calls it; no other package does.
@NullMarked
package io.framecast.samples.tool;

import org.jspecify.annotations.NullMarked;
