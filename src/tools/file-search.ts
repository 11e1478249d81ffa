import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { FilesService, type ListedFolder } from '../files/files.service.js';
import type { ListedEntry } from '../storage/ports/files.store.js';
import { WorkPool } from '../jobs/work-pool.js';
import { literalFolder } from './glob-pattern.js';
import { MATCH_PATHS, matchLoad } from './search-jobs.js';
import type { ToolContext } from './tool.js';

/** Longest time of one search job, ms, so that others get their turn. */
const SLICE_MS = 250;

/** Where to look, and with which glob; null matches every file. */
export interface FileQuery {
  folder: ListedFolder;
  glob: string | null;
  clock: SearchClock;
}

/** The time limit of one search. */
export class SearchClock {
  isUp = false;
  private readonly end: number;

  /** @param limits ms: the total, and one job @param signal aborts the search, which then throws */
  constructor(
    private readonly limits: { searchMs: number; jobMs: number },
    private readonly signal: AbortSignal | undefined,
  ) {
    this.end = performance.now() + limits.searchMs;
  }

  /** Time for the next job, ms, with a margin before it would be killed. 0 if the time is up. */
  left(): number {
    this.signal?.throwIfAborted();
    const left = this.isUp ? 0 : Math.max(0, this.end - performance.now());
    if (left === 0) this.isUp = true;
    return Math.min(left, SLICE_MS, 0.8 * this.limits.jobMs);
  }
}

/** Iterates over the Cloud files below a folder. */
@Injectable()
export class FileSearch {
  constructor(
    private readonly files: FilesService,
    private readonly pool: WorkPool,
    private readonly config: Config,
  ) {}

  /** Starts the clock of a new search. */
  clock({ signal }: ToolContext): SearchClock {
    return new SearchClock(this.config, signal);
  }

  /**
   * Pages of the files that match a glob, by docPath, until the time is up. Skips folders that the glob's literal
   * prefix excludes.
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
        const { fitting, checked } = await this.pool.run(userId, MATCH_PATHS, input, matchLoad(glob, paths));
        const from = rest;
        yield fitting.map((index) => from[index]!);
        rest = rest.slice(checked);
      }
    }
  }
}

/** The docPath of an entry relative to a folder. */
function relativeTo(folder: ListedFolder, { docPath }: Pick<ListedEntry, 'docPath'>): string {
  return folder.docPath === '' ? docPath : docPath.slice(folder.docPath.length + 1);
}
