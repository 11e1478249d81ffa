import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Json } from '@patchbay/protocol';
import { Model, type QueryFilter } from 'mongoose';
import { newId } from '../../common/ids.js';
import { valueOf } from '../../common/json-text.js';
import type { AuditDraft } from '../ports/audit.store.js';
import type { Lease, Membership, SessionUse, Turn, TurnRef } from '../ports/turn.js';
import {
  type CallResult,
  type OpenCount,
  type OpenTurnName,
  type ResultTexts,
  type StoredJson,
  type StoredResult,
  TurnStore,
  type TurnVersion,
} from '../ports/turns.store.js';
import { MongoDatabase } from './database.js';
import { insertsInto, readsById } from './gathered.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { Members } from './members.js';
import { OpenTurnQueries } from './open-turn-queries.js';
import { outboxUpdate, outboxWith, textOfDraft } from './outbox.js';
import { Projector } from './projector.js';
import { type CallEntry, NONE, type TurnDocument, TURNS } from './turn-collections.js';
import {
  changesOf,
  entriesOf,
  anyHasResult,
  headOf,
  isStored,
  TURN_STATE,
  turnFrom,
  turnKey,
  type TurnStates,
} from './turn-documents.js';
import { TurnTexts } from './turn-texts.js';
import { TurnValues } from './turn-values.js';
import { eq } from './values.js';

/** An outbox that may have so many bytes is emptied before more is added. */
const OUTBOX_BYTES = 1024 * 1024;
/** Larger events of one write are stored apart, like large values. */
const EVENT_BYTES = 1024 * 1024;
/** Overhead of an outbox entry beside its draft, bytes. */
const ENTRY_BYTES = 64;
/** Maximum number of drains per save; one suffices unless something fails. */
const DRAINS = 5;

const RESULTS = { 'calls.callId': 1, 'calls.result': 1, 'calls.details': 1 } as const;

type Filter = QueryFilter<TurnDocument>;
type ReadTurn = (_id: string) => Promise<TurnDocument | null>;

@Injectable()
export class MongoTurnStore extends TurnStore {
  private readonly states: ReadTurn;
  private readonly versions: ReadTurn;
  private readonly results: ReadTurn;
  private readonly insertNew: (turn: TurnDocument) => Promise<boolean>;

  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    private readonly members: Members,
    private readonly texts: TurnTexts,
    private readonly projector: Projector,
    private readonly open: OpenTurnQueries,
    @InjectModel(TURNS) private readonly turns: Model<TurnDocument>,
  ) {
    super();
    this.states = readsById(database, turns, TURN_STATE);
    this.versions = readsById(database, turns, { version: 1 });
    this.results = readsById(database, turns, RESULTS);
    this.insertNew = insertsInto(database, turns);
  }

  async insert(
    turn: Turn,
    callArguments: readonly Json[],
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<Turn> {
    const { workspaceId, sessionId, turnId, userId, acceptedAt } = turn;
    await this.workspaces.require(workspaceId);
    const { callId: firstCallId } = turn.calls[0]!;
    const values = new TurnValues(firstCallId);
    const calls = await entriesOf(turn, callArguments, results, values);
    const drafts = await draftsOf(events, values);
    const outbox = outboxWith(workspaceId, events, drafts);
    const _id = turnKey(turn);
    await this.texts.put(_id, values);
    await this.requireMember(turn, values);
    const isNew = await this.insertNew({
      ...{ _id, workspaceId, sessionId, turnId, userId, acceptedAt, firstCallId },
      ...{ ...headOf(turn), callCount: calls.length, calls, texts: namesOf(values) },
      ...{ ...outbox, outboxBytes: bytesIn(drafts) },
    });
    if (!isNew) {
      const stored = (await this.find(turn))!;
      // callIds are new for each turn: equal ones mean that this insert succeeded before, and its response was lost.
      if (stored.calls[0]!.callId !== firstCallId) {
        await this.texts.discard(values);
        return stored;
      }
    }
    if (events.length > 0) this.projector.wake(workspaceId);
    // A member may have been removed after their open turns were searched.
    if (isNew) await this.members.require(turn);
    return turn;
  }

  async save(
    before: Turn,
    turn: Turn,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
    by?: Membership,
  ): Promise<boolean> {
    const { workspaceId } = turn;
    await this.workspaces.require(workspaceId);
    const values = new TurnValues(newId());
    const changes = await changesOf(before, turn, results, values);
    const drafts = await draftsOf(events, values);
    const outbox = outboxUpdate(workspaceId, events, drafts);
    const texts = { $each: namesOf(values) };
    const update = {
      $set: { ...headOf(turn), ...changes.$set, ...outbox.$set },
      $inc: { ...outbox.$inc, outboxBytes: bytesIn(drafts) },
      $push: { ...outbox.$push, texts },
    };
    const _id = turnKey(turn);
    const expected: Filter = { _id: eq(_id), version: eq(before.version), ...changes.expected };
    if (events.length > 0) expected.outboxBytes = { $lt: OUTBOX_BYTES };
    await this.texts.put(_id, values);
    if (by !== undefined) await this.requireMember(by, values);
    for (let drains = 0; ; drains += 1) {
      const { matchedCount } = await this.database.attempt(() => this.turns.updateOne(expected, update));
      if (matchedCount === 1) {
        if (events.length > 0) this.projector.wake(workspaceId);
        return true;
      }
      const current = await this.documentOf(turn, { ...TURN_STATE, version: 1, texts: 1 });
      // The first attempt may have succeeded, with its response lost.
      const isOwnWrite = current?.texts.includes(values.name) ?? false;
      if (current?.version !== before.version) {
        if (!isOwnWrite) await this.texts.discard(values);
        if (current === null || (!isOwnWrite && !isStored(current, turn))) return false;
        if (events.length > 0) this.projector.wake(workspaceId);
        return true;
      }
      await this.drainOutbox(before, turn, results, drains, values);
    }
  }

  /** Checks membership right before a write, whose texts are already stored. */
  private async requireMember(who: Membership, values: TurnValues): Promise<void> {
    try {
      await this.members.require(who);
    } catch (error) {
      await this.texts.discard(values);
      throw error;
    }
  }

  async record(workspaceId: string, events: readonly AuditDraft[]): Promise<void> {
    await this.workspaces.require(workspaceId);
    await this.projector.append(workspaceId, events);
  }

  async find(ref: TurnRef): Promise<Turn | null> {
    const found = await this.states(turnKey(ref));
    return found === null ? null : turnFrom(found);
  }

  async versionOf(ref: TurnRef): Promise<number | null> {
    return (await this.versions(turnKey(ref)))?.version ?? null;
  }

  async ofCall(workspaceId: string, turnId: string, callId: string): Promise<Turn | null> {
    const filter = { 'calls.callId': eq(callId), workspaceId: eq(workspaceId), turnId: eq(turnId) };
    const found = await this.database.attempt(() =>
      this.turns.findOne(filter, TURN_STATE).lean<TurnStates>(),
    );
    return found === null ? null : turnFrom(found);
  }

  async argumentsOf(ref: TurnRef): Promise<StoredJson[]> {
    const found = await this.documentOf(ref, { 'calls.arguments': 1 });
    return this.texts.read((found?.calls ?? []).map((call) => call.arguments));
  }

  async argumentsOfCall(ref: TurnRef, position: number): Promise<Json> {
    const found = await this.documentOf(ref, { version: 1, calls: { $slice: [position, 1] } });
    const call = found?.calls[0];
    if (call === undefined) throw new Error(`Turn ${ref.turnId} has no arguments at ${position}.`);
    return this.valueAt(call.arguments);
  }

  async resultsOf(ref: TurnRef): Promise<Map<string, ResultTexts>> {
    const calls = (await this.results(turnKey(ref)))?.calls ?? [];
    const ended = calls.filter(({ result }) => result !== NONE);
    const values = await this.texts.read(ended.flatMap(({ result, details }) => [result, details ?? 'null']));
    return new Map(
      ended.map(({ callId }, at) => [callId, { result: values[2 * at]!, details: values[2 * at + 1]! }]),
    );
  }

  async resultOf(ref: TurnRef, callId: string): Promise<StoredResult | null> {
    const call = await this.entryOf(ref, callId);
    if (!call || call.result === NONE) return null;
    return {
      result: await this.valueAt(call.result),
      details: call.details === null ? null : await this.valueAt(call.details),
    };
  }

  async editedArgumentsOf(ref: TurnRef, callId: string): Promise<Json> {
    const edited = (await this.entryOf(ref, callId))?.edited ?? NONE;
    return edited === NONE ? null : this.valueAt(edited);
  }

  openVersionsOf(users: readonly Membership[]): Promise<TurnVersion[]> {
    return this.open.versionsOf(users);
  }

  openIn(
    workspaceId: string,
    userId: string | null,
    after: TurnRef | null,
    limit: number,
  ): Promise<OpenTurnName[]> {
    return this.open.page(workspaceId, userId, after, limit);
  }

  openOfWorkspace(workspaceId: string): Promise<OpenCount> {
    return this.open.countOfWorkspace(workspaceId);
  }

  openOfUser(userId: string): Promise<OpenCount> {
    return this.open.countOfUser(userId);
  }

  dueBefore(time: number, limit: number): Promise<TurnRef[]> {
    return this.open.dueBefore(time, limit);
  }

  leasedBy(node: Lease['owner']): Promise<TurnRef[]> {
    return this.open.leasedBy(node);
  }

  lastUseOf(workspaceId: string, sessionId: string): Promise<SessionUse | null> {
    return this.open.lastUseOf(workspaceId, sessionId);
  }

  /** Called if a save of the current version does not fit: throws if it never can, otherwise drains the outbox. */
  private async drainOutbox(
    before: Turn,
    turn: Turn,
    results: readonly CallResult[],
    drains: number,
    values: TurnValues,
  ): Promise<void> {
    const fields = { 'calls.result': 1, 'calls.edited': 1 };
    const { calls } = (await this.documentOf(turn, fields))!;
    const isRefused = anyHasResult(calls, turn, results);
    if (isRefused || drains === DRAINS) {
      await this.texts.discard(values);
      const reason = isRefused ? 'a call of it has a result already' : 'its outbox does not become empty';
      throw new Error(`Turn ${turn.turnId} cannot be saved: ${reason}.`);
    }
    await this.projector.drain(turn.workspaceId);
    const empty = { _id: eq(turnKey(turn)), version: eq(before.version), pendingIn: eq(null) };
    await this.database.attempt(() => this.turns.updateOne(empty, { $set: { outboxBytes: 0 } }));
  }

  private documentOf(ref: TurnRef, fields: object): Promise<TurnDocument | null> {
    const _id = eq(turnKey(ref));
    return this.database.attempt(() => this.turns.findOne({ _id }, fields).lean<TurnDocument>());
  }

  private async entryOf(ref: TurnRef, callId: string): Promise<CallEntry | undefined> {
    const found = await this.documentOf(ref, { calls: { $elemMatch: { callId: eq(callId) } } });
    return found?.calls?.[0];
  }

  private async valueAt(stored: string): Promise<Json> {
    const [value] = await this.texts.read([stored]);
    return valueOf(value!);
  }
}

/** The name of the values' pieces; none if there are no pieces. */
function namesOf({ name, pieces }: TurnValues): string[] {
  return pieces.length === 0 ? [] : [name];
}

/** The stored form of events in outbox entries: themselves, or if they are large, their location. */
async function draftsOf(events: readonly AuditDraft[], values: TurnValues): Promise<string[]> {
  const drafts = events.map(textOfDraft);
  if (bytesIn(drafts) <= EVENT_BYTES) return drafts;
  const places: string[] = [];
  for (const event of events) places.push(await values.add(event as unknown as Json, 0));
  return places;
}

function bytesIn(drafts: readonly string[]): number {
  return drafts.reduce((bytes, draft) => bytes + Buffer.byteLength(draft) + ENTRY_BYTES, 0);
}
