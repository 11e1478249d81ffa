import type { Observable } from 'rxjs';

/**
 * Tells of each workspace to whose trail this process has added events: after the commit, before whoever wrote goes on. A
 * workspace may be named where nothing was added.
 */
export abstract class TrailGrowth {
  abstract readonly workspaces$: Observable<string>;
}
