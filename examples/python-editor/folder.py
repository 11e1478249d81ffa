"""One folder on disk: where a path leads, what a patch makes of a text, and how a file is replaced."""
import contextlib, hashlib, os, pathlib, re, shutil, subprocess, tempfile, unicodedata

INVALID = r"""(\.{0,2}|\.git|git~1|[a-z]:.*|.*[\x00-\x1f\x7f].*|(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?)"""
SECRET = r"(\.env(?!\.(example|sample|template)$).*|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|jks|kdbx))"


class Refused(Exception):
    """Why a file is not created or patched."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def fold(text):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve(strict=True)
        self.name = self.path.name

    def locate(self, given):
        """The place of a path or docPath, in the spelling that exists on disk."""
        parts = re.sub(r"^(\./)+", "", given.replace("\\", "/")).split("/")
        parts = parts[1:] if fold(parts[0]) == fold(self.name) else parts
        if not parts or any(re.fullmatch(INVALID, fold(part).rstrip(". "), re.S) for part in parts):
            raise Refused("InvalidPath", "The path must be below the connected folder.")
        place = self.path
        for part in parts:
            names = [name for name in os.listdir(place) if fold(name) == fold(part)] if place.is_dir() else []
            if len(names) > 1 and part not in names:
                raise Refused("InvalidPath", f"{part} fits several files.")
            place /= part if part in names or not names else names[0]
            if place.is_symlink():
                raise Refused("InvalidPath", "The path leads through a link.")
        if any(re.fullmatch(SECRET, fold(part)) for part in parts) or self.is_ignored(place):
            raise Refused("FORBIDDEN", "The file is ignored by git, or may hold secrets.")
        return place

    def is_ignored(self, place):
        command = ["git", "-c", "core.fsmonitor=false", "check-ignore", "-q", "--", str(place)]
        try:
            code = subprocess.run(command, cwd=self.path, capture_output=True, check=False).returncode
        except OSError:
            code = None
        in_repository = any((folder / ".git").exists() for folder in [self.path, *self.path.parents])
        return code == 0 or (code != 1 and in_repository)


def read(place):
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return place.read_bytes()


def write(place, old, new):
    """Replaces the text of a file in one step; None is no file."""
    if new is None:
        return place.unlink()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused("DirectoryCreateFailed", "The folder cannot be created.") from error
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".patchbay-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        if old is None:
            os.umask(umask := os.umask(0))
            os.chmod(temporary, 0o666 & ~umask)
            os.link(temporary, place)
        else:
            shutil.copystat(place, temporary)
            os.utime(temporary)
            os.replace(temporary, place)
    except OSError as error:
        code = "FileExists" if isinstance(error, FileExistsError) else "WriteFailed"
        raise Refused(code, "The file cannot be written.") from error
    finally:
        pathlib.Path(temporary).unlink(missing_ok=True)


def patched(original, changes):
    """The bytes of a file after the changes of its patch."""
    mark = original[:3] if original.startswith(b"\xef\xbb\xbf") else b""
    try:
        text = original[len(mark):].decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused("NOT_TEXT", "The file is not UTF-8 text.")
    found = [re.fullmatch(r"(.*?)(\r?\n)?", line, re.S) for line in re.findall(r"[^\n]*\n|[^\n]+", text)]
    lines = [(line[1], line[2] or "") for line in found]
    near = lambda at: next((ending for _, ending in lines[:at][::-1] + lines[at:] if ending), "\n")
    result, at = [], 0  # of (text, ending, ending if another line follows, has its ending by rule)
    keep = lambda to: [(*lines[n], near(n), False) for n in range(at, to)]
    for change in sorted(changes, key=lambda c: c["afterLine"] if "afterLine" in c else c["startLine"] - 0.5):
        start = change["afterLine"] if "afterLine" in change else change["startLine"] - 1
        end = change.get("endLine", start)
        if end > len(lines):
            raise Refused("RANGE_BEYOND_END", f"The file has {len(lines)} lines.")
        old, exact = lines[start:end], change.get("newEndings")
        for said, (line, ending) in zip(change.get("expectedOriginalLines", []), old):
            if said != line and said + "\r" != line and (said != line + "\r" or ending != "\r\n"):
                raise Refused("LINES_MISMATCH", f"The lines from {start + 1} are others than expected.")
        result += keep(start)
        for n, new in enumerate(change.get("newLines", [])):
            ending = exact[n] if exact else (old[n][1] if n < len(old) else "") or near(end)
            result.append((new, "\r\n" if new.endswith("\r") and ending == "\n" else ending, near(end), not exact))
        at = end
    result += keep(len(lines))
    if result and result[-1][3] and lines and not lines[-1][1]:
        result[-1] = (result[-1][0], "", "", True)
    ended = [line + (ending or ("\r\n" if line.endswith("\r") else later)) for line, ending, later, _ in result[:-1]]
    new = mark + "".join(ended + [line + ending for line, ending, *_ in result[-1:]]).encode()
    if new == original or (not mark and new.startswith(b"\xef\xbb\xbf")):
        raise Refused("NO_CHANGE" if new == original else "NOT_TEXT", "The changes make no other text of the file.")
    return new
