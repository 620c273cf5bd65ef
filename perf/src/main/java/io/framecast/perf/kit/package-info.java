/// What is run on a machine with a GPU: tests, benches and the demo, gathered in one table and one file.
@NullMarked
package io.framecast.perf.kit;

import org.jspecify.annotations.NullMarked;
