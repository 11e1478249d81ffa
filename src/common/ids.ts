import { v7, validate } from 'uuid';

/** A new UUIDv7: ids of one process sort in the order in which they were given. */
export function newId(): string {
  return v7();
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}
