import { isDeepStrictEqual } from 'node:util';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../common/ids.js';
import type { AuditDraft, AuditFilter } from '../ports/audit.store.js';
import { SqliteAuditStore } from './audit.store.js';
import { SqliteDatabase } from './database.js';
import { TrailLog } from './trail-log.js';
import { TrailProjection } from './trail-projection.js';
import { matches } from './trail-search.js';
import { WorkspaceKeys } from './workspace-keys.js';

import.meta.jest.setTimeout(240_000);

/** Numbers below a bound, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let s = (seed * 2654435761) % 4294967296;
  return (below) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 4294967296) * below);
  };
}

it.each([1, 2, 3])(
  'a search finds what a filter of the whole trail finds, also after failed commits and restarts (seed %i)',
  async (seed) => {
    const rnd = random(seed);
    const pick = <T>(of: readonly T[]): T => of[rnd(of.length)]!;
    const directory = await mkdtemp(join(tmpdir(), 'patchbay-search-'));
    let database!: SqliteDatabase, projection!: TrailProjection, log!: TrailLog, audit!: SqliteAuditStore;
    const open = (): void => {
      database = SqliteDatabase.open(directory);
      projection = database.part(TrailProjection);
      log = database.part(TrailLog);
      audit = new SqliteAuditStore(database, new WorkspaceKeys(database));
    };
    open();
    await database.write(() => {
      for (const w of [1, 2])
        database.run(
          "INSERT INTO workspaces (id, workspace_id, name, approvals, created_at, created_by, version) VALUES (?, ?, 'W', '[]', 1, 'u', 1)",
          [w, `w${w}`],
        );
    });
    const same = '#aaaaaaaaaaaaaaaaaaaaaa';
    const sessions = [newId(), newId(), 'plain', '#x', same];
    const turns = [same, ...Array.from({ length: 12 }, (_, i) => (i % 3 ? newId() : `#t${i}`))];
    const calls = new Map(turns.map((t) => [t, Array.from({ length: 5 }, newId)]));
    const loose = [newId(), newId()];
    const paths = ['a/b.ts', 'a', 'A/ü.ts', 'x"y.ts', 'a/b', 'back\\slash', 'a/b.tsx'];
    const trail: Record<number, AuditDraft[]> = { 1: [], 2: [] };
    let now = 1000;
    const anEvent = (): AuditDraft => {
      const turnId = rnd(6) === 0 ? null : pick(turns);
      const callId = turnId === null ? pick([null, pick(loose)]) : pick([null, pick(calls.get(turnId)!)]);
      const fields: AuditDraft['fields'] = {};
      if (rnd(2)) fields.toolName = pick(['write', 'read', 'toString', 'a"b']);
      if (rnd(3) === 0) fields.success = rnd(2) === 0;
      if (rnd(4) === 0) fields.errorCode = pick(['NOT_FOUND', 'X']);
      if (rnd(2)) fields.path = pick(paths);
      else if (rnd(3) === 0) fields.paths = [pick(paths), pick(paths)];
      if (rnd(10) === 0) fields.fromPath = pick(paths);
      if (rnd(60) === 0) fields.morePaths = 3;
      if (rnd(5) === 0) fields.note = '"c":"#AAAA","success":true';
      return {
        ...{
          eventId: newId(),
          name: pick(['Turn.Completed', 'Tool.X.Forwarded', 'File.Changed']),
          at: (now += rnd(5) - 1),
        },
        ...{
          sessionId: rnd(8) === 0 ? null : pick(sessions),
          conversationId: pick([null, 'conv', '#conv']),
          turnId,
          callId,
        },
        ...{ toolCallId: pick([null, 't1', '#t', 'x']), attempt: pick([null, 1, 2]), fields },
        actor: { userId: pick([null, 'ada', '#u', sessions[0]!]), clientId: pick([null, 'laptop', '#l']) },
      };
    };
    const filterOf = (): AuditFilter => {
      const turn = pick(turns);
      const filter: Record<string, unknown> = {};
      const some = (name: string, value: () => unknown, of: number): void => {
        if (rnd(of) === 0) filter[name] = value();
      };
      some('sessionId', () => pick(sessions), 4);
      some('turnId', () => turn, 4);
      some('callId', () => pick([...calls.get(turn)!, ...loose, 'nothing', turn]), 4);
      some('conversationId', () => pick(['conv', '#conv']), 8);
      some('toolCallId', () => pick(['t1', '#t']), 8);
      some('userId', () => pick(['ada', '#u', sessions[0]]), 8);
      some('clientId', () => pick(['laptop', '#l']), 8);
      some('toolName', () => pick(['write', 'toString', 'a"b']), 8);
      some('event', () => pick(['Turn.Completed', 'File.Changed']), 8);
      some('success', () => rnd(2) === 0, 6);
      some('errorCode', () => 'X', 10);
      some('from', () => 1000 + rnd(now - 1000 + 1), 6);
      some('to', () => 1000 + rnd(now - 1000 + 1), 6);
      some('path', () => pick(paths), 6);
      return filter;
    };
    const compare = async (): Promise<void> => {
      for (let q = 0; q < 12; q += 1) {
        const w = pick([1, 2]);
        const [filter, order, limit, maxEvents] = [
          filterOf(),
          pick(['asc', 'desc'] as const),
          pick([1, 7, 100]),
          pick([60, 300, 40_000]),
        ];
        const expected = trail[w]!.flatMap((event, i) => (matches(event, filter) ? [i + 1] : []));
        if (order === 'desc') expected.reverse();
        const found: number[] = [];
        const before = projection.reach(w);
        let after: number | null = order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER;
        while (after !== null) {
          const page: {
            events: { seq: number; eventId: string; fields: object }[];
            nextAfter: number | null;
          } = await audit.page(`w${w}`, filter, after, limit, order, maxEvents);
          for (const { seq, eventId, fields } of page.events) {
            if (
              trail[w]![seq - 1]!.eventId !== eventId ||
              !isDeepStrictEqual(fields, trail[w]![seq - 1]!.fields)
            )
              throw new Error(`${seq} differs`);
          }
          found.push(...page.events.map(({ seq }) => seq));
          after = page.nextAfter;
        }
        expect({ filter, order, limit, maxEvents, before, last: trail[w]!.length, found }).toEqual({
          filter,
          order,
          limit,
          maxEvents,
          before,
          last: trail[w]!.length,
          found: expected,
        });
      }
    };
    for (let round = 0; round < 16; round += 1) {
      // Commits that share groups, some of which fail after their events.
      await Promise.all(
        Array.from({ length: 1 + rnd(6) }, () => {
          const w = pick([1, 2]);
          const events = Array.from({ length: pick([1, 2, 3, 9, 70]) }, anEvent);
          const fails = rnd(8) === 0;
          return database
            .write(() => {
              log.append(w, events);
              if (fails) throw new Error('no');
            })
            .then(
              () => void trail[w]!.push(...events),
              () => undefined,
            );
        }),
      );
      const act = rnd(8);
      if (act < 3) await projection.project();
      else if (act === 3) {
        database.close();
        open();
      }
      await compare();
    }
    database.close();
    await rm(directory, { recursive: true });
  },
);
