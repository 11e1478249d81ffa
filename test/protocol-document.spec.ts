import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const MOST_WORDS = 25;

/** Sentences of a Markdown text: of paragraphs, list items and table cells; blocks of code have none. */
function sentencesOf(markdown: string): string[] {
  const prose = markdown
    .replaceAll(/^```[^]*?^```$/gm, '')
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  const parts = prose.split('\n').flatMap((line) => (line.startsWith('|') ? line.split('|') : [line]));
  return parts.flatMap((part) => part.split(/(?<=[.?!])\s/)).map((sentence) => sentence.trim());
}

const wordsIn = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;

describe('docs/protocol.md', () => {
  const sentences = sentencesOf(readFileSync(join(import.meta.dirname, '../docs/protocol.md'), 'utf8'));

  it('has sentences of at most 25 words', () => {
    expect(sentences.length).toBeGreaterThan(500);
    expect(sentences.filter((sentence) => wordsIn(sentence) > MOST_WORDS)).toEqual([]);
  });
});

describe('the search for sentences', () => {
  it('counts code as one word and splits paragraphs, list items and cells', () => {
    expect(
      sentencesOf('- One `a b c` word. Two.\n| x y | z |\n```text\nno words\n```\n').filter(Boolean),
    ).toEqual([...['- One code word.', 'Two.', 'x y', 'z']]);
    expect(wordsIn('- One code word.')).toBe(3);
  });
});
