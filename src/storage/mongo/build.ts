import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import { type Connection, mongo } from 'mongoose';
import { DataVersionError } from '../data-version.js';
import { COLLECTIONS, SCHEMA, SCHEMA_VERSION, type SchemaDocument } from './collections.js';
import type { Collection, Index } from './schemas.js';

const NAMESPACE_EXISTS = 48;

/** As a server lists it. */
interface FoundIndex {
  name: string;
  key: object;
  [option: string]: unknown;
}

/** What is in the database is not what this Patchbay declares: it would not hold what it relies on. */
export class DatabaseDiffersError extends Error {
  override readonly name = 'DatabaseDiffersError';

  constructor(
    readonly what: string,
    readonly mend: string,
  ) {
    super(`${what} Repair it in mongosh, then start again: ${mend}`);
  }
}

/**
 * Builds collections, validators and indexes that are missing, and holds those that are there against what is declared.
 * Several servers may do that at once. Further indexes stay, unless they are unique: those refuse writes.
 */
export async function buildCollections({ db }: Connection): Promise<void> {
  if (!db) throw new Error('The connection is not open.');
  await openSchema(db);
  for (const collection of COLLECTIONS) {
    await create(db, collection);
    await buildIndexes(db, collection);
  }
  await checkValidators(db);
}

/**
 * Notes the schema version in a database that has nothing of Patchbay's, before anything else is built; throws for one of
 * another version. Numbered migrations return here with the first release.
 */
async function openSchema(db: mongo.Db): Promise<void> {
  if ((await versionOf(db)) === null && !(await isUsed(db))) {
    await create(
      db,
      COLLECTIONS.find(({ name }) => name === SCHEMA)!,
    );
    const noted = { $setOnInsert: { version: SCHEMA_VERSION } };
    await db.collection<SchemaDocument>(SCHEMA).updateOne({ _id: SCHEMA }, noted, { upsert: true });
  }
  // Another server may have noted it meanwhile, and built the first collections.
  await checkSchema(db);
}

/** Throws unless the database has this version's schema. */
export async function checkSchema(db: mongo.Db): Promise<void> {
  const found = await versionOf(db);
  if (found === SCHEMA_VERSION) return;
  const empty = 'an empty database (PATCHBAY_MONGODB_URI)';
  throw new DataVersionError(`The database ${db.databaseName}`, found, SCHEMA_VERSION, empty);
}

async function versionOf(db: mongo.Db): Promise<number | null> {
  return (await db.collection<SchemaDocument>(SCHEMA).findOne({ _id: SCHEMA }))?.version ?? null;
}

/** Whether a collection of Patchbay's is there, beside the one of the version. */
async function isUsed(db: mongo.Db): Promise<boolean> {
  const names = new Set(COLLECTIONS.map(({ name }) => name).filter((name) => name !== SCHEMA));
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  return listed.some(({ name }) => names.has(name));
}

async function create(db: mongo.Db, collection: Collection): Promise<void> {
  try {
    await db.createCollection(collection.name, { validator: validatorOf(collection) });
  } catch (error) {
    // It is there, in this form or another.
    if (!(error instanceof mongo.MongoServerError) || error.code !== NAMESPACE_EXISTS) throw error;
  }
}

async function checkValidators(db: mongo.Db): Promise<void> {
  const listed = await db.listCollections({}, { nameOnly: false }).toArray();
  const found = new Map(listed.map(({ name, options }) => [name, options?.validator as unknown]));
  if (COLLECTIONS.every(({ name }) => found.get(name) === undefined)) {
    new Logger('Storage').warn(
      'The database keeps no validators: it takes documents of any form, so let nothing but Patchbay write to it',
    );
    return;
  }
  for (const collection of COLLECTIONS) {
    const { name } = collection;
    const validator = validatorOf(collection);
    if (isDeepStrictEqual(found.get(name), validator)) continue;
    throw new DatabaseDiffersError(
      `The validator of the collection ${name} is not the one that this Patchbay declares.`,
      `db.runCommand(${JSON.stringify({ collMod: name, validator })})`,
    );
  }
}

/** What the server refuses documents by that do not fit it. */
function validatorOf({ schema }: Collection): mongo.Document {
  return { $jsonSchema: schema.toJSONSchema({ useBsonType: true }) };
}

async function buildIndexes(db: mongo.Db, { name, indexes }: Collection): Promise<void> {
  const collection = db.collection(name);
  const { missing, others } = compareIndexes((await collection.listIndexes().toArray()) as FoundIndex[], {
    name,
    indexes,
  });
  if (others.length > 0) throw others[0]!;
  if (missing.length > 0) await collection.createIndexes(missing.map((index) => ({ ...index })));
}

/** Of what is declared what is not there, and what is there in another form, or refuses writes beside it. */
function compareIndexes(
  there: FoundIndex[],
  { name, indexes }: Pick<Collection, 'name' | 'indexes'>,
): { missing: Index[]; others: DatabaseDiffersError[] } {
  const found = new Map(there.map((index) => [index.name, index]));
  const missing: Index[] = [];
  const others: DatabaseDiffersError[] = [];
  for (const index of indexes) {
    const known = found.get(index.name);
    if (known === undefined) missing.push(index);
    else if (!isSame(known, index)) others.push(differs(name, index.name));
    found.delete(index.name);
  }
  for (const [other, { unique }] of found)
    if (unique === true && other !== '_id_') others.push(differs(name, other));
  return { missing, others };
}

/** What is missing in a database, or other than declared, each with what mends it. Nothing is changed. */
export async function differencesOf(db: mongo.Db): Promise<{ what: string; mend: string }[]> {
  const listed = await db.listCollections({}, { nameOnly: false }).toArray();
  const found = new Map(listed.map(({ name, options }) => [name, options?.validator as unknown]));
  const keepsValidators = COLLECTIONS.some(({ name }) => found.get(name) !== undefined);
  const mend = 'The next start of a server builds it, or says what is in its way.';
  const differences: { what: string; mend: string }[] = [];
  for (const collection of COLLECTIONS) {
    const { name } = collection;
    if (!found.has(name)) {
      differences.push({ what: `The collection ${name} is not there.`, mend });
      continue;
    }
    const { missing, others } = compareIndexes(
      (await db.collection(name).listIndexes().toArray()) as FoundIndex[],
      collection,
    );
    for (const index of missing)
      differences.push({ what: `The index ${index.name} of the collection ${name} is not there.`, mend });
    differences.push(...others);
    if (keepsValidators && !isDeepStrictEqual(found.get(name), validatorOf(collection)))
      differences.push({ what: `The validator of the collection ${name} is another.`, mend });
  }
  return differences;
}

/** The order of keys counts, and so does any option that changes what the index holds or refuses. */
function isSame(there: FoundIndex, { key, unique }: Index): boolean {
  const keys = (of: unknown): string =>
    JSON.stringify(Object.entries(of as object).map(([k, v]) => [k, Number(v)]));
  const isPlain = ['sparse', 'partialFilterExpression', 'expireAfterSeconds', 'collation', 'hidden'].every(
    (option) => there[option] === undefined || there[option] === false,
  );
  return keys(there.key) === keys(key) && (there.unique === true) === (unique === true) && isPlain;
}

function differs(collection: string, index: string): DatabaseDiffersError {
  return new DatabaseDiffersError(
    `The index ${index} of the collection ${collection} is not as this Patchbay declares it.`,
    `db.getCollection(${JSON.stringify(collection)}).dropIndex(${JSON.stringify(index)})`,
  );
}
