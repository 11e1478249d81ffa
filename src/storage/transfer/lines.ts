import { MAX_LINE_BYTES } from './format.js';
import { ExportFileError } from './records.js';

/** The lines of a stream, each with its line feed; the last one may have none. */
export async function* linesIn(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    let at = 0;
    for (let end; (end = chunk.indexOf(0x0a, at)) !== -1; at = end + 1) {
      yield Buffer.concat([...begun, chunk.subarray(at, end + 1)]);
      [begun, size] = [[], 0];
    }
    size += chunk.length - at;
    if (size > MAX_LINE_BYTES)
      throw new ExportFileError(
        `A line is longer than ${MAX_LINE_BYTES} bytes: this is not an export, or it is damaged`,
      );
    begun.push(chunk.subarray(at));
  }
  if (size > 0) yield Buffer.concat(begun);
}
