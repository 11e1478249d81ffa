import { newId } from '../../src/common/ids.js';
import type { FileRecord, FolderRecord } from '../../src/storage/ports/files.store.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import type { SessionRecord } from '../../src/storage/records/sessions.js';
import { aCall, aTurn, completed, NOON } from '../../src/turns/state/turn.sample.js';
import { describeContract, type Stores } from './backends.js';
import { aFile, aFolder, aVersion, bytesOf, moved, withHead } from './file-records.js';
import { anEvent, givenWorkspace, insertTurn, join, leave, trailOf } from './records.js';
import { HASH } from './method-givens.js';

const ACTIVE = { docPath: 'a', displayPath: 'a', sha256: 'a'.repeat(64), sizeBytes: 3, isDirty: true };

/** A member, and what they have written. */
class Writer {
  readonly file: FileRecord;
  readonly folder: FolderRecord;
  readonly turn: Turn;
  readonly session: SessionRecord;

  constructor(
    readonly stores: Stores,
    readonly workspaceId: string,
    readonly userId: string,
  ) {
    this.file = aFile(workspaceId, '/there');
    this.folder = aFolder(workspaceId, '/folder');
    this.turn = aTurn(workspaceId, { userId, calls: [aCall()] });
    this.session = {
      ...{ id: newId(), workspaceId, conversationId: newId(), userId },
      ...{ clientId: null, tools: null, createdAt: NOON },
    };
  }

  readonly event = () => anEvent({ actor: { userId: this.userId, clientId: null } });

  async begin(): Promise<void> {
    const { files, sessions } = this.stores;
    await join(this.stores, this);
    await files.insert(this.file, bytesOf('/there'), [this.event()]);
    await files.insertFolder(this.folder, [this.event()]);
    await sessions.insert(this.session);
    await sessions.replaceActiveFiles(this.workspaceId, this.session.id, []);
    await insertTurn(this.stores, this.turn);
  }

  /** All that could have been written, as it is now. */
  async state(): Promise<unknown> {
    const { files, sessions, turns, blobs } = this.stores;
    const { workspaceId, userId, session, file, turn } = this;
    // MongoDB stores bytes ahead of the version that is refused; nothing refers to them, and they are swept.
    const { bytes: _swept, ...usage } = await this.stores.usage.ofWorkspace(workspaceId);
    return {
      entries: await files.below(workspaceId, '', null, 99),
      file: await files.byId(workspaceId, file.id),
      versions: await files.versionsOf(workspaceId, file.id, null, 99),
      missing: await blobs.missing(workspaceId, [HASH]),
      sessions: await sessions.ofUser(workspaceId, userId, null, 99),
      active: await sessions.activeFilesOf(workspaceId, session.id),
      turns: await turns.openVersionsOf([this]),
      results: await turns.resultsOf(turn),
      usage,
      trail: (await trailOf(this.stores, workspaceId)).length,
    };
  }
}

type Write = (stores: Stores, writer: Writer) => Promise<unknown>;

const WRITES: Record<string, Write> = {
  'a new file': ({ files }, { workspaceId, event }) =>
    files.insert(aFile(workspaceId, '/new'), bytesOf('/new'), [event()]),
  'a version of a file': ({ files }, { file, event }) =>
    files.commitVersion(withHead(file, 'two'), 1, bytesOf('two'), [event()]),
  'a version beside the head': ({ files }, { file, event }) => {
    const version = aVersion('other', { number: 2, conflict: true });
    return files.keepConflict(moved(file, { lastNumber: 2 }), 1, version, bytesOf('other'), [event()]);
  },
  'the end of a file': ({ files }, { file, event }) =>
    files.save(moved(file, { deletedAt: NOON + 9 }), 1, [event()]),
  'a new folder': ({ files }, { workspaceId, event }) =>
    files.insertFolder(aFolder(workspaceId, '/made'), [event()]),
  'the end of a folder': ({ files }, { folder, event }) => files.removeFolder(folder, NOON + 9, [event()]),
  'bytes ahead of a version': ({ blobs }, writer) => blobs.put(writer, HASH, bytesOf('bytes'), NOON),
  'a session': ({ sessions }, { session }) => sessions.insert({ ...session, id: newId() }),
  'Active Files': ({ sessions }, { workspaceId, session }) =>
    sessions.replaceActiveFiles(workspaceId, session.id, [ACTIVE]),
  'a turn': ({ turns }, { workspaceId, userId, event }) =>
    turns.insert(aTurn(workspaceId, { userId }), [{ large: 'x'.repeat(40_000) }], [], [event()]),
  'a result of a call': ({ turns }, { turn, event, ...writer }) => {
    const result = { callId: turn.calls[0]!.callId, result: { large: 'x'.repeat(40_000) } };
    return turns.save(turn, completed(turn), [result], [event()], writer);
  },
};

describeContract('what only a member writes', (opened) => {
  it.each(Object.keys(WRITES))(
    '%s is refused once they were removed, and leaves nothing [MEMBER-2]',
    async (name) => {
      const { stores } = opened();
      const writer = new Writer(stores, await givenWorkspace(stores), newId());
      await writer.begin();
      await leave(stores, writer);
      const before = await writer.state();
      await expect(WRITES[name]!(stores, writer)).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(await writer.state()).toEqual(before);
      // It was the membership alone that was missing.
      await join(stores, writer);
      await WRITES[name]!(stores, writer);
      expect(await writer.state()).not.toEqual(before);
    },
  );

  it('does not block writes of the server to a turn of a removed member', async () => {
    const { stores } = opened();
    const writer = new Writer(stores, await givenWorkspace(stores), newId());
    await writer.begin();
    await leave(stores, writer);
    expect(await stores.turns.save(writer.turn, completed(writer.turn), [], [writer.event()])).toBe(true);
  });
});
