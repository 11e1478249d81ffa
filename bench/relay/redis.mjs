// A redis-server (from the PATH) of the benchmark's own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { freePort } from '../free-port.mjs';

/**
 * Starts it on loopback.
 *
 * @param {string[]} settings Its arguments beside address and port.
 * @returns {Promise<{ port: number, pid: number, end: () => Promise<void> }>}
 */
export async function startRedis(settings) {
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', ...settings];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  child.once('error', () => {
    throw new Error('there is no redis-server on the PATH');
  });
  const end = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  for (let tries = 0; tries < 100; tries += 1) {
    const isUp = await new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1', () => resolve(true)).once('error', () =>
        resolve(false),
      );
      socket.once('connect', () => socket.destroy());
    });
    if (isUp) return { port, pid: child.pid, end };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('redis-server did not start');
}
