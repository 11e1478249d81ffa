// Restate's server, as its package of npm has it for this system.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import process from 'node:process';
import { freePort } from '../free-port.mjs';

/**
 * Starts it on loopback with its own defaults: an fsync before a record counts as written.
 *
 * @param {string} directory For its data.
 * @returns {Promise<{ ingress: string, admin: string, pid: number, end: () => Promise<void> }>}
 */
export async function startRestate(directory) {
  if (!Promise.withResolvers) throw new Error('the SDK of Restate needs Node 22 or newer');
  const [node, ingress, admin] = [await freePort(), await freePort(), await freePort()];
  const program = createRequire(import.meta.url).resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  );
  const env = {
    RESTATE_BASE_DIR: directory,
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: `${node}`,
    RESTATE_INGRESS__BIND_PORT: `${ingress}`,
    RESTATE_ADMIN__BIND_PORT: `${admin}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
    // It asks GitHub for its newest release, and works without an answer.
    RESTATE_LOG_FILTER: 'error,octocrab=off',
  };
  const child = spawn(program, ['--no-logo'], {
    env,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const end = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  const urls = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` };
  const isUp = (url) =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let tries = 0; tries < 600 && child.exitCode === null; tries += 1) {
    if ((await isUp(`${urls.admin}/health`)) && (await isUp(`${urls.ingress}/restate/health`)))
      return { ...urls, pid: child.pid, end };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await end();
  throw new Error('restate-server did not start');
}
