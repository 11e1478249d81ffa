import { Encoder, type Packet, PacketType } from 'socket.io-parser';
import { boundedParser, OVERSIZED_EVENT } from './bounded-parser.js';

const LIMIT = 200;

/** What the decoder makes of packets as Socket.IO encodes them. */
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
  it('leaves what is within the limit as it is', () => {
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
  ])('gives %s over the limit another name, and its id', (_, data) => {
    const [packet, ...others] = decoded(event(data), event(['next']));
    expect(packet).toMatchObject({ nsp: '/relay', id: 7, data: [OVERSIZED_EVENT] });
    expect(others).toMatchObject([{ data: ['next'] }]);
  });

  it('empties an answer over the limit, and a handshake', () => {
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
