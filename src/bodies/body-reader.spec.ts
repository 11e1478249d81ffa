import { Readable } from 'node:stream';
import type { AccessedRequest } from '../common/access.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { loopTurn } from '../common/loop-turn.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Config } from '../config/config.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { BodyReader } from './body-reader.js';
import { Receiving } from './receiving.js';

const MIB = 1024 * 1024;

const config = Config.with({ maxReceivingBytes: 64 * MIB });
const proxies = new ClientAddresses(['127.0.0.1']);
const reader = new BodyReader(
  ...([config, new Receiving(config), new WorkPool(config), new UserJobs(config), proxies] as const),
);

describe('bodies without a token', () => {
  const from = (address: string): AccessedRequest =>
    ({
      raw: { socket: { remoteAddress: '127.0.0.1' }, headers: { 'x-forwarded-for': address } },
    }) as unknown as AccessedRequest;

  it('count for the address that a trusted proxy names, so that one client does not block the others', () => {
    expect(reader.open(from('198.51.100.1')).reserve(MIB)).toBeNull();
    expect(reader.open(from('198.51.100.1')).reserve(MIB)?.code).toBe('RATE_LIMITED');
    expect(reader.open(from('198.51.100.2')).reserve(MIB / 2)).toBeNull();
  });
});

describe('a JSON body that arrives after the time slice of this event-loop turn is used up', () => {
  /** Number of event-loop turns between receipt of a complete body and the end of its parsing. */
  const turnsUntilRead = async (length: number): Promise<number> => {
    const body = Buffer.from(`"${'x'.repeat(length - 2)}"`);
    const raw = Object.assign(Readable.from([body]), { headers: {}, socket: { remoteAddress: '127.0.0.1' } });
    const request = { raw, contentType: 'application/json' } as unknown as AccessedRequest;
    let completeIn = 0;
    raw.once('end', () => {
      completeIn = loopTurn();
      void yieldIfBusy().then(holdTheLoop);
    });
    await reader.json(request, reader.open(request));
    return loopTurn() - completeIn;
  };

  /** Blocks for longer than one time slice. */
  const holdTheLoop = (): void => {
    for (const from = performance.now(); performance.now() - from < 15;);
  };

  it('is parsed at once if it is short', async () => {
    expect(await turnsUntilRead(16 * 1024)).toBe(0);
  });

  it('is parsed in a later turn if it is longer', async () => {
    expect(await turnsUntilRead(17 * 1024)).toBeGreaterThan(0);
  });
});
