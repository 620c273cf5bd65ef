"""Sealed datagrams and derived keys, computed by python3-cryptography: a line of words in hexadecimal for each."""

import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY = bytes(range(32))
for name, cipher in (("AES_GCM", AESGCM(KEY)), ("CHACHA20_POLY1305", ChaCha20Poly1305(KEY))):
    for number, length in enumerate((0, 1, 15, 16, 64, 1408, 8192)):
        lane, sequence = 0x01000000 | number, (1 << 61) + number
        header = bytes((i * 3 + number) % 256 for i in range(48))
        payload = bytes((i * 7 + number) % 256 for i in range(length))
        sealed = cipher.encrypt(struct.pack(">IQ", lane, sequence), payload, header)
        print("seal", name, lane, sequence, header.hex(), payload.hex() or "-", sealed[:-16].hex() or "-", sealed[-16:].hex())
for length in (1, 32, 33, 100):
    salt, info, secret = bytes(range(length % 40)), b"framecast %d" % length, bytes(range(100, 132))
    derived = HKDF(algorithm=hashes.SHA256(), length=length, salt=salt or None, info=info).derive(secret)
    print("derive", length, salt.hex() or "-", info.hex(), secret.hex(), derived.hex())
