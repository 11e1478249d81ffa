import { createHash } from 'node:crypto';
import { DomainError } from '../../common/domain-error.js';
import { Digest } from './digest.js';
import { type Kind, KINDS, type MovedBlob, MoveError, type Records } from './records.js';

/** A store that is read whole; nobody writes to it meanwhile. */
export interface MoveSource {
  /** How many there are, about: for whoever waits. */
  count(kind: Kind): Promise<number>;
  /** Every record of a kind, some at a time. */
  read<Of extends Kind>(kind: Of): AsyncIterable<Records[Of][]>;
}

/** A store that is written; a record that it has already stays. */
export interface MoveTarget extends MoveSource {
  write<Of extends Kind>(kind: Of, records: readonly Records[Of][]): Promise<void>;
}

/** Told now and again what of a kind is done, `step` being what is done with it. */
export type Tell = (step: 'moved' | 'verified', kind: Kind, done: number, of: number) => void;

/**
 * Writes all records of one store into another, reads them back and compares them. The same again, after it was broken
 * off, goes over all of it and writes what is missing. MoveError where the two are not equal in the end.
 */
export async function move(source: MoveSource, target: MoveTarget, tell: Tell): Promise<Map<Kind, number>> {
  const moved = new Map<Kind, Digest>();
  for (const kind of Object.keys(KINDS) as Kind[])
    moved.set(kind, await moveKind(source, target, kind, tell));
  for (const [kind, digest] of moved) await verify(target, kind, digest, tell);
  return new Map([...moved].map(([kind, { count }]) => [kind, count]));
}

async function moveKind<Of extends Kind>(
  source: MoveSource,
  target: MoveTarget,
  kind: Of,
  tell: Tell,
): Promise<Digest> {
  const digest = new Digest();
  const count = await source.count(kind);
  for await (const records of source.read(kind)) {
    await target.write(kind, records);
    records.forEach((record) => digest.add(record));
    tell('moved', kind, digest.count, Math.max(count, digest.count + 1));
  }
  tell('moved', kind, digest.count, digest.count);
  return digest;
}

async function verify(target: MoveSource, kind: Kind, moved: Digest, tell: Tell): Promise<void> {
  const digest = await readBack(target, kind, moved.count, tell);
  if (digest.equals(moved)) return tell('verified', kind, digest.count, digest.count);
  throw new MoveError(
    `${KINDS[kind]}: ${moved.count} were moved, ${digest.count} read back, and they are not the same; ` +
      'was something written on either side since the move began?',
  );
}

async function readBack(target: MoveSource, kind: Kind, count: number, tell: Tell): Promise<Digest> {
  const digest = new Digest();
  try {
    for await (const records of target.read(kind)) {
      for (const record of records) {
        if (kind === 'blobs') await verifyBlob(record as MovedBlob);
        digest.add(record);
      }
      tell('verified', kind, digest.count, Math.max(count, digest.count + 1));
    }
    return digest;
  } catch (error) {
    if (error instanceof MoveError || error instanceof DomainError) throw error;
    const what = `${KINDS[kind]}: what was moved can not be read back: ${(error as Error).message}`;
    throw new MoveError(what, { cause: error });
  }
}

async function verifyBlob({ workspaceId, sha256, read }: MovedBlob): Promise<void> {
  const bytes = await read();
  if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new MoveError(`The bytes of ${sha256} in the workspace ${workspaceId} did not come over whole.`);
}
