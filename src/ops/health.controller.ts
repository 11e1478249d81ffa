import { Controller, Get, Logger, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access } from '../common/access.js';
import { Lifecycle } from '../common/lifecycle.js';
import { Route } from '../common/route.js';
import { StorageHealth } from '../storage/ports/storage-health.js';

const CHECK_MS = 2000;
/** Minimum interval between test writes to the storage, ms, however many probes arrive. */
const MIN_INTERVAL_MS = 1000;

type Check = 'ok' | 'failed' | 'stopping';

export interface Readiness {
  status: 'ready' | 'not ready';
  checks: { server: Check; storage: Check };
}

@Access('public')
@Controller('health')
@ApiTags('operations')
export class HealthController {
  private readonly logger = new Logger('Health');
  private checking: Promise<Check> = Promise.resolve('ok');
  private checkedAt = -Infinity;
  private failing = false;

  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly storage: StorageHealth,
  ) {}

  /** 200 while the process answers. */
  @Get('live')
  @Route<{ 200: { status: 'live' } }>({ id: 'live' })
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** 200 if requests can be served. 503 if the server is stopping, or the storage cannot be read or written. */
  @Get('ready')
  @Route<{ 200: Readiness; 503: Readiness }>({ id: 'ready' })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const server: Check = this.lifecycle.stopping.aborted ? 'stopping' : 'ok';
    const storage = await this.checkStorage();
    const ready = server === 'ok' && storage === 'ok';
    void reply.status(ready ? 200 : 503);
    return { status: ready ? 'ready' : 'not ready', checks: { server, storage } };
  }

  private checkStorage(): Promise<Check> {
    if (performance.now() - this.checkedAt >= MIN_INTERVAL_MS) {
      this.checkedAt = performance.now();
      this.checking = this.probeStorage().then((fault) => this.record(fault));
    }
    return this.checking;
  }

  /** The fault of the storage; null if it works. */
  private async probeStorage(): Promise<string | null> {
    let timer: NodeJS.Timeout | undefined;
    const tooSlow = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`no answer within ${CHECK_MS} ms`), CHECK_MS);
    });
    const answer = this.storage.check().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return Promise.race([answer, tooSlow]).finally(() => clearTimeout(timer));
  }

  /** The reason is logged once per outage, and not sent: anybody may call this route. */
  private record(fault: string | null): Check {
    if (fault !== null && !this.failing) this.logger.error({ reason: fault }, 'The storage is not ready');
    if (fault === null && this.failing) this.logger.log('The storage is ready again');
    this.failing = fault !== null;
    return fault === null ? 'ok' : 'failed';
  }
}
