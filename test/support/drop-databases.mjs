/** Runs once after all specs: drops what servers of this run have on MongoDB (backend.ts). */
export default async function dropDatabases() {
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
