import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { printable } from './common/printable.js';
import { createApp } from './bootstrap.js';
import { Lifecycle } from './common/lifecycle.js';
import { Config, unknownVariables } from './config/config.js';
import { serveApiDocs } from './ops/api-docs.js';

/** Starts the server; resolves when it listens. */
async function start(): Promise<void> {
  const config = Config.load();
  const app = await createApp({ config });
  if (config.apiDocs === 'on') serveApiDocs(app);
  stopOnSignal(app, config);
  await app.listen(config.port, config.host);
  const logger = new Logger('Patchbay');
  for (const name of unknownVariables())
    logger.warn(`${name} is not a variable of the server; is it misspelled?`);
  logger.log(`Listening on ${await app.getUrl()}${config.basePath}`);
}

/** The first signal stops the server in order, within the drain time; a second one at once. */
function stopOnSignal(app: NestFastifyApplication, { drainMs }: Config): void {
  const logger = new Logger('Patchbay');
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.log(`${signal}: stopping`);
    app.get(Lifecycle).stop();
    setTimeout(() => {
      logger.warn(`Work in flight did not end within ${drainMs} ms`);
      process.exit(0);
    }, drainMs).unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

start().catch((error: unknown) => {
  process.stderr.write(`patchbay: ${printable(reasonOf(error))}\n`);
  process.exit(1);
});

/** One line for errors that an operator can fix. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === 'EADDRINUSE') return `port ${port} of ${address} is in use; set PORT to another one`;
  if (code === 'EACCES' && port !== undefined) return `port ${port} cannot be used by this user`;
  return error.message.replaceAll('\n', ' ');
}
