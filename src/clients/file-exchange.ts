import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { PinoLogger } from '../common/pino-logger.js';
import { Bus, type BusMessage, type FileOutcome, type FileWish } from '../events/bus.js';
import { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import { userKey } from '../common/keys.js';
import { Config } from '../config/config.js';
import { BlobStore } from '../storage/ports/blobs.store.js';
import { fileReadMs } from './file-read-time.js';
import type { FileReading } from './file-reading.js';
import { FileRequest, type RemoteOutcome } from './file-request.js';
import { NodeFiles } from './node-files.js';

/** Most files that this node asks others for at once, and most that it gets for them. */
const MAX_REQUESTS = 256;
const MAX_SERVED = 32;
/** How long the others are not asked again for a user's files, after nobody had any, in ms. */
const QUIET_MS = 5_000;
const MAX_QUIET = 10_000;

type Wanted = Extract<BusMessage, { type: 'file_wanted' }>;

/**
 * Gets files from clients that are connected to other nodes, and gets them for those. Over the bus goes what is wanted
 * and what came of it; the bytes go through the store, where nothing refers to them and they are swept.
 */
@Injectable()
export class FileExchange {
  /** Tells this node from others, and from itself after a new start. */
  private readonly node = newId();
  private readonly requests = new Map<string, FileRequest>();
  /** Those that were served lately: a message may come twice. */
  private readonly served = new LRUCache<string, true>({ max: 4 * MAX_REQUESTS });
  private serving = 0;
  /** Until when (epoch ms) nobody elsewhere is asked for the files of a user below a folder. */
  private readonly quiet = new LRUCache<string, Map<string, number>>({ max: MAX_QUIET });

  constructor(
    private readonly bus: Bus,
    private readonly files: NodeFiles,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(FileExchange.name);
    bus.messages$.subscribe((message) => this.onMessage(message));
  }

  /** What clients on other nodes hold of the file; half a second where there are none, at most what a client may take. */
  async ask(wish: FileWish): Promise<FileReading> {
    if (this.bus.isAlone || this.isQuiet(wish) || this.requests.size >= MAX_REQUESTS)
      return { kind: 'nobody' };
    const requestId = newId();
    const request = new FileRequest(wish, fileReadMs(this.config, wish.maxBytes));
    this.requests.set(requestId, request);
    this.bus.publish({ type: 'file_wanted', requestId, ...wish });
    const outcome = await request.outcome.finally(() => this.requests.delete(requestId));
    if (outcome.kind === 'nobody') this.keepQuiet(wish);
    return this.withContent(wish, outcome);
  }

  private async withContent(wish: FileWish, outcome: RemoteOutcome): Promise<FileReading> {
    if (outcome.kind !== 'given') return outcome;
    const content = await this.blobs.read(wish.workspaceId, outcome.sha256);
    return content === null ? { kind: 'silent' } : { ...outcome, content };
  }

  private onMessage(message: BusMessage): void {
    if (message.type === 'file_wanted') this.serve(message);
    else if (message.type === 'file_read')
      this.requests.get(message.requestId)?.hear(message.node, message.outcome);
    else if (message.type === 'client_connected') this.quiet.delete(userKey(message));
  }

  private serve({ type: _type, requestId, ...wish }: Wanted): void {
    const isOurs = this.requests.has(requestId) || this.served.get(requestId) !== undefined;
    if (isOurs || this.serving >= MAX_SERVED || !this.files.hasCandidates(wish)) return;
    this.served.set(requestId, true);
    this.tell(requestId, { kind: 'asking' });
    this.serving += 1;
    void this.get(wish)
      .catch((error: unknown): FileOutcome => {
        this.logger.error({ err: error }, 'A file for another node could not be stored');
        return { kind: 'silent' };
      })
      .then((outcome) => this.tell(requestId, outcome))
      .finally(() => (this.serving -= 1));
  }

  private async get(wish: FileWish): Promise<FileOutcome> {
    const reading = await this.files.read(wish);
    if (reading.kind === 'nobody') return { kind: 'silent' };
    if (reading.kind !== 'given') return reading;
    const { content, ...outcome } = reading;
    await this.blobs.put(wish, outcome.sha256, content, this.clock.now());
    return outcome;
  }

  private tell(requestId: string, outcome: FileOutcome): void {
    this.bus.publish({ type: 'file_read', requestId, node: this.node, outcome });
  }

  private isQuiet(wish: FileWish): boolean {
    return (this.quiet.get(userKey(wish))?.get(quietKey(wish)) ?? 0) > this.clock.now();
  }

  private keepQuiet(wish: FileWish): void {
    const ofUser = this.quiet.get(userKey(wish)) ?? new Map<string, number>();
    if (ofUser.size >= MAX_REQUESTS) ofUser.clear();
    ofUser.set(quietKey(wish), this.clock.now() + QUIET_MS);
    this.quiet.set(userKey(wish), ofUser);
  }
}

/** An open file may be anywhere; any other is where its folder is. */
function quietKey({ docPath, activeSha256 }: FileWish): string {
  return activeSha256 === null ? docPath.split('/', 1)[0]! : '';
}
