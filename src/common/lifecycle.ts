import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/** Whether the server is stopping. */
@Injectable()
export class Lifecycle implements OnModuleDestroy {
  private readonly controller = new AbortController();

  /** Aborts once, when the server begins to stop. */
  get stopping(): AbortSignal {
    return this.controller.signal;
  }

  /** Begins the stop: the server is no longer ready and refuses new requests. */
  stop(): void {
    this.controller.abort();
  }

  /** Also covers a close without a signal, as in tests. */
  onModuleDestroy(): void {
    this.stop();
  }
}
