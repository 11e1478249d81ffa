import { parseArgs } from 'node:util';
import { printable } from './common/printable.js';
import { serverPlace } from './config/config.js';
import type { BackupContents } from './storage/ports/backups.js';
import { backups } from './storage/backups.js';
import type { Findings } from './storage/transfer/findings.js';
import { progressOn } from './storage/transfer/progress.js';
import type { Place } from './storage/transfer/transfers.js';

const HELP = `Usage: patchbay-admin <command>

At the machine that holds the server's data, as the user that the server runs as:

  backup <file>    copies all data into one file, while the server runs or not, and checks the copy
  check [<file>]   reads all data from end to end, while the server runs or not, or that of a backup: what is damaged, missing,
                   counted wrong, or refers to nothing, and what mends it. It changes nothing, and needs as much room beside
                   the data directory's database, or the backup, as that has; beside a MongoDB none.
  check --repair   does the same, and counts again what users and workspaces hold where that is wrong; on a data directory
                   the server must not run
  restore <file>   makes a backup the server's data; the server must not run
  export <file>    writes all data, of either store, into one file of JSON lines that import reads; - is stdout. Beside a server on
                   a data directory it writes the state of one moment, and needs as much room there as the database has; servers
                   on a MongoDB must be stopped
  import <file>    fills a data directory without data, or an empty MongoDB database, with what export wrote, and verifies it;
                   - is stdin. No server starts on it before that is done
  health           asks the running server whether it is ready

  Where PATCHBAY_MONGODB_URI is set, check, export and import take that database, unless --data-dir names a directory; backup and
  restore take only a directory that --data-dir names, and else say which of MongoDB's own tools does it.

  --data-dir <dir> the data directory; by default PATCHBAY_DATA_DIR, else ./.patchbay
  --force          backup: replaces the file; restore: puts aside the data that is there
  -h, --help       this text

Exit codes: 0 done, and a check found no fault; 1 not done, or faults; 2 wrong usage.
`;

const HEALTH_MS = 5000;
const OPTIONS = {
  'data-dir': { type: 'string' },
  force: { type: 'boolean', default: false },
  repair: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The command line is not one of those that the help tells of. */
class UsageError extends Error {}

interface Request {
  file: string;
  dataDir: string;
  force: boolean;
}

const COMMANDS: Record<string, (request: Request) => string> = {
  backup: ({ dataDir, file, force }) => `${file}: ${told(backups.backup(dataDir, file, force))}`,
  restore: ({ dataDir, file, force }) => {
    const { replaced, ...contents } = backups.restore(file, dataDir, force);
    const aside = replaced === null ? '' : `; what was there is now ${replaced}`;
    return `${dataDir}: ${told(contents)}${aside}`;
  },
};

/** What does it where the data is in MongoDB, as docs/operations.md has it. */
const MONGO_TOOLS: Record<string, string> = {
  backup: 'mongodump --uri <uri> --db <database> --archive=<file>',
  restore: 'mongorestore --uri <uri> --drop --archive=<file>',
};

function onMongo(name: string, tool: string): string {
  return `PATCHBAY_MONGODB_URI is set, and the data is in MongoDB: its ${name} is ${tool}; --data-dir names a directory all the same`;
}

/** What is to be said on stdout; null where that has taken an export. */
async function run(args: readonly string[]): Promise<string | null> {
  const { values, positionals } = parsed(args);
  const [name = '', file, ...more] = positionals;
  if (values.help || name === '') return HELP.trimEnd();
  const server = serverPlace();
  if (name === 'health' && file === undefined) return health(server);
  const dataDir = values['data-dir'] ?? server.dataDir;
  // Whoever names a directory means it: one that was moved into MongoDB is kept for a while.
  const place: Place = { dataDir, uri: values['data-dir'] === undefined ? server.mongodbUri : null };
  if (values.repair && (name !== 'check' || file !== undefined))
    throw new UsageError('--repair belongs to check, without a file');
  if (name === 'check' && more.length === 0) {
    if (file !== undefined) return checkBackup(file);
    return checkData(place, values.repair);
  }
  const isTransfer = name === 'export' || name === 'import';
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined && !isTransfer) throw new UsageError(`there is no command ${name}`);
  if (file === undefined || more.length > 0) throw new UsageError(`${name} takes one file`);
  if (isTransfer) return transfer(name, place, file);
  if (place.uri !== null && Object.hasOwn(MONGO_TOOLS, name))
    throw new Error(onMongo(name, MONGO_TOOLS[name]!));
  return command!({ file, dataDir, force: values.force });
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function told({ bytes, schemaVersion, ...counts }: BackupContents): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return `whole; ${bytes} bytes, schema version ${schemaVersion}, ${parts.join(', ')}`;
}

/** Moves all data out of the store into a file, or the other way. */
async function transfer(direction: 'export' | 'import', place: Place, file: string): Promise<string | null> {
  // The driver is loaded for this alone.
  const { exportTo, importFrom, KINDS, STANDARD } = await import('./storage/transfer/transfers.js');
  const { Logger } = await import('@nestjs/common');
  // It writes to stdout, which may be the export's. What goes wrong is thrown, too.
  Logger.overrideLogger(false);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}; nothing is left of it`)));
  const work = direction === 'export' ? exportTo : importFrom;
  const counts = await work(place, file, progressOn(process.stderr), stop.signal);
  const told = [...counts].map(([kind, count]) => `${count} ${KINDS[kind]}`).join(', ');
  if (direction === 'import') return `${await shown(place)}: imported and verified ${told}`;
  return file === STANDARD ? null : `${file}: exported ${told}`;
}

async function shown({ dataDir, uri }: Place): Promise<string> {
  if (uri === null) return dataDir;
  const { shownUri } = await import('./storage/transfer/shown-uri.js');
  return shownUri(uri);
}

async function checkBackup(file: string): Promise<string> {
  const whole = `${file}: ${told(backups.check(file))}`;
  const { ofBackup } = await import('./storage/transfer/checking.js');
  const { findings } = await ofBackup(file);
  return checked(whole, findings);
}

async function checkData(place: Place, isRepair: boolean): Promise<string> {
  const { ofDatabase, ofDirectory } = await import('./storage/transfer/checking.js');
  const { counts, findings } = await (place.uri === null
    ? ofDirectory(place.dataDir, isRepair)
    : ofDatabase(place.uri, isRepair));
  const { KINDS } = await import('./storage/transfer/records.js');
  const looked = [...counts].map(([kind, count]) => `${count} ${KINDS[kind]}`).join(', ');
  return checked(`${await shown(place)}: looked at ${looked}`, findings);
}

function checked(what: string, findings: Findings): string {
  const found = findings.toString();
  const text = found === '' ? `${what}; nothing is wrong` : `${what}\n${found}`;
  if (findings.hasFaults) throw new Error(text);
  return text;
}

/** Of the server that listens where the variables say. */
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
