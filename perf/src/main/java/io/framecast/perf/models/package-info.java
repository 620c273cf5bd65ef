/// Cost models of broadcasts (Chu et al. 2019), without any measurement.
@NullMarked
package io.framecast.perf.models;

import org.jspecify.annotations.NullMarked;
