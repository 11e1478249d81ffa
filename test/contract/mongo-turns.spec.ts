import { jest } from '@jest/globals';
import { getModelToken } from '@nestjs/mongoose';
import { type Model, mongo as driver } from 'mongoose';
import { type Json, MAX_PATH_CHARS } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import {
  TURN_TEXTS,
  type TurnDocument,
  TURNS,
  type TurnTextDocument,
} from '../../src/storage/mongo/turn-collections.js';
import { turnKey } from '../../src/storage/mongo/turn-documents.js';
import { Projector } from '../../src/storage/mongo/projector.js';
import { TurnTexts } from '../../src/storage/mongo/turn-texts.js';
import { TurnValues } from '../../src/storage/mongo/turn-values.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import type { Call, Turn } from '../../src/storage/ports/turn.js';
import type { TurnStore } from '../../src/storage/ports/turns.store.js';
import { aCall, aTurn, completed, nextVersion } from '../../src/turns/state/turn.sample.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { suiteFixture } from '../support/fixtures.js';
import { openMongoApp } from './mongo-app.js';
import { anEvent, givenWorkspace, insertTurn, upTo } from './records.js';

const [KIB, MIB] = [1024, 1024 * 1024];
/** No answer is awaited for so long. */
const LATER = 365 * 24 * 60 * 60_000;

describeOnMongo('turns on MongoDB', () => {
  const mongo = suiteFixture(() => openMongoApp());
  const stores = suiteFixture(() => mongo.stores);
  let turns: TurnStore;
  let model: Model<TurnDocument>;
  let texts: Model<TurnTextDocument>;
  beforeAll(() => {
    ({ turns } = stores);
    model = mongo.part(getModelToken(TURNS));
    texts = mongo.part(getModelToken(TURN_TEXTS));
  });
  afterEach(() => jest.restoreAllMocks());

  const bytesOf = async (turn: Turn): Promise<number> =>
    driver.BSON.calculateObjectSize((await model.findOne({ _id: turnKey(turn) }).lean())!);
  const textsOf = (turn: Turn) =>
    texts
      .find({ turn: turnKey(turn) })
      .lean<(Omit<TurnTextDocument, 'bytes'> & { bytes: { length(): number } })[]>();
  const namesOf = async (turn: Turn): Promise<Set<string>> =>
    new Set((await textsOf(turn)).map(({ name }) => name));

  it('have small documents, however many calls, arguments, results and events there are', async () => {
    const calls = upTo(1000).map((n) => aCall({ toolCallId: `call_${n}` }));
    const turn = aTurn(await givenWorkspace(stores), { calls });
    const given = calls.map(({ callId }) => ({ callId, text: 'a'.repeat(4 * KIB) }));
    const event = () => anEvent({ turnId: turn.turnId, fields: { text: 'e'.repeat(KIB) } });
    await insertTurn(stores, turn, { arguments: given, events: calls.map(event) });
    expect(await bytesOf(turn)).toBeLessThan(4 * MIB);
    let standing = turn;
    for (let from = 0; from < calls.length; from += 250) {
      const ended = (n: number): boolean => n >= from && n < from + 250;
      const next = {
        ...{ ...standing, version: standing.version + 1 },
        calls: standing.calls.map((call, n) => (ended(n) ? { ...call, status: 'succeeded' as const } : call)),
      };
      // Small ones lie in the document, larger ones apart.
      const results = calls.slice(from, from + 250).map(({ callId }, n) => {
        return { callId, result: { callId, text: 'r'.repeat(n % 2 === 0 ? 900 : 4 * KIB) } };
      });
      const events = results.flatMap(() => [event(), event()]);
      expect(await turns.save(standing, next, results, events)).toBe(true);
      expect(await bytesOf(turn)).toBeLessThan(8 * MIB);
      standing = next;
    }
    expect(await turns.find(turn)).toEqual(standing);
    expect(await turns.argumentsOf(turn)).toEqual(given);
    expect(await turns.argumentsOfCall(turn, 777)).toEqual(given[777]);
    const results = await turns.resultsOf(turn);
    expect([...results.values()].map((read) => (read.result as { callId: Json }).callId)).toEqual(
      calls.map(({ callId }) => callId),
    );
    // One call's arguments are read with some of their neighbours, not with all.
    const sizes = (await textsOf(turn)).map(({ bytes }) => bytes.length());
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * KIB);
  });

  it('have documents far below 16 MB, however long the paths are and whatever happens at once', async () => {
    // Twice the widest path, of the most calls that are taken.
    const path = '\uFFFD'.repeat(MAX_PATH_CHARS);
    const subject = { path, fromPath: path };
    const calls = upTo(1_000).map((n) => aCall({ name: 'mv', toolCallId: `call_${n}`, subject }));
    const turn = aTurn(await givenWorkspace(stores), { calls });
    const draftOf = (n: number): AuditDraft =>
      anEvent({ turnId: turn.turnId, toolCallId: `call_${n}`, fields: { toolName: 'mv', ...subject } });
    const accepted = calls.flatMap((_, n) => [draftOf(n), draftOf(n)]);
    await insertTurn(stores, turn, { events: accepted });
    expect(await bytesOf(turn)).toBeLessThan(12 * MIB);
    // All of them are started, released and ended by what came at once.
    const next = nextVersion(turn);
    const ended = calls.flatMap((_, n) => [draftOf(n), draftOf(n), draftOf(n)]);
    expect(await turns.save(turn, next, [], ended)).toBe(true);
    expect(await bytesOf(turn)).toBeLessThan(12 * MIB);
    const { events } = await stores.audit.page(turn.workspaceId, { turnId: turn.turnId }, 0, 6_000);
    const fieldsOf = ({
      eventId,
      toolCallId,
      fields,
    }: Pick<AuditDraft, 'eventId' | 'toolCallId' | 'fields'>) =>
      JSON.stringify([eventId, toolCallId, fields.path, fields.fromPath]);
    expect(events.map(fieldsOf)).toEqual([...accepted, ...ended].map(fieldsOf));
    expect(await turns.find(turn)).toEqual(next);
  });

  it('cannot be read when a part of a result is missing', async () => {
    const turn = aTurn(await givenWorkspace(stores), { calls: [aCall(), aCall()] });
    await insertTurn(stores, turn);
    const results = turn.calls.map(({ callId }) => ({ callId, result: 'r'.repeat(300 * KIB) }));
    await turns.save(turn, nextVersion(turn), results, []);
    await texts.deleteOne({ turn: turnKey(turn), _id: /,"1"\]$/ });
    await expect(turns.resultsOf(turn)).rejects.toThrow('is not there');
  });

  it('empty their outbox before more events come into it', async () => {
    const turn = aTurn(await givenWorkspace(stores));
    const large = upTo(5).map(() => anEvent({ fields: { text: 'e'.repeat(MIB) } }));
    await insertTurn(stores, turn, { events: large });
    const next = nextVersion(turn);
    expect(await turns.save(turn, next, [], [anEvent()])).toBe(true);
    expect(await turns.save(next, nextVersion(next), [], [anEvent()])).toBe(true);
    expect(await bytesOf(turn)).toBeLessThan(MIB);
  });

  it('have an outbox of bounded size, and no save when it cannot be emptied', async () => {
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    const projector = mongo.part(Projector);
    // Nobody but the saves themselves.
    jest.spyOn(projector, 'wake').mockReturnValue();
    let standing = turn;
    const save = async (): Promise<boolean> => {
      const before = standing;
      standing = nextVersion(before);
      const events = [anEvent({ fields: { text: 'e'.repeat(0.6 * MIB) } })];
      return turns.save(before, standing, [], events);
    };
    for (let n = 0; n < 6; n += 1) {
      expect(await save()).toBe(true);
      expect(await bytesOf(turn)).toBeLessThan(2 * MIB);
    }
    jest.spyOn(projector, 'drain').mockResolvedValue();
    const until = save().then(save).then(save);
    await expect(until).rejects.toThrow('its outbox does not become empty');
  });

  it('notify the projector of new events', async () => {
    const turn = aTurn(await givenWorkspace(stores));
    const wake = jest.spyOn(mongo.part(Projector), 'wake');
    await insertTurn(stores, turn, { events: [anEvent()] });
    expect(wake.mock.calls).toEqual([[turn.workspaceId]]);
    await turns.save(turn, nextVersion(turn), [], [anEvent()]);
    expect(wake.mock.calls).toEqual([[turn.workspaceId], [turn.workspaceId]]);
  });

  it('are not saved when one of their texts could not be stored', async () => {
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    const [{ callId }] = turn.calls as [Call];
    const put = jest.spyOn(mongo.part(TurnTexts), 'put');
    put.mockRejectedValueOnce(new Error('not stored'));
    const result = 'r'.repeat(20 * KIB);
    await expect(turns.save(turn, completed(turn), [{ callId, result }], [])).rejects.toThrow('not stored');
    expect(await turns.find(turn)).toEqual(turn);
  });

  it('leave no text of a write that lost a race', async () => {
    const turn = aTurn(await givenWorkspace(stores));
    const given = (letter: string) => ({ arguments: [letter.repeat(20 * KIB)] });
    await insertTurn(stores, turn, given('a'));
    const stored = await namesOf(turn);
    await insertTurn(stores, { ...turn, calls: [aCall()] }, given('b'));
    expect(await namesOf(turn)).toEqual(stored);
    const rivals = ['c', 'd'].map((letter) => {
      const result = { callId: turn.calls[0]!.callId, result: letter.repeat(20 * KIB) };
      return () =>
        turns.save(turn, nextVersion(turn, { warnings: [{ code: letter, message: '' }] }), [result], []);
    });
    expect((await Promise.all(rivals.map((save) => save()))).sort()).toEqual([false, true]);
    expect((await namesOf(turn)).size).toBe(2);
    // The one that was stored once more answers as before, and leaves nothing either.
    expect((await Promise.all(rivals.map((save) => save()))).sort()).toEqual([false, true]);
    expect((await namesOf(turn)).size).toBe(2);
    expect(await turns.resultOf(turn, turn.calls[0]!.callId)).not.toBeNull();
  });

  it('keep the texts of a save whose first answer was lost, and are not saved twice', async () => {
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn);
    const { callId } = turn.calls[0]!;
    const update = model.updateOne.bind(model);
    const lost = jest.spyOn(model, 'updateOne').mockImplementationOnce(((
      ...given: Parameters<typeof update>
    ) =>
      update(...given).then(() => {
        throw new driver.MongoNetworkError('connection closed');
      })) as never);
    const done = completed(turn);
    const result = 'r'.repeat(20 * KIB);
    expect(await turns.save(turn, done, [{ callId, result }], [anEvent()])).toBe(true);
    expect(lost).toHaveBeenCalledTimes(2);
    expect(await turns.find(turn)).toEqual(done);
    expect(await turns.resultOf(turn, callId)).toEqual({ result, details: null });
  });

  it('lose texts without a turn, and each text is checked once', async () => {
    const turn = aTurn(await givenWorkspace(stores));
    await insertTurn(stores, turn, { arguments: ['a'.repeat(200 * KIB)] });
    const kept = (await textsOf(turn)).length;
    const sweeper = mongo.part(TurnTexts);
    const orphan = async (of: Turn): Promise<void> => {
      const values = new TurnValues(newId());
      await values.add('o'.repeat(20 * KIB), 0);
      await sweeper.put(turnKey(of), values);
    };
    const never = aTurn(turn.workspaceId);
    await orphan(turn);
    await orphan(never);
    const sweep = async (before: number): Promise<void> => {
      while (await sweeper.removeOrphans(before, 2));
    };
    await sweep(Date.now() - 60_000);
    expect([(await textsOf(turn)).length, (await textsOf(never)).length]).toEqual([kept + 1, 1]);
    await sweep(Date.now() + LATER);
    expect([(await textsOf(turn)).length, (await textsOf(never)).length]).toEqual([kept, 0]);
    expect(await turns.argumentsOfCall(turn, 0)).toBe('a'.repeat(200 * KIB));
    expect(await texts.countDocuments({ looseSince: { $ne: null } })).toBe(0);
  });

  describe('under 64 writers', () => {
    /** Each writes once, on whatever version it finds; says how many writes of each version were acknowledged. */
    const acknowledged = async (turn: Turn, store: Pick<TurnStore, 'find' | 'save'>): Promise<number[]> => {
      const versions: number[] = [];
      const write = async (writer: number): Promise<void> => {
        for (;;) {
          const before = (await store.find(turn))!;
          const next = nextVersion(before, { attempt: writer });
          if (!(await store.save(before, next, [], [anEvent()]))) continue;
          versions.push(next.version);
          return;
        }
      };
      await Promise.all(upTo(64).map(write));
      return versions.sort((a, b) => a - b);
    };

    it('have one writer for each version', async () => {
      const turn = aTurn(await givenWorkspace(stores));
      await insertTurn(stores, turn);
      expect(await acknowledged(turn, turns)).toEqual(upTo(64).map((n) => n + 1));
      expect(await turns.versionOf(turn)).toBe(65);
    }, 120_000);

    it('have a version several times in a store that reads, then writes: the check above would notice', async () => {
      const turn = aTurn(await givenWorkspace(stores));
      await insertTurn(stores, turn);
      const faulty: Pick<TurnStore, 'find' | 'save'> = {
        find: (ref) => turns.find(ref),
        async save(before, next) {
          if ((await turns.versionOf(next)) !== before.version) return false;
          const { calls: _calls, ...state } = next;
          const $set = { version: next.version, state: JSON.stringify(state) };
          await model.updateOne({ _id: turnKey(next) }, { $set });
          return true;
        },
      };
      expect(await acknowledged(turn, faulty)).not.toEqual(upTo(64).map((n) => n + 1));
    });
  });
});
