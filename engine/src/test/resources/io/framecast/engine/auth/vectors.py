"""A handshake, its keys and sealed control datagrams, computed by python3-cryptography from docs/protocol.md: a line of
a name and bytes in hexadecimal for each."""

import hashlib
import hmac
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SESSION = 0x1122334455667788
HANDSHAKE = 0x0A0B0C0D
RECEIVER = HANDSHAKE << 32 | 0x01020304
SHARED = bytes([1] * 32)
GROUP_KEY, DATA_KEY = bytes([2] * 32), bytes([3] * 32)
COOKIE_SECRET = bytes([1] * 32)
SOURCE_CHALLENGE, SOURCE_PRIVATE = bytes([4] * 32), bytes([5] * 32)
CHALLENGE, PRIVATE = bytes([0x11] * 32), bytes([0x12] * 32)
SOURCE_TO_GROUP, SOURCE_TO_MEMBER, MEMBER_TO_SOURCE, MEMBER_TO_MEMBER, ANSWER = range(0x02000001, 0x02000006)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def expand(key, info, length=32):
    return HKDFExpand(algorithm=hashes.SHA256(), length=length, info=info).derive(key)


def siphash(key, data):
    """SipHash-2-4 with 128 bits of output, as its authors' reference code computes it."""
    words = [int.from_bytes(part, "little") for part in (key[:8], key[8:])]
    v = [words[i % 2] ^ constant for i, constant in enumerate(
        (0x736F6D6570736575, 0x646F72616E646F6D ^ 0xEE, 0x6C7967656E657261, 0x7465646279746573))]

    def turn(i, j, left, turned):
        v[i] = v[i] + v[j] & (1 << 64) - 1
        v[j] = (v[j] << left | v[j] >> 64 - left) & (1 << 64) - 1 ^ v[i]
        if turned:
            v[i] = (v[i] << 32 | v[i] >> 32) & (1 << 64) - 1

    def rounds(count):
        for _ in range(count):
            turn(0, 1, 13, True), turn(2, 3, 16, False), turn(0, 3, 21, False), turn(2, 1, 17, True)

    whole = len(data) // 8 * 8
    for at in range(0, whole + 8, 8):
        word = int.from_bytes(data[at : at + 8].ljust(8, b"\0"), "little") | (at == whole) * (len(data) & 255) << 56
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    out = b""
    for index, value in ((2, 0xEE), (1, 0xDD)):
        v[index] ^= value
        rounds(4)
        out += (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")
    return out


# Of vectors_sip128 of that code.
assert siphash(bytes(range(16)), b"").hex() == "a3817f04ba25a8e66df67214c7550293"
assert siphash(bytes(range(16)), bytes(range(8))).hex() == "3b62a9ba6258f5610f83e264f31497b4"


def public(key):
    return X25519PrivateKey.from_private_bytes(key).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def header(kind, length, receiver, tag_bytes, key_epoch, counter, crc=0):
    return struct.pack(
        "<BBHIQQIBBHQ", 0x23, kind, length, crc, SESSION, receiver, 0, 0, tag_bytes, key_epoch, counter
    )


def finish(datagram):
    return datagram[:4] + struct.pack("<I", crc32c(datagram)) + datagram[8:]


def seal(key, lane, kind, receiver, key_epoch, counter, body, sender=None, open_bytes=0):
    trailer = 16 if sender is None else 24
    head = header(kind, 40 + len(body) + trailer, receiver, trailer, key_epoch, counter)
    sealed = AESGCM(key).encrypt(struct.pack(">IQ", lane, counter), body[open_bytes:], head + body[:open_bytes])
    middle = b"" if sender is None else struct.pack("<Q", sender)
    return finish(head + body[:open_bytes] + sealed[:-16] + middle + sealed[-16:])


def body(length):
    return bytes(i * 7 % 256 for i in range(length))


fields = (
    CHALLENGE
    + public(PRIVATE)
    + bytes([4])
    + b"key1".ljust(64, b"\0")
    + bytes([9])
    + b"receiver1".ljust(32, b"\0")
)
content = struct.pack("<QQ", SESSION, HANDSHAKE << 32) + fields
cookie = mac(COOKIE_SECRET, content)
proof_tag = mac(expand(SHARED, b"framecast 2 proof"), content + cookie)
transcript = hashlib.sha256(
    b"framecast 2 transcript" + content + SOURCE_CHALLENGE + public(SOURCE_PRIVATE)
).digest()
answer_tag = mac(expand(SHARED, b"framecast 2 answer"), transcript)
agreed = X25519PrivateKey.from_private_bytes(PRIVATE).exchange(
    X25519PublicKey.from_public_bytes(public(SOURCE_PRIVATE))
)
pair = mac(SHARED, agreed)
to_source = expand(pair, b"framecast 2 member to source" + transcript)
to_member = expand(pair, b"framecast 2 source to member" + transcript)
group = expand(GROUP_KEY, b"framecast 2 group")
member = expand(GROUP_KEY, b"framecast 2 member" + struct.pack("<Q", RECEIVER))

answer_plain = (
    header(23, 296, HANDSHAKE << 32, 0, 0, 1) + SOURCE_CHALLENGE + public(SOURCE_PRIVATE) + answer_tag
)
answer = answer_plain + AESGCM(to_member).encrypt(
    struct.pack(">IQ", ANSWER, 1), struct.pack("<I", 1) + GROUP_KEY + DATA_KEY + bytes(76), answer_plain
)

print("HELLO", finish(header(20, 1200, HANDSHAKE << 32, 0, 0, 1) + fields.ljust(1160, b"\0")).hex())
print("COOKIE", finish(header(21, 72, HANDSHAKE << 32, 0, 0, 1) + cookie).hex())
print("PROOF", finish(header(22, 266, HANDSHAKE << 32, 0, 0, 2) + fields + cookie + proof_tag).hex())
print("ANSWER", finish(answer).hex())
print("toSource", to_source.hex())
print("toMember", to_member.hex())
print("group", group.hex())
print("member", member.hex())
print("FRAME", seal(group, SOURCE_TO_GROUP, 8, 0, 1, 2, body(100)).hex())
print("HEARTBEAT", seal(group, SOURCE_TO_GROUP, 1, 0, 1, 3, body(200), open_bytes=200).hex())
print("START", seal(to_member, SOURCE_TO_MEMBER, 5, RECEIVER, 0, 2, body(24)).hex())
print("ACK", seal(to_source, MEMBER_TO_SOURCE, 6, RECEIVER, 0, 1, body(40)).hex())
print("SOLICIT", seal(to_source, MEMBER_TO_SOURCE, 15, RECEIVER, 0, 2, body(8).ljust(1144, b"\0")).hex())
print("NACK", seal(member, MEMBER_TO_MEMBER, 7, RECEIVER, 1, 1, body(60), sender=RECEIVER).hex())
keys = struct.pack("<I", 2) + bytes([6] * 32) + bytes([7] * 32) + struct.pack("<II", 2, 1)
print("KEYS", seal(to_member, SOURCE_TO_MEMBER, 24, HANDSHAKE << 32, 0, 3, keys).hex())
print("KEYS_ACK", seal(to_source, MEMBER_TO_SOURCE, 25, HANDSHAKE << 32, 0, 3, struct.pack("<I", 2)).hex())
head = bytearray(body(48))
head[0] = 0x21
head[40:48] = struct.pack("<II", 1, 0)
nonce = struct.pack(">I", 0x02000006) + bytes(reversed(head[16:24]))
for name, cipher in ("AES_GCM", AESGCM), ("CHACHA20_POLY1305", ChaCha20Poly1305):
    sealed = cipher(expand(DATA_KEY, b"framecast 2 payload")).encrypt(nonce, body(100), bytes(head))
    print(name, (bytes(head) + sealed[-16:] + sealed[:-16]).hex())
order = [*range(4), *range(32, 36), *range(8, 16), *range(24, 32), *range(40, 48), *range(16, 24), *range(4, 8), *range(36, 40)]
tag = siphash(expand(DATA_KEY, b"framecast 2 header", 16), bytes(head[at] for at in order))
print("HEADER", (bytes(head) + tag + body(100)).hex())
