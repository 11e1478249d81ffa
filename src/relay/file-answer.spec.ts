import { sha256 } from '@patchbay/protocol/hash';
import { checkFileAnswer } from './file-answer.js';

const content = Buffer.from('text\n');
const sound = { ok: true, content, sha256: sha256(content), isDirty: true, source: 'active' };

describe('a client’s answer to file:read', () => {
  it('is accepted if every part is valid', () => {
    expect(checkFileAnswer({ ...sound, more: 1 }, 5)).toEqual(sound);
  });

  it.each([
    ['nothing', null],
    ['no answer', []],
    ['text for bytes', { ...sound, content: 'text\n' }],
    ['more than was asked for', { ...sound, content: Buffer.from('text\n\n') }],
    ['a wrong sha256', { ...sound, sha256: sha256('other') }],
    ['a sha256 in capitals', { ...sound, sha256: sound.sha256.toUpperCase() }],
    ['no word on what is unsaved', { ...sound, isDirty: undefined }],
    ['an unknown source', { ...sound, source: 'cloud' }],
    ['a refusal without a code', { ok: false }],
    ['a refusal with a strange code', { ok: false, error: { code: 'text', message: 'text' } }],
  ])('is rejected if it is %s, without quoting its content', (_what, answer) => {
    const fault = checkFileAnswer(answer, 5);
    expect(typeof fault).toBe('string');
    expect(fault).not.toContain('text\n');
  });

  it('may refuse, with a reason that is truncated', () => {
    const error = { code: 'FORBIDDEN', message: 'x'.repeat(1_000) };
    expect(checkFileAnswer({ ok: false, error }, 5)).toEqual({
      ok: false,
      error: { code: 'FORBIDDEN', message: 'x'.repeat(300) },
    });
    expect(checkFileAnswer({ ok: false, error: { code: 'NOT_FOUND' } }, 5)).toMatchObject({
      error: { code: 'NOT_FOUND', message: '' },
    });
  });
});
