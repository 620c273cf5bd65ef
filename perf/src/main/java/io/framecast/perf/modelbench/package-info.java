/// `framecast bench models`: what cost models predict beside what was measured, scheme by scheme (Chu et al. 2019, §4
/// and 8).
@NullMarked
package io.framecast.perf.modelbench;

import org.jspecify.annotations.NullMarked;
