import { InvalidArgumentError, Option } from 'commander';
import { DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';

/* Shared options, and parsers for their values. */

/** For commands whose output is read by scripts. */
export const JSON_FLAG = ['--json', 'print one JSON document'] as const;

export const SAME_PROJECT = [
  '--same-project',
  'this folder is the project that already has the name, on another machine or moved',
] as const;

export const SESSION = ['--session <id>', 'the session, if several have a turn with this id'] as const;

export function waitOption(meaning: string): Option {
  return new Option('--wait <ms>', meaning).argParser(wholeNumber);
}

export function includeSecrets(): Option {
  return repeated(
    '--include-secrets <pattern>',
    'also send matching files that may contain secrets (.env, keys, logins of tools), as in .gitignore; repeatable',
  );
}

export function folderName(): Option {
  return new Option(
    '--name <name>',
    "name of the folder in the Cloud (default: as before, else the folder's own name)",
  );
}

export function maxFileBytes(meaning: string): Option {
  return (
    new Option('--max-file-bytes <n>', `${meaning} (default: 8 MiB)`)
      .env('PATCHBAY_MAX_FILE_BYTES')
      // As in the server's settings, an empty variable counts as unset.
      .argParser((value) => (value === '' ? DEFAULT_MAX_FILE_BYTES : wholeNumber(value)))
  );
}

/** An option that can be repeated; absent if not given. */
export function repeated(flags: string, meaning: string): Option {
  return new Option(flags, meaning).argParser((value: string, before: string[] = []) => [...before, value]);
}

export function commaList(value: string): string[] {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new InvalidArgumentError('It must be names separated by commas.');
  return items;
}

export function wholeNumber(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number.');
}

const MINUTE_MS = 60_000;
const MS_OF_UNIT = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS, w: 7 * 24 * 60 * MINUTE_MS };

/** A point in time, or a duration before now. */
export function since(): Option {
  return new Option('--since <time>', 'ISO 8601, or how long ago: 30m, 12h, 7d, 2w').argParser((value) => {
    const [, count, unit] = /^(\d{1,4})([mhdw])$/.exec(value) ?? [];
    if (unit === undefined && Number.isNaN(Date.parse(value))) {
      throw new InvalidArgumentError(
        'It must be a time, such as 2026-02-01T08:00Z, or how long ago, such as 7d.',
      );
    }
    if (unit === undefined) return value;
    return new Date(Date.now() - Number(count) * MS_OF_UNIT[unit as keyof typeof MS_OF_UNIT]).toISOString();
  });
}
