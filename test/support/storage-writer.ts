import { SqliteDatabase } from '../../src/storage/sqlite/database.js';

// Writes without end and prints each number once its write is committed; the test kills it at some point.
const database = SqliteDatabase.open(process.argv[2]!);
console.log('open');

async function writeFrom(first: number, step: number): Promise<void> {
  for (let n = first; ; n += step) {
    await database.write(() =>
      database.run("INSERT INTO users VALUES (?, ?, NULL, 'hash', 0)", [String(n), `${n}@example.com`]),
    );
    process.stdout.write(`${n}\n`);
  }
}

await Promise.all([0, 1, 2].map((first) => writeFrom(first, 3)));
