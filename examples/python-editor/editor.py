"""A Patchbay client that creates and patches files below one folder, written from docs/protocol.md alone."""
import argparse, contextlib, datetime, difflib, getpass, json, os, pathlib, queue, random, sys, threading, time, urllib.parse, uuid
import requests, socketio
from folder import Folder, Refused, fold, patched, read, sha256, write

BUSY = ("RATE_LIMITED", "INTERNAL_ERROR", "UNAVAILABLE")
CONFLICTS = ("STALE", "LINES_MISMATCH", "RANGE_BEYOND_END")
MAX_FILE_BYTES = 8 * 1024 * 1024
now = lambda: datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
data_of = lambda text: None if text is None else bytes.fromhex(text)


class Login:
    """The access token: of a login that is renewed, or one that was given."""

    def __init__(self, url, email, token):
        self.url, self.email, self.token, self.refresh_token = url, email, token, None
        self.password = email and (os.environ.get("PATCHBAY_PASSWORD") or getpass.getpass())
        if email:
            self.renew()

    def renew(self):
        route, body = "login", {"email": self.email, "password": self.password}
        if self.refresh_token:
            route, body = "refresh", {"refreshToken": self.refresh_token}
        response = requests.post(f"{self.url}/api/v1/auth/{route}", json=body, timeout=30)
        if response.status_code in (400, 401):
            sys.exit(f"The login has ended: {response.json()['error']}")
        response.raise_for_status()
        self.token, self.refresh_token = (response.json()[name] for name in ("accessToken", "refreshToken"))


class Journal:
    """What outlives the process: the calls that are not reported yet, and the ids of client and folder."""

    def __init__(self, path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = {"clientId": f"python-{uuid.uuid4()}", "rootId": str(uuid.uuid4()), "calls": {}}
        self.path, self.lock = path, threading.RLock()
        self.ids = json.loads(path.read_text()) if path.exists() else new
        self.calls = self.ids["calls"]
        self.note({})

    def note(self, entry, **change):
        with self.lock:
            entry.update(change)
            with open(self.path.with_suffix(".new"), "w", encoding="utf-8") as file:
                json.dump(self.ids, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(file.name, self.path)

    def forget(self, call_id):
        with self.lock:
            self.note(self.calls.pop(call_id, {}))


class Editor:
    def __init__(self, args, login, folder, journal):
        self.args, self.login, self.folder, self.journal = args, login, folder, journal
        self.work, self.refusal, self.replaced = queue.Queue(), None, False
        self.socket = socketio.Client(reconnection=False)
        handlers = {"tool:call": self.on_call, "file:read": self.on_read, "auth:expiring": self.on_expiring}
        handlers |= {"client:replaced": self.on_replaced, "connect_error": self.on_refused}
        for event, handler in {**handlers, "*": lambda *_: {"ok": True}}.items():
            self.socket.on(event, handler, namespace="/relay")

    def run(self):
        wait = 1
        while not self.replaced:
            try:
                self.connect()
                wait = 1
                print("connected", flush=True)
                while self.socket.connected:
                    with contextlib.suppress(queue.Empty):
                        self.handle(self.work.get(timeout=0.2))
            except (socketio.exceptions.SocketIOError, OSError) as error:
                print(f"reconnecting: {error}", flush=True)
            self.socket.disconnect()
            time.sleep(wait * random.uniform(0.5, 1))
            wait = min(2 * wait, 30)

    def connect(self):
        """Connects and resumes the calls of the journal."""
        self.refusal, self.work, ids = None, queue.Queue(), self.journal.ids
        root = {"name": self.folder.name, "docPath": fold(self.folder.name), "rootId": ids["rootId"]}
        auth = {"token": self.login.token, "workspaceId": self.args.workspace, "clientId": ids["clientId"]}
        auth |= {"name": "Python editor", "version": "1.0.0", "protocol": 1, "roots": [root]}
        auth |= {"tools": ["workspace_create_file", "workspace_write_patch"]}
        path = urllib.parse.urlparse(self.args.url).path.strip("/") + "/socket.io"
        try:
            where = {"namespaces": ["/relay"], "transports": ["websocket"], "socketio_path": path}
            self.socket.connect(self.args.url, auth=auth, **where)
        except socketio.exceptions.ConnectionError:
            code = (self.refusal or {}).get("code")
            if code == "INVALID_TOKEN":
                self.login.renew()
            elif code and code not in BUSY:
                sys.exit(self.refusal["message"])
            raise
        keys = ("turnId", "callId", "attempt", "state", "result", "approval")
        entries = [{key: entry[key] for key in keys if key in entry} for entry in self.journal.calls.values()]
        answer = self.emit("client:resume", entries)
        if not answer["ok"]:
            sys.exit(answer["error"]["message"])
        for call_id in answer["forget"]:
            self.journal.forget(call_id)
        for call_id in answer["resume"]:
            self.work.put(call_id)

    def emit(self, event, payload):
        """Sends an event, again while the server is busy, and returns its acknowledgement."""
        while True:
            answer = self.socket.call(event, payload, namespace="/relay", timeout=10)
            if answer["ok"] or answer["error"]["code"] not in BUSY:
                return answer
            time.sleep(answer["error"].get("retryAfterSeconds", 1))

    def on_refused(self, error):
        self.refusal = error.get("data") if isinstance(error, dict) else None

    def on_replaced(self, _notice):
        self.replaced = True
        return {"ok": True}

    def on_expiring(self, _notice):
        def renew():
            self.login.renew()
            self.emit("auth:refresh", self.login.token)

        self.socket.start_background_task(renew)
        return {"ok": True}

    def on_call(self, call):
        """Acknowledges a call once it is in the journal. A call that the journal has goes on from where it is."""
        with self.journal.lock:
            entry = self.journal.calls.setdefault(call["callId"], {"state": "acknowledged", "call": call})
            self.journal.note(entry, **{key: call[key] for key in ("turnId", "callId", "attempt")})
        self.work.put(call["callId"])
        return {"ok": True}

    def on_read(self, request):
        try:
            data = read(self.folder.locate(request["docPath"]))
            if data is not None and len(data) <= request["maxBytes"]:
                return {"ok": True, "content": data, "sha256": sha256(data), "isDirty": False, "source": "disk"}
            code = "NOT_FOUND" if data is None else "TOO_LARGE"
        except (Refused, OSError):
            code = "FORBIDDEN"
        return {"ok": False, "error": {"code": code, "message": "The file cannot be read."}}

    def handle(self, call_id):
        """Takes a call of the journal from where it is to its end."""
        entry = self.journal.calls.get(call_id)
        if entry and entry["state"] in ("acknowledged", "awaiting_approval"):
            self.begin(entry)
        if entry and entry["state"] == "running":
            self.execute(entry)
        if entry and "result" in entry:
            keys = ("turnId", "callId", "attempt", "result", "approval")
            answer = self.emit("tool:result", {key: entry[key] for key in keys if key in entry})
            print(f"{call_id} {entry['state']} {answer.get('error', '')}", flush=True)
            self.journal.forget(call_id)

    def begin(self, entry):
        """Checks everything, asks the person, and waits until the server has noted that the call runs here."""
        step, call = {key: entry[key] for key in ("turnId", "callId", "attempt")}, entry["call"]
        plans = [self.plan(file) for file in (call["batch"]["files"] if "batch" in call else [call["arguments"]])]
        if any(isinstance(plan, Refused) for plan in plans):
            return self.finish(entry, plans)
        approval = {"decision": "allow_always", "by": "--yes", "at": now()}
        if not self.args.yes:
            self.journal.note(entry, state="awaiting_approval")
            self.emit("tool:status", {**step, "status": "awaiting_approval"})
            for plan in plans:
                old, new = (data_of(plan[of] or "").decode(errors="replace").splitlines() for of in ("old", "new"))
                for line in difflib.unified_diff(old, new, plan["path"], plan["path"], lineterm=""):
                    print("".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in line))
            print("Do it? [y/N] ", flush=True)
            said = sys.stdin.readline() or sys.exit("Nobody can be asked: start it at a terminal, or with --yes.")
            approval = {"decision": "allow" if said == "y\n" else "deny", "by": getpass.getuser(), "at": now()}
            if said != "y\n":
                return self.journal.note(entry, state="denied", result=None, approval=approval)
        for plan in plans:
            if plan["ids"]:
                self.upload(plan, "old", None)
        if not self.emit("tool:status", {**step, "status": "running"})["ok"]:
            entry["state"] = "ended"
            return self.journal.forget(entry["callId"])
        self.journal.note(entry, state="running", plans=plans, approval=approval)

    def plan(self, file):
        """What a call makes of one file, or why it cannot."""
        try:
            place = self.folder.locate(file.get("docPath") or file["path"])
            old = read(place)
            if "content" in file:
                if old is not None and not file.get("overwrite"):
                    raise Refused("FileExists", "The file exists. Use overwrite: true to replace it.")
                new = file["content"].lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").encode()
            elif old is None:
                raise Refused("NOT_FOUND", "There is no such file.")
            elif sha256(old) != file["originalSha256"]:
                raise Refused("STALE", "The file has changed. Read it again.")
            else:
                new = patched(old, file["changes"])
            if len(new) > MAX_FILE_BYTES:
                raise Refused("TooLarge", f"The file would have more than {MAX_FILE_BYTES} bytes.")
        except OSError:
            return Refused("WriteFailed", "The file cannot be read.")
        except Refused as refused:
            return refused
        path = "/".join(["", self.folder.name, *place.relative_to(self.folder.path).parts])
        ids = {"filePatchId": file["filePatchId"]} if "filePatchId" in file else {}
        return {"path": path, "old": None if old is None else old.hex(), "new": new.hex(), "ids": ids}

    def execute(self, entry):
        """Writes all files of a call or none, or finishes what an interrupted process has begun."""
        plans = list(entry["plans"])
        for at, plan in enumerate(plans):
            try:
                self.swap(plan, "old", "new")
            except (Refused, OSError) as fault:
                for written in plans[:at]:
                    with contextlib.suppress(Refused, OSError):
                        self.swap(written, "new", "old")
                plans[at] = fault if isinstance(fault, Refused) else Refused("WriteFailed", "The file cannot be read.")
                return self.finish(entry, plans)
        for plan in plans:
            base = None if plan["old"] is None else sha256(data_of(plan["old"]))
            self.upload(plan, "new", base, callId=entry["callId"], **plan["ids"])
        self.finish(entry, plans)

    def swap(self, plan, old, new):
        """Puts one text of a plan in the place of another, unless it is there already."""
        place = self.folder.locate(plan["path"][1:])
        held = read(place)
        if held != data_of(plan[new]):
            if held != data_of(plan[old]):
                raise Refused("STALE" if plan["ids"] else "FileExists", "The file has changed since.")
            write(place, held, data_of(plan[new]))

    def upload(self, plan, which, base, **ids):
        content, path = data_of(plan[which]), plan["path"]
        file = {"docPath": fold(path[1:]), "path": path, "content": content, "sha256": sha256(content)}
        answer = self.emit("files:put", {**file, "baseSha256": base, **ids})
        if not answer["ok"]:
            print(f"{path} is not the head in the Cloud: {answer['error']['message']}", flush=True)

    def finish(self, entry, plans):
        call, faults = entry["call"], [plan for plan in plans if isinstance(plan, Refused)]
        result = (patch_result if "batch" in call else create_result)(call, plans, faults)
        self.journal.note(entry, state="failed" if faults else "succeeded", result=result)
        name = "WritePatch" if "batch" in call else "CreateFile"
        log = {"event": f"Tool.{name}.Executed", "callId": entry["callId"], "turnId": entry["turnId"]}
        log |= {"success": not faults, "errorCode": faults[0].code if faults else None}
        print(json.dumps(log), file=sys.stderr, flush=True)


def create_result(call, plans, faults):
    result = {"success": not faults, "path": call["arguments"]["path"].replace("\\", "/")}
    if faults:
        nothing = {"sizeBytes": 0, "hash": "", "created": False, "overwritten": False}
        return {**result, **nothing, "message": str(faults[0]), "errorCode": faults[0].code}
    new, created = data_of(plans[0]["new"]), plans[0]["old"] is None
    result |= {"message": "File created.", "docPath": fold(plans[0]["path"][1:]), "errorCode": None}
    return {**result, "sizeBytes": len(new), "hash": sha256(new), "created": created, "overwritten": not created}


def patch_result(call, plans, faults):
    files = []
    for file, plan in zip(call["batch"]["files"], plans):
        result = {"filePatchId": file["filePatchId"], "status": "skipped" if faults else "applied"}
        if isinstance(plan, Refused):
            status = "conflict" if plan.code in CONFLICTS else "failed"
            result |= {"status": status, "errorCode": plan.code, "message": str(plan)}
        elif not faults:
            result["newSha256"] = sha256(data_of(plan["new"]))
        status = "failed" if result["status"] == "conflict" else result["status"]
        files.append({**result, "changes": [{"changeId": c["changeId"], "status": status} for c in file["changes"]]})
    return {"success": not faults, "batchId": call["batch"]["batchId"], "files": files}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--url", default=os.environ.get("PATCHBAY_URL", "http://127.0.0.1:3000"))
    parser.add_argument("--workspace", default=os.environ.get("PATCHBAY_WORKSPACE"), help="its id")
    parser.add_argument("--email", help="logs in, with the password in PATCHBAY_PASSWORD or as typed")
    parser.add_argument("--journal", type=pathlib.Path, help="default: ~/.patchbay-python/<hash of the folder>.json")
    parser.add_argument("--yes", action="store_true", help="asks nobody")
    args, token = parser.parse_args(), os.environ.get("PATCHBAY_TOKEN")
    if not args.workspace or not (args.email or token):
        parser.error("needs --workspace, and --email or PATCHBAY_TOKEN")
    args.url, folder = args.url.rstrip("/"), Folder(args.folder)
    name = sha256(str(folder.path).encode())[:16] + ".json"
    journal = Journal(args.journal or pathlib.Path.home() / ".patchbay-python" / name)
    Editor(args, Login(args.url, args.email, token), folder, journal).run()


if __name__ == "__main__":
    main()
