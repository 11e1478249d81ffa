import { MAX_BATCH_FILES } from '@patchbay/protocol';
import type { PullWrite } from './pull-plan.js';

/** Bytes per fetch; a larger file is fetched alone. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** A write with a valid local path. */
export interface LocatedWrite {
  write: PullWrite;
  folder: string[];
  name: string;
}

export function* batchesOf(writes: Iterable<LocatedWrite>): Generator<LocatedWrite[]> {
  let batch: LocatedWrite[] = [];
  let bytes = 0;
  for (const located of writes) {
    const { sizeBytes } = located.write.file;
    if (batch.length === MAX_BATCH_FILES || (batch.length > 0 && bytes + sizeBytes > BATCH_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(located);
    bytes += sizeBytes;
  }
  if (batch.length > 0) yield batch;
}

export function byFolder(batch: readonly LocatedWrite[]): LocatedWrite[][] {
  const folders = new Map<string, LocatedWrite[]>();
  for (const located of batch) {
    const key = located.folder.join('/');
    const files = folders.get(key);
    if (files) files.push(located);
    else folders.set(key, [located]);
  }
  return [...folders.values()];
}
