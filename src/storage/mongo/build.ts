import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import { type Connection, mongo } from 'mongoose';
import { DataVersionError } from '../data-version.js';
import { COLLECTIONS, SCHEMA, SCHEMA_VERSION, type SchemaDocument } from './collections.js';
import type { Collection, Index } from './schemas.js';

const NAMESPACE_EXISTS = 48;

/** An index as a server lists it. */
interface FoundIndex {
  name: string;
  key: object;
  [option: string]: unknown;
}

/** The database differs from the declared collections, so it would not enforce what the code relies on. */
export class DatabaseDiffersError extends Error {
  override readonly name = 'DatabaseDiffersError';

  constructor(
    readonly fault: string,
    readonly remedy: string,
  ) {
    super(`${fault} Repair it in mongosh, then start again: ${remedy}`);
  }
}

/**
 * Creates missing collections, validators and indexes, and compares existing ones with the declaration. Safe to run
 * on several servers at once. Additional indexes stay, unless they are unique: those refuse writes.
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
 * Stores the schema version in a database without Patchbay collections, before anything else; throws for another
 * version. Numbered migrations follow with the first release.
 */
async function openSchema(db: mongo.Db): Promise<void> {
  if ((await versionOf(db)) === null && !(await isUsed(db))) {
    await create(
      db,
      COLLECTIONS.find(({ name }) => name === SCHEMA)!,
    );
    const insertVersion = { $setOnInsert: { version: SCHEMA_VERSION } };
    await db.collection<SchemaDocument>(SCHEMA).updateOne({ _id: SCHEMA }, insertVersion, { upsert: true });
  }
  // Another server may have stored the version meanwhile and created the first collections.
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

/** Whether a Patchbay collection exists, other than that of the schema version. */
async function isUsed(db: mongo.Db): Promise<boolean> {
  const names = new Set(COLLECTIONS.map(({ name }) => name).filter((name) => name !== SCHEMA));
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  return listed.some(({ name }) => names.has(name));
}

async function create(db: mongo.Db, collection: Collection): Promise<void> {
  try {
    await db.createCollection(collection.name, { validator: validatorOf(collection) });
  } catch (error) {
    // It exists, perhaps in another form.
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

/** The validator of a collection. */
function validatorOf({ schema }: Collection): mongo.Document {
  return { $jsonSchema: schema.toJSONSchema({ useBsonType: true }) };
}

async function buildIndexes(db: mongo.Db, { name, indexes }: Collection): Promise<void> {
  const collection = db.collection(name);
  const { missing, different } = compareIndexes((await collection.listIndexes().toArray()) as FoundIndex[], {
    name,
    indexes,
  });
  if (different.length > 0) throw different[0]!;
  if (missing.length > 0) await collection.createIndexes(missing.map((index) => ({ ...index })));
}

/** Indexes that are missing, differ from the declaration, or refuse writes although undeclared. */
function compareIndexes(
  existing: FoundIndex[],
  { name, indexes }: Pick<Collection, 'name' | 'indexes'>,
): { missing: Index[]; different: DatabaseDiffersError[] } {
  const found = new Map(existing.map((index) => [index.name, index]));
  const missing: Index[] = [];
  const different: DatabaseDiffersError[] = [];
  for (const index of indexes) {
    const current = found.get(index.name);
    if (current === undefined) missing.push(index);
    else if (!isSame(current, index)) different.push(differsError(name, index.name));
    found.delete(index.name);
  }
  for (const [other, { unique }] of found)
    if (unique === true && other !== '_id_') different.push(differsError(name, other));
  return { missing, different };
}

/** Missing or different collections and indexes, each with its remedy. Changes nothing. */
export async function differencesOf(db: mongo.Db): Promise<{ fault: string; remedy: string }[]> {
  const listed = await db.listCollections({}, { nameOnly: false }).toArray();
  const found = new Map(listed.map(({ name, options }) => [name, options?.validator as unknown]));
  const keepsValidators = COLLECTIONS.some(({ name }) => found.get(name) !== undefined);
  const remedy = 'The next start of a server builds it, or says what is in its way.';
  const differences: { fault: string; remedy: string }[] = [];
  for (const collection of COLLECTIONS) {
    const { name } = collection;
    if (!found.has(name)) {
      differences.push({ fault: `The collection ${name} is not there.`, remedy });
      continue;
    }
    const { missing, different } = compareIndexes(
      (await db.collection(name).listIndexes().toArray()) as FoundIndex[],
      collection,
    );
    for (const index of missing)
      differences.push({ fault: `The index ${index.name} of the collection ${name} is not there.`, remedy });
    differences.push(...different);
    if (keepsValidators && !isDeepStrictEqual(found.get(name), validatorOf(collection)))
      differences.push({ fault: `The validator of the collection ${name} is another.`, remedy });
  }
  return differences;
}

/** The order of keys matters, and so does any option that changes what the index holds or refuses. */
function isSame(existing: FoundIndex, { key, unique }: Index): boolean {
  const keys = (value: unknown): string =>
    JSON.stringify(Object.entries(value as object).map(([k, v]) => [k, Number(v)]));
  const isPlain = ['sparse', 'partialFilterExpression', 'expireAfterSeconds', 'collation', 'hidden'].every(
    (option) => existing[option] === undefined || existing[option] === false,
  );
  return keys(existing.key) === keys(key) && (existing.unique === true) === (unique === true) && isPlain;
}

function differsError(collection: string, index: string): DatabaseDiffersError {
  return new DatabaseDiffersError(
    `The index ${index} of the collection ${collection} is not as this Patchbay declares it.`,
    `db.getCollection(${JSON.stringify(collection)}).dropIndex(${JSON.stringify(index)})`,
  );
}
