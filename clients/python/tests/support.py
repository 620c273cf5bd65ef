"""The test publisher of clients/c, and a directory of its own for the sockets."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "c" / "build"
PUBLISHER = BUILD / "test" / "publisher"
URI = "framecast:udp?group=224.20.30.39:24326|channel=py"

sys.path.insert(0, str(HERE.parent))


class StreamTest(unittest.TestCase):
    """A test with a publisher of its own."""

    def setUp(self):
        if not PUBLISHER.exists():
            self.skipTest("no test publisher: run make test-programs in clients/c")
        self.directory = tempfile.mkdtemp(prefix="framecast-py-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.enterContextOf({"XDG_RUNTIME_DIR": self.directory})

    def enterContextOf(self, variables):
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        self.addCleanup(lambda: [os.environ.pop(n) if v is None else os.environ.update({n: v}) for n, v in before.items()])

    def publish(self, frames, size=4096, window=8, followers=1, uri=URI, formats=()):
        command = [str(PUBLISHER), uri, str(frames), str(size), str(window), str(followers)]
        command += [each.hex() for each in formats]
        process = subprocess.Popen(command, env=dict(os.environ, XDG_RUNTIME_DIR=self.directory))

        def stop():
            process.kill()
            process.wait()

        self.addCleanup(stop)
        return process
