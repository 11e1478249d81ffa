import { jest } from '@jest/globals';
import { version } from 'uuid';
import { isUuid, newId } from './ids.js';

describe('a new id', () => {
  const ids = Array.from({ length: 20_000 }, newId);

  it('is a UUIDv7 in lowercase', () => {
    expect(ids.every((id) => isUuid(id) && version(id) === 7 && id === id.toLowerCase())).toBe(true);
  });

  it('sorts behind every id before it', () => {
    expect([...ids].sort()).toEqual(ids);
  });

  it('is nobody else’s, and not to be guessed from the one before', () => {
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length);
  });

  it('says when it was made', () => {
    // Later than whatever was made here before: an id is never behind another one.
    const tomorrow = Date.now() + 86_400_000;
    const held = jest.spyOn(Date, 'now').mockReturnValue(tomorrow);
    expect(Number.parseInt(newId().replace('-', '').slice(0, 12), 16)).toBe(tomorrow);
    held.mockRestore();
  });
});
