import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';

/** The name under which an event arrives that is too large; its content is gone. */
export const OVERSIZED_EVENT = 'frame:oversized';

const OVERSIZED = JSON.stringify([OVERSIZED_EVENT]);
const NOTHING = Buffer.alloc(0);
/** Type, number of attachments, namespace and id of a packet, as they stand before its JSON. */
const HEADER = /^[0-6](?:\d{1,2}-)?(?:\/[^,]{0,100},)?\d{0,15}/;

/**
 * Socket.IO's parser with a bound on what one event carries, text and attachments together. A larger one is not parsed,
 * yet keeps its id: so it can be refused, and the connection lives on.
 */
export function boundedParser(maxBytes: number): { Encoder: typeof Encoder; Decoder: new () => Decoder } {
  const BoundTo = class extends BoundedDecoder {
    constructor() {
      super(maxBytes);
    }
  };
  return { Encoder, Decoder: BoundTo };
}

class BoundedDecoder extends Decoder {
  private readonly inner = new Decoder();
  /** Bytes so far of the packet that is being received. */
  private size = 0;

  constructor(private readonly maxBytes: number) {
    super();
    this.inner.on('decoded', (packet) => this.emitReserved('decoded', this.bounded(packet)));
  }

  override add(frame: string | Buffer): void {
    const isText = typeof frame === 'string';
    this.size = (isText ? 0 : this.size) + Buffer.byteLength(frame);
    if (this.size <= this.maxBytes) this.inner.add(frame);
    else this.inner.add(isText ? withoutContent(frame) : NOTHING);
  }

  override destroy(): void {
    this.inner.destroy();
  }

  private bounded(packet: Packet): Packet {
    // With its attachments a packet has become a plain event, or a plain answer.
    const tooLarge = packet.type === PacketType.EVENT && this.size > this.maxBytes;
    return tooLarge ? { ...packet, data: [OVERSIZED_EVENT] as unknown } : packet;
  }
}

/** The packet without its JSON: an event by another name, an answer of nothing, a handshake without a token. */
function withoutContent(text: string): string {
  const [header = ''] = HEADER.exec(text.slice(0, 200)) ?? [];
  const type = Number(header[0]) as PacketType;
  if (type === PacketType.EVENT || type === PacketType.BINARY_EVENT) return header + OVERSIZED;
  return type === PacketType.CONNECT ? header : `${header}[]`;
}
