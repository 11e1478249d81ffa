import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ServerLog } from './common/pino-logger.js';
import { AppModule, type AppParts } from './app.module.js';
import { refuseOutside } from './common/http/base-path.js';
import { fastifyAdapter, limitTokenless, refuseWhileStopping, watchAnswers } from './http/fastify.js';
import { AccessTokens } from './auth/access-tokens.js';
import { ClientAddresses } from './common/http/client-address.js';
import { logRequests } from './common/http/request-log.js';
import { Lifecycle } from './common/lifecycle.js';
import { RateLimits } from './limits/rate-limits.js';
import { ServerLogger } from './common/logging.module.js';
import { Config } from './config/config.js';
import { RelayIoAdapter } from './relay/relay-io.adapter.js';
import { RequestChecks } from './request-checks.js';
import { declareRules } from './route-rules.js';

const API_PREFIX = 'api/v1';
const UNPREFIXED_ROUTES = ['health/live', 'health/ready'];

/** Creates the whole server, ready for `listen()` or `init()`. The configuration defaults to the environment's. */
export async function createApp(parts: Partial<AppParts> = {}): Promise<NestFastifyApplication> {
  const config = parts.config ?? Config.load();
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.with({ ...parts, config }),
    fastifyAdapter(config),
    APP_OPTIONS,
  );
  await setUp(app, config);
  return app;
}

/** The caller reports a failed start in one line, without a stack or the log of the start. */
export const APP_OPTIONS: NestApplicationOptions = {
  ...{ bodyParser: false, bufferLogs: true, autoFlushLogs: false, abortOnError: false },
};

/** Configures an app of the AppModule beyond its modules. */
export async function setUp(app: NestFastifyApplication, config: Config): Promise<void> {
  const log = app.get(ServerLog);
  app.useLogger(new ServerLogger(log));
  app.flushLogs();
  const fastify = app.getHttpAdapter().getInstance();
  const tokens = app.get(AccessTokens);
  fastify.senders.userOf = (headers) => tokens.userOf(headers);
  const isVerbose = config.logLevel === 'debug' || config.logLevel === 'trace';
  logRequests(fastify, log, app.get(ClientAddresses), isVerbose);
  refuseWhileStopping(fastify, app.get(Lifecycle));
  limitTokenless(fastify, app.get(RateLimits));
  refuseOutside(fastify, config.basePath);
  app.get(RequestChecks).install(fastify);
  // After the checks, which may replace an answer.
  watchAnswers(fastify);
  declareRules(app);
  app.useWebSocketAdapter(new RelayIoAdapter(app, config));
  app.setGlobalPrefix(API_PREFIX, { exclude: UNPREFIXED_ROUTES });
  allowOrigins(app, config);
}

/** Lets pages of the configured origins read responses. The access check decides what they may write. */
function allowOrigins(app: NestFastifyApplication, { origins }: Config): void {
  if (origins.length === 0) return;
  app.enableCors({
    origin: [...origins],
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: ['ETag', 'Retry-After', 'X-Request-Id'],
  });
}
