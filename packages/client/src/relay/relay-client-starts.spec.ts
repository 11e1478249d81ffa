import { jest } from '@jest/globals';
import { callOf, gate, refused, RelayClientFixture, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const fixture = new RelayClientFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  describe('a call that starts', () => {
    /** Resolves after the client has answered a later event, so that earlier work is done. */
    const untilIdle = () => fixture.server.cancel('none');
    /** Runs a call and counts its effects. */
    const counted = async (): Promise<{ effects: () => number; errors: string[] }> => {
      let effects = 0;
      const errors: string[] = [];
      await fixture
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

    it('changes nothing before the server has confirmed that it belongs to this client', async () => {
      let isSilent = true;
      fixture.server.answerStatus = ({ status }) =>
        status === 'running' && isSilent ? undefined : { ok: true };
      const { effects } = await counted();
      const start = jest.spyOn(fixture.journal, 'start');
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.statuses.some(({ status }) => status === 'running'));
      await untilIdle();
      expect(start).not.toHaveBeenCalled();
      expect([effects(), fixture.server.results]).toEqual([0, []]);
      isSilent = false;
      // The connection breaks; the next one brings the answer.
      fixture.server.disconnect();
      await fixture.untilResult();
      expect(effects()).toBe(1);
    });

    it.each(['CONFLICT', 'LATE_RESULT', 'NOT_FOUND'] as const)(
      'is dropped if the server answers %s',
      async (code) => {
        fixture.server.answerStatus = ({ status }) =>
          status === 'running' ? refused(code, 'Not yours.') : { ok: true };
        const { effects, errors } = await counted();
        const start = jest.spyOn(fixture.journal, 'start');
        await fixture.server.deliver(callOf('1'));
        await fixture.untilForgotten();
        expect([effects(), errors, fixture.server.results]).toEqual([0, ['Not yours.'], []]);
        expect(start).not.toHaveBeenCalled();
      },
    );

    it('is dropped at once when it is cancelled while the server does not answer', async () => {
      fixture.server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const { effects } = await counted();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.statuses.some(({ status }) => status === 'running'));
      await fixture.server.cancel('1');
      // During the connection, only the call ends.
      await fixture.untilForgotten();
      expect([effects(), fixture.server.sockets.length]).toEqual([0, 1]);
    });

    it('changes nothing if it is cancelled while the journal records its start', async () => {
      const start = fixture.journal.start.bind(fixture.journal);
      fixture.journal.start = async (...noted) => {
        await start(...noted);
        await fixture.server.cancel('1');
      };
      const { effects, errors } = await counted();
      await fixture.server.deliver(callOf('1'));
      await fixture.untilForgotten();
      expect([effects(), errors, fixture.server.results]).toEqual([0, ['The call was cancelled.'], []]);
    });

    it('is confirmed again by the next process if the client closes before the answer', async () => {
      fixture.server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const first = await counted();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.statuses.some(({ status }) => status === 'running'));
      let isClosed = false;
      const restarted = fixture.restart().then(() => (isClosed = true));
      // Sooner than its timeout for the answer.
      await until(() => isClosed);
      await restarted;
      fixture.server.answerStatus = () => ({ ok: true });
      const second = await counted();
      await fixture.untilResult();
      expect([first.effects(), second.effects()]).toEqual([0, 1]);
      expect(fixture.server.results[0]).toMatchObject({ result: { words: 3 } });
    });

    it('is dropped if the next resume forgets it', async () => {
      fixture.server.answerStatus = ({ status }) => (status === 'running' ? undefined : { ok: true });
      const { effects } = await counted();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.statuses.some(({ status }) => status === 'running'));
      fixture.server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      fixture.server.disconnect();
      await fixture.untilForgotten();
      expect([effects(), fixture.server.results]).toEqual([0, []]);
    });

    it.each([
      ['another connection has replaced it', 'replaced'],
      ['the server has refused it', 'refused'],
    ])('changes nothing once %s', async (_what, reason) => {
      const { opened, open } = gate();
      let effects = 0;
      const aborted: boolean[] = [];
      const started: string[] = [];
      const running = fixture.clientWith(async (_call, context) => {
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
      await fixture.server.deliver(callOf('1'));
      if (reason === 'replaced') {
        fixture.server.socket.emit('client:replaced', { message: 'Replaced.' }, () => undefined);
      } else {
        fixture.server.refuse = () => ({ code: 'FORBIDDEN', message: 'No member.' });
        fixture.server.disconnect();
      }
      expect(await running.ended).toMatchObject({ reason });
      open();
      await until(() => started.length === 1);
      expect([aborted, started, effects]).toEqual([[true], ['refused'], 0]);
      // The other client owns the outcome, so this one must not forget the call.
      expect(fixture.journal.get('1')).not.toBeNull();
    });
  });
});
