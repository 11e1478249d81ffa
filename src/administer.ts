import { parseArgs } from 'node:util';
import { printable } from './common/printable.js';
import { mongodbFault, serverPlace } from './config/config.js';
import type { BackupContents } from './storage/ports/backups.js';
import { backups } from './storage/backups.js';
import type { Findings } from './storage/check/findings.js';
import { progressOn } from './storage/move/progress.js';

const HELP = `Usage: patchbay-admin <command>

At the machine that holds the server's data, as the user that the server runs as:

  backup <file>    copies all data into one file, while the server runs or not, and checks the copy
  check [<file>]   reads all data from end to end, while the server runs or not, or that of a backup: what is damaged, missing,
                   counted wrong, or refers to nothing, and what mends it. It changes nothing, and needs as much room beside
                   the data directory's database, or the backup, as that has; beside a MongoDB none.
  check --repair   does the same, and counts again what users and workspaces hold where that is wrong; on a data directory
                   the server must not run
  restore <file>   makes a backup the server's data; the server must not run
  migrate --to <mongodb uri>
                   moves all data of the data directory into an empty MongoDB database, and verifies it
  migrate --from <mongodb uri>
                   moves all data of a MongoDB database into a data directory without any, and verifies it
                   While it moves, no server may run on either side. Broken off, the same command goes on. In the place
                   of a URI - takes PATCHBAY_MONGODB_URI, or what is in PATCHBAY_MONGODB_URI_FILE.
  health           asks the running server whether it is ready

  Where PATCHBAY_MONGODB_URI is set, check looks there, unless --data-dir names a directory; backup and restore take only a directory that --data-dir names, and else say
  which of MongoDB's own tools does it.

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
  to: { type: 'string' },
  from: { type: 'string' },
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

async function run(args: readonly string[]): Promise<string> {
  const { values, positionals } = parsed(args);
  const [name = '', file, ...more] = positionals;
  if (values.help || name === '') return HELP.trimEnd();
  const place = serverPlace();
  if (name === 'health' && file === undefined) return health(place);
  const dataDir = values['data-dir'] ?? place.dataDir;
  if (name === 'migrate') {
    if (file !== undefined) throw new UsageError('migrate takes --to or --from, and no file');
    return migrate(values, dataDir, place.mongodbUri);
  }
  if (values.to !== undefined || values.from !== undefined)
    throw new UsageError('--to and --from belong to migrate');
  if (values.repair && (name !== 'check' || file !== undefined))
    throw new UsageError('--repair belongs to check, without a file');
  if (name === 'check' && more.length === 0) {
    if (file !== undefined) return checkBackup(file);
    return checkData(dataDir, values['data-dir'] === undefined ? place.mongodbUri : null, values.repair);
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`there is no command ${name}`);
  if (file === undefined || more.length > 0) throw new UsageError(`${name} takes one file`);
  // Whoever names a directory means it: one that was moved into MongoDB is kept for a while.
  if (place.mongodbUri !== null && values['data-dir'] === undefined && Object.hasOwn(MONGO_TOOLS, name))
    throw new Error(onMongo(name, MONGO_TOOLS[name]!));
  return command({ file, dataDir, force: values.force });
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

async function migrate(
  { to, from }: { to?: string | undefined; from?: string | undefined },
  dataDir: string,
  configured: string | null,
): Promise<string> {
  const given = to ?? from;
  if (given === undefined || (to !== undefined && from !== undefined))
    throw new UsageError('migrate takes either --to or --from');
  if (given === '-' && configured === null) throw new UsageError('PATCHBAY_MONGODB_URI is not set');
  const uri = given === '-' ? configured! : given;
  const fault = mongodbFault(uri);
  // The value is not repeated: it may hold a password.
  if (fault !== null) throw new UsageError(`${to === undefined ? '--from' : '--to'} ${fault}`);
  // The driver is loaded for this alone.
  const { fromMongo, KINDS, shownUri, toMongo } = await import('./storage/migration.js');
  const tell = progressOn(process.stderr);
  const moved = await (to === undefined ? fromMongo(uri, dataDir, tell) : toMongo(dataDir, uri, tell));
  const counts = [...moved].map(([kind, count]) => `${count} ${KINDS[kind]}`).join(', ');
  return `${to === undefined ? dataDir : shownUri(uri)}: moved and verified; ${counts}`;
}

async function checkBackup(file: string): Promise<string> {
  const whole = `${file}: ${told(backups.check(file))}`;
  const { ofBackup } = await import('./storage/checking.js');
  const { findings } = await ofBackup(file);
  return checked(whole, findings);
}

/** @param uri of the database that has the data; null: the directory has it. */
async function checkData(dataDir: string, uri: string | null, isRepair: boolean): Promise<string> {
  const { ofDatabase, ofDirectory } = await import('./storage/checking.js');
  const { counts, findings } = await (uri === null
    ? ofDirectory(dataDir, isRepair)
    : ofDatabase(uri, isRepair));
  const { KINDS, shownUri } = await import('./storage/migration.js');
  const looked = [...counts].map(([kind, count]) => `${count} ${KINDS[kind]}`).join(', ');
  return checked(`${uri === null ? dataDir : shownUri(uri)}: looked at ${looked}`, findings);
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
  (text) => void process.stdout.write(`${printable(text)}\n`),
  (error: unknown) => {
    const isUsage = error instanceof UsageError;
    const hint = isUsage ? '; see patchbay-admin --help' : '';
    const message = printable(error instanceof Error ? error.message : String(error));
    process.stderr.write(`patchbay-admin: ${message}${hint}\n`);
    process.exitCode = isUsage ? 2 : 1;
  },
);
