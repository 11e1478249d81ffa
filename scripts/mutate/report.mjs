import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeGenerated } from '../write-generated.mjs';

const BEGIN = '<!-- What `npm run mutate -- --write` writes begins here. -->';
const END = '<!-- It ends here. -->';
const HEAD = '| room | faults | equivalent | noticed | unnoticed | on |';
const PAGE = 'docs/testing.md';

/** @typedef {{ room: string, faults: number, equivalent: number, noticed: number, unnoticed: string[] }} Reading */

const cell = (text) => String(text).replaceAll('|', '\\|');
const row = ({ room, faults, equivalent, noticed, unnoticed }, date) =>
  `| ${[room, faults, equivalent, noticed, unnoticed.join('; '), date].map(cell).join(' | ')} |`;

/** The table of these readings for a terminal. @param {Reading[]} readings */
export function tableOf(readings) {
  const lines = [['room', 'faults', 'equivalent', 'noticed', 'unnoticed']];
  for (const { room, faults, equivalent, noticed, unnoticed } of readings) {
    lines.push([room, faults, equivalent, noticed, unnoticed.length].map(String));
    for (const name of unnoticed) lines.push([`  unnoticed: ${name}`]);
  }
  const widths = lines[0].map((_, at) =>
    Math.max(...lines.filter((line) => line.length > 1).map((line) => line[at].length)),
  );
  return lines
    .map((line) =>
      line.map((text, at) => (at === 0 ? text.padEnd(widths[0]) : text.padStart(widths[at]))).join('  '),
    )
    .join('\n');
}

/**
 * Writes a room's reading with today's date into docs/testing.md, beside those of the other rooms, and what is
 * equivalent in any room.
 * @param {Reading} reading
 * @param {{ room: string, faults: import('./tables.mjs').Fault[] }[]} tables all there are
 */
export async function writeReading(root, reading, tables) {
  const path = join(root, PAGE);
  const text = await readFile(path, 'utf8');
  const [before, rest] = text.split(BEGIN);
  const [written, after] = rest.split(END);
  const rows = new Map(
    written.split('\n').flatMap((line) => {
      const room = /^\| ([\w-]+) +\|/.exec(line)?.[1];
      return room !== undefined && tables.some((table) => table.room === room) ? [[room, line]] : [];
    }),
  );
  rows.set(reading.room, row(reading, new Date().toISOString().slice(0, 10)));
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
  const equivalents = tables.flatMap(({ room, faults }) =>
    faults
      .filter(({ equivalent }) => equivalent !== undefined)
      .map(({ name, equivalent }) => `- ${room}, ${name}: ${equivalent}`),
  );
  const table = [HEAD, '| --- | ---: | ---: | ---: | --- | --- |', ...sorted].join('\n');
  const list =
    equivalents.length === 0 ? [] : ['Those that change nothing, with the reason:', equivalents.join('\n')];
  await writeGenerated(path, [before.trimEnd(), BEGIN, table, ...list, END, after.trimStart()].join('\n\n'));
}
