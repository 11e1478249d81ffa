"""A command at a pseudo-terminal of its own, for terminal.ts: terminal.py <columns> <rows> <command…>

stdin:  a JSON line each: {"type": "text"}, {"columns": n, "rows": n}, {"signal": n}
stdout: a JSON line each: {"pid": n} first, {"said": "base64"} for each output, {"code": n} or {"signal": n} as the last
Where stdin ends the command is killed, so that no test leaves one behind.
"""

import base64
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios


def tell(**what):
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def start(columns, rows, command):
    """The size is there before the command is: it may look at once."""
    ready, go = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:
        os.close(go)
        os.read(ready, 1)
        os.close(ready)
        try:
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    os.close(ready)
    resize(terminal, columns, rows)
    os.close(go)
    return pid, terminal


def obey(line, pid, terminal):
    order = json.loads(line)
    if "type" in order:
        os.write(terminal, order["type"].encode())
    elif "columns" in order:
        resize(terminal, order["columns"], order["rows"])
    elif "signal" in order:
        os.kill(pid, order["signal"])


def output(terminal):
    """What the command said; empty once nobody has the terminal any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def main():
    columns, rows, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    pid, terminal = start(columns, rows, command)
    tell(pid=pid)
    orders, reading = b"", [terminal, 0]
    while terminal in reading:
        readable, _, _ = select.select(reading, [], [])
        if terminal in readable:
            said = output(terminal)
            if not said:
                break
            tell(said=base64.b64encode(said).decode())
        if 0 in readable:
            chunk = os.read(0, 65536)
            if not chunk:
                reading.remove(0)
                os.kill(pid, signal.SIGKILL)
            orders += chunk
            *lines, orders = orders.split(b"\n")
            for line in lines:
                obey(line, pid, terminal)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        tell(signal=os.WTERMSIG(status))
    else:
        tell(code=os.WEXITSTATUS(status))


main()
