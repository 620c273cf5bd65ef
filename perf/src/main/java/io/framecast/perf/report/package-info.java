/// What a run found, as text, JSON, CSV, plots and one page.
@NullMarked
package io.framecast.perf.report;

import org.jspecify.annotations.NullMarked;
