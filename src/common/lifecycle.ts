import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/** Whether the server is on its way out, for those who wait, accept or hand out work. */
@Injectable()
export class Lifecycle implements OnModuleDestroy {
  private readonly controller = new AbortController();

  /** Aborts once, when the server begins to stop. */
  get stopping(): AbortSignal {
    return this.controller.signal;
  }

  /** Begins the stop: the server is no longer ready and takes no new requests. */
  stop(): void {
    this.controller.abort();
  }

  /** A close without a signal, as in tests, is a stop too. */
  onModuleDestroy(): void {
    this.stop();
  }
}
