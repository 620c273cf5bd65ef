/* Written by ChannelKeysHeaderTest.java from ChannelKey.java. */
#ifndef FC_CHANNEL_KEYS_H
#define FC_CHANNEL_KEYS_H

#define FC_CHANNEL_KEYS(ROW) \
    ROW(GROUP, "group") \
    ROW(CONTROL, "control") \
    ROW(IPC, "ipc") \
    ROW(CHANNEL, "channel") \
    ROW(INTERFACE, "interface") \
    ROW(MTU, "mtu") \
    ROW(TTL, "ttl") \
    ROW(DSCP, "dscp") \
    ROW(SOCKET_BUFFER, "socket-buffer") \
    ROW(RATE, "rate") \
    ROW(ONE_SIDED, "one-sided") \
    ROW(UNICAST_PORTS, "unicast-ports") \
    ROW(AUTH, "auth") \
    ROW(CIPHER, "cipher") \
    ROW(PAYLOADS, "payloads") \
    ROW(REKEY, "rekey") \
    ROW(WINDOW, "window") \
    ROW(FRAME_MAX, "frame-max") \
    ROW(RING, "ring") \
    ROW(RING_MAX, "ring-max") \
    ROW(FRAMES_HELD, "frames-held") \
    ROW(DEVICE, "device") \
    ROW(DELIVERY, "delivery") \
    ROW(ALIVE_TIMEOUT, "alive-timeout") \
    ROW(REORDER, "reorder") \
    ROW(CO_ROOTS, "co-roots") \
    ROW(FEED, "feed") \
    ROW(SITE, "site") \
    ROW(SERVE, "serve") \
    ROW(SOURCES, "sources") \
    ROW(REJOIN, "rejoin") \
    ROW(JOIN, "join") \
    ROW(HOST_GROUP, "host-group") \
    ROW(LEADERS, "leaders") \
    ROW(ATTACH_AFTER, "attach-after") \
    ROW(PLACEMENT, "placement") \
    ROW(FASTCOPY_MAX, "fastcopy-max") \
    ROW(FASTCOPY_READ_MAX, "fastcopy-read-max") \
    ROW(GATHER_MAX, "gather-max") \
    ROW(CHUNK, "chunk")

#endif
