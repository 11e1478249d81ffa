import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import { PinoLogger } from '../common/pino-logger.js';
import { Config } from '../config/config.js';
import { Bus } from '../events/bus.js';
import { nodeChannel } from '../events/channels.js';
import { StoreLook } from '../events/store-look.js';
import { NodeId } from '../storage/ports/node-id.js';
import {
  type AnsweredRequest,
  type FileRequest,
  FileRequestStore,
  type FileWish,
} from '../storage/records/file-requests.js';
import { ConnectedClients } from './connected-clients.js';
import { fileReadMs } from './file-read-time.js';
import { bestOf, type FileReading } from './file-reading.js';
import { mayHold, NodeFiles } from './node-files.js';
import { Presence } from './presence.js';

/** File requests that this node may have pending at others, and requests of others that it serves. */
const MAX_REQUESTS = 256;
const MAX_SERVED = 32;
/** Pending requests to this node that are read: those being served, and the next. */
const MAX_WANTED = 4 * MAX_SERVED;
/** Nodes that are asked for one file. */
const MAX_NODES = 3;
/** Time for the transfer between nodes, on top of the client's time, ms. */
const TRANSFER_MS = 2_000;
/** How long a node that did not take a request is not asked again, ms. */
const UNRESPONSIVE_MS = 60_000;
const MAX_UNRESPONSIVE = 1_000;
/** Age at which an abandoned request is removed, and the sweep interval, ms. */
const ABANDONED_MS = 60_000;

/**
 * Exchanges files of clients between nodes. Requests and answers go through the store under one-time ids; the bus only
 * announces them.
 */
@Injectable()
export class FileExchange extends StoreLook {
  /** Pending requests of this node, by request id. */
  private readonly pending = new Map<string, (reading: FileReading) => void>();
  /** Requests that were taken recently. */
  private readonly taken = new LRUCache<string, true>({ max: 4 * MAX_REQUESTS });
  private readonly unresponsive = new LRUCache<string, true>({ max: MAX_UNRESPONSIVE, ttl: UNRESPONSIVE_MS });
  private serving = 0;
  private sweptAt: number;

  constructor(
    bus: Bus,
    private readonly files: NodeFiles,
    private readonly clients: ConnectedClients,
    private readonly presence: Presence,
    private readonly requests: FileRequestStore,
    private readonly node: NodeId,
    private readonly clock: Clock,
    private readonly config: Config,
    logger: PinoLogger,
  ) {
    super(bus, config, logger);
    this.sweptAt = clock.now();
    bus.subscribe(nodeChannel(node.value), ({ type }) => {
      this.follow(type === 'file_wanted' ? this.serve() : this.collect());
    });
  }

  /** What clients on other nodes hold of the file. */
  async ask(query: FileWish): Promise<FileReading> {
    if (this.bus.reach === 'alone' || this.pending.size >= MAX_REQUESTS) return { kind: 'nobody' };
    const holders = (await this.presence.elsewhere(query)).filter(({ roots }) => mayHold(query, roots));
    const nodes = [...new Set(holders.map(({ node }) => node))].slice(0, MAX_NODES);
    return bestOf(
      query,
      nodes.map((node) => this.askNode(node, query)),
    );
  }

  protected override isWaiting(): boolean {
    return this.pending.size > 0;
  }

  protected override async look(): Promise<void> {
    if (this.bus.reach === 'alone') return;
    if (this.clients.users().length > 0) await this.serve();
    await this.collect();
    const now = this.clock.now();
    if (now - this.sweptAt < ABANDONED_MS) return;
    this.sweptAt = now;
    await this.requests.removeExpired(now);
  }

  private async askNode(node: string, query: FileWish): Promise<FileReading> {
    if (this.unresponsive.has(node)) return { kind: 'silent' };
    const waitMs = fileReadMs(this.config, query.maxBytes) + TRANSFER_MS;
    const id = newId();
    const expiresAt = this.clock.now() + waitMs + ABANDONED_MS;
    const answered = new Promise<FileReading | null>((resolve) => {
      this.pending.set(id, resolve);
      setTimeout(() => resolve(null), waitMs).unref();
    });
    try {
      await this.requests.ask({ id, asker: this.node.value, node, wish: query, expiresAt });
      this.bus.publish({ type: 'file_wanted', to: node });
      const reading = await answered;
      if (reading === null) this.unresponsive.set(node, true);
      return reading ?? { kind: 'silent' };
    } finally {
      this.pending.delete(id);
      // A request that stays is removed by the sweep.
      this.requests
        .remove(id)
        .catch((error: unknown) => this.logger.warn({ err: error }, 'A file request stays'));
    }
  }

  /** Collects the answers to this node's requests. */
  private async collect(): Promise<void> {
    if (this.pending.size === 0) return;
    for (const answer of await this.requests.answersTo(this.node.value, MAX_REQUESTS)) {
      const settle = this.pending.get(answer.id);
      this.pending.delete(answer.id);
      settle?.(await this.readingOf(answer));
    }
  }

  private async readingOf(answer: AnsweredRequest): Promise<FileReading> {
    const { outcome } = answer;
    if (outcome.kind !== 'given') return outcome;
    const content = await this.requests.contentOf(answer);
    return content === null ? { kind: 'silent' } : { ...outcome, content };
  }

  /** Serves the requests to this node's clients. */
  private async serve(): Promise<void> {
    const wanted = await this.requests.wantedOf(this.node.value, MAX_WANTED);
    for (const request of wanted) {
      if (this.taken.has(request.id) || this.serving >= MAX_SERVED) continue;
      this.taken.set(request.id, true);
      this.serving += 1;
      this.answer(request)
        .catch((error: unknown) =>
          this.logger.error({ err: error }, 'A file for another node could not be stored'),
        )
        .finally(() => this.served());
    }
  }

  /** Ends one request and takes a waiting one. */
  private served(): void {
    this.serving -= 1;
    if (this.serving === MAX_SERVED - 1) this.follow(this.serve());
  }

  private follow(work: Promise<void>): void {
    work.catch((error: unknown) => this.logger.warn({ err: error }, 'File requests could not be read'));
  }

  private async answer(request: FileRequest): Promise<void> {
    const reading = await this.files.read(request.wish);
    const { id, asker } = request;
    if (reading.kind === 'given') {
      const { content, ...outcome } = reading;
      await this.requests.answer(request, outcome, content);
    } else {
      const outcome = reading.kind === 'nobody' ? ({ kind: 'silent' } as const) : reading;
      await this.requests.answer(request, outcome, null);
    }
    this.bus.publish({ type: 'file_read', to: asker, requestId: id });
  }
}
