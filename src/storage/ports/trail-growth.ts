import type { Observable } from 'rxjs';

/**
 * Emits each workspace whose trail this process has extended, after the commit and before the writer continues. A
 * workspace may also be emitted without new events.
 */
export abstract class TrailGrowth {
  abstract readonly workspaces$: Observable<string>;
}
