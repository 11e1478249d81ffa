import { refused, RelayClientFixture, three, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const fixture = new RelayClientFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  describe('a result', () => {
    it('is sent again on the next connection until it is accepted', async () => {
      fixture.server.answerResult = () => undefined;
      await fixture.run(three);
      await fixture.untilResult();
      fixture.server.answerResult = () => ({ ok: true });
      fixture.server.disconnect();
      await fixture.untilForgotten();
      expect(fixture.server.resumes[1]).toMatchObject([{ callId: '1', result: { words: 3 } }]);
      expect(fixture.server.results).toHaveLength(2);
    });

    it('is not sent again if the resume delivered it', async () => {
      fixture.server.answerResult = () => undefined;
      await fixture.run(three);
      await fixture.untilResult();
      fixture.server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      fixture.server.disconnect();
      await fixture.untilForgotten();
      expect(fixture.server.results).toHaveLength(1);
    });

    it.each(['LATE_RESULT', 'CONFLICT', 'NOT_FOUND'] as const)('ends with %s', async (code) => {
      fixture.server.answerResult = () => refused(code, 'Too late.');
      await fixture.run(three);
      await fixture.untilForgotten();
      expect(fixture.server.results).toHaveLength(1);
    });

    it('is sent again if the server cannot take it now', async () => {
      fixture.server.answerResult = () =>
        fixture.server.results.length > 1 ? { ok: true } : refused('INTERNAL_ERROR', 'Disk.');
      await fixture.run(three);
      await fixture.untilForgotten();
    });

    it('that breaks its schema stays in the journal, so that the call is not run again', async () => {
      fixture.server.answerResult = () => refused('VALIDATION_ERROR', 'words');
      await fixture.run(three);
      await until(() => fixture.warnings.length === 1);
      expect(fixture.warnings[0]).toContain('VALIDATION_ERROR words');
      expect(fixture.journal.get('1')).toMatchObject({ state: 'finished' });
    });
  });

  describe('a result that is too large', () => {
    const tooLarge = refused('TOO_LARGE', 'Over 16 MiB.');
    const at = new Date().toISOString();
    const edited = {
      ...{ decision: 'edit' as const, by: 'ada', at, note: 'Shorter.' },
      editedArguments: { text: 'x'.repeat(1000) },
    };

    it('is sent separately after the resume was answered without it', async () => {
      await fixture.finished('1');
      fixture.server.answerResume = (entries) =>
        entries.some(({ result }) => result) ? tooLarge : { ok: true, forget: [], resume: ['1'] };
      await fixture.clientWith(three).connect();
      await fixture.untilForgotten();
      expect(fixture.server.resumes[1]).toEqual([{ turnId: 't', callId: '1', attempt: 1, state: 'running' }]);
      expect(fixture.server.results).toMatchObject([{ callId: '1', result: { words: 3 } }]);
    });

    it('is sent even if the server, which has not seen it, no longer waits for the call', async () => {
      await fixture.finished('1');
      fixture.server.answerResume = (entries) =>
        entries.some(({ result }) => result) ? tooLarge : { ok: true, forget: ['1'], resume: [] };
      fixture.server.answerResult = () => refused('LATE_RESULT', 'Cancelled.');
      await fixture.clientWith(three).connect();
      await fixture.untilForgotten();
      expect(fixture.server.results).toHaveLength(1);
    });

    it('because of its edited arguments is reported as allowed, with a note', async () => {
      fixture.server.answerResult = ({ approval }) => (approval?.editedArguments ? tooLarge : { ok: true });
      await fixture.run(async (_call, context) => {
        await context.start(edited);
        return { result: { words: 1 }, approval: edited };
      });
      await fixture.untilForgotten();
      expect(fixture.server.results[1]).toMatchObject({
        result: { words: 1 },
        approval: {
          decision: 'allow',
          by: 'ada',
          note: expect.stringMatching(/^Shorter\. Edited/) as string,
        },
      });
      expect(fixture.server.results[1]!.approval).not.toHaveProperty('editedArguments');
    });

    it('by itself becomes a denial that says that the call was executed', async () => {
      fixture.server.answerResult = ({ result }) => (result === null ? { ok: true } : tooLarge);
      await fixture.run(async () => ({ result: { words: 1 }, approval: edited }));
      await fixture.untilForgotten();
      expect(fixture.server.results).toHaveLength(3);
      const note = expect.stringContaining('was executed, but its result (11 bytes)') as string;
      expect(fixture.server.results[2]!.approval).toMatchObject({ decision: 'deny', by: 'client', note });
    });

    it('for the connection itself, which breaks on it, ends the same way', async () => {
      // The Socket.IO server of this test takes no message over 1 MB.
      const words = 'x'.repeat(2_000_000);
      await fixture.run(async () => ({ result: { words } }));
      await fixture.untilForgotten();
      expect(fixture.server.results).toMatchObject([{ result: null, approval: { decision: 'deny' } }]);
    });
  });

  describe('results after a resume', () => {
    it('are sent in small groups until all are delivered', async () => {
      const callIds = Array.from({ length: 30 }, (_, index) => `${index}`);
      for (const callId of callIds) await fixture.finished(callId);
      await fixture.clientWith(three).connect();
      await until(() => fixture.journal.all().length === 0);
      expect(fixture.server.results.map(({ callId }) => callId)).toEqual(callIds);
    });
  });
});
