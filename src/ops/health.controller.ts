import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access } from '../common/access.js';
import { Lifecycle } from '../common/lifecycle.js';
import { StorageHealth } from '../storage/ports/storage-health.js';

const CHECK_MS = 2000;

type Check = 'ok' | 'failed' | 'stopping';

export interface Readiness {
  status: 'ready' | 'not ready';
  checks: { server: Check; storage: Check };
}

@ApiTags('operations')
@Access('public')
@Controller('health')
export class HealthController {
  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly storage: StorageHealth,
  ) {}

  /** 200 for as long as the process answers. */
  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** 200 where requests can be served, else 503: the server is stopping or the storage does not answer. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const server: Check = this.lifecycle.stopping.aborted ? 'stopping' : 'ok';
    const storage = await this.checkStorage();
    const ready = server === 'ok' && storage === 'ok';
    void reply.status(ready ? 200 : 503);
    return { status: ready ? 'ready' : 'not ready', checks: { server, storage } };
  }

  private async checkStorage(): Promise<Check> {
    let timer: NodeJS.Timeout | undefined;
    const tooSlow = new Promise<Check>((resolve) => {
      timer = setTimeout(() => resolve('failed'), CHECK_MS);
    });
    const answer = this.storage.check().then(
      (): Check => 'ok',
      (): Check => 'failed',
    );
    return Promise.race([answer, tooSlow]).finally(() => clearTimeout(timer));
  }
}
