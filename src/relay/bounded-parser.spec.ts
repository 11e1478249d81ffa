import { Encoder, type Packet, PacketType } from 'socket.io-parser';
import { boundedParser, faultOf } from './bounded-parser.js';

const LIMIT = 200;

/** Decodes packets that Socket.IO encoded. */
function decoded(...packets: Packet[]): Packet[] {
  const { Decoder } = boundedParser(LIMIT);
  const decoder = new Decoder();
  const found: Packet[] = [];
  decoder.on('decoded', (packet) => found.push(packet));
  for (const packet of packets) {
    for (const frame of new Encoder().encode(packet) as (string | Buffer)[]) decoder.add(frame);
  }
  decoder.destroy();
  return found;
}
const event = (data: unknown, id = 7): Packet => ({ type: PacketType.EVENT, nsp: '/relay', data, id });

describe('the bounded parser', () => {
  it('leaves packets within the limit unchanged', () => {
    const packets = [
      event(['hello', { a: 'ä' }]),
      event(['x'.repeat(150)]),
      event(['bytes', Buffer.alloc(100)]),
      { type: PacketType.CONNECT, nsp: '/relay', data: { token: 't' } },
      { type: PacketType.ACK, nsp: '/relay', data: [{ ok: true }], id: 3 },
    ];
    expect(decoded(...packets.map((packet) => ({ ...packet })))).toMatchObject(
      packets.map(({ data }) => ({ data: data as unknown })),
    );
  });

  it.each([
    ['a text', ['tool:result', 'x'.repeat(LIMIT)]],
    ['a text whose characters are more than a byte', ['tool:result', 'ä'.repeat(LIMIT / 2)]],
    ['an attachment', ['files:put', { content: Buffer.alloc(LIMIT) }]],
    ['two attachments together', ['files:put', Buffer.alloc(120), Buffer.alloc(120)]],
    ['a text and its attachment', ['files:put', 'x'.repeat(LIMIT), Buffer.alloc(1)]],
  ])('renames %s over the limit, and keeps its id', (_, data) => {
    const [packet, ...others] = decoded(event(data), event(['next']));
    expect(packet).toMatchObject({ nsp: '/relay', id: 7, data: ['frame:oversized'] });
    expect(faultOf(packet!.data as object)).toBe(
      'The event exceeds the limit of 200 bytes; send less at once.',
    );
    expect(others).toMatchObject([{ data: ['next'] }]);
  });

  it.each([
    ['values', `[${'0,'.repeat(250_000)}0]`, 'holds more than 250000 values'],
    [
      'names',
      JSON.stringify([Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`n${at}`, 0]))]),
      'holds more than 50000 different names',
    ],
    ['levels', `${'['.repeat(251)}${']'.repeat(251)}`, 'is nested deeper than 250 levels'],
    ['numbers that are not kept', `[${'1e400,'.repeat(10_001)}0]`, 'has more than 10000 numbers'],
  ])('does not parse an event with more %s than a body may have', (_, json, fault) => {
    const { Decoder } = boundedParser(16 * 1024 * 1024);
    const decoder = new Decoder();
    const found: Packet[] = [];
    decoder.on('decoded', (packet) => found.push(packet));
    decoder.add(`2/relay,7${json}`);
    decoder.add('2/relay,8["next"]');
    expect(found).toMatchObject([
      { id: 7, data: ['frame:oversized'] },
      { id: 8, data: ['next'] },
    ]);
    expect(faultOf(found[0]!.data as object)).toContain(`The event ${fault}`);
    expect(faultOf(found[1]!.data as object)).toBeNull();
  });

  it.each([
    ['a namespace in which a text begins', `2/${'x'.repeat(101)}",["e",0]`],
    ['attachments written as no client does', '5 1-/",["e",0]'],
    ['an id behind which blanks stand', '2/relay,7 ["e",0]'],
  ])('refuses a packet with %s, which would hide its JSON', (_, text) => {
    const { Decoder } = boundedParser(LIMIT);
    expect(() => new Decoder().add(text)).toThrow('The header of the packet is not understood');
  });

  it('empties an oversized acknowledgement or handshake', () => {
    const text = 'x'.repeat(LIMIT);
    const [ack, connect] = decoded(
      { type: PacketType.ACK, nsp: '/relay', data: [text], id: 3 },
      { type: PacketType.CONNECT, nsp: '/relay', data: { token: text } },
    );
    expect(ack).toMatchObject({ type: PacketType.ACK, id: 3, data: [] });
    expect(connect).toMatchObject({ type: PacketType.CONNECT, nsp: '/relay' });
    expect(connect!.data).toBeUndefined();
  });
});
