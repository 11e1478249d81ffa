const JOURNAL = 'packages/client/src/journal/journal.ts';
const LINES = 'packages/client/src/journal/journal-lines.ts';
const MEMORY = 'packages/client/src/journal/memory-journals.ts';
const DISK = 'packages/client/src/home/disk-journals.ts';
const FILE = 'packages/client/src/home/journal-file.ts';
const LOCK = 'packages/client/src/home/client-lock.ts';

const SPEC = 'packages/client/src/journal/journal.spec.ts';
const FAILING = 'packages/client/src/journal/journal-failing-disk.spec.ts';
const JOURNALS = 'packages/client/src/journal/journals.spec.ts';
const LOCKS = 'packages/client/src/home/client-lock.spec.ts';

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a call that could not be noted as received is in memory',
    file: JOURNAL,
    find: `    let known = false;
    await`,
    replace: `    let known = false;
    applyLine(this.calls, line);
    await`,
    specs: [FAILING],
  },
  {
    name: 'a step that could not be written is in memory',
    file: JOURNAL,
    find: `    await this.storage.append(line, durable, (bytes) => {`,
    replace: `    applyLine(this.calls, line);
    await this.storage.append(line, durable, (bytes) => {`,
    specs: [FAILING],
  },
  {
    name: 'a power failure loses a call that was acknowledged',
    file: JOURNAL,
    find: 'await this.storage.append(line, true, (bytes) => {',
    replace: 'await this.storage.append(line, false, (bytes) => {',
    specs: [FAILING],
  },
  {
    name: 'a power failure loses that a call has started',
    file: JOURNAL,
    find: `approval, basis }, true);`,
    replace: `approval, basis }, false);`,
    specs: [FAILING],
  },
  {
    name: 'a power failure loses what a write intends',
    file: JOURNAL,
    find: `intents }, true)`,
    replace: `intents }, false)`,
    specs: [FAILING],
  },
  {
    name: 'a power failure loses that a write did not happen',
    file: JOURNAL,
    find: `committing: false }, true);`,
    replace: `committing: false }, false);`,
    specs: [FAILING],
  },
  {
    name: 'a power failure loses what an interrupted call was found to have come to',
    file: JOURNAL,
    find: `callId, result }, true);`,
    replace: `callId, result }, false);`,
    specs: [FAILING],
  },
  {
    name: 'a power failure loses the result of a call',
    file: JOURNAL,
    find: `...outcome }, true);`,
    replace: `...outcome }, false);`,
    specs: [FAILING],
  },
  {
    name: 'a call that was forgotten can start',
    file: JOURNAL,
    find: `    this.known(line.callId);
    await`,
    replace: `    await`,
    specs: [SPEC],
  },
  {
    name: 'a journal that cannot be opened stays locked',
    file: JOURNAL,
    find: `      await lock.release();
      throw error;`,
    replace: `      throw error;`,
    specs: [JOURNALS, SPEC],
  },
  {
    name: 'a closed journal stays locked',
    file: JOURNAL,
    find: `    await this.release();`,
    replace: ``,
    specs: [JOURNALS],
  },
  {
    name: 'another client gets the lock while lines are on their way',
    file: JOURNAL,
    find: `    await this.storage.close();
    await this.release();`,
    replace: `    await this.release();
    await this.storage.close();`,
    specs: [JOURNALS, SPEC],
  },
  {
    name: 'what a crash tore is glued to the next line',
    file: JOURNAL,
    find: `    if (lines.length > 0) await storage.compact();`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'a journal takes a call more than a resume can name',
    file: JOURNAL,
    find: `this.calls.size >= MAX_RESUME_ENTRIES`,
    replace: `this.calls.size > MAX_RESUME_ENTRIES`,
    specs: [SPEC],
  },
  {
    name: 'a journal grows without end',
    file: JOURNAL,
    find: ` || this.heldBytes >= this.maxBytes`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'forgotten calls go on weighing, until nothing is taken any more',
    file: JOURNAL,
    find: `      for (const callId of line.callIds) this.weigh(callId, 0);`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'a finished call weighs its arguments for ever',
    file: JOURNAL,
    find: `      if (line.kind === 'finished') this.weigh(line.callId, bytes);`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'the calls of an opened journal weigh nothing',
    file: JOURNAL,
    find: `    for (const entry of calls.values()) this.weigh(entry.callId, jsonBytes(entry));`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'a resume names calls that wait before those that have an effect',
    file: JOURNAL,
    find: `[...all.filter(hasEffect), ...all.filter((entry) => !hasEffect(entry))]`,
    replace: `[...all]`,
    specs: [SPEC],
  },
  {
    name: 'a resume is larger than a message may be',
    file: JOURNAL,
    find: `        left -= bytes;`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'a denial that a resume leaves out is told as a call that runs',
    file: JOURNAL,
    find: `state === 'denied' ? 'awaiting_approval' : 'running'`,
    replace: `'running'`,
    specs: [SPEC],
  },
  {
    name: 'two deliveries at once are both told that the call is new',
    file: JOURNAL,
    find: `      known = this.calls.has(callId);`,
    replace: `      known = line.kind === 'redelivered';`,
    specs: [SPEC],
  },
  {
    name: 'a call that runs waits for a person again, and would be run again',
    file: LINES,
    find: `entry.state === 'running' ? entry : { ...entry, state: 'awaiting_approval' }`,
    replace: `({ ...entry, state: 'awaiting_approval' })`,
    specs: [SPEC],
  },
  {
    name: 'a second outcome takes the place of the first',
    file: LINES,
    find: `  if (entry.state === 'finished') return entry;`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'a second finding takes the place of the first',
    file: LINES,
    find: `settled: entry.settled ?? { result: line.result }`,
    replace: `settled: { result: line.result }`,
    specs: [SPEC, 'packages/client/src/relay/relay-client-restarts.spec.ts'],
  },
  {
    name: 'a late delivery sets the attempt back',
    file: LINES,
    find: `Math.max(entry.attempt, attempt)`,
    replace: `attempt`,
    specs: [SPEC],
  },
  {
    name: 'a call that comes twice at once goes back to its earlier attempt',
    file: LINES,
    find: `known ? redelivered(known, line.call.attempt) : newEntry(line.call)`,
    replace: `newEntry(line.call)`,
    specs: [SPEC],
  },
  {
    name: 'new intents are taken for written',
    file: LINES,
    find: `intents: line.intents, committing: false }`,
    replace: `intents: line.intents }`,
    specs: [SPEC],
  },
  {
    name: 'what a failed write left behind is read as lines',
    file: FILE,
    find: `      await this.handle.truncate(this.size).catch(() => {});`,
    replace: ``,
    specs: [FAILING],
  },
  {
    name: 'half a line that the disk took is taken for the whole',
    file: FILE,
    find: `bytes.length - done, this.size + done)).bytesWritten;`,
    replace: `bytes.length - done, this.size + done)).bytesWritten || 0; done = bytes.length;`,
    specs: [FAILING],
  },
  {
    name: 'a line that has to be durable is not where it shares a write with one that has not',
    file: FILE,
    find: `batch.some(({ durable }) => durable)`,
    replace: `batch.every(({ durable }) => durable)`,
    specs: [FAILING],
  },
  {
    name: 'a compacted journal is there without its contents after a power failure',
    file: FILE,
    find: `      await handle.sync();`,
    replace: ``,
    specs: [FAILING],
  },
  {
    name: 'the lines after a compaction go into the file that it has replaced',
    file: FILE,
    find: `    this.handle = handle;
    this.size = Buffer`,
    replace: `    this.size = Buffer`,
    specs: [SPEC],
  },
  {
    name: 'a compaction misses the lines of the write before it',
    file: FILE,
    find: `        for (const { onWritten } of batch) onWritten();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      if (this.size > this.compactAbove)
        await this.compact().catch(() => (this.compactAbove = 2 * this.size));`,
    replace: `        if (this.size > this.compactAbove)
          await this.compact().catch(() => (this.compactAbove = 2 * this.size));
        for (const { onWritten } of batch) onWritten();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }`,
    specs: [SPEC],
  },
  {
    name: 'a compaction that fails ends the journal',
    file: FILE,
    find: `await this.compact().catch(() => (this.compactAbove = 2 * this.size));`,
    replace: `await this.compact();`,
    specs: [FAILING],
  },
  {
    name: 'a journal that is closed drops the lines that are on their way',
    file: FILE,
    find: `    await this.flushing;
`,
    replace: ``,
    specs: [SPEC, JOURNALS],
  },
  {
    name: 'everybody on the machine can read what is in the calls',
    file: FILE,
    find: `const FILE_MODE = 0o600;`,
    replace: `const FILE_MODE = 0o644;`,
    specs: [SPEC],
  },
  {
    name: 'a damaged line is taken for a call',
    file: DISK,
    find: `  if (checksum !== sha256(json).slice(0, CHECKSUM_CHARS)) return null;`,
    replace: ``,
    specs: [SPEC],
  },
  {
    name: 'one client has the same journal for two workspaces, and a server makes it forget what another waits for',
    file: DISK,
    find: `[client.url, client.workspaceId, client.clientId]`,
    replace: `[client.url, client.clientId]`,
    specs: [JOURNALS],
  },
  {
    name: 'one client has the same journal for two servers',
    file: MEMORY,
    find: `JSON.stringify([url, workspaceId, clientId])`,
    replace: `JSON.stringify([workspaceId, clientId])`,
    specs: [JOURNALS],
  },
  {
    name: 'a journal in memory compacts away the line that it has just taken',
    file: MEMORY,
    find: `    onWritten(JSON.stringify(line).length);
    const entries = this.snapshot();
    if (this.lines.length > LINES_AN_ENTRY * (entries.length + 1)) await this.compact();`,
    replace: `    const entries = this.snapshot();
    if (this.lines.length > LINES_AN_ENTRY * (entries.length + 1)) await this.compact();
    onWritten(JSON.stringify(line).length);`,
    specs: [JOURNALS],
  },
  {
    name: 'two that start together both have the journal',
    file: LOCK,
    find: `      await (await open(path, 'wx', 0o600)).close();
      const holder = await livingOther(directory, name);`,
    replace: `      const holder = await livingOther(directory, name);
      await (await open(path, 'wx', 0o600)).close();`,
    specs: [LOCKS],
  },
  {
    name: 'who is refused leaves a lock behind',
    file: LOCK,
    find: `      await unlink(path);
      if`,
    replace: `      if`,
    specs: [LOCKS],
  },
  {
    name: 'a lock that was given back bars the next',
    file: LOCK,
    find: `    await unlink(this.path).catch(() => {});`,
    replace: ``,
    specs: [LOCKS],
  },
  {
    name: 'the lock of a killed process bars the next whose number another process has',
    file: LOCK,
    find: `now === null || String(now) === started || started === '0'`,
    replace: `true`,
    specs: [LOCKS],
  },
  {
    name: "the lock of another user's process is taken for that of a dead one",
    file: LOCK,
    find: `    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;`,
    replace: `    return false;`,
    specs: [LOCKS],
  },
  {
    name: 'the lock of another machine ends between two signs of life',
    file: LOCK,
    find: `const FOREIGN_STALE_MS = 30_000;`,
    replace: `const FOREIGN_STALE_MS = 3_000;`,
    specs: [LOCKS],
  },
  {
    name: 'a held lock gives no sign of life to other machines',
    file: LOCK,
    find: `    utimes(path, now, now).catch(() => {});`,
    replace: ``,
    specs: [LOCKS],
  },
];
