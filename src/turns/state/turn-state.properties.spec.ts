import { type AuditStep, type CallStatus, isFinal } from '@patchbay/protocol';
import { nextDueAt } from './deadlines.js';
import type { CallEvent } from './turn-draft.js';
import { effectsOf } from './turn-effects.js';
import { always, pairs } from './turn-lives.sample.js';
import { advance } from './turn-state.js';

const STATUS_AFTER: Partial<Record<AuditStep, CallStatus>> = {
  Forwarded: 'forwarded',
  Acknowledged: 'acknowledged',
  AwaitingApproval: 'awaiting_approval',
  Approved: 'accepted',
  Executing: 'executing',
  Running: 'running',
  Released: 'pending',
  Denied: 'denied',
  Cancelled: 'cancelled',
  TimedOut: 'timed_out',
};
const statusAfter = ({ step: name, call }: CallEvent): CallStatus | undefined =>
  name === 'ResultReceived' ? call.status : STATUS_AFTER[name];
const ends = (event: CallEvent): boolean => {
  const status = statusAfter(event);
  return status !== undefined && isFinal(status);
};

describe('whatever happens to a turn', () => {
  it('final states never change', () => {
    always((moment) => {
      for (const [was, is] of pairs(moment)) if (isFinal(was.status)) expect(is).toBe(was);
      if (moment.before.status !== 'open') expect(moment.step.turn).toBe(moment.before);
    });
  });

  it('every change of a status is an event, and replaying the events rebuilds the statuses', () => {
    always((moment) => {
      for (const [was, is] of pairs(moment)) {
        const events = moment.events.filter(({ call }) => call.callId === was.callId);
        const replayed = events.map(statusAfter).filter((status) => status !== undefined);
        // An allowed call that nothing blocks starts in the same write.
        const begun = replayed[0] === 'accepted' && is.status === 'executing' ? ['accepted'] : [];
        expect(replayed).toEqual(was.status === is.status ? [] : [...begun, is.status]);
      }
    });
  });

  it('a call ends once, at the time of its last event', () => {
    always(({ events, now }, earlier) => {
      const ended = earlier.flatMap((moment) => moment.events).filter(ends);
      for (const event of events) {
        if (!ends(event)) continue;
        expect(ended.some(({ call }) => call.callId === event.call.callId)).toBe(false);
        expect(event.call.endedAt).toBe(now);
      }
    });
  });

  it('a turn is open exactly while one of its calls is open', () => {
    always(({ step: { turn } }) => {
      expect(turn.status === 'open').toBe(turn.calls.some(({ status }) => !isFinal(status)));
    });
  });

  it('a turn ends with one event after those of its calls, which counts their outcomes', () => {
    always(({ before, step: { turn, events } }, earlier) => {
      const ofTurn = events.filter(({ call }) => call === null);
      if (before.status !== 'open' || turn.status === 'open') return expect(ofTurn).toEqual([]);
      expect(earlier.flatMap((moment) => moment.step.events).every(({ call }) => call !== null)).toBe(true);
      expect(ofTurn).toEqual([events.at(-1)]);
      const { step: name, fields } = ofTurn[0]!;
      expect(name).toBe(turn.status === 'cancelled' ? 'Turn.Cancelled' : 'Turn.Completed');
      const outcomes = fields.outcomes as { [status: string]: number };
      const counted = Object.entries(outcomes).flatMap(([status, count]) =>
        Array<string>(count).fill(status),
      );
      expect(counted.sort()).toEqual(turn.calls.map(({ status }) => status).sort());
    });
  });

  it('each attempt is a Forwarded event with its delivery', () => {
    always((moment) => {
      const { events } = moment;
      const effects = effectsOf(moment.before, moment.step.turn);
      const forwarded = events.filter(({ step: name }) => name === 'Forwarded');
      const delivered = effects.filter(({ type }) => type === 'deliver');
      expect(delivered).toEqual(
        forwarded.map(({ call, clientId }) => ({
          type: 'deliver',
          callId: call.callId,
          clientId,
          attempt: call.attempt,
        })),
      );
      for (const [was, is] of pairs(moment)) {
        const increment = forwarded.some(({ call }) => call.callId === is.callId) ? 1 : 0;
        expect(is.attempt).toBe(was.attempt + increment);
      }
    });
  });

  it('every relayed call ends, at the latest by its deadlines [TURN-9]', () => {
    always(({ step: { turn }, now }) => {
      const { calls } = advance(turn, { type: 'tick' }, now + 30_000, 'node').turn;
      const relayed = calls.filter((call) => call.location === 'client' || call.needsApproval);
      const open = relayed.filter(({ status, approved }) => !isFinal(status) && approved === undefined);
      expect(open).toEqual([]);
    });
  });

  it('a node that learns of it late sends what is due and stops what ended, like one that saw every step', () => {
    always((moment, earlier) => {
      const first = earlier[0]?.before ?? moment.before;
      for (const effect of effectsOf(first, moment.step.turn)) {
        const call = moment.step.turn.calls.find(({ callId: id }) => id === effect.callId)!;
        if (effect.type === 'deliver')
          expect(call).toMatchObject({ status: 'forwarded', attempt: effect.attempt });
        else expect(isFinal(call.status)).toBe(true);
      }
      const due = moment.step.turn.calls.filter(({ status }) => status === 'forwarded');
      const sent = effectsOf(null, moment.step.turn).map((effect) => effect.callId);
      expect(sent).toEqual(due.map(({ callId: id }) => id));
    });
  });

  it('the delivery deadline never changes, nor does the approval deadline once it runs', () => {
    always((moment) => {
      for (const [was, is] of pairs(moment)) {
        expect(is.deliveryAt).toBe(was.deliveryAt);
        if (was.approvalAt !== null) expect(is.approvalAt).toBe(was.approvalAt);
      }
    });
  });

  it('only unacknowledged calls can be released, only pending ones sent again, and no waiting call runs', () => {
    always(({ step: { turn } }) => {
      for (const { status, releaseAt, retryAt, executionAt } of turn.calls) {
        if (status !== 'forwarded') expect(releaseAt).toBeNull();
        if (status !== 'pending') expect(retryAt).toBeNull();
        else expect(executionAt).toBeNull();
      }
    });
  });

  it('a running call has one holder, and is never sent again [RELAY-4]', () => {
    always((moment) => {
      for (const [was, is] of pairs(moment)) {
        if (was.status === 'running')
          expect(['running', 'succeeded', 'failed', 'denied', 'cancelled', 'timed_out']).toContain(is.status);
        expect(is.attempt === was.attempt || was.status === 'pending').toBe(true);
      }
    });
  });

  it('the execution deadline runs while the client does, from its start', () => {
    always((moment) => {
      for (const [was, is] of pairs(moment)) {
        if (is.status !== 'running') continue;
        const started = was.status === 'running' ? was.executionAt : moment.now + 5_000;
        expect(is.executionAt).toBe(started);
      }
    });
  });

  it('a client is told to stop a call it holds when someone else ends it, and only then', () => {
    always((moment) => {
      const { input: happening, before, step } = moment;
      const effects = effectsOf(before, step.turn);
      const stopped = effects.flatMap((effect) => (effect.type === 'stop' ? [effect.callId] : []));
      const reportsOwnEnd = happening.type === 'report' || happening.type === 'resume';
      const expected = pairs(moment)
        .filter(
          ([was, is]) =>
            was.clientId !== null &&
            was.approved === undefined &&
            !isFinal(was.status) &&
            isFinal(is.status) &&
            !reportsOwnEnd,
        )
        .map(([was]) => was.callId);
      expect(stopped).toEqual(expected);
    });
  });

  it('a call passes to a client by a claim or its own journal, and never from another holder', () => {
    always((moment) => {
      for (const [was, is] of pairs(moment)) {
        if (is.clientId === was.clientId || is.clientId === null) continue;
        const { input: happening } = moment;
        expect(happening).toMatchObject({
          type: expect.stringMatching(/^(claim|resume)$/) as string,
          clientId: is.clientId,
        });
        expect(was.status).toBe('pending');
      }
    });
  });

  it('no server call starts while an earlier one waits, and none waits without reason [APPROVAL-3]', () => {
    always((moment) => {
      let isHeldUp = false;
      for (const [was, is] of pairs(moment).filter(([{ location }]) => location === 'server')) {
        if (was.status !== 'executing' && is.status === 'executing') expect(isHeldUp).toBe(false);
        if (is.status === 'accepted' && moment.step.turn.lease!.until > moment.now)
          expect(isHeldUp).toBe(true);
        isHeldUp ||= !isFinal(is.status) && is.status !== 'executing';
      }
    });
  });

  it('the server runs a call that needs approval only after it was allowed [APPROVAL-2]', () => {
    always((moment) => {
      for (const [, is] of pairs(moment).filter(([{ needsApproval }]) => needsApproval)) {
        expect(is.status).not.toBe('running');
        if (['accepted', 'executing', 'succeeded', 'failed'].includes(is.status))
          expect(is.approved).toBeDefined();
        if (is.status === 'denied' && is.endedBy === 'client') expect(is.approved).toBeUndefined();
      }
    });
  });

  it('a turn is due when the first of its calls is', () => {
    always(({ step: { turn } }) => expect(turn.dueAt).toBe(nextDueAt(turn.calls, turn.lease)));
  });

  it('an input without effect returns the same turn object', () => {
    always(({ before, step: { turn, events } }) => {
      if (turn !== before) expect(turn).not.toEqual(before);
      else for (const { step: name } of events) expect(['LateResult', 'DuplicateResult']).toContain(name);
    });
  });

  it('a refused sender learns why, and the trail keeps every late or duplicate result', () => {
    always(({ input: happening, step: { answer, events, turn }, before }) => {
      if (!answer.ok) expect(turn).toBe(before);
      if (happening.type === 'report' && turn === before) {
        expect(events.map(({ step: name }) => name)).toEqual([answer.ok ? 'DuplicateResult' : 'LateResult']);
      }
    });
  });
});
