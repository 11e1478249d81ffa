import { docPathFault, foldCase } from '@patchbay/protocol';
import fc from 'fast-check';
import { folderOf, nameOf, pathIn, readCloudPath } from './cloud-path.js';

const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => docPathFault(foldCase(text)) === null && !text.includes('/') && text.isWellFormed());
const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`);

describe('readCloudPath', () => {
  it('returns a docPath that the protocol accepts, for any path', () => {
    fc.assert(
      fc.property(path, (given) => {
        const { path: stored, docPath } = readCloudPath(given);
        expect(docPathFault(docPath)).toBeNull();
        expect(stored).toBe(given.normalize('NFC'));
      }),
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(path, (given) => {
        const first = readCloudPath(given);
        expect(readCloudPath(first.path)).toEqual(first);
        expect(readCloudPath(first.docPath).docPath).toBe(first.docPath);
        expect(readCloudPath(given.slice(1))).toEqual(first);
      }),
    );
  });

  it('gives a folder a docPath that prefixes the docPaths of its content', () => {
    fc.assert(
      fc.property(path, segment, (folder, name) => {
        const inside = readCloudPath(pathIn(folder, name));
        const above = folderOf(inside);
        expect(above.docPath).toBe(readCloudPath(folder).docPath);
        expect(inside.docPath.startsWith(`${above.docPath}/`)).toBe(true);
        expect(pathIn(above.path, nameOf(inside.path))).toBe(inside.path);
      }),
    );
  });

  it('throws nothing but a fault of the field', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (given) => {
        try {
          readCloudPath(given, 'docPath');
        } catch (error) {
          expect(error).toMatchObject({
            code: 'VALIDATION_ERROR',
            extras: { fields: { docPath: expect.any(String) as string } },
          });
        }
      }),
    );
  });

  it('reads one trailing slash as a folder', () => {
    expect(readCloudPath('/a/')).toEqual({ path: '/a', docPath: 'a', namesFolder: true });
    expect(readCloudPath('/')).toMatchObject({ path: '/', docPath: '' });
    expect(() => readCloudPath('/a//')).toThrow('empty segment');
  });

  it('limits the docPath like the path, since lowercasing lengthens a few letters', () => {
    expect(() => readCloudPath(`/${'İ'.repeat(100)}`)).toThrow('more than 255 bytes');
    expect(() => readCloudPath(`/${'İ/'.repeat(500)}x`)).toThrow('at most 1024 characters');
    expect(readCloudPath(`/${'İ'.repeat(85)}`).docPath).toHaveLength(170);
  });

  it.each(['\u0000', '\n', '\u007f', '\u0085', '\u009f'])('refuses the control character %j', (char) => {
    expect(() => readCloudPath(`/a${char}b`)).toThrow('has a control character');
  });
});
