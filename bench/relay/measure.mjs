// What the system tells about the processes of a benchmark, and how rounds become one figure.
import { readFile } from 'node:fs/promises';

const MS_PER_TICK = 10;

/** CPU time that processes have used, in ms; 0 where the system does not tell. @param {number[]} pids */
export async function cpuOf(pids) {
  let ms = 0;
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
    ms += (user + system) * MS_PER_TICK;
  }
  return ms;
}

/**
 * Bytes that processes have written, to files and sockets (`wchar`); NaN where the system does not tell.
 *
 * @param {number[]} pids
 */
export async function writtenBy(pids) {
  let bytes = 0;
  for (const pid of pids) {
    const io = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
    bytes += Number(/^wchar: (\d+)$/m.exec(io)?.[1] ?? NaN);
  }
  return bytes;
}

/** @param {number[]} values */
export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** The number with so many digits after the point; '' for NaN. */
export const rounded = (value, digits) => (Number.isNaN(value) ? '' : Number(value.toFixed(digits)));

/**
 * Medians of what was measured in several rounds.
 *
 * @param {{ [key: string]: number }[]} rounds
 */
export function medians(rounds) {
  return Object.fromEntries(
    Object.keys(rounds[0]).map((key) => [key, median(rounds.map((round) => round[key]))]),
  );
}

/**
 * How many times as much was measured as at the base: the median of the ratios of rounds, because both of one round met
 * the same noise.
 *
 * @param {{ [key: string]: number }[]} rounds
 * @param {{ [key: string]: number }[]} base
 * @returns {{ [key: string]: number }}
 */
export function ratios(rounds, base) {
  return medians(
    rounds.map((round, n) =>
      Object.fromEntries(Object.keys(round).map((key) => [key, round[key] / base[n][key]])),
    ),
  );
}
