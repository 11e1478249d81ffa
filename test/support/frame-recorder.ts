import { once } from 'node:events';
import { WebSocket } from 'ws';
import { waitFor } from './wait-for.js';

const PING = '2';
const NAMESPACE = '/relay,';

/**
 * A relay client that writes its Engine.IO and Socket.IO packets by hand and records every frame, as a reader of
 * docs/protocol.md would who has no Socket.IO library.
 */
export class FrameRecorder {
  readonly lines: string[] = [];
  private readonly received: string[] = [];
  private nextId = 0;
  /** How many of the received frames a caller has been given. */
  private taken = 0;

  private constructor(private readonly websocket: WebSocket) {
    websocket.on('message', (data: Buffer, isBinary: boolean) => {
      const frame = isBinary ? shown(data) : data.toString();
      if (frame === PING) return websocket.send('3');
      this.lines.push(`S ${frame}`);
      this.received.push(frame);
    });
  }

  static async open(url: string): Promise<FrameRecorder> {
    const path = '/socket.io/?EIO=4&transport=websocket';
    const websocket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { perMessageDeflate: false });
    const recorder = new FrameRecorder(websocket);
    await once(websocket, 'open');
    return recorder;
  }

  send(frame: string, attachment?: Buffer): void {
    this.lines.push(`C ${frame}`);
    this.websocket.send(frame);
    if (!attachment) return;
    this.lines.push(`C ${shown(attachment)}`);
    this.websocket.send(attachment);
  }

  /** Sends an event and gives its acknowledgement. */
  async event(name: string, payload: unknown, attachment?: Buffer): Promise<Record<string, unknown>> {
    const id = this.nextId++;
    const type = attachment ? '451-' : '42';
    this.send(`${type}${NAMESPACE}${id}${JSON.stringify([name, payload])}`, attachment);
    const answer = await this.next(`43${NAMESPACE}${id}[`);
    return (JSON.parse(answer.slice(answer.indexOf('['))) as [Record<string, unknown>])[0];
  }

  /** The next event of this name from the server, after it was acknowledged. */
  async acknowledged<T>(name: string): Promise<T> {
    const frame = await this.next(`["${name}",`);
    const [, id, body] = /^42\/relay,(\d+)(.*)$/s.exec(frame)!;
    this.send(`43${NAMESPACE}${id}[{"ok":true}]`);
    return (JSON.parse(body!) as [string, T])[1];
  }

  /** The next frame of the server that holds the text. */
  async next(text: string): Promise<string> {
    const find = (): number =>
      this.received.findIndex((frame, at) => at >= this.taken && frame.includes(text));
    await waitFor(() => find() !== -1, `a frame with ${text}`);
    this.taken = find() + 1;
    return this.received[this.taken - 1]!;
  }

  close(): void {
    this.websocket.close();
  }
}

function shown(bytes: Buffer): string {
  return `(binary frame) ${JSON.stringify(bytes.toString())}`;
}

const ID_OF_KEY = /"(\w+)":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g;

/** The text with each id named after the key that it first stands under, and times and tokens by what they are. */
export function masked(text: string): string {
  const names = new Map<string, string>();
  for (const [, key, id] of text.matchAll(ID_OF_KEY)) {
    if (names.has(id!)) continue;
    const count = [...names.values()].filter((name) => name.startsWith(`<${key}`)).length;
    names.set(id!, count === 0 ? `<${key}>` : `<${key} ${count + 1}>`);
  }
  const named = [...names].reduce((all, [id, name]) => all.replaceAll(id, name), text);
  return named
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"token":"[^"]+"/g, '"token":"<access token>"')
    .replaceAll(/"sid":"[^"]+"/g, '"sid":"<sid>"');
}
