import type { AccessedRequest } from '../common/access.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { Config } from '../config/config.js';
import { UserLines } from '../work/user-lines.js';
import { WorkPool } from '../work/work-pool.js';
import { BodyReader } from './body-reader.js';
import { Receiving } from './receiving.js';

const MIB = 1024 * 1024;

describe('bodies of strangers', () => {
  const config = Config.with({ maxReceivingBytes: 64 * MIB });
  const proxies = new ClientAddresses(['127.0.0.1']);
  const reader = new BodyReader(
    ...([config, new Receiving(config), new WorkPool(config), new UserLines(config), proxies] as const),
  );

  const from = (address: string): AccessedRequest =>
    ({
      raw: { socket: { remoteAddress: '127.0.0.1' }, headers: { 'x-forwarded-for': address } },
    }) as unknown as AccessedRequest;

  it('count for the address that a trusted proxy names, so that one behind it keeps out no other', () => {
    expect(reader.open(from('198.51.100.1')).take(MIB)).toBeNull();
    expect(reader.open(from('198.51.100.1')).take(MIB)?.code).toBe('RATE_LIMITED');
    expect(reader.open(from('198.51.100.2')).take(MIB / 2)).toBeNull();
  });
});
