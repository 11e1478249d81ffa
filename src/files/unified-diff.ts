import { createTwoFilesPatch } from 'diff';
import { DomainError } from '../common/domain-error.js';

/** Comparing holds up everybody else, so it ends after this long. */
const TIMEOUT_MS = 500;

/** Two texts as a unified diff that git can apply; null stands for bytes that are no text. Empty where they are equal. */
export function unifiedDiff(docPath: string, before: string | null, after: string | null): string {
  const [from, to] = [`a/${docPath}`, `b/${docPath}`];
  if (before === null || after === null) return `Binary files ${from} and ${to} differ\n`;
  if (before === after) return '';
  const options = { context: 3, timeout: TIMEOUT_MS };
  const diff = createTwoFilesPatch(from, to, before, after, undefined, undefined, options);
  if (diff === undefined) {
    throw new DomainError(
      'TOO_LARGE',
      'The versions differ too much for a diff by lines; read both instead.',
    );
  }
  // What jsdiff puts before the first line is not part of a unified diff.
  return diff.replace(/^=+\n/, '');
}
