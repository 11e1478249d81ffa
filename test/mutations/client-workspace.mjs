const IN = 'packages/workspace/src';
const ATOMIC = `${IN}/disk/atomic-write.ts`;
const ENTRY = `${IN}/disk/file-entry.ts`;
const OPEN = `${IN}/disk/open-directory.ts`;
const HANDLE = `${IN}/disk/handle-directory.ts`;
const BY_PATH = `${IN}/disk/path-directory.ts`;
const TEMPS = `${IN}/disk/temp-files.ts`;
const KEEP = `${IN}/disk/keep-beside.ts`;
const WRITTEN = `${IN}/disk/read-written.ts`;
const ROOTS = `${IN}/disk/workspace-roots.ts`;
const RELATIVE = `${IN}/disk/relative-path.ts`;
const PATCH = `${IN}/write-patch/execute-write-patch.ts`;
const FILE = `${IN}/write-patch/patch-write.ts`;
const RECOVER = `${IN}/write-patch/recover-write-patch.ts`;
const CHECK = `${IN}/write-patch/check-patch.ts`;
const SELECT = `${IN}/write-patch/patch-selection.ts`;
const FINDER = `${IN}/write-patch/doc-path-finder.ts`;
const BUFFERS = `${IN}/write-patch/open-buffers.ts`;
const CREATE = `${IN}/create-file/execute-create-file.ts`;
const RECOVER_CREATE = `${IN}/create-file/recover-create-file.ts`;
const PATCH_TOOL = `${IN}/tools/write-patch-tool.ts`;
const CREATE_TOOL = `${IN}/tools/create-file-tool.ts`;
const ORDER = `${IN}/tools/in-order.ts`;
const UPLOAD = `${IN}/tools/upload-written.ts`;
const READ = `${IN}/tools/read-file-handler.ts`;

const PATCHES = `${IN}/write-patch/execute-write-patch.spec.ts`;
const REFUSED = `${IN}/write-patch/execute-write-patch-refused.spec.ts`;
const TAKEN_BACK = `${IN}/write-patch/execute-write-patch-taken-back.spec.ts`;
const PATCH_KILLED = `${IN}/tools/write-patch-killed.spec.ts`;
const PATCH_RESTARTED = `${IN}/tools/write-patch-restarted.spec.ts`;
const PATCH_TOOLS = `${IN}/tools/write-patch-tool.spec.ts`;
const IN_BUFFERS = `${IN}/tools/write-patch-buffers.spec.ts`;
const WRITES = `${IN}/write-patch/patch-write.spec.ts`;
const CREATES = `${IN}/create-file/execute-create-file.spec.ts`;
const CREATE_FAILS = `${IN}/create-file/execute-create-file-fails.spec.ts`;
const CREATE_KILLED = `${IN}/tools/create-file-killed.spec.ts`;
const CREATE_TOOLS = `${IN}/tools/create-file-tool.spec.ts`;
const CREATE_APPROVED = `${IN}/tools/create-file-approved.spec.ts`;
const ENTRIES = `${IN}/disk/file-entry.spec.ts`;
const OPENS = `${IN}/disk/open-directory.spec.ts`;
const READS = `${IN}/tools/read-file-handler.spec.ts`;

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a batch that is being taken back is not journaled as such, and a kill in the middle goes on forward',
    file: PATCH,
    find: `  await log?.intend(files.map(({ intent }) => intent)).catch(() => {});`,
    replace: ``,
    specs: [TAKEN_BACK],
  },
  {
    name: 'the first files are put back before the journal knows that the batch is taken back',
    file: PATCH,
    find: `  await log?.intend(files.map(({ intent }) => intent)).catch(() => {});`,
    replace: `  const noted = log?.intend(files.map(({ intent }) => intent)).catch(() => {});
  await Promise.resolve(noted === null);`,
    specs: [TAKEN_BACK],
  },
  {
    name: 'why a batch is taken back is not journaled',
    file: PATCH,
    find: `file === why.at ? failure : undefined`,
    replace: `undefined`,
    specs: [TAKEN_BACK],
  },
  {
    name: 'temporary files are left where staging of a later file fails',
    file: PATCH,
    find: `  await removeTempFiles(
    context,
    files.map(({ intent }) => intent),
  );`,
    replace: ``,
    specs: [TAKEN_BACK],
  },
  {
    name: 'temporary files of a batch that is done are left',
    file: PATCH,
    find: `  await removeTempFiles(context, intents);
  return failed;`,
    replace: `  return failed;`,
    specs: [PATCHES],
  },
  {
    name: 'the originals are given up before the journal knows that all is written',
    file: PATCH,
    find: `  if (!failed) await log?.intend(intents).catch(() => {});`,
    replace: ``,
    specs: [PATCH_RESTARTED, PATCH_KILLED],
  },
  {
    name: 'files are written although the journal could not note them',
    file: PATCH,
    find: `  await attempt(files[0]!, journaled(log?.intend(files.map(({ intent }) => intent))));`,
    replace: `  await log?.intend(files.map(({ intent }) => intent)).catch(() => {});`,
    specs: [TAKEN_BACK],
  },
  {
    name: 'files are put in their place although one could not be staged',
    file: PATCH,
    find: `  if (!why) return commitAll(context, files, log);`,
    replace: `  if (!why || files.length > 1) return commitAll(context, files, log);`,
    specs: [TAKEN_BACK],
  },
  {
    name: 'a batch goes on with the next file where one could not be written',
    file: PATCH,
    find: `takeBack(files, committed, { at: file, fault }, log) };
      break;`,
    replace: `takeBack(files, committed, { at: file, fault }, log) };`,
    specs: [TAKEN_BACK],
  },
  {
    name: 'files that were written stay where a later one could not be',
    file: PATCH,
    find: `  for (const file of [...committed].reverse()) if (!(await file.undo())) left.add(file);`,
    replace: ``,
    specs: [TAKEN_BACK],
  },
  {
    name: 'it is not told that a file could not be taken back',
    file: PATCH,
    find: `if (!(await file.undo())) left.add(file);`,
    replace: `await file.undo();`,
    specs: [TAKEN_BACK],
  },
  {
    name: 'a file is written although another of the batch is refused',
    file: PATCH,
    find: `  if (refusal) return refusal;`,
    replace: ``,
    specs: [REFUSED],
  },
  {
    name: 'lines of a secret are told to whoever sends a patch of it',
    file: PATCH,
    find: `      refuseSecret(context, located, proposed);`,
    replace: ``,
    specs: [REFUSED],
  },
  {
    name: 'open files are patched though others of the batch are on the disk',
    file: PATCH,
    find: `  if (buffers.size > 0 && writes.size > 0) {`,
    replace: `  if (buffers.size > 0 && writes.size > 99) {`,
    specs: [IN_BUFFERS],
  },
  {
    name: 'what was saved since the file was checked is overwritten',
    file: FILE,
    find: `.commit(() => this.lookAgain(directory));`,
    replace: `.commit();`,
    specs: [TAKEN_BACK, PATCHES],
  },
  {
    name: 'the half of a copy is taken for the original, and put back as it',
    file: FILE,
    find: `    if (kept?.sha256 === this.intent.previousSha256) return true;`,
    replace: `    if (kept) return true;`,
    specs: [WRITES],
  },
  {
    name: 'the half of a copy of the original stays, and no other can be made',
    file: FILE,
    find: `    if (kept) await this.fs.unlink(directory.entry(this.backupName));`,
    replace: ``,
    specs: [WRITES, PATCH_KILLED],
  },
  {
    name: 'the original is not kept',
    file: FILE,
    find: `      await this.keepOriginal(directory);`,
    replace: ``,
    specs: [TAKEN_BACK],
  },
  {
    name: 'a file that is deleted while it is patched is told as one that could not be written',
    file: FILE,
    find: `      if (errnoOf(error) === 'ENOENT') throw notFound(this.patch.docPath);`,
    replace: ``,
    specs: [TAKEN_BACK],
  },
  {
    name: 'taking back overwrites what somebody has saved meanwhile',
    file: FILE,
    find: `        if (current?.sha256 !== this.intent.sha256) return false;`,
    replace: ``,
    specs: [TAKEN_BACK],
  },
  {
    name: 'a torn temporary file is taken for a complete one after a kill',
    file: FILE,
    find: `if ((await hashFile(this.fs, directory, tempName))?.sha256 === sha256) return;`,
    replace: `return;`,
    specs: [WRITES],
  },
  {
    name: 'a file that somebody has changed after it was written counts as not written',
    file: FILE,
    find: `      if (wasRenamed) return { state: 'changed_since', currentSha256 };`,
    replace: ``,
    specs: [PATCH_RESTARTED],
  },
  {
    name: 'a batch that was written as a whole is judged by the disk after a kill',
    file: RECOVER,
    find: `  if (stageOf(all) === 'done') return settled((write) => outcomeOf(write, null));`,
    replace: ``,
    specs: [PATCH_RESTARTED, PATCH_KILLED],
  },
  {
    name: 'a batch that was being taken back goes on forward after a kill',
    file: RECOVER,
    find: `  if (stageOf(all) === 'undo') {`,
    replace: `  if (stageOf(all) === 'done') {`,
    specs: [PATCH_RESTARTED],
  },
  {
    name: 'a batch of which nothing was written and a file has changed is run again',
    file: RECOVER,
    find: `  if (!found.some(wasWritten)) return settled(unwritten(found));`,
    replace: `  if (!found.some(wasWritten)) return { outcome: 'not_written' };`,
    specs: [PATCH_RESTARTED],
  },
  {
    name: 'what somebody has put back is written a second time',
    file: RECOVER,
    find: `traces.state === 'pending' && index > lastWritten`,
    replace: `traces.state === 'pending'`,
    specs: [PATCH_RESTARTED],
  },
  {
    name: 'it is not told what stayed of a batch that was taken back',
    file: RECOVER,
    find: `new Set([...left, ...among('changed_since')])`,
    replace: `left`,
    specs: [PATCH_RESTARTED],
  },
  {
    name: 'a patch is applied to another text than it was planned on',
    file: CHECK,
    find: `  if (original.sha256 !== patch.originalSha256) throw stale(patch.originalSha256, original.sha256);`,
    replace: ``,
    specs: [`${IN}/write-patch/apply-batch.spec.ts`],
  },
  {
    name: 'a read-only file is replaced',
    file: CHECK,
    find: `  await refuseReadOnly(fs, directory, name, original);`,
    replace: ``,
    specs: [REFUSED],
  },
  {
    name: 'a change that was rejected is written',
    file: SELECT,
    find: `.filter(({ changeId }) => !rejected.has(changeId!))`,
    replace: `.filter(({ changeId }) => changeId !== '')`,
    specs: [PATCHES],
  },
  {
    name: 'an edit leads to another file than the one that was shown',
    file: SELECT,
    find: `    if (file) keepsItsPlace(proposed, file);`,
    replace: ``,
    specs: [PATCHES],
  },
  {
    name: 'a person who rejects everything has allowed the call',
    file: SELECT,
    find: `  if (rejected.length < total) return approval;`,
    replace: `  if (rejected.length <= total) return approval;`,
    specs: [PATCH_TOOLS],
  },
  {
    name: 'of two files that differ by case one is patched by chance',
    file: FINDER,
    find: `    if (twin) {`,
    replace: `    if (twin && docPath === '') {`,
    specs: [REFUSED],
  },
  {
    name: 'what may not be reached is explored',
    file: FINDER,
    find: `    this.roots.locateIn(root, segments.join('/'));
    const`,
    replace: `    const`,
    specs: [REFUSED],
  },
  {
    name: 'buffers that were changed stay where a later one is refused',
    file: BUFFERS,
    find: `      const left = await takeBack(buffers, writes, done);`,
    replace: `      const left = new Set<number>();`,
    specs: [IN_BUFFERS],
  },
  {
    name: 'a buffer is held against what the disk has',
    file: BUFFERS,
    find: `  if (!(await buffers?.isDirty(docPath))) return null;`,
    replace: `  if (docPath) return null;`,
    specs: [IN_BUFFERS],
  },
  {
    name: 'a power failure leaves a file without its content',
    file: ATOMIC,
    find: `      await handle.sync();
      await handle.close();`,
    replace: `      await handle.close();`,
    specs: [CREATE_FAILS],
  },
  {
    name: 'a temporary file stays where its content could not be written',
    file: ATOMIC,
    find: `      if (handle) await staged.discard();`,
    replace: ``,
    specs: [CREATE_FAILS],
  },
  {
    name: 'a temporary file stays where it could not be put in its place',
    file: ATOMIC,
    find: `    } finally {
      await this.discard();
    }
    await this.directory.sync();`,
    replace: `    }
    await this.directory.sync();`,
    specs: [CREATES, CREATE_FAILS],
  },
  {
    name: 'a power failure leaves a folder without the file that was put into it',
    file: ATOMIC,
    find: `      await this.discard();
    }
    await this.directory.sync();`,
    replace: `      await this.discard();
    }`,
    specs: [CREATES, CREATE_FAILS],
  },
  {
    name: 'a claimed target is left where the rename fails',
    file: ATOMIC,
    find: `      await this.fs.unlink(target).catch(() => {});`,
    replace: ``,
    specs: [CREATE_FAILS],
  },
  {
    name: 'a file that appears at the last moment is overwritten',
    file: ATOMIC,
    find: `      await this.fs.link(temp, target);`,
    replace: `      await this.fs.rename(temp, target);`,
    specs: [CREATES],
  },
  {
    name: 'without hard links a file that appears at the last moment is overwritten',
    file: ATOMIC,
    find: `    const claim = await this.fs.open(target, CREATE_FLAGS, 0o666);
    await claim.close();`,
    replace: ``,
    specs: [CREATES, CREATE_FAILS],
  },
  {
    name: 'a replaced file loses its mode',
    file: ATOMIC,
    find: `      if (file.replaces) await takeOver(handle, file.replaces);`,
    replace: ``,
    specs: [CREATES],
  },
  {
    name: 'a file that was made executable while it was staged is so no more',
    file: ATOMIC,
    find: `        await this.followMode();`,
    replace: ``,
    specs: [CREATES],
  },
  {
    name: 'a create that could not be journaled leaves its temporary file',
    file: CREATE,
    find: `    await staged.discard();
    throw error;`,
    replace: `    throw error;`,
    specs: [CREATE_FAILS],
  },
  {
    name: 'a create writes before the journal knows what',
    file: CREATE,
    find: `  await log?.intend([`,
    replace: `  void log?.intend([`,
    specs: [CREATE_FAILS, CREATE_KILLED],
  },
  {
    name: 'a create does not note that its text is complete',
    file: CREATE,
    find: `    await log?.committing();`,
    replace: ``,
    specs: [CREATE_KILLED],
  },
  {
    name: 'a create overwrites although it may not',
    file: CREATE,
    find: `    if (existing && !plan.overwrite) throw fileExists();`,
    replace: ``,
    specs: [CREATE_FAILS],
  },
  {
    name: 'what was saved while the text was staged is replaced',
    file: CREATE,
    find: `  if (seen !== undefined && seen !== current) throw new OtherFileThere();`,
    replace: ``,
    specs: [CREATE_APPROVED],
  },
  {
    name: 'a text that the Cloud does not have is gone when it is replaced',
    file: CREATE,
    find: `    await keepBeside(fs, directory, name);`,
    replace: ``,
    specs: [CREATES],
  },
  {
    name: 'without hard links a kept text is replaced by the next one',
    file: KEEP,
    find: `      if (n < MAX_KEPT && (await statFile(fs, directory, kept))) continue;`,
    replace: ``,
    specs: [`${IN}/disk/keep-beside.spec.ts`],
  },
  {
    name: 'a kept text is replaced by the next one',
    file: KEEP,
    find: `      if (errnoOf(error) === 'EEXIST' && n < MAX_KEPT) continue;`,
    replace: `      if (errnoOf(error) === 'EEXIST') return kept;`,
    specs: [`${IN}/disk/keep-beside.spec.ts`],
  },
  {
    name: 'folders that were made for a file that is not written stay',
    file: CREATE,
    find: `    await walked.undo();
    throw error;`,
    replace: `    throw error;`,
    specs: [CREATE_FAILS],
  },
  {
    name: 'a create whose file was written and then removed runs again',
    file: RECOVER_CREATE,
    find: `  if (committing && !found.hasTemp) {`,
    replace: `  if (committing && found.hasTemp && !found.isLinked && found.current === '') {`,
    specs: [CREATE_KILLED],
  },
  {
    name: 'a create runs again over what somebody has changed since',
    file: RECOVER_CREATE,
    find: `  if (found.current !== intent.previousSha256)
    return stopped(intent, 'nothing was written, and the file has changed since.');`,
    replace: ``,
    specs: [CREATE_KILLED],
  },
  {
    name: 'a create runs again in another folder than it was approved for',
    file: RECOVER_CREATE,
    find: `!context.roots.all.some((root) => root.directory === intent.root)`,
    replace: `context.roots.all.length === 0`,
    specs: [CREATE_KILLED],
  },
  {
    name: 'the second names of a killed batch stay',
    file: TEMPS,
    find: `    if (intent.patch) await fs.unlink(directory.entry(intent.patch.backupName)).catch(() => {});`,
    replace: ``,
    specs: [PATCHES],
  },
  {
    name: 'temporary files of finished calls are kept after a restart',
    file: PATCH_TOOL,
    find: `    await (result ? ended(toJson(result)) : notRun());
    await removeTempFiles(this.workspace, interrupted.intents);`,
    replace: `    await (result ? ended(toJson(result)) : notRun());`,
    specs: [PATCH_RESTARTED],
  },
  {
    name: 'temporary files of a finished create are kept after a restart',
    file: CREATE_TOOL,
    find: `    await (result ? ended({ ...result }) : notRun());
    await removeTempFiles(this.workspace, interrupted.intents);`,
    replace: `    await (result ? ended({ ...result }) : notRun());`,
    specs: [CREATE_KILLED],
  },
  {
    name: 'the traces of a batch are removed before the journal has what they tell',
    file: PATCH_TOOL,
    find: `    await (result ? ended(toJson(result)) : notRun());
    await removeTempFiles(this.workspace, interrupted.intents);`,
    replace: `    await removeTempFiles(this.workspace, interrupted.intents);
    await (result ? ended(toJson(result)) : notRun());`,
    specs: [PATCH_RESTARTED, PATCH_KILLED],
  },
  {
    name: 'the traces of a create are removed before the journal has what they tell',
    file: CREATE_TOOL,
    find: `    await (result ? ended({ ...result }) : notRun());
    await removeTempFiles(this.workspace, interrupted.intents);`,
    replace: `    await removeTempFiles(this.workspace, interrupted.intents);
    await (result ? ended({ ...result }) : notRun());`,
    specs: [CREATE_KILLED],
  },
  {
    name: 'what was found after a kill is looked for again on a disk that has changed',
    file: PATCH_TOOL,
    find: `    if (interrupted.settled) return interrupted.settled.result as unknown as WritePatchResult;`,
    replace: ``,
    specs: [PATCH_RESTARTED],
  },
  {
    name: 'a batch is written that a person has denied',
    file: PATCH_TOOL,
    find: `    if (approval.decision === 'deny') return { result: null, approval };`,
    replace: ``,
    specs: [PATCH_TOOLS],
  },
  {
    name: 'a batch is written before the server has said that it is here',
    file: PATCH_TOOL,
    find: `    await context.start(approval);
    return this.execute`,
    replace: `    void context.start(approval).catch(() => undefined);
    return this.execute`,
    specs: [PATCH_TOOLS],
  },
  {
    name: 'a create is written before the server has said that it is here',
    file: CREATE_TOOL,
    find: `        await context.start(approval, { seen });`,
    replace: `        void context.start(approval, { seen }).catch(() => undefined);`,
    specs: [CREATE_TOOLS],
  },
  {
    name: 'an approval is not bound to the file that was seen over a death of the client',
    file: CREATE_TOOL,
    find: `        await context.start(approval, { seen });`,
    replace: `        await context.start(approval);`,
    specs: [CREATE_APPROVED],
  },
  {
    name: 'who gives up in the queue lets the next one pass those before it',
    file: ORDER,
    find: `Promise.allSettled([before, mine])`,
    replace: `Promise.allSettled([mine])`,
    specs: [`${IN}/tools/in-order.spec.ts`],
  },
  {
    name: 'calls about one file run at the same time',
    file: ORDER,
    find: `    for (const key of keys) this.last.set(key, done);`,
    replace: ``,
    specs: [CREATE_TOOLS],
  },
  {
    name: 'the two tools do not wait for each other',
    file: ORDER,
    find: `    InOrder.shared.set(roots, inOrder);`,
    replace: ``,
    specs: [`${IN}/tools/in-order.spec.ts`],
  },
  {
    name: 'a text is uploaded that is not what the call has written',
    file: WRITTEN,
    find: `      return file?.sha256 === intent.sha256 ? file.bytes : null;`,
    replace: `      return file?.bytes ?? null;`,
    specs: [PATCH_TOOLS],
  },
  {
    name: 'an upload replaces a version of the Cloud that the folder has never had',
    file: UPLOAD,
    find: `  const exactly = { ...file, baseSha256, ...(ledger && { isExact: true }) };`,
    replace: `  const exactly = { ...file, baseSha256 };`,
    specs: [`${IN}/tools/upload-written.spec.ts`],
  },
  {
    name: 'a link is followed that takes the place of a file at the last moment',
    file: ENTRY,
    find: `const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) |`,
    replace: `const READ_FLAGS = constants.O_RDONLY |`,
    specs: [ENTRIES],
  },
  {
    name: 'a file beyond the limit is read as a whole',
    file: ENTRY,
    find: `      if (sizeBytes > maxBytes) {`,
    replace: `      if (sizeBytes > maxBytes * 1000) {`,
    specs: [ENTRIES],
  },
  {
    name: 'a link in a path leads out of the folder',
    file: HANDLE,
    find: `constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW`,
    replace: `constants.O_RDONLY | constants.O_DIRECTORY`,
    specs: [OPENS],
  },
  {
    name: 'a component that is swapped for a link leads out of the folder, where folders have no descriptor',
    file: BY_PATH,
    find: `if (!same || real === null || !this.isInsideRoot(real)) {`,
    replace: `if (real === null) {`,
    specs: [OPENS],
  },
  {
    name: 'a folder in which something is by now is taken back',
    file: OPEN,
    find: `await fs.rmdir(parent.entry(name)).catch(() => {});`,
    replace: `await fs.unlink(parent.entry(name)).catch(() => {});`,
    specs: [OPENS],
  },
  {
    name: 'a path leads into the folder where Patchbay keeps its credentials',
    file: ROOTS,
    find: `this.reserved.some((prefix) => target.startsWith(prefix))`,
    replace: `this.reserved.some((prefix) => target === prefix)`,
    specs: [`${IN}/disk/workspace-roots.spec.ts`],
  },
  {
    name: 'a path leads into .git under another name of it',
    file: RELATIVE,
    find: `    .replace(IGNORED_BY_FILE_SYSTEMS, '')`,
    replace: ``,
    specs: [`${IN}/disk/relative-path.spec.ts`],
  },
  {
    name: 'a secret of the folder can be read',
    file: READ,
    find: `keepsOut(segments.join('/')) && !(await isAllowed())`,
    replace: `keepsOut(docPath) && segments.length === 0`,
    specs: [READS],
  },
  {
    name: 'what .gitignore leaves out can be read',
    file: READ,
    find: `!isSynced && isLeftOut(root.directory, segments) && !(await isAllowed())`,
    replace: `!isSynced && segments.length === 0`,
    specs: [READS],
  },
];
