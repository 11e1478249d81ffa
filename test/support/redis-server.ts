import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { freePort } from './processes.js';
import { waitFor } from './wait-for.js';

/** A redis-server of a test's own, without files. It can be killed, started again on its port, paused and resumed. */
export class RedisServer {
  private child: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    private readonly args: readonly string[],
  ) {}

  /** @param args further options of redis-server. */
  static async start(...args: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), args);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const fixed = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.child = spawn('redis-server', [...fixed, ...this.args], { stdio: 'ignore' });
    await waitFor(() => listens(this.port), 'redis-server to listen');
  }

  /** kill -9; nothing else listens on its port. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child === null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Its connections stay open, and it answers nothing. */
  pause(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** What a command such as `PUBSUB SHARDCHANNELS` answers, as it comes over the wire. */
  ask(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(this.port, '127.0.0.1', () => socket.end(`${command}\r\n`));
      let answer = '';
      socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
      socket.once('close', () => resolve(answer)).once('error', reject);
    });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
