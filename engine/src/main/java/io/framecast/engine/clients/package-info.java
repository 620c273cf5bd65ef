/// Publishers of other processes and languages: each writes frames into a ring of its own, and this process publishes
/// them (docs/host-segment.md, "Publishing").
@NullMarked
package io.framecast.engine.clients;

import org.jspecify.annotations.NullMarked;
