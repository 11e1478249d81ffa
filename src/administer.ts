import { parseArgs } from 'node:util';
import { printable } from './common/printable.js';
import { serverPlace } from './config/config.js';
import type { BackupContents } from './storage/ports/backups.js';
import { backups } from './storage/backups.js';
import type { Findings } from './storage/transfer/findings.js';
import { progressOn } from './storage/transfer/progress.js';
import type { Place } from './storage/transfer/transfers.js';

const HELP = `Usage: patchbay-admin <command>

Run it on the server's machine, as the user of the server.

  backup <file>    copy all data to one file and check the copy; the server may run
  restore <file>   replace the server's data with a backup; the server must not run
  check [<file>]   read all data, or a backup, from end to end, and list faults with their repair; the server may run.
                   Changes nothing. Needs as much free space as the database or backup has; on MongoDB none.
  check --repair   also correct usage counts; on a data directory the server must not run
  export <file>    write all data of either store to one file of JSON lines, for import; - is stdout. On a data directory
                   the server may run: the file has the state of one moment, and needs as much free space there as the
                   database has. On MongoDB the servers must be stopped.
  import <file>    fill an empty data directory or MongoDB database from an export, and verify it; - is stdin. No server
                   starts on the data before the import is complete.
  health           ask the running server whether it is ready

If PATCHBAY_MONGODB_URI is set, check, export and import use that database unless --data-dir names a directory. backup and
restore use only a directory named by --data-dir; without one they name the MongoDB tool to use.

  --data-dir <dir> the data directory (default: PATCHBAY_DATA_DIR, else ./.patchbay)
  --force          backup: replace the file; restore: keep the existing data under another name
  -h, --help       print this text

Exit codes: 0 done, no fault found; 1 failed, or faults found; 2 wrong usage.
`;

const HEALTH_MS = 5000;
const OPTIONS = {
  'data-dir': { type: 'string' },
  force: { type: 'boolean', default: false },
  repair: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The command line matches none of the usages in the help text. */
class UsageError extends Error {}

interface Request {
  file: string;
  dataDir: string;
  force: boolean;
}

const COMMANDS: Record<string, (request: Request) => string> = {
  backup: ({ dataDir, file, force }) => `${file}: ${describeContents(backups.backup(dataDir, file, force))}`,
  restore: ({ dataDir, file, force }) => {
    const { replaced, ...contents } = backups.restore(file, dataDir, force);
    const aside = replaced === null ? '' : `; the previous data is now ${replaced}`;
    return `${dataDir}: ${describeContents(contents)}${aside}`;
  },
};

/** The MongoDB tool to use in place of a command; docs/operations.md describes them. */
const MONGO_TOOLS: Record<string, string> = {
  backup: 'mongodump --uri <uri> --db <database> --archive=<file>',
  restore: 'mongorestore --uri <uri> --drop --archive=<file>',
};

function mongoHint(name: string, tool: string): string {
  return `PATCHBAY_MONGODB_URI is set, so the data is in MongoDB. Its ${name} is ${tool}. To use a directory instead, pass --data-dir.`;
}

/** Returns the text for stdout; null if the export itself goes to stdout. */
async function run(args: readonly string[]): Promise<string | null> {
  const { values, positionals } = parseCommand(args);
  const [name = '', file, ...extra] = positionals;
  if (values.help || name === '') return HELP.trimEnd();
  const server = serverPlace();
  if (name === 'health' && file === undefined) return health(server);
  const dataDir = values['data-dir'] ?? server.dataDir;
  // An explicit --data-dir wins over the URI: the directory is kept for a while after a move to MongoDB.
  const place: Place = { dataDir, uri: values['data-dir'] === undefined ? server.mongodbUri : null };
  if (values.repair && (name !== 'check' || file !== undefined))
    throw new UsageError('--repair is an option of check without a file');
  if (name === 'check' && extra.length === 0) {
    if (file !== undefined) return checkBackup(file);
    return checkData(place, values.repair);
  }
  const isTransfer = name === 'export' || name === 'import';
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined && !isTransfer) throw new UsageError(`there is no command ${name}`);
  if (file === undefined || extra.length > 0) throw new UsageError(`${name} takes one file`);
  if (isTransfer) return transfer(name, place, file);
  if (place.uri !== null && Object.hasOwn(MONGO_TOOLS, name))
    throw new Error(mongoHint(name, MONGO_TOOLS[name]!));
  return command!({ file, dataDir, force: values.force });
}

function parseCommand(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function describeContents({ bytes, schemaVersion, ...counts }: BackupContents): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return `whole; ${bytes} bytes, schema version ${schemaVersion}, ${parts.join(', ')}`;
}

/** Exports all data from the store into a file, or imports it. */
async function transfer(direction: 'export' | 'import', place: Place, file: string): Promise<string | null> {
  // Only this command loads the MongoDB driver.
  const { exportTo, importFrom, KINDS, STANDARD } = await import('./storage/transfer/transfers.js');
  const { Logger } = await import('@nestjs/common');
  // Nest logs to stdout, which may carry the export. Errors are thrown anyway.
  Logger.overrideLogger(false);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}; nothing of it was kept`)));
  const work = direction === 'export' ? exportTo : importFrom;
  const counts = await work(place, file, progressOn(process.stderr), stop.signal);
  const summary = [...counts].map(([kind, count]) => `${count} ${KINDS[kind]}`).join(', ');
  if (direction === 'import') return `${await describePlace(place)}: imported and verified ${summary}`;
  return file === STANDARD ? null : `${file}: exported ${summary}`;
}

async function describePlace({ dataDir, uri }: Place): Promise<string> {
  if (uri === null) return dataDir;
  const { shownUri } = await import('./storage/transfer/shown-uri.js');
  return shownUri(uri);
}

async function checkBackup(file: string): Promise<string> {
  const summary = `${file}: ${describeContents(backups.check(file))}`;
  const { ofBackup } = await import('./storage/transfer/checking.js');
  const { findings } = await ofBackup(file);
  return reportFindings(summary, findings);
}

async function checkData(place: Place, isRepair: boolean): Promise<string> {
  const { ofDatabase, ofDirectory } = await import('./storage/transfer/checking.js');
  const { counts, findings } = await (place.uri === null
    ? ofDirectory(place.dataDir, isRepair)
    : ofDatabase(place.uri, isRepair));
  const { KINDS } = await import('./storage/transfer/records.js');
  const summary = [...counts].map(([kind, count]) => `${count} ${KINDS[kind]}`).join(', ');
  return reportFindings(`${await describePlace(place)}: looked at ${summary}`, findings);
}

function reportFindings(summary: string, findings: Findings): string {
  const problems = findings.toString();
  const text = problems === '' ? `${summary}; nothing is wrong` : `${summary}\n${problems}`;
  if (findings.hasFaults) throw new Error(text);
  return text;
}

/** Queries the server that listens at the configured address. */
async function health({ host, port, basePath }: ReturnType<typeof serverPlace>): Promise<string> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const name = reachable.includes(':') ? `[${reachable}]` : reachable;
  const url = `http://${name}:${port}${basePath}/health/ready`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(HEALTH_MS) }).catch((error: unknown) => {
    throw new Error(`${url} does not answer: ${(error as Error).message}`);
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return text;
}

run(process.argv.slice(2)).then(
  (text) => void (text !== null && process.stdout.write(`${printable(text)}\n`)),
  (error: unknown) => {
    const isUsage = error instanceof UsageError;
    const hint = isUsage ? '; see patchbay-admin --help' : '';
    const message = printable(error instanceof Error ? error.message : String(error));
    process.stderr.write(`patchbay-admin: ${message}${hint}\n`);
    process.exitCode = isUsage ? 2 : 1;
  },
);
