import { fieldError } from '../common/domain-error.js';
import { linesOf } from './text-lines.js';

/** The wanted part of a text, and its form. */
export interface ExcerptOptions {
  maxBytes?: number | null;
  numbered?: boolean | null;
  startLine?: number | null;
}

/** A part of a text, in whole lines. */
export type Excerpt = {
  content: string;
  lineCount: number;
  startLine: number;
  endLine: number;
  isTruncated: boolean;
  message: string;
};

/** Default limit of returned content, in bytes. */
export const DEFAULT_READ_BYTES = 262_144;

/** The whole lines from `startLine` on that fit. */
export function excerpt(text: string, options: ExcerptOptions): Excerpt {
  const startLine = options.startLine ?? 1;
  const maxBytes = options.maxBytes ?? DEFAULT_READ_BYTES;
  const parts: string[] = [];
  let [lineCount, endLine, bytes, blocked] = [0, startLine - 1, 0, 0];
  for (const line of linesOf(text)) {
    lineCount += 1;
    if (lineCount < startLine || blocked > 0) continue;
    const shown = options.numbered === true ? `${lineCount}\t${line}` : line;
    bytes += Buffer.byteLength(shown);
    if (bytes > maxBytes) blocked = Buffer.byteLength(shown);
    else {
      parts.push(shown);
      endLine = lineCount;
    }
  }
  if (startLine > Math.max(1, lineCount))
    throw fieldError('startLine', `is beyond the file’s ${lineCount} lines`);
  const isTruncated = endLine < lineCount;
  const message = !isTruncated
    ? ''
    : parts.length === 0
      ? `Line ${startLine} alone has ${blocked} bytes: set maxBytes higher than that.`
      : `There are ${lineCount - endLine} more lines; continue with startLine ${endLine + 1}.`;
  return { content: parts.join(''), lineCount, startLine, endLine, isTruncated, message };
}
