/// Types and bounds of options: picocli converts texts to [Size], [Sizes], [Numbers] and [Words], and [Options]
/// compares each value with its [Within] or [OneOf]. Commands of every module call this package; it calls none of
/// them.
@NullMarked
package io.framecast.samples.options;

import org.jspecify.annotations.NullMarked;
