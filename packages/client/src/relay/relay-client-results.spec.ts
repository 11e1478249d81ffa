import { callOf, RelayClientScene, three, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const scene = new RelayClientScene();
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  describe('a result', () => {
    it('is sent again on the next connection until it is taken', async () => {
      scene.server.answerResult = () => undefined;
      await scene.clientWith(three).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      scene.server.answerResult = () => ({ ok: true });
      scene.server.socket.disconnect(true);
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.resumes[1]).toMatchObject([{ callId: '1', result: { words: 3 } }]);
      expect(scene.server.results).toHaveLength(2);
    });

    it('is not sent again where the resume has brought it home', async () => {
      scene.server.answerResult = () => undefined;
      await scene.clientWith(three).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      scene.server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      scene.server.socket.disconnect(true);
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toHaveLength(1);
    });

    it.each(['LATE_RESULT', 'CONFLICT', 'NOT_FOUND'] as const)('ends with %s', async (code) => {
      scene.server.answerResult = () => ({ ok: false, error: { code, message: 'Too late.' } });
      await scene.clientWith(three).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toHaveLength(1);
    });

    it('that the server cannot take now is sent again', async () => {
      scene.server.answerResult = () =>
        scene.server.results.length > 1
          ? { ok: true }
          : { ok: false, error: { code: 'INTERNAL_ERROR', message: 'Disk.' } };
      await scene.clientWith(three).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1') === null);
    });

    it('that breaks its schema stays in the journal, so that the call is not run again', async () => {
      scene.server.answerResult = () => ({
        ok: false,
        error: { code: 'VALIDATION_ERROR', message: 'words' },
      });
      await scene.clientWith(three).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.warnings.length === 1);
      expect(scene.warnings[0]).toContain('VALIDATION_ERROR words');
      expect(scene.journal.get('1')).toMatchObject({ state: 'finished' });
    });
  });

  describe('a result that is too large', () => {
    const tooLarge = { ok: false, error: { code: 'TOO_LARGE', message: 'Over 16 MiB.' } } as const;
    const at = new Date().toISOString();
    const edited = {
      ...{ decision: 'edit' as const, by: 'ada', at, note: 'Shorter.' },
      editedArguments: { text: 'x'.repeat(1000) },
    };

    it('beside others is sent alone once the resume was answered without it', async () => {
      await scene.journal.receive(callOf('1'));
      await scene.journal.finish('1', { result: { words: 3 }, approval: null, executionMs: 1 });
      scene.server.answerResume = (entries) =>
        entries.some(({ result }) => result) ? tooLarge : { ok: true, forget: [], resume: ['1'] };
      await scene.clientWith(three).connect();
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.resumes[1]).toEqual([{ turnId: 't', callId: '1', attempt: 1, state: 'running' }]);
      expect(scene.server.results).toMatchObject([{ callId: '1', result: { words: 3 } }]);
    });

    it('is sent too where the server, which has not seen it, no longer waits for the call', async () => {
      await scene.journal.receive(callOf('1'));
      await scene.journal.finish('1', { result: { words: 3 }, approval: null, executionMs: 1 });
      scene.server.answerResume = (entries) =>
        entries.some(({ result }) => result) ? tooLarge : { ok: true, forget: ['1'], resume: [] };
      scene.server.answerResult = () => ({
        ok: false,
        error: { code: 'LATE_RESULT', message: 'Cancelled.' },
      });
      await scene.clientWith(three).connect();
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toHaveLength(1);
    });

    it('for its edited arguments is reported as allowed, with a note that says so', async () => {
      scene.server.answerResult = ({ approval }) => (approval?.editedArguments ? tooLarge : { ok: true });
      await scene
        .clientWith(async (_call, context) => {
          await context.start(edited);
          return { result: { words: 1 }, approval: edited };
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results[1]).toMatchObject({
        result: { words: 1 },
        approval: {
          decision: 'allow',
          by: 'ada',
          note: expect.stringMatching(/^Shorter\. Edited/) as string,
        },
      });
      expect(scene.server.results[1]!.approval).not.toHaveProperty('editedArguments');
    });

    it('by itself ends as a denial that says that the call was executed', async () => {
      scene.server.answerResult = ({ result }) => (result === null ? { ok: true } : tooLarge);
      await scene.clientWith(async () => ({ result: { words: 1 }, approval: edited })).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toHaveLength(3);
      const note = expect.stringContaining('was executed, but its result (11 bytes)') as string;
      expect(scene.server.results[2]!.approval).toMatchObject({ decision: 'deny', by: 'client', note });
    });

    it('for the connection itself, which breaks on it, ends the same way', async () => {
      // Socket.IO takes no message over 1 MB here.
      const words = 'x'.repeat(2_000_000);
      await scene.clientWith(async () => ({ result: { words } })).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toMatchObject([{ result: null, approval: { decision: 'deny' } }]);
    });
  });

  describe('results after a resume', () => {
    it('are sent some at a time, until all are home', async () => {
      const callIds = Array.from({ length: 30 }, (_, index) => `${index}`);
      for (const callId of callIds) {
        await scene.journal.receive(callOf(callId));
        await scene.journal.finish(callId, { result: { words: 3 }, approval: null, executionMs: 1 });
      }
      await scene.clientWith(three).connect();
      await until(() => scene.journal.all().length === 0);
      expect(scene.server.results.map(({ callId }) => callId)).toEqual(callIds);
    });
  });
});
