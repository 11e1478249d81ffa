import { jest } from '@jest/globals';
import { callOf, gate, RelayClientScene, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const scene = new RelayClientScene();
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  describe('a call that starts', () => {
    /** Whatever the client had to do at once is done: it has answered what came after. */
    const untilIdle = () =>
      scene.server.socket.timeout(1000).emitWithAck('tool:cancel', { callId: 'none', reason: 'cancelled' });
    /** Runs a call whose effect is that it is counted. */
    const counted = async (): Promise<{ effects: () => number; errors: string[] }> => {
      let effects = 0;
      const errors: string[] = [];
      await scene
        .clientWith(async (_call, context) => {
          await context.awaitApproval();
          await context.start().catch((error: Error) => {
            errors.push(error.message);
            throw error;
          });
          effects += 1;
          return { result: { words: 3 } };
        })
        .connect();
      return { effects: () => effects, errors };
    };

    it('changes nothing before the server has said that it is this client’s', async () => {
      let isSilent = true;
      scene.server.answerStatus = ({ status }) =>
        status === 'running' && isSilent ? undefined : { ok: true };
      const { effects } = await counted();
      const start = jest.spyOn(scene.journal, 'start');
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.statuses.some(({ status }) => status === 'running'));
      await untilIdle();
      expect(start).not.toHaveBeenCalled();
      expect([effects(), scene.server.results]).toEqual([0, []]);
      isSilent = false;
      // The connection breaks, and the next one brings the answer.
      scene.server.socket.disconnect(true);
      await until(() => scene.server.results.length === 1);
      expect(effects()).toBe(1);
    });

    it.each(['CONFLICT', 'LATE_RESULT', 'NOT_FOUND'] as const)(
      'is dropped where the server answers %s',
      async (code) => {
        scene.server.answerStatus = ({ status }) =>
          status === 'running' ? { ok: false, error: { code, message: 'Not yours.' } } : { ok: true };
        const { effects, errors } = await counted();
        const start = jest.spyOn(scene.journal, 'start');
        await scene.server.deliver(callOf('1'));
        await until(() => scene.journal.get('1') === null);
        expect([effects(), errors, scene.server.results]).toEqual([0, ['Not yours.'], []]);
        expect(start).not.toHaveBeenCalled();
      },
    );

    it('is dropped at once when it is cancelled while nobody answers', async () => {
      scene.server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const { effects } = await counted();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.statuses.some(({ status }) => status === 'running'));
      const cancel = { callId: '1', reason: 'cancelled' as const };
      await scene.server.socket.timeout(1000).emitWithAck('tool:cancel', cancel);
      // While the connection lasts: nothing has ended but the call.
      await until(() => scene.journal.get('1') === null);
      expect([effects(), scene.server.sockets.length]).toEqual([0, 1]);
    });

    it('changes nothing where it is cancelled while the journal notes its start', async () => {
      const start = scene.journal.start.bind(scene.journal);
      scene.journal.start = async (...noted) => {
        await start(...noted);
        const cancel = { callId: '1', reason: 'cancelled' as const };
        await scene.server.socket.timeout(1000).emitWithAck('tool:cancel', cancel);
      };
      const { effects, errors } = await counted();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1') === null);
      expect([effects(), errors, scene.server.results]).toEqual([0, ['The call was cancelled.'], []]);
    });

    it('is asked for again by the next process where the client closes before the answer', async () => {
      scene.server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const first = await counted();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.statuses.some(({ status }) => status === 'running'));
      let isClosed = false;
      const restarted = scene.restart().then(() => (isClosed = true));
      // Sooner than it would give up waiting for the answer.
      await until(() => isClosed);
      await restarted;
      scene.server.answerStatus = () => ({ ok: true });
      const second = await counted();
      await until(() => scene.server.results.length === 1);
      expect([first.effects(), second.effects()]).toEqual([0, 1]);
      expect(scene.server.results[0]).toMatchObject({ result: { words: 3 } });
    });

    it('is dropped where the next resume forgets it', async () => {
      scene.server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const { effects } = await counted();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.statuses.some(({ status }) => status === 'running'));
      scene.server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      scene.server.socket.disconnect(true);
      await until(() => scene.journal.get('1') === null);
      expect([effects(), scene.server.results]).toEqual([0, []]);
    });

    it.each([
      ['another connection has replaced it', 'replaced'],
      ['the server has refused it', 'refused'],
    ])('changes nothing once %s', async (_what, reason) => {
      const { opened, open } = gate();
      let effects = 0;
      const aborted: boolean[] = [];
      const started: string[] = [];
      const running = scene.clientWith(async (_call, context) => {
        await opened;
        aborted.push(context.signal.aborted);
        await context.start().then(
          () => started.push('started'),
          (error: Error) => {
            started.push('refused');
            throw error;
          },
        );
        effects += 1;
        return { result: null };
      });
      await running.connect();
      await scene.server.deliver(callOf('1'));
      if (reason === 'replaced') {
        scene.server.socket.emit('client:replaced', { message: 'Replaced.' }, () => undefined);
      } else {
        scene.server.refuse = () => ({ code: 'FORBIDDEN', message: 'No member.' });
        scene.server.socket.disconnect(true);
      }
      expect(await running.ended).toMatchObject({ reason });
      open();
      await until(() => started.length === 1);
      expect([aborted, started, effects]).toEqual([[true], ['refused'], 0]);
      // What the other connection makes of it is not this one's to forget.
      expect(scene.journal.get('1')).not.toBeNull();
    });
  });
});
