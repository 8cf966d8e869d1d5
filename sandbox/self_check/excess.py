"""Attacks that use more than the limits allow."""

from collections.abc import Awaitable, Callable
from typing import Final

from sandbox.base import Execute, Exit, Limits, Sandbox
from sandbox.self_check.attack import DONE, ending, run_attack
from sandbox.self_check.outside import Outside


def must_end_as(source: str, limits: Limits, *expected: Exit) -> Callable[[Sandbox, Outside], Awaitable[str]]:
    """An attack on a limit: its run must end in one of these ways, before its last line."""

    async def carry_out(sandbox: Sandbox, outside: Outside) -> str:
        results = await run_attack(sandbox, f"{source}\nprint({DONE!r})\n", outside, [Execute(limits=limits)])
        if not results:
            return "the attack could not be loaded"
        (result,) = results
        if DONE in result.stdout[-64:].decode(errors="replace").splitlines() or result.exit not in expected:
            return ending(result)
        if result.exit is Exit.EXITED and result.code != 0:
            return ending(result)
        if len(result.stdout) > limits.output_bytes or len(result.stderr) > limits.stderr_bytes:
            return f"{len(result.stdout)} and {len(result.stderr)} bytes of output"
        if result.cpu_s > 2 * limits.cpu_s + 1:
            return f"{result.cpu_s} CPU seconds"
        return ""

    return carry_out


def must_stop_at(source: str, limits: Limits, limit: int) -> Callable[[Sandbox, Outside], Awaitable[str]]:
    """An attack that prints its progress at each step. It may get as far as `limit`, and no further."""

    async def carry_out(sandbox: Sandbox, outside: Outside) -> str:
        results = await run_attack(sandbox, source, outside, [Execute(limits=limits)])
        numbers = [int(word) for result in results for word in result.stdout.split() if word.isdigit()]
        if not numbers:
            return "the attack could not begin" + "".join(f": {ending(result)}" for result in results)
        return f"it got to {max(numbers)}; at most {limit} is allowed" if max(numbers) > limit else ""

    return carry_out


MEMORY: Final = """\
import time
held = []
for step in range(1, 41):
    held.append(b"x" * (16 << 20))
    print(step * 16, flush=True)
    if step > 8:
        time.sleep(0.05)
"""
"""Beyond its limit it goes slowly: on a busy machine, a memory check from outside may be late."""
SHARED_MEMORY: Final = """\
import mmap
shared = mmap.mmap(-1, 3072 << 20)
for step in range(1, 49):
    shared[(step - 1) * (64 << 20) : step * (64 << 20)] = b"x" * (64 << 20)
    print(step * 64, flush=True)
"""
MEMORY_OF_CHILDREN: Final = """\
import time
living = set()
for _ in range(16):
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        held = b"x" * (192 << 20)
        os.write(tell, b"x")
        time.sleep(20)
        os._exit(0)
    os.close(tell)
    os.read(ready, 1)
    living.add(child)
    time.sleep(0.05)
    living = {child for child in living if os.waitpid(child, os.WNOHANG)[0] == 0}
    print(len(living) * 192, flush=True)
"""
FORKS: Final = """\
import signal, time
for count in range(1, 201):
    try:
        if os.fork() == 0:
            signal.alarm(5)
            time.sleep(4)
            os._exit(0)
    except OSError:
        break
    print(count, flush=True)
"""
THREADS: Final = """\
import threading, time
for count in range(1, 201):
    try:
        threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
    except RuntimeError:
        break
    print(count, flush=True)
os._exit(0)
"""
BURN: Final = "while True: pass"
BURN_TOGETHER: Final = """\
import signal
for number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    os.fork()
while True: pass
"""
SLEEP_LONG: Final = "import time; time.sleep(5)"
FLOOD: Final = """\
for _ in range(4096):
    os.write(1, b"x" * 65536)
"""
FLOOD_ERRORS: Final = """\
for _ in range(512):
    os.write(2, b"x" * 65536)
os._exit(0)
"""
LARGE_FILE: Final = """\
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("large", "wb", buffering=0) as file:
    for step in range(1, 17):
        if file.write(b"x" * (1 << 20)) < 1 << 20:
            break
        print(step, flush=True)
"""
DISK: Final = """\
step = 0
for place in (".", "/tmp", "/dev/shm"):
    for number in range(24):
        try:
            path = os.path.join(place, "fill-%d" % number)
            file = os.open(path, os.O_WRONLY | os.O_CREAT)
            os.unlink(path)
            os.posix_fallocate(file, 0, 32 << 20)
        except OSError:
            break
        step += 32
        print(step, flush=True)
"""
MANY_FILES: Final = """\
for count in range(1, 24001):
    try:
        os.close(os.open("file-%d" % count, os.O_WRONLY | os.O_CREAT))
    except OSError:
        break
    if count % 1000 == 0:
        print(count, flush=True)
print(0)
"""
