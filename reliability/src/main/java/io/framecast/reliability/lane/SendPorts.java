package io.framecast.reliability.lane;

/// The three lanes of a source.
///
/// @param control to members and from them
/// @param data new datagrams, to all
/// @param repair datagrams that are sent again
public record SendPorts(ControlPort control, SendLanePort data, SendLanePort repair) {}
