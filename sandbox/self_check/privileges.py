"""Attacks on the kernel: dangerous system calls, and the privileges of other users."""

from typing import Final

SYSTEM_CALLS: Final = """\
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
X86 = dict(ptrace=101, syslog=103, pivot_root=155, chroot=161, mount=165, swapon=167, add_key=248, request_key=249,
           keyctl=250, unshare=272, perf_event_open=298, fanotify_init=300, open_by_handle_at=304, setns=308,
           process_vm_readv=310, finit_module=313, bpf=321, userfaultfd=323, pidfd_open=434, io_uring_setup=425,
           open_tree=428, fsopen=430, pidfd_getfd=438, clone=56)
ARM = dict(ptrace=117, syslog=116, pivot_root=41, chroot=51, mount=40, swapon=224, add_key=217, request_key=218,
           keyctl=219, unshare=97, perf_event_open=241, fanotify_init=262, open_by_handle_at=265, setns=268,
           process_vm_readv=270, finit_module=273, bpf=280, userfaultfd=282, pidfd_open=434, io_uring_setup=425,
           open_tree=428, fsopen=430, pidfd_getfd=438, clone=220)
TABLES = {"x86_64": X86, "aarch64": ARM}
def succeeds(name, *arguments):
    def action():
        return libc.syscall(TABLES[platform.machine()][name], *arguments) >= 0
    attempt(name, action)
if platform.machine() not in TABLES:
    print("reached: a machine whose system calls are not known")
    sys.exit()
here = os.getcwd().encode()
room = ctypes.create_string_buffer(256)
word = ctypes.c_size_t
def mounts():
    if libc.mount(here, here, None, ctypes.c_ulong(4096), None):
        return False
    libc.umount2(here, 2)
    return True
def reads_another():
    target = ctypes.create_string_buffer(b"secret")
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    ours, theirs = Part(ctypes.addressof(room), 6), Part(ctypes.addressof(target), 6)
    child = os.fork()
    if child == 0:
        import time
        time.sleep(1)
        os._exit(0)
    number = TABLES[platform.machine()]["process_vm_readv"]
    return libc.syscall(number, child, ctypes.byref(ours), word(1), ctypes.byref(theirs), word(1), word(0)) > 0
succeeds("ptrace", 0, 0, None, None)
succeeds("syslog", 2, room, 256)
succeeds("chroot", here)
succeeds("add_key", b"user", b"left", b"x", word(1), -3)
succeeds("keyctl", 0, -3, 1)
succeeds("perf_event_open", (ctypes.c_uint32 * 32)(1, 128), 0, -1, -1, word(0))
succeeds("fanotify_init", 0x200, 0)
succeeds("bpf", 0, (ctypes.c_uint32 * 32)(2, 4, 4, 1), 128)
succeeds("userfaultfd", 0)
succeeds("userfaultfd", 1)
succeeds("io_uring_setup", 4, ctypes.create_string_buffer(120))
succeeds("open_tree", -100, here, 1)
succeeds("fsopen", b"tmpfs", 0)
attempt("shmget", lambda: libc.shmctl(libc.shmget(0, word(4096), 0o1600), 0, None) == 0)
attempt("semget", lambda: libc.semctl(libc.semget(0, 1, 0o1600), 0, 0) == 0)
attempt("msgget", lambda: libc.msgctl(libc.msgget(0, 0o1600), 0, None) == 0)
attempt("mq_open", lambda: libc.mq_open(b"/made", 0o102, 0o600, None) >= 0 and libc.mq_unlink(b"/made") == 0)
for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000, 0x08000000, 0x04000000, 0x02000000):
    succeeds("unshare", flag)
succeeds("clone", 0x10000000 | 17, None, None, None, None)
attempt("mount", mounts)
attempt("process_vm_readv", reads_another)
if platform.machine() == "x86_64":
    attempt("x32 system calls", lambda: libc.syscall(0x40000000 | 39) >= 0)
"""

PRIVILEGES: Final = """\
import ctypes, stat, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def capable():
    with open("/proc/self/status") as file:
        return any(int(line.split()[1], 16) for line in file if line.startswith(("CapEff:", "CapPrm:", "CapInh:")))
def becomes(*ids):
    before = os.getresuid()
    os.setresuid(*ids)
    return os.getresuid() != before
def makes_set_uid():
    with open("copy", "wb") as copy, open("/bin/sleep", "rb") as original:
        copy.write(original.read())
    os.chmod("copy", 0o6755)
    os.chown("copy", 0, 0)
    return os.getuid() != 0
def makes_device():
    os.mknod("device", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    return os.open("device", os.O_RDONLY) >= 0
attempt("capabilities", capable)
attempt("new privileges", lambda: libc.prctl(39, 0, 0, 0, 0) == 0)
attempt("root", lambda: becomes(0, 0, 0))
attempt("another user", lambda: becomes(12345, 12345, 12345))
attempt("root's group", lambda: os.getgid() != 0 and os.setresgid(0, 0, 0) is None)
attempt("other groups", lambda: os.setgroups([0]) is None)
attempt("a set-user-id program of root", makes_set_uid)
attempt("a device made by itself", makes_device)
attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) is None)
name = os.uname().nodename.encode()
attempt("the host name", lambda: libc.sethostname(name, len(name)) == 0)
for name in ("mem", "kmem", "port", "kmsg", "kvm", "fuse", "sda", "vda", "nvme0n1", "loop0", "loop-control", "ptmx",
             "net/tun", "vhost-net", "uinput", "mapper/control"):
    opens("/dev/" + name, os.O_RDONLY)
"""
