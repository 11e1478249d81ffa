import type { ToolCallDelivery } from '@patchbay/protocol';
import { ClientLockedError } from './client-locked-error.js';
import { Journal } from './journal.js';
import type { ClientIdentity, Journals } from './journal-storage.js';

/* The contract of every kind of journal, also run in a browser page; not part of the build. */

const ada: ClientIdentity = { url: 'http://127.0.0.1:3000', workspaceId: 'w', clientId: 'ada' };
/** Identities that must not share ada's journal. */
const OTHERS: ClientIdentity[] = [
  { ...ada, clientId: 'bob' },
  { ...ada, workspaceId: 'w2' },
  { ...ada, url: 'http://127.0.0.1:3001' },
];

export function deliveryOf(callId: string): ToolCallDelivery {
  return {
    ...{ callId, attempt: 1, toolCallId: 't', sessionId: 's', conversationId: 'v', turnId: 'u' },
    ...{ name: 'workspace_create_file', arguments: { path: 'a', content: '\u0000ü\u{1f600}' } },
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
  };
}

const states = (journal: Journal) => journal.all().map(({ callId, state }) => `${callId} ${state}`);

/** Each case returns an observation; `EXPECTED` has the value it must be. */
export const CONTRACT: Record<string, (journals: Journals) => Promise<unknown>> = {
  'keeps calls for the client that opens it next': async (journals) => {
    const first = await Journal.open(journals, ada);
    await first.receive(deliveryOf('c1'));
    await first.receive(deliveryOf('c2'));
    await first.start('c2', null);
    await first.finish('c2', { result: { success: true }, approval: null, executionMs: 1 });
    await first.close();
    const second = await Journal.open(journals, ada);
    const { known } = await second.receive(deliveryOf('c1'));
    const found = [known, states(second), second.get('c1')!.call!.arguments];
    await second.close();
    return found;
  },
  'serves one client at a time, and each client its own': async (journals) => {
    const held = await Journal.open(journals, ada);
    const refused: unknown = await Journal.open(journals, ada).catch((error: unknown) => error);
    await held.receive(deliveryOf('c1'));
    const others = await Promise.all(OTHERS.map((other) => Journal.open(journals, other)));
    const found = [refused instanceof ClientLockedError, ...others.map(states)];
    await Promise.all([held, ...others].map((journal) => journal.close()));
    await (await Journal.open(journals, ada)).close();
    return found;
  },
  'keeps forgotten calls forgotten after many more calls': async (journals) => {
    const journal = await Journal.open(journals, ada);
    for (let n = 0; n < 60; n++) {
      await journal.receive(deliveryOf(`c${n}`));
      if (n < 58) await journal.forget([`c${n}`]);
    }
    await journal.close();
    const again = await Journal.open(journals, ada);
    const found = states(again);
    await again.close();
    return found;
  },
  'loses no step when it compacts at any line': async (journals) => {
    const lost: number[] = [];
    for (let lines = 0; lines < 40; lines++) {
      const journal = await Journal.open(journals, ada);
      for (let n = 0; n < lines; n++) await journal.receive({ ...deliveryOf('c1'), attempt: n + 1 });
      await journal.receive(deliveryOf('last'));
      await journal.close();
      const again = await Journal.open(journals, ada);
      if (again.get('last') === null || (lines > 0 && again.get('c1')?.attempt !== lines)) lost.push(lines);
      await again.forget(['c1', 'last']);
      await again.close();
    }
    return lost;
  },
  'keeps the order of concurrent calls': async (journals) => {
    const journal = await Journal.open(journals, ada);
    const ids = Array.from({ length: 20 }, (_, n) => `c${n}`);
    await Promise.all(ids.map((id) => journal.receive(deliveryOf(id))));
    await journal.close();
    const again = await Journal.open(journals, ada);
    const found = again.all().map(({ callId }) => callId);
    await again.close();
    return found;
  },
  'rejects calls after it was closed': async (journals) => {
    const journal = await Journal.open(journals, ada);
    await journal.close();
    return journal.receive(deliveryOf('c1')).then(
      () => 'taken',
      () => 'refused',
    );
  },
};

/** The observation of a correct implementation. */
export const EXPECTED: { [name: string]: unknown } = {
  'keeps calls for the client that opens it next': [
    true,
    ['c1 acknowledged', 'c2 finished'],
    { path: 'a', content: '\u0000ü\u{1f600}' },
  ],
  'serves one client at a time, and each client its own': [true, [], [], []],
  'keeps forgotten calls forgotten after many more calls': ['c58 acknowledged', 'c59 acknowledged'],
  'loses no step when it compacts at any line': [],
  'keeps the order of concurrent calls': Array.from({ length: 20 }, (_, n) => `c${n}`),
  'rejects calls after it was closed': 'refused',
};
