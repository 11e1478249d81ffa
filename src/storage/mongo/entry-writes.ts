import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter } from 'mongoose';
import type { AuditDraft } from '../ports/audit.store.js';
import type { FileVersion } from '../ports/files.store.js';
import { MongoDatabase } from './database.js';
import { entryId, type StoredEntry } from './entries.js';
import { faultOf } from './faults.js';
import { type EntryDocument, ENTRIES } from './file-collections.js';
import { insertsInto } from './gathered.js';
import { Members } from './members.js';
import { outboxUpdate, outboxWith } from './outbox.js';
import { Projector } from './projector.js';
import { Trail } from './trail.js';
import { checked, eq } from './values.js';

/** An outbox of this length is emptied before more is added. */
const FULL = 'outbox.999';

interface Name {
  workspaceId: string;
  id: string;
}
type Before = Pick<EntryDocument, 'isLive' | 'path' | 'docPath' | 'fresh'>;

/** Writes files and folders, each one document with its versions and events. */
@Injectable()
export class EntryWrites {
  private readonly insertNew: (document: EntryDocument) => Promise<boolean>;

  constructor(
    private readonly database: MongoDatabase,
    private readonly members: Members,
    private readonly projector: Projector,
    private readonly trail: Trail,
    @InjectModel(ENTRIES) private readonly entries: Model<EntryDocument>,
  ) {
    this.insertNew = insertsInto(database, entries);
  }

  async insert(entry: StoredEntry, fresh: FileVersion[], events: readonly AuditDraft[]): Promise<boolean> {
    const { workspaceId } = entry;
    await this.requireWriter(workspaceId, events);
    const document = { ...entry, fresh, ...outboxWith(workspaceId, events) };
    const isMade = await this.insertNew(document);
    if (isMade && events.length > 0) this.projector.wake(workspaceId);
    return isMade;
  }

  /** Returns the document before the update; null if the condition failed, or the place is taken. */
  async update(
    name: Name,
    expected: object,
    state: Partial<StoredEntry>,
    version: FileVersion | null,
    events: readonly AuditDraft[],
  ): Promise<Before | null> {
    const { $set, $inc, $push } = outboxUpdate(name.workspaceId, events);
    const update = {
      $set: checked({ ...state, ...$set }),
      $inc,
      $push: { ...$push, ...(version !== null && { fresh: checked(version) }) },
    };
    const _id = eq(entryId(name));
    const filter = { _id, ...expected, [FULL]: { $exists: false } };
    const projection = { isLive: 1, path: 1, docPath: 1, 'fresh.number': 1 };
    const options = { projection, returnDocument: 'before' as const };
    await this.requireWriter(name.workspaceId, events);
    const before = await this.database.attempt(async () => {
      try {
        return await this.entries.findOneAndUpdate(filter, update, options).lean<Before>();
      } catch (error) {
        if (faultOf(error) === 'duplicate') return null;
        throw error;
      }
    });
    if (before !== null) {
      if (events.length > 0) this.projector.wake(name.workspaceId);
      return before;
    }
    const whenFull = { _id, ...expected, [FULL]: { $exists: true } };
    if (!(await this.exists(whenFull))) return null;
    await this.projector.drain(name.workspaceId);
    return this.update(name, expected, state, version, events);
  }

  /** Whether a file or folder with this id exists or existed. */
  isIdTaken(name: Name): Promise<boolean> {
    return this.exists({ _id: eq(entryId(name)) });
  }

  /** Whether an event of the entry is recorded. Checks the outbox first, since events move from there to the trail. */
  async isRecorded(name: Name, { eventId }: AuditDraft): Promise<boolean> {
    const waiting = { _id: eq(entryId(name)), 'outbox.eventId': eq(eventId) };
    return (await this.exists(waiting)) || this.trail.has(eventId);
  }

  /** Checks membership right before a write. */
  private async requireWriter(workspaceId: string, [event]: readonly AuditDraft[]): Promise<void> {
    const userId = event?.actor.userId ?? null;
    if (userId !== null) await this.members.require({ workspaceId, userId });
  }

  private async exists(filter: QueryFilter<EntryDocument>): Promise<boolean> {
    return (await this.database.attempt(() => this.entries.findOne(filter, { _id: 1 }).lean())) !== null;
  }
}
