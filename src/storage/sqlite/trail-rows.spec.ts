import fc from 'fast-check';
import { newId } from '../../common/ids.js';
import type { AuditDraft } from '../ports/audit.store.js';
import { EVENTS_PER_ROW, fromRow, propertyText, toRows } from './trail-rows.js';

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom('#', '##', '#AaIWXBnkcE-mei9V2vaiIw', 'a\0b', '\ud800'),
);
const id = fc.oneof(
  fc.constant(null).map(() => newId()),
  text,
);
const idOrNull = fc.option(id, { nil: null });
const fields = fc.dictionary(
  fc.constantFrom('toolName', 'path', 'success', 'more', '__x'),
  fc.oneof(text, fc.boolean(), fc.constant(null), fc.array(text)),
);
const event: fc.Arbitrary<AuditDraft> = fc.record({
  ...{
    eventId: id,
    name: text,
    at: fc.nat(),
    sessionId: idOrNull,
    conversationId: idOrNull,
    turnId: idOrNull,
  },
  ...{
    toolCallId: fc.option(text, { nil: null }),
    callId: idOrNull,
    attempt: fc.option(fc.nat(), { nil: null }),
  },
  actor: fc.record({ userId: idOrNull, clientId: fc.option(text, { nil: null }) }),
  fields,
});

describe('the rows of a trail', () => {
  it('give back every event as it was', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 10 }), (events) => {
        const read = toRows(events).flatMap((row) => fromRow(row.text));
        expect(read).toEqual(events);
        // Their fields in their order, too: exports compare texts.
        const texts = (of: AuditDraft[]) => of.map((event) => JSON.stringify(event.fields));
        expect(texts(read)).toEqual(texts(events));
      }),
    );
  });

  it('leave out a field that is undefined, although the event before has it', () => {
    const [one] = fc.sample(event, 1) as [AuditDraft];
    const other = { ...one, fields: { errorCode: undefined } as unknown as AuditDraft['fields'] };
    const [row] = toRows([{ ...one, fields: { errorCode: 'E' } }, other]);
    expect(fromRow(row!.text).map(({ fields }) => fields)).toEqual([{ errorCode: 'E' }, {}]);
  });

  it('contain the text of each property that a search names', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 5 }), (events) => {
        const row = toRows(events)[0]!.text;
        for (const { name, actor, fields: own, at: _at, attempt: _attempt, ...ids } of events) {
          const named = { ...ids, ...actor, name, ...own };
          for (const [property, value] of Object.entries(named)) {
            if (typeof value !== 'string' && typeof value !== 'boolean') continue;
            expect(row).toContain(propertyText(property, value));
          }
        }
      }),
    );
  });

  it('have at most 64 events each', () => {
    const one = fc.sample(event, 1)[0]!;
    const rows = toRows(Array<AuditDraft>(EVENTS_PER_ROW + 1).fill(one));
    expect(rows.map(({ events }) => events.length)).toEqual([EVENTS_PER_ROW, 1]);
  });
});
