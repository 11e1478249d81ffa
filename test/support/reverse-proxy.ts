import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listens } from './listens.js';
import { freePort } from './processes.js';
import { waitFor } from './wait-for.js';

export const OPERATIONS = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));

/** The one block of the operator's manual in a language. */
export async function documentedBlock(language: string): Promise<string> {
  const blocks = [...(await readFile(OPERATIONS, 'utf8')).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  const found = blocks.filter(([, name]) => name === language);
  if (found.length !== 1) throw new Error(`docs/operations.md has ${found.length} blocks of ${language}`);
  return found[0]![2]!;
}

/** Replaces what must be there. */
function replaced(text: string, what: string | RegExp, by: string | (() => string)): string {
  const result = typeof by === 'string' ? text.replace(what, by) : text.replace(what, by);
  if (result === text) throw new Error(`${what} is not in\n${text}`);
  return result;
}

/** Where a proxy is to be. */
interface Place {
  directory: string;
  port: number;
  tlsPort: number;
  server: string;
  /** What nginx writes into X-Forwarded-For; left out: what is documented. */
  forwardedFor?: string | undefined;
}

/** A certificate for localhost that nobody has signed: whoever is told of the file trusts it. */
export async function makeCertificate(directory: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', key, '-out', certificate],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
  ]);
  return { certificate, key };
}

/** The documented block, but for its address, its certificate and the server that it leads to. */
const CONFIGURATIONS = {
  async nginx({ directory, port, tlsPort, server, forwardedFor }: Place): Promise<string[]> {
    let block = await documentedBlock('nginx');
    if (forwardedFor !== undefined)
      block = replaced(block, '$proxy_add_x_forwarded_for', () => `'${forwardedFor}'`);
    const { certificate, key } = await makeCertificate(directory);
    // Beside TLS, as documented, without it: what runs in the process of the tests can not be told whom to trust.
    const listen = `listen 127.0.0.1:${tlsPort} ssl http2; listen 127.0.0.1:${port};`;
    block = replaced(block, 'listen 443 ssl http2;', listen);
    block = replaced(block, '/etc/ssl/example.com.pem', certificate);
    block = replaced(block, '/etc/ssl/example.com.key', key);
    block = replaced(block, 'server 127.0.0.1:3000;', `server ${server};`);
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = folders.map((name) => `${name}_temp_path ${directory}/${name};`).join('\n');
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const whole = `${user} pid ${directory}/pid; error_log stderr; worker_processes 1;
      events {} http { access_log off; ${temporary} ${block} }`;
    const file = join(directory, 'nginx.conf');
    await writeFile(file, whole);
    return ['nginx', '-p', directory, '-c', file, '-g', 'daemon off;'];
  },
  async caddy({ directory, port, server }: Place): Promise<string[]> {
    let block = await documentedBlock('caddyfile');
    block = replaced(block, 'example.com {', `http://127.0.0.1:${port} {`);
    block = replaced(block, '127.0.0.1:3000', server);
    const file = join(directory, 'Caddyfile');
    await writeFile(file, `{\n\tadmin off\n\tauto_https off\n}\n${block}`);
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', file];
  },
};

/** A reverse proxy in front of a server, as docs/operations.md has it. */
export class ReverseProxy {
  private constructor(
    readonly origin: string,
    /** With TLS; of nginx alone. */
    readonly tlsOrigin: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  /** @param server the address of the server, such as `127.0.0.1:3000`. */
  static async start(
    kind: keyof typeof CONFIGURATIONS,
    server: string,
    forwardedFor?: string,
  ): Promise<ReverseProxy> {
    const directory = await mkdtemp(join(tmpdir(), `patchbay-${kind}-`));
    const [port, tlsPort] = [await freePort(), await freePort()];
    const [command = '', ...args] = await CONFIGURATIONS[kind]({
      directory,
      port,
      tlsPort,
      server,
      forwardedFor,
    });
    const child = spawn(command, args, {
      env: { PATH: process.env.PATH ?? '', HOME: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const proxy = new ReverseProxy(
      `http://127.0.0.1:${port}`,
      `https://localhost:${tlsPort}`,
      child,
      directory,
    );
    await waitFor(async () => {
      if (child.exitCode !== null) throw new Error(`${kind} ended: ${output}`);
      return listens(port);
    }, `${kind} to listen`);
    return proxy;
  }

  /** What a process of Node needs in its environment to trust `tlsOrigin`. */
  get trust(): { NODE_EXTRA_CA_CERTS: string } {
    return { NODE_EXTRA_CA_CERTS: join(this.directory, 'certificate.pem') };
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'exit');
    }
    await rm(this.directory, { recursive: true, force: true });
  }
}
