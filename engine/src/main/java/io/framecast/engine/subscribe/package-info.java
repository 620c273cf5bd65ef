/// The subscriber, and the agent that runs its [io.framecast.reliability.session.ReceiveSession]s over the
/// transport's lanes and a device's memory. `engine.node` calls it.
///
/// Each optional feature is an object, and a stream without the feature has one that does the plain thing:
/// [io.framecast.engine.subscribe.GroupRole], [io.framecast.engine.subscribe.Membership],
/// [io.framecast.engine.subscribe.FrameRecipients], [io.framecast.engine.subscribe.SourceListener],
/// [io.framecast.engine.subscribe.protect.StreamProtection].
///
/// [io.framecast.reliability.membership.MembershipMachine] decides about joining;
/// [io.framecast.engine.subscribe.SubscribedSources] carries its decisions out. The parts that last for all sessions
/// open and close in one order, that of [io.framecast.engine.subscribe.SubscriptionAssembly].
@NullMarked
package io.framecast.engine.subscribe;

import org.jspecify.annotations.NullMarked;
