import process from 'node:process';
import { stopMongo } from './start-mongo.mjs';

/** Drops what servers of this run have on MongoDB (backend.ts), and ends one that it started. */
export async function dropDatabases() {
  try {
    await dropThem();
  } finally {
    await stopMongo();
  }
}

async function dropThem() {
  const uri = process.env.PATCHBAY_TEST_MONGODB_URI;
  if (!uri || process.env.PATCHBAY_TEST_BACKEND !== 'mongo') return;
  const { default: mongoose } = await import('mongoose');
  const connection = await mongoose.createConnection(uri).asPromise();
  try {
    const { databases } = await connection.db.admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) {
      if (name.startsWith(`${process.env.PATCHBAY_TEST_RUN}-`)) await connection.useDb(name).dropDatabase();
    }
  } finally {
    await connection.close();
  }
}
