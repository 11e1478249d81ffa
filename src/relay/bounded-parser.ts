import { JsonOutOfBounds, scanJson, withoutHalves } from '@patchbay/protocol';
import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';

/** Name of an event that is too large; its content is dropped. */
const OVERSIZED_EVENT = 'frame:oversized';
const OVERSIZED = JSON.stringify([OVERSIZED_EVENT]);
/** Bytes of each event, or why it was not parsed. */
const SIZES = new WeakMap<object, number>();
const REASONS = new WeakMap<object, string>();
const NOTHING = Buffer.alloc(0);
/** Type, attachment count, namespace and id of a packet, before its JSON. */
const HEADER = /^[0-6](?:\d{1,2}-)?(?:\/[^,]{0,100},)?\d{0,15}(?=[[{"]|$)/;

/**
 * Socket.IO's parser with limits on one event: bytes with attachments, and the complexity of its JSON, as for a request
 * body. An oversized event is not parsed but keeps its id, so it can be refused without ending the connection.
 */
export function boundedParser(maxBytes: number): { Encoder: typeof Encoder; Decoder: new () => Decoder } {
  const BoundTo = class extends BoundedDecoder {
    constructor() {
      super(maxBytes);
    }
  };
  return { Encoder: StrictEncoder, Decoder: BoundTo };
}

/** Bytes of an event from Socket.IO, attachments included. */
export function bytesOf(event: object): number {
  return SIZES.get(event) ?? 0;
}

/** Why an event from Socket.IO was not parsed; null if it was. */
export function faultOf(event: object): string | null {
  return REASONS.get(event) ?? null;
}

/** Writes JSON without lone surrogates, which some clients reject. */
class StrictEncoder extends Encoder {
  override encode(packet: Packet): (string | Buffer)[] {
    const parts = super.encode(packet) as (string | Buffer)[];
    return parts.map((part) => (typeof part === 'string' ? withoutHalves(part) : part));
  }
}

class BoundedDecoder extends Decoder {
  private readonly inner = new Decoder();
  /** Bytes received so far of the current packet. */
  private size = 0;
  /** Why the current packet is refused. */
  private fault: string | null = null;

  constructor(private readonly maxBytes: number) {
    super();
    this.inner.on('decoded', (packet) => this.emitReserved('decoded', this.bounded(packet)));
  }

  override add(frame: string | Buffer): void {
    if (typeof frame !== 'string') {
      this.size += frame.length;
      this.fault ??= this.faultOfSize();
      this.inner.add(this.fault === null ? frame : NOTHING);
      return;
    }
    const header = headerOf(frame);
    this.size = Buffer.byteLength(frame);
    this.fault = this.faultOfSize() ?? faultOfJson(frame.slice(header.length));
    this.inner.add(this.fault === null ? frame : withoutContent(header));
  }

  override destroy(): void {
    this.inner.destroy();
  }

  private faultOfSize(): string | null {
    return this.size > this.maxBytes
      ? `exceeds the limit of ${this.maxBytes} bytes; send less at once`
      : null;
  }

  private bounded(packet: Packet): Packet {
    // After its attachments a packet has become a plain event or acknowledgement.
    if (packet.type !== PacketType.EVENT) return packet;
    if (this.fault === null) {
      SIZES.set(packet.data as object, this.size);
      return packet;
    }
    const data = [OVERSIZED_EVENT];
    REASONS.set(data, `The event ${this.fault}.`);
    return { ...packet, data };
  }
}

/** @throws Error if no client writes such a header: the JSON might begin elsewhere. */
function headerOf(text: string): string {
  const [header] = HEADER.exec(text) ?? [];
  if (header === undefined) throw new Error('The header of the packet is not understood');
  return header;
}

/** Why the JSON of a packet exceeds the limits. */
function faultOfJson(text: string): string | null {
  try {
    scanJson(text);
  } catch (error) {
    if (error instanceof JsonOutOfBounds) return error.message;
    // Not JSON: the parser finds that no later than the scan.
  }
  return null;
}

/** The packet without its JSON: a renamed event, an empty acknowledgement, or a handshake without a token. */
function withoutContent(header: string): string {
  const type = Number(header[0]) as PacketType;
  if (type === PacketType.EVENT || type === PacketType.BINARY_EVENT) return header + OVERSIZED;
  return type === PacketType.CONNECT ? header : `${header}[]`;
}
