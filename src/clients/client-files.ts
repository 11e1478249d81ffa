import { Injectable } from '@nestjs/common';
import type { FileWish } from '../storage/records/file-requests.js';
import { FileExchange } from './file-exchange.js';
import { type FileReading, firstGiven } from './file-reading.js';
import { NodeFiles } from './node-files.js';

/** Asks a user's clients for the files that they hold, whichever node they are connected to. */
@Injectable()
export class ClientFiles {
  constructor(
    private readonly here: NodeFiles,
    private readonly elsewhere: FileExchange,
  ) {}

  /** What the clients hold of the file. The session's own are asked before others, and here before elsewhere. */
  read(wish: FileWish): Promise<FileReading> {
    const sources = [() => this.here.read(wish), () => this.elsewhere.ask(wish)];
    return firstGiven(wish, this.here.hasOnlyOthers(wish) ? sources.reverse() : sources);
  }
}
