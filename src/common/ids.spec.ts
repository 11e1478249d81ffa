import { jest } from '@jest/globals';
import { version } from 'uuid';
import { isUuid, newId } from './ids.js';

describe('a new id', () => {
  const ids = Array.from({ length: 20_000 }, newId);

  it('is a UUIDv7 in lowercase', () => {
    expect(ids.every((id) => isUuid(id) && version(id) === 7 && id === id.toLowerCase())).toBe(true);
  });

  it('sorts after every earlier id', () => {
    expect([...ids].sort()).toEqual(ids);
  });

  it('is unique, and cannot be guessed from the one before', () => {
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length);
  });

  it('contains its creation time', () => {
    // Later than any id made before: ids never go backwards.
    const tomorrow = Date.now() + 86_400_000;
    const held = jest.spyOn(Date, 'now').mockReturnValue(tomorrow);
    expect(Number.parseInt(newId().replace('-', '').slice(0, 12), 16)).toBe(tomorrow);
    held.mockRestore();
  });
});
