"""A running `kerascope learn web`, for tests: requests to it, and its end."""

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

CHAPTER_NAME = "02-backend"


class Server:
    """A running `kerascope learn web`, and requests to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        words = [sys.executable, "-m", "kerascope", "learn", "web", "--no-browser", "--lang", "en"]
        self.process = subprocess.Popen(
            words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said = ""
        while not (found := re.search(r"http://127.0.0.1:(\d+)/(\S*)\?token=([\w-]+)", said)):
            line = self.process.stdout.readline()
            assert line, said
            said += line
        self.port, self.token = int(found[1]), found[3]
        self.cookie = f"kerascope-{self.port}={self.token}"

    def ask(self, path, data=None, **headers):
        """Return status, headers and text of an answer."""
        own = {"Cookie": self.cookie} | {k.replace("_", "-"): v for k, v in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = None if data is None else json.dumps(data)
        connection.request("GET" if data is None else "POST", path, body, own)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def data(self, path, data=None):
        """Return the JSON of an answer."""
        return json.loads(self.ask(path, data)[2])

    def run(self, block, code, **more):
        """Return the events of a block."""
        data = {"block": block, "code": code, **more}
        lines = self.ask(f"/blocks/{CHAPTER_NAME}/run", data)[2].splitlines()
        return [json.loads(line) for line in lines]

    @contextmanager
    def stream(self, block, code):
        """Run a block, and give its events while they come."""
        data = json.dumps({"block": block, "code": code})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            path = f"/blocks/{CHAPTER_NAME}/run"
            connection.request("POST", path, data, {"Cookie": self.cookie})
            with connection.getresponse() as answer:
                yield answer

    def stop(self):
        """Press Ctrl-C, if it has not ended; return the exit code and what it printed meanwhile."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
            self.said = self.process.communicate(timeout=60)[0]
        return self.process.returncode, self.said
