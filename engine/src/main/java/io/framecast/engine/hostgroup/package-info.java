/// Subscribers of one stream on one host receive it once: one leads, is the member that the source sees, and shares its
/// ring of frames with the others, its followers. The layout of what they share is docs/host-segment.md.
///
/// [io.framecast.engine.hostgroup.HostGroups] is what the node calls.
@NullMarked
package io.framecast.engine.hostgroup;

import org.jspecify.annotations.NullMarked;
