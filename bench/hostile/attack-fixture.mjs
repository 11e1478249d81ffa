// What an attacker has at hand: an account, a workspace of their own, a membership in the good user's, HTTP requests
// that never throw, sockets. Every answer's status is counted.
import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { io } from 'socket.io-client';
import WebSocket from 'ws';

export const MIB = 1024 * 1024;

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** `text` again and again, with a separator, until it is `bytes` long. */
export function repeated(text, bytes, separator = '') {
  return Array.from({ length: Math.ceil(bytes / (text.length + separator.length)) }, () => text).join(
    separator,
  );
}

/** As many promises at once, settled. */
export const times = (count, make) => Promise.allSettled(Array.from({ length: count }, (_, n) => make(n)));

export class AttackFixture {
  /** How often which status was answered; 0 stands for a connection that broke. @type {Map<number, number>} */
  statuses = new Map();
  /** @type {{ disconnect?(): void, destroy?(): void, terminate?(): void }[]} */
  #open = [];
  #agent = new Agent({ keepAlive: true, maxSockets: 400 });

  /** @param {{ url: string, token: string, own: string, shared: string, session: string, sharedSession: string, email: string }} given */
  constructor(given) {
    Object.assign(this, given);
  }

  /**
   * @param {string} method @param {string} path below /api/v1 @param {unknown} [body] a string or bytes are sent as they
   * are @param {{ token?: string | null, headers?: object }} [options]
   * @returns {Promise<{ status: number, text: string, json(): any }>}
   */
  ask(method, path, body, { token = this.token, headers = {} } = {}) {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    const bytes = body === undefined ? null : isRaw ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
    const all = {
      ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    };
    return new Promise((resolve) => {
      const end = (status, text) => {
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        resolve({ status, text, json: () => JSON.parse(text) });
      };
      const sent = request(`${this.url}/api/v1${path}`, { method, agent: this.#agent, headers: all });
      sent.on('response', (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => end(response.statusCode, Buffer.concat(chunks).toString()));
        response.on('error', () => end(0, ''));
      });
      sent.on('error', () => end(0, ''));
      sent.end(bytes);
    });
  }

  post(path, body, options) {
    return this.ask('POST', path, body, options);
  }

  get(path, options) {
    return this.ask('GET', path, undefined, options);
  }

  /** Of the attacker's own workspace. */
  get home() {
    return `/workspaces/${this.own}`;
  }

  /** One call of a tool. @param {string} tool @param {object} args */
  tool(tool, args) {
    return this.post(`${this.home}/tools`, { tool, args });
  }

  /** A turn. @param {{ name: string, arguments: unknown }[]} calls @param {object} [more] @param {string} [at] */
  turn(calls, more = {}, at = `${this.home}/sessions/${this.session}`) {
    const toolCalls = calls.map((call, n) => ({ toolCallId: `c${n}`, ...call }));
    return this.post(`${at}/turns`, { toolCalls, waitMs: 0, ...more });
  }

  /** A Cloud file. @param {string} path @param {string | Buffer} bytes */
  file(path, bytes) {
    const headers = { 'content-type': 'application/octet-stream' };
    return this.ask('PUT', `${this.home}/contents/${path}`, Buffer.from(bytes), { headers });
  }

  /** Many Cloud files of the same bytes. @param {string[]} paths @param {Buffer} bytes */
  async files(paths, bytes) {
    const headers = { 'content-type': 'application/octet-stream' };
    await this.ask('PUT', `${this.home}/blobs/${sha256(bytes)}`, bytes, { headers });
    for (let at = 0; at < paths.length; at += 1000) {
      const files = paths
        .slice(at, at + 1000)
        .map((path) => ({ path, sha256: sha256(bytes), baseSha256: null }));
      await this.post(`${this.home}/files/commit`, { files });
    }
  }

  /** A Socket.IO client of the attacker that has been let in, if it is. @param {object} [auth] */
  socket(auth = {}) {
    const { token, own: workspaceId } = this;
    const handshake = { clientId: `h-${Math.random()}`, name: 'hostile', version: '1.0.0', protocol: 1 };
    const tools = ['workspace_create_file', 'workspace_write_patch'];
    const options = { transports: ['websocket'], forceNew: true, reconnection: false };
    const socket = io(`${this.url}/relay`, {
      ...options,
      auth: { token, workspaceId, ...handshake, tools, ...auth },
    });
    this.#open.push(socket);
    return new Promise((resolve) =>
      socket.once('connect', () => resolve(socket)).once('connect_error', () => resolve(socket)),
    );
  }

  /** Sends an event and waits for its answer, which may never come. */
  async say(socket, event, ...args) {
    const answer = await socket
      .timeout(20_000)
      .emitWithAck(event, ...args)
      .catch(() => null);
    const status = answer === null ? 0 : answer.ok ? 200 : 400;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    return answer;
  }

  /** A stranger's websocket, open. @returns {Promise<WebSocket>} */
  webSocket() {
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
    this.#open.push(socket);
    return new Promise((resolve) =>
      socket.on('error', () => resolve(socket)).once('open', () => resolve(socket)),
    );
  }

  /** A bare connection that has sent `text`, and never reads. @param {string} text */
  line(text) {
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    this.#open.push(socket);
    return new Promise((resolve) => {
      socket.on('error', () => resolve(socket));
      socket.once('connect', () => socket.pause().write(text, () => resolve(socket)));
    });
  }

  /** Lets go of all that is open. */
  close() {
    for (const one of this.#open) (one.disconnect ?? one.terminate ?? one.destroy).call(one);
    this.#agent.destroy();
  }
}
