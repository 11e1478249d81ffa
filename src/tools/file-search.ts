import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { FilesService, type ListedFolder } from '../files/files.service.js';
import type { ListedEntry } from '../storage/ports/files.store.js';
import { WorkPool } from '../jobs/work-pool.js';
import { literalFolder } from './glob-pattern.js';
import { MATCH_PATHS, matchLoad } from './search-jobs.js';
import type { ToolContext } from './tool.js';

/** Most time that one job of a search may take, in ms: then another's work comes first. */
const SLICE_MS = 250;

/** Where to look, and with which glob; null takes every file. */
export interface FileQuery {
  folder: ListedFolder;
  glob: string | null;
  clock: SearchClock;
}

/** The time of one search: it ends when that is up. */
export class SearchClock {
  isUp = false;
  private readonly end: number;

  /** @param limits in ms: the most that it may take, and one job of it. @param signal ends the search, which throws then. */
  constructor(
    private readonly limits: { searchMs: number; jobMs: number },
    private readonly signal: AbortSignal | undefined,
  ) {
    this.end = performance.now() + limits.searchMs;
  }

  /** What is left for the next job, in ms; it ends well before it would be ended. 0 where the time is up. */
  left(): number {
    this.signal?.throwIfAborted();
    const left = this.isUp ? 0 : Math.max(0, this.end - performance.now());
    if (left === 0) this.isUp = true;
    return Math.min(left, SLICE_MS, 0.8 * this.limits.jobMs);
  }
}

/** Goes through the Cloud files below a folder. */
@Injectable()
export class FileSearch {
  constructor(
    private readonly files: FilesService,
    private readonly pool: WorkPool,
    private readonly config: Config,
  ) {}

  /** The time of a search that begins now. */
  clock({ signal }: ToolContext): SearchClock {
    return new SearchClock(this.config, signal);
  }

  /**
   * The files that fit a glob, by docPath and a page at a time, for as long as there is time. It is not looked where the
   * literal beginning of the glob rules a file out.
   */
  async *filesIn(
    { workspaceId, userId }: ToolContext,
    { folder, glob, clock }: FileQuery,
  ): AsyncGenerator<ListedEntry[]> {
    const parts = [folder.docPath, glob === null ? '' : literalFolder(glob)].filter((part) => part !== '');
    for await (const page of this.files.walk(workspaceId, { docPath: parts.join('/') })) {
      if (clock.left() === 0) return;
      if (glob === null) {
        yield page;
        continue;
      }
      for (let rest = page; rest.length > 0;) {
        const ms = clock.left();
        if (clock.isUp) return;
        const paths = rest.map((entry) => relativeTo(folder, entry));
        const input = { glob, paths, ms };
        const { fitting, looked } = await this.pool.run(userId, MATCH_PATHS, input, matchLoad(glob, paths));
        const from = rest;
        yield fitting.map((index) => from[index]!);
        rest = rest.slice(looked);
      }
    }
  }
}

/** The docPath of an entry as it is seen from a folder. */
function relativeTo(folder: ListedFolder, { docPath }: Pick<ListedEntry, 'docPath'>): string {
  return folder.docPath === '' ? docPath : docPath.slice(folder.docPath.length + 1);
}
