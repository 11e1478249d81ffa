import type { IncomingMessage } from 'node:http';
import { ClientAddresses, networksOf } from './client-address.js';

/** A request from this peer, with an optional X-Forwarded-For. */
function request(remoteAddress: string, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

describe('the address of a request', () => {
  const addresses = new ClientAddresses(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

  it.each([
    ['the peer’s', '203.0.113.5', undefined, '203.0.113.5'],
    [
      'the peer’s if it is not a trusted proxy, whatever the header says',
      '203.0.113.5',
      '198.51.100.1',
      '203.0.113.5',
    ],
    ['the one that a trusted proxy names', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    [
      'the last one that the proxy names: earlier ones may be forged',
      '10.1.2.3',
      '1.1.1.1, 198.51.100.1',
      '198.51.100.1',
    ],
    [
      'the one that the outermost trusted proxy names',
      '10.1.2.3',
      '198.51.100.1, 192.0.2.7, 10.9.9.9',
      '198.51.100.1',
    ],
    ['the proxy’s if it names no address', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['IPv4 for an IPv4-mapped address', '::ffff:203.0.113.5', undefined, '203.0.113.5'],
    ['the client’s behind an IPv4-mapped trusted proxy', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a /64 of IPv6', '2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
    ['a /64 however it is written', '2001:DB8::5', undefined, '2001:db8:0:0::/64'],
    ['a /64 behind a proxy', 'fd00::1', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['the /64 of localhost', '::1', undefined, '0:0:0:0::/64'],
  ])('is %s', (_, peer, forwarded, address) => {
    expect(addresses.of(request(peer, forwarded))).toBe(address);
  });

  const CLIENT = '198.51.100.1';
  const NETWORK = '2001:db8:1:2::/64';
  it.each([
    ['a port', `${CLIENT}:49232`, CLIENT],
    ['a port that is hidden', `${CLIENT}:_hidden`, CLIENT],
    ['quotes and a port', `"${CLIENT}:49232"`, CLIENT],
    ['brackets', '[2001:db8:1:2::9]', NETWORK],
    ['brackets and a port', '[2001:db8:1:2::9]:443', NETWORK],
    ['quotes, brackets and a port', '"[2001:db8:1:2::9]:443"', NETWORK],
    ['capitals and zeros', '2001:0DB8:0001:0002:0000::0009', NETWORK],
    ['a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['a zone in brackets, with a port', '[fe80::1%25eth0]:443', 'fe80:0:0:0::/64'],
    ['IPv6 around IPv4', `::ffff:${CLIENT}`, CLIENT],
    ['IPv6 around IPv4, in hex', '::FFFF:c633:6401', CLIENT],
    ['IPv6 around IPv4, in full', '0:0:0:0:0:ffff:c633:6401', CLIENT],
    ['IPv6 around IPv4, with brackets and a port', `[::ffff:${CLIENT}]:80`, CLIENT],
    ['IPv6 around IPv4, with a zone', `::ffff:${CLIENT}%eth0`, CLIENT],
    ['white space', `\t ${CLIENT} `, CLIENT],
    ['empty entries around it', `, ${CLIENT}:1 ,, `, CLIENT],
    ['invalid entries before it', `unknown, _x, <script>, ${CLIENT}:1`, CLIENT],
    ['a trusted proxy behind it, with a port', `${CLIENT}:1, 10.9.9.9:2, [::ffff:10.9.9.9]:3`, CLIENT],
    ['a forged entry before it', `192.0.2.99, ${CLIENT}:1`, CLIENT],
  ])('is the client’s, not the proxy’s, if the header has it with %s', (_, forwarded, address) => {
    expect(addresses.of(request('10.1.2.3', forwarded))).toBe(address);
  });

  it.each([
    ...['', ' ', ',', ' , ,', '[', ']', '[]', '[]:1', ':', '::x', '""', '"', '999.1.1.1', '1.2.3.4.5:1'],
    ...[
      '[2001:db8::1',
      '2001:db8::1]',
      '[2001:db8::1]x',
      '1.2.3.4]:5',
      '%',
      '%eth0',
      'for=198.51.100.1',
      'a:1:2',
    ],
  ])('is the proxy’s if the header has no valid address: %j', (forwarded) => {
    expect(addresses.of(request('10.1.2.3', forwarded))).toBe('10.1.2.3');
  });

  it('comes from X-Forwarded-For alone, since a client may have written any other header', () => {
    const headers = { forwarded: 'for=192.0.2.99', 'x-real-ip': '192.0.2.99', 'x-forwarded-for': CLIENT };
    const { socket } = request('10.1.2.3');
    expect(addresses.of({ socket, headers })).toBe(CLIENT);
    expect(addresses.of({ socket, headers: { ...headers, 'x-forwarded-for': undefined } })).toBe('10.1.2.3');
  });

  it('follows a bounded number of proxies, however long the header is', () => {
    const forwarded = ['198.51.100.1', ...Array<string>(5_000).fill('10.0.0.1')].join(',');
    expect(addresses.of(request('10.1.2.3', forwarded))).toBe('10.0.0.1');
  });

  it.each([
    ['203.0.113.5', [{ key: '203.0.113.5', times: 1 }]],
    [
      '2001:db8:1:2:3:4:5:6',
      [
        { key: '2001:db8:1:2::/64', times: 1 },
        { key: '2001:db8:1::/48', times: 4 },
      ],
    ],
  ])('counts for itself and, with IPv6, for its /48, which has a higher limit: %s', (peer, counted) => {
    expect(networksOf(addresses.of(request(peer)))).toEqual(counted);
  });
});
