import { Injectable } from '@nestjs/common';
import type { FileWish } from '../storage/records/file-requests.js';
import { FileExchange } from './file-exchange.js';
import { type FileReading, firstGiven } from './file-reading.js';
import { NodeFiles } from './node-files.js';

/** Asks a user's clients for their files, on whichever node they are connected. */
@Injectable()
export class ClientFiles {
  constructor(
    private readonly here: NodeFiles,
    private readonly elsewhere: FileExchange,
  ) {}

  /** Reads the file from the clients: the session's own first, and this node before others. */
  read(query: FileWish): Promise<FileReading> {
    const sources = [() => this.here.read(query), () => this.elsewhere.ask(query)];
    return firstGiven(query, this.here.hasOnlyOthers(query) ? sources.reverse() : sources);
  }
}
