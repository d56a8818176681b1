"""A virtual machine that finishes runs until its power is cut, in the middle of whatever its kernel writes.

It has a Debian kernel, busybox, the program `power` and a disk. Killing it loses all that its kernel has not handed to
the disk; the disk is then mounted here. Debian: qemu-system-x86 busybox-static kmod cpio linux-image-cloud-amd64.
ASSAY_BENCH_KERNEL names the folder that the kernel's package was unpacked to; without it, it is the one installed.
"""

import os
import pathlib
import shutil
import subprocess
import time

from parts.power_disk import Disk
from parts.power_kinds import Promises, Sqlite, wait_for

ROOT = pathlib.Path(os.environ.get("ASSAY_BENCH_KERNEL", "/"))
TOOLS = ("qemu-system-x86_64", "busybox", "modprobe", "cpio")
MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")
INIT = """#!/bin/busybox sh
/bin/busybox mount -t proc none /proc
/bin/busybox mount -t devtmpfs none /dev
for module in $(/bin/busybox cat /modules/order); do /bin/busybox insmod /modules/$module; done
/bin/busybox mount -t ext4 /dev/vda /mnt || exec /bin/busybox poweroff -f
words=$(/bin/busybox sed 's/.*drive=//' /proc/cmdline | /bin/busybox tr , ' ')
/bin/busybox stty -F /dev/ttyS1 raw
/power drive /mnt/assay.db /mnt/spool /dev/ttyS1 $words
/bin/busybox poweroff -f
"""


def kernel():
    """Of the newest that is there: its release; None where there is none."""
    found = sorted((ROOT / "boot").glob("vmlinuz-*-cloud-amd64"))
    return found[-1].name.partition("-")[2] if found else None


def modules_of(release):
    """Files of the modules that the machine needs, in the order in which they are loaded."""
    found = []
    for module in MODULES:
        words = ["modprobe", "-d", ROOT, "-S", release, "--show-depends", module]
        said = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False).stdout
        found += [line.split()[1] for line in said.splitlines() if line.startswith("insmod")]
    return [pathlib.Path(file) for file in dict.fromkeys(found)]


def libraries_of(program):
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    return [word for word in said.split() if word.startswith("/")]


def make_initrd(folder, program):
    root = folder / "root"
    for name in ("bin", "proc", "dev", "mnt", "modules", "tmp"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
    shutil.copy(program, root / "power")
    for library in libraries_of(program):
        place = root / library.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    modules = modules_of(kernel())
    for file in modules:
        shutil.copy(file, root / "modules" / file.name)
    (root / "modules" / "order").write_text(" ".join(file.name for file in modules))
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
    with (folder / "initrd").open("wb") as packed:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=root, input=names, stdout=packed, check=True)
    shutil.rmtree(root)
    return folder / "initrd"


class Machine(Sqlite):
    """A store and a spool on its disk; which of them promises changes from cut to cut."""

    @staticmethod
    def why_not():
        missing = [tool for tool in TOOLS if not shutil.which(tool)]
        if missing:
            return f"there is no {missing[0]} here (parts/power_vm.py names the packages)"
        return None if kernel() else f"there is no kernel of Debian's for virtual machines in {ROOT}boot"

    def cut(self, cuts):
        disk = Disk(self.folder, "disk", self.mebibytes)
        initrd = make_initrd(self.folder, self.program)
        promised = []
        for self.lives in range(cuts):
            promised += self.live(initrd, disk.image)
            self.judge(disk.image, promised)
        self.counts["promised"] = len(promised)
        return self.counts.result()

    def live(self, initrd, image):
        """Numbers that were promised from the start of the machine to its cut."""
        promises = Promises(self.folder / f"promises{self.lives}")
        drive = f"{1_000_000 + 100_000 * self.lives},{self.choose.choice((0, 8))}"
        words = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "256", "-nodefaults", "-display", "none",
                 "-no-reboot", "-serial", f"file:{self.folder}/console", "-serial", f"file:{promises.file}",
                 "-kernel", ROOT / "boot" / f"vmlinuz-{kernel()}", "-initrd", initrd,
                 "-drive", f"file={image},format=raw,if=virtio,cache=writeback",
                 "-append", f"console=ttyS0 quiet panic=-1 mitigations=off drive={drive}"]  # fmt: skip
        machine = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL)
        wanted = self.choose.randint(10, 200)

        def has_promised():
            if machine.poll() is not None:
                raise SystemExit(f"the machine ended: {(self.folder / 'console').read_text(errors='replace')[-2000:]}")
            return promises.count() >= wanted

        try:
            wait_for(has_promised, "the machine finished too few results")
            time.sleep(self.choose.random() * 0.05)
        finally:
            machine.kill()
            machine.wait()
        return promises.numbers()
