import { PassThrough } from 'node:stream';
import { say } from '../say.js';
import { isolateRtl, printable, printableJson, printableLine } from './printable.js';

/** All characters that must never reach a terminal unescaped. */
const UNSAFE = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, at) => 0x7f + at),
  ...[0xad, 0x34f, 0x61c, 0x115f, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029],
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x3164, 0xfe0f],
  ...[0xfeff, 0xffa0, 0xfff9, 0xe0041, 0xe0100, 0xd800],
];

describe('terminal output', () => {
  it.each(UNSAFE)('makes U+%s visible', (code) => {
    const char = code === 0xd800 ? '\ud800' : String.fromCodePoint(code);
    const shown = code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
    expect(printableLine(`a${char}b`)).toBe(`a${shown}b`);
    expect(printable(`a${char}b`)).toBe(code === 9 || code === 10 ? `a${char}b` : `a${shown}b`);
  });

  it.each(UNSAFE)('escapes U+%s in JSON without a change of meaning', (code) => {
    const value = { [`k${String.fromCodePoint(code)}`]: [`a${String.fromCodePoint(code)}b`] };
    const text = printableJson(value, 2);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toMatch(/^[\n\x20-\x7e]+$/);
  });

  it('leaves ordinary text unchanged', () => {
    const text = 'Grüße, 世界! עברית ไทยที่นี่ हिन्दी 🎉 naïve e\u0301\n\ttab';
    expect(printable(text)).toBe(text);
    expect(JSON.parse(printableJson(text))).toBe(text);
  });

  it.each([
    ['+אב = 1;', '+⁨אב⁩ = 1;'],
    ['new file אב/../גד (3 lines)', 'new file ⁨אב⁩/../⁨גד⁩ (3 lines)'],
    ['שלום עולם 12 سلام', '⁨שלום עולם⁩ 12 ⁨سلام⁩'],
    ['plain, 世界 🎉', 'plain, 世界 🎉'],
    ['\u{1e900}x', '⁨\u{1e900}⁩x'],
  ])('isolates right-to-left words at a terminal: %s', (text, shown) => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    expect(isolateRtl(text, terminal)).toBe(shown);
    expect(isolateRtl(text, new PassThrough())).toBe(text);
    say(terminal, `${text}\u202e`);
    expect(String(terminal.read())).toBe(`${shown}\\u{202e}\n`);
  });

  it('limits stacked combining marks, which could cover other lines', () => {
    expect(printableLine(`a${'\u0301'.repeat(6)}`)).toBe(`a${'\u0301'.repeat(4)}\\u{301}\\u{301}`);
  });
});
