import { JsonOutOfBounds, scanJson, withoutHalves } from '@patchbay/protocol';
import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';

/** The name under which an event arrives that holds too much; its content is gone. */
const OVERSIZED_EVENT = 'frame:oversized';
const OVERSIZED = JSON.stringify([OVERSIZED_EVENT]);
/** How many bytes each event came in, or why it was not parsed. */
const SIZES = new WeakMap<object, number>();
const FAULTS = new WeakMap<object, string>();
const NOTHING = Buffer.alloc(0);
/** Type, number of attachments, namespace and id of a packet, as they stand before its JSON. */
const HEADER = /^[0-6](?:\d{1,2}-)?(?:\/[^,]{0,100},)?\d{0,15}(?=[[{"]|$)/;

/**
 * Socket.IO's parser with bounds on what one event carries: bytes, text and attachments together, and what its JSON may
 * hold, as in the body of a request. What is over them is not parsed, yet keeps its id: so it can be refused, and the
 * connection lives on.
 */
export function boundedParser(maxBytes: number): { Encoder: typeof Encoder; Decoder: new () => Decoder } {
  const BoundTo = class extends BoundedDecoder {
    constructor() {
      super(maxBytes);
    }
  };
  return { Encoder: StrictEncoder, Decoder: BoundTo };
}

/** Bytes of an event as Socket.IO hands it on, its attachments included. */
export function bytesOf(event: object): number {
  return SIZES.get(event) ?? 0;
}

/** Why an event, as Socket.IO hands it on, was not parsed; null where it was. */
export function faultOf(event: object): string | null {
  return FAULTS.get(event) ?? null;
}

/** What it writes is JSON for clients that refuse half of a surrogate pair, too. */
class StrictEncoder extends Encoder {
  override encode(packet: Packet): (string | Buffer)[] {
    const parts = super.encode(packet) as (string | Buffer)[];
    return parts.map((part) => (typeof part === 'string' ? withoutHalves(part) : part));
  }
}

class BoundedDecoder extends Decoder {
  private readonly inner = new Decoder();
  /** Bytes so far of the packet that is being received. */
  private size = 0;
  /** Why the packet that is being received is refused. */
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
    // With its attachments a packet has become a plain event, or a plain answer.
    if (packet.type !== PacketType.EVENT) return packet;
    if (this.fault === null) {
      SIZES.set(packet.data as object, this.size);
      return packet;
    }
    const data = [OVERSIZED_EVENT];
    FAULTS.set(data, `The event ${this.fault}.`);
    return { ...packet, data };
  }
}

/** @throws Error where it is none that a client writes: the JSON might begin elsewhere than it seems. */
function headerOf(text: string): string {
  const [header] = HEADER.exec(text) ?? [];
  if (header === undefined) throw new Error('The header of the packet is not understood');
  return header;
}

/** What a packet's JSON holds too much of. */
function faultOfJson(text: string): string | null {
  try {
    scanJson(text);
  } catch (error) {
    if (error instanceof JsonOutOfBounds) return error.message;
    // It is no JSON, which the parser finds no later than the scan has.
  }
  return null;
}

/** The packet without its JSON: an event by another name, an answer of nothing, a handshake without a token. */
function withoutContent(header: string): string {
  const type = Number(header[0]) as PacketType;
  if (type === PacketType.EVENT || type === PacketType.BINARY_EVENT) return header + OVERSIZED;
  return type === PacketType.CONNECT ? header : `${header}[]`;
}
