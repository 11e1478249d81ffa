import { Config } from '../config/config.js';
import { HOUR_MS, type UsageStore } from '../storage/ports/usage.store.js';
import { TurnBytes } from './turn-bytes.js';

const GIB = 1024 ** 3;
const NOON = Date.UTC(2025, 5, 1, 12);
const WHO = { workspaceId: 'w', userId: 'u' };

describe('the bytes of a day', () => {
  it('are read again after a second, however far from its limit the last sum was: other nodes add to them', async () => {
    let now = NOON;
    let bytes = 0;
    const read = () => Promise.resolve([{ hour: Math.floor(NOON / HOUR_MS), bytes }]);
    const usage = { turnBytesOfUser: read, turnBytesOfWorkspace: read } as unknown as UsageStore;
    const config = Config.with({ maxTurnBytesADay: GIB, maxUserTurnBytesADay: GIB });
    const ofDay = new TurnBytes(usage, config, { now: () => now });
    (await ofDay.take(WHO, 10))();
    bytes = GIB;
    (await ofDay.take(WHO, 10))();
    now += 1_000;
    await expect(ofDay.take(WHO, 10)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });
});
