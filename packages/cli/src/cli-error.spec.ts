import { PatchbayError } from '@patchbay/client';
import { EXIT, explain } from './cli-error.js';

describe('an error message', () => {
  const refused = (message: string, fields: Record<string, string>): string =>
    explain(new PatchbayError('VALIDATION_ERROR', message, 400, fields)).message;

  it("names each fault once, also if the server's message repeats the first or all of them", () => {
    expect(refused('limit must be 1', { limit: 'must be 1' })).toBe('limit must be 1.');
    expect(refused('email is none (and 1 more)', { email: 'is none', password: 'is short' })).toBe(
      'email is none; password is short.',
    );
    const all = 'The arguments are not valid: /a is unknown; /b must be a string.';
    expect(refused(all, { a: 'is unknown', b: 'must be a string' })).toBe(all);
    expect(refused('The request is not valid', { a: 'is unknown' })).toBe(
      'The request is not valid. a is unknown.',
    );
  });

  it('names the file and the reason', () => {
    const fault = Object.assign(new Error("EISDIR: illegal operation on a directory, open '/x'"), {
      ...{ code: 'EISDIR', path: '/x', syscall: 'open' },
    });
    expect(explain(fault)).toEqual({
      message: 'Cannot open /x: it is a folder, not a file (EISDIR).',
      exitCode: EXIT.failed,
    });
  });

  it.each([
    ['EBUSY', 'another program has it open; close it there, then try again'],
    ['EPERM', 'permission denied, or another program has it open; close it there, then try again'],
    ['ETXTBSY', 'it is a program that is running; end it, then try again'],
  ])('names the file that could not be replaced, and what to do, for %s', (code, why) => {
    const fault = Object.assign(new Error(`${code}: rename '/x.new' -> '/x'`), {
      ...{ code, path: '/x.new', dest: '/x', syscall: 'rename' },
    });
    expect(explain(fault).message).toBe(`Cannot replace /x: ${why} (${code}).`);
  });

  it("shows the system's words if there are no better ones", () => {
    expect(explain(Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })).message).toBe(
      'EMFILE: too many open files',
    );
    expect(explain('lost').message).toBe('lost');
  });
});
