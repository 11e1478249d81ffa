"""Extended attributes and access control lists of files, for tests.

attributes.py probe FOLDER        ends with 0 where the disk of the folder has both
attributes.py set FILE            gives the file an attribute and a list: user 1234 rw-, group ---, mask rw-
attributes.py show FILE           prints both, and the mode
"""

import os
import stat
import struct
import sys
import tempfile

ACL = "system.posix_acl_access"
NONE = 0xFFFFFFFF
# Tags: owner, a user, the owning group, mask, others.
ENTRIES = [(0x01, 6, NONE), (0x02, 6, 1234), (0x04, 0, NONE), (0x10, 6, NONE), (0x20, 0, NONE)]


def set_on(path):
    os.setxattr(path, "user.origin", b"by hand")
    os.setxattr(path, ACL, struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in ENTRIES))


def show(path):
    names = [name for name in sorted(os.listxattr(path)) if name.startswith("user.") or name == ACL]
    shown = [f"{name}={os.getxattr(path, name).hex()}" for name in names]
    return " ".join([oct(stat.S_IMODE(os.stat(path).st_mode)), *shown])


command, place = sys.argv[1:]
if command == "probe":
    with tempfile.NamedTemporaryFile(dir=place) as file:
        set_on(file.name)
elif command == "set":
    set_on(place)
else:
    print(show(place))
