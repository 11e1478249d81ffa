const ROOM = 'src/storage/sqlite';
const GROUP = `${ROOM}/group-commit.ts`;
const DATABASE = `${ROOM}/database.ts`;
const LOCK = `${ROOM}/data-lock.ts`;
const DISK = `${ROOM}/disk-state.ts`;
const MIGRATE = `${ROOM}/migrate.ts`;
const COPY = `${ROOM}/copy-database.ts`;
const BACKUPS = `${ROOM}/backups.ts`;
const READERS = `${ROOM}/readers.ts`;
const LOGINS = `${ROOM}/logins.store.ts`;
const USERS = `${ROOM}/users.store.ts`;
const KEYS = `${ROOM}/idempotency-keys.store.ts`;
const ROOTS = `${ROOM}/roots.store.ts`;
const CLIENTS = `${ROOM}/clients.store.ts`;
const SESSIONS = `${ROOM}/sessions.store.ts`;
const WORKSPACES = `${ROOM}/workspaces.store.ts`;
const TURNS = `${ROOM}/turns.store.ts`;
const TURN_ROWS = `${ROOM}/turn-rows.ts`;
const RESULTS = `${ROOM}/result-rows.ts`;
const STAGING = `${ROOM}/turn-staging.ts`;
const TEXTS = `${ROOM}/large-texts.ts`;
const TURN_BYTES = `${ROOM}/turn-bytes.ts`;
const SMALL = 'src/storage/small-additions.ts';
const EVENTS = `${ROOM}/audit-rows.ts`;
const AUDIT = `${ROOM}/audit.store.ts`;
const FILES = `${ROOM}/files.store.ts`;
const FILE_ROWS = `${ROOM}/file-rows.ts`;
const LISTINGS = `${ROOM}/file-listings.ts`;
const IMPLIED = `${ROOM}/implied-folders.ts`;
const BLOBS = `${ROOM}/blobs.ts`;
const BLOB_STORE = `${ROOM}/blobs.store.ts`;
const PATCHES = `${ROOM}/patches.store.ts`;

const GROUP_SPEC = 'src/storage/sqlite/group-commit.spec.ts';
const DATABASE_SPEC = 'src/storage/sqlite/database.spec.ts';
const LARGE_SPEC = 'src/storage/sqlite/large-texts.spec.ts';
const MIGRATE_SPEC = 'src/storage/sqlite/migrate.spec.ts';
const LOGIN_SPEC = 'test/contract/logins.spec.ts';
const KEY_SPEC = 'test/contract/idempotency-keys.spec.ts';
const CLIENT_SPEC = 'test/contract/clients.spec.ts';
const SESSION_SPEC = 'test/contract/sessions.spec.ts';
const WORKSPACE_SPEC = 'test/contract/workspaces.spec.ts';
const WRITES = 'test/contract/turn-writes.spec.ts';
const READS = 'test/contract/turn-reads.spec.ts';
const OPEN_LISTS = 'test/contract/open-turn-lists.spec.ts';
const BYTES_SPEC = 'test/contract/turn-bytes.spec.ts';
const TEXT_SPEC = 'test/contract/large-texts.spec.ts';
const AUDIT_SPEC = 'test/contract/audit.spec.ts';
const FILE_SPEC = 'test/contract/files.spec.ts';
const FILE_RACES = 'test/contract/file-races.spec.ts';
const FOLDER_SPEC = 'test/contract/folders.spec.ts';
const FOLDER_RACES = 'test/contract/folder-races.spec.ts';
const BLOB_SPEC = 'test/contract/blobs.spec.ts';
const SWEEP_SPEC = 'test/contract/blob-sweep.spec.ts';
const PATCH_SPEC = 'test/contract/patches.spec.ts';
const USAGE_SPEC = 'test/contract/usage.spec.ts';
const BACKUP_SPEC = 'test/e2e/backup.spec.ts';
const READER_SPEC = 'test/e2e/data-directory-readers.spec.ts';

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a transaction that the disk has ended is told of as a savepoint that is gone',
    file: GROUP,
    find: `      if (!this.connection.inTransaction) throw error;\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a job that fails leaves what it had written, for those that it shares a transaction with',
    file: GROUP,
    find: `      this.connection.execute('ROLLBACK TO job');\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'what a job alone had written before it failed is seen',
    file: GROUP,
    find: `    } catch (error) {
      this.rollBack();
      throw error;`,
    replace: `    } catch (error) {
      throw error;`,
    specs: [DATABASE_SPEC, WRITES],
  },
  {
    name: 'writes whose commit fails are acknowledged',
    file: GROUP,
    find: `      this.rollBack();
      throw error;`,
    replace: `      this.rollBack();
      if (outcomes.length === done.length) return outcomes;
      throw error;`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a disk that fails once more at the way back hides why it failed',
    file: GROUP,
    find: `    } catch {
      // Before the next transaction it is tried again.
    }`,
    replace: `    } catch (error) {
      throw error;
    }`,
    specs: [GROUP_SPEC],
  },
  {
    name: 'a transaction that could not be rolled back takes in what comes next',
    file: GROUP,
    find: `      this.rollBack();
      this.connection.execute('BEGIN IMMEDIATE');`,
    replace: `      if (!this.connection.inTransaction) this.connection.execute('BEGIN IMMEDIATE');`,
    specs: [GROUP_SPEC],
  },
  {
    name: 'jobs behind the slice of a transaction are lost',
    file: GROUP,
    find: `[...waiting.slice(done.length), ...this.queue]`,
    replace: `[...this.queue]`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'what a job asks for overtakes those that waited before',
    file: GROUP,
    find: `[...waiting.slice(done.length), ...this.queue]`,
    replace: `[...this.queue, ...waiting.slice(done.length)]`,
    specs: [GROUP_SPEC],
  },
  {
    name: 'jobs behind the slice wait for somebody else to write',
    file: GROUP,
    find: `      if (this.queue.length > 0) this.schedule();\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a long queue is one transaction, and nobody else has a turn',
    file: GROUP,
    find: ` && performance.now() < until`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a write outside of a job is never undone',
    file: DATABASE,
    find: `    if (!this.group.active) throw new Error('A write belongs into a job of write().');\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'what was queued is lost when the database is closed',
    file: DATABASE,
    find: `    this.group.flush();\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a commit is not flushed to the disk',
    file: DATABASE,
    find: `'PRAGMA synchronous=FULL'`,
    replace: `'PRAGMA synchronous=NORMAL'`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'who reads for a moment while the directory is opened keeps the server from its start',
    file: DATABASE,
    find: `  connection.exec(\`PRAGMA busy_timeout=\${BUSY_MS}\`);
  connection.exec('PRAGMA journal_mode=WAL');`,
    replace: `  connection.exec('PRAGMA busy_timeout=0');
  connection.exec('PRAGMA journal_mode=WAL');`,
    specs: [DATABASE_SPEC, READER_SPEC],
  },
  {
    name: 'a write beside a reader fails at once',
    file: DATABASE,
    find: `    } finally {
      connection.exec(\`PRAGMA busy_timeout=\${BUSY_MS}\`);
    }`,
    replace: `    }`,
    specs: [DATABASE_SPEC, READER_SPEC],
  },
  {
    name: 'nobody is let in to make a backup',
    file: DATABASE,
    find: `(isWanted) => this.share(isWanted)`,
    replace: `() => undefined`,
    specs: [READER_SPEC],
  },
  {
    name: 'the locks are never taken back from readers that have gone',
    file: DATABASE,
    find: `(isWanted) => this.share(isWanted)`,
    replace: `(isWanted) => isWanted && this.share(true)`,
    specs: [READER_SPEC],
  },
  {
    name: 'a reader that goes on ends the server’s writes',
    file: DATABASE,
    find: `      connection.exec('PRAGMA locking_mode=NORMAL');
      this.isShared = true;
    } finally {`,
    replace: `      this.isShared = isShared;
    } finally {`,
    specs: [READER_SPEC],
  },
  {
    name: 'who was killed while it read keeps the locks shared for ever',
    file: READERS,
    find: ` && Date.now() - wish.mtimeMs < STALE_MS`,
    replace: ``,
    specs: [READER_SPEC],
  },
  {
    name: 'a data directory that could not be opened stays taken',
    file: DATABASE,
    find: `      connection.close();
      lock.release();
      // A server`,
    replace: `      connection.close();
      // A server`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'texts that a killed server had staged stay for ever',
    file: DATABASE,
    find: `      connection.exec(DROP_STAGED);\n`,
    replace: ``,
    specs: [LARGE_SPEC],
  },
  {
    name: 'two servers write to one data directory',
    file: LOCK,
    find: `connection.exec('BEGIN EXCLUSIVE');`,
    replace: `connection.exec('BEGIN');`,
    specs: [READER_SPEC],
  },
  {
    name: 'a full disk is an internal error',
    file: DISK,
    find: `/^SQLITE_(FULL|IOERR|`,
    replace: `/^SQLITE_(IOERR|`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'steps of the schema are kept where a later one fails',
    file: MIGRATE,
    find: `    if (connection.inTransaction) connection.exec('ROLLBACK');\n`,
    replace: `    if (connection.inTransaction) connection.exec('COMMIT');\n`,
    specs: [MIGRATE_SPEC],
  },
  {
    name: 'the database of a newer version is opened',
    file: MIGRATE,
    find: `  if (found > migrations.length) throw`,
    replace: `  if (found > migrations.length + 1) throw`,
    specs: [MIGRATE_SPEC],
  },
  {
    name: 'a step of the schema is left out',
    file: MIGRATE,
    find: `if (index >= found)`,
    replace: `if (index >= found && (index !== found || found === 0))`,
    specs: [MIGRATE_SPEC],
  },
  {
    name: 'a damaged database is backed up as a sound one',
    file: COPY,
    find: `    if (faults.length !== 1 || faults[0]![0] !== 'ok')
      throw`,
    replace: `    if (false)
      throw`,
    specs: [BACKUP_SPEC],
    build: true,
  },
  {
    name: 'data is restored into a directory that a server uses',
    file: BACKUPS,
    find: `    const lock = DataLock.take(directory);`,
    replace: `    const lock = { release() {} };`,
    specs: [BACKUP_SPEC],
    build: true,
  },
  {
    name: 'what is restored takes the place of what was there',
    file: BACKUPS,
    find: `existsSync(target) ? keepAside(target) : null`,
    replace: `null`,
    specs: [BACKUP_SPEC],
    build: true,
  },
  {
    name: 'any token of a login can be changed for a new one',
    file: LOGINS,
    find: `         WHERE login_id = ? AND token_hash = ?\`,
        [tokenHash, previousHash, seed, rotatedAt, expiresAt, id, newestHash],`,
    replace: `         WHERE login_id = ?\`,
        [tokenHash, previousHash, seed, rotatedAt, expiresAt, id],`,
    specs: [LOGIN_SPEC, 'test/e2e/auth-tokens.spec.ts'],
  },
  {
    name: 'a rotation whose answer was lost is refused',
    file: LOGINS,
    find: `return this.database.get(sql, [id, tokenHash]) !== null;`,
    replace: `return false;`,
    specs: [LOGIN_SPEC],
  },
  {
    name: 'a rotation of a login that is gone is answered as made',
    file: LOGINS,
    find: `      if (changes === 1) return true;\n`,
    replace: `      return true;\n`,
    specs: [LOGIN_SPEC],
  },
  {
    name: 'a login ends in the moment before its time',
    file: LOGINS,
    find: `expires_at < ?`,
    replace: `expires_at <= ?`,
    specs: [LOGIN_SPEC],
  },
  {
    name: 'everybody is the first user',
    file: USERS,
    find: `'NOT EXISTS (SELECT 1 FROM users)'`,
    replace: `'true'`,
    specs: ['test/contract/first-user.spec.ts', 'test/contract/users.spec.ts'],
  },
  {
    name: 'a key that stands is claimed by whoever comes later',
    file: KEYS,
    find: `           claimed_at = excluded.claimed_at WHERE claimed_at < ?\`,
        [workspace, userId, key, sessionId, turnId, claimedAt, since],`,
    replace: `           claimed_at = excluded.claimed_at\`,
        [workspace, userId, key, sessionId, turnId, claimedAt],`,
    specs: [KEY_SPEC],
  },
  {
    name: 'a key that has just not expired is claimed anew',
    file: KEYS,
    find: `excluded.claimed_at WHERE claimed_at < ?`,
    replace: `excluded.claimed_at WHERE claimed_at <= ?`,
    specs: [KEY_SPEC],
  },
  {
    name: 'a key that has expired is still found',
    file: KEYS,
    find: ` AND claimed_at >= ?\`,
      [workspace, userId, key, since],`,
    replace: `\`,
      [workspace, userId, key],`,
    specs: [KEY_SPEC],
  },
  {
    name: 'who means an earlier claim takes out the root of another',
    file: ROOTS,
    find: ` AND root_id = ? AND claimed_at = ?',
        [workspace, docPath, rootId, claimedAt],`,
    replace: ` AND root_id = ?',
        [workspace, docPath, rootId],`,
    specs: ['test/contract/roots.spec.ts'],
  },
  {
    name: 'an older connection takes the place of a newer one',
    file: CLIENTS,
    find: `
         WHERE (epoch, connection_id) < (excluded.epoch, excluded.connection_id)\``,
    replace: `\``,
    specs: [CLIENT_SPEC],
  },
  {
    name: 'a client is where its id is greatest, whatever its epoch',
    file: CLIENTS,
    find: `(epoch, connection_id) < (excluded.epoch, excluded.connection_id)`,
    replace: `connection_id < excluded.connection_id`,
    specs: [CLIENT_SPEC],
  },
  {
    name: 'the end of an older connection is that of the newer one',
    file: CLIENTS,
    find: ` AND connection_id = ? AND left_at IS NULL\`,
        [at, workspace, userId, clientId, connectionId],`,
    replace: ` AND left_at IS NULL\`,
        [at, workspace, userId, clientId],`,
    specs: [CLIENT_SPEC],
  },
  {
    name: 'an older connection reports on the folders of the newer one',
    file: CLIENTS,
    find: `\${OF_CLIENT} AND connection_id = ?\`, [
        JSON.stringify([...others, status].sort(byDocPath)),
        ...[workspace, client.userId, client.clientId, connectionId],`,
    replace: `\${OF_CLIENT}\`, [
        JSON.stringify([...others, status].sort(byDocPath)),
        ...[workspace, client.userId, client.clientId],`,
    specs: [CLIENT_SPEC],
  },
  {
    name: 'a session that is sent again is counted twice',
    file: SESSIONS,
    find: `if (changes === 1) count(`,
    replace: `count(`,
    specs: [USAGE_SPEC, SESSION_SPEC],
  },
  {
    name: 'each page of sessions begins with the last one of the page before',
    file: SESSIONS,
    find: `(created_at, session_id) <\n`,
    replace: `(created_at, session_id) <=\n`,
    specs: [SESSION_SPEC],
  },
  {
    name: 'Active Files that are replaced count on',
    file: SESSIONS,
    find: `Buffer.byteLength(text) - (replaced ?? 0)`,
    replace: `Buffer.byteLength(text)`,
    specs: [USAGE_SPEC],
  },
  {
    name: 'of two who change a workspace the second undoes the first',
    file: WORKSPACES,
    find: `WHERE workspace_id = ? AND version = ?',
        [workspace.id, expectedVersion],`,
    replace: `WHERE workspace_id = ?',
        [workspace.id],`,
    specs: [WORKSPACE_SPEC],
  },
  {
    name: 'a save of a workspace whose answer was lost is a conflict',
    file: WORKSPACES,
    find: `        return isDeepStrictEqual(this.find(workspace.id), { ...workspace, version: expectedVersion + 1 });`,
    replace: `        return false;`,
    specs: [WORKSPACE_SPEC],
  },
  {
    name: 'a member who was removed stays one',
    file: WORKSPACES,
    find: `      this.database.run('DELETE FROM members WHERE workspace = ? AND user_id = ?', [key, userId]);\n`,
    replace: ``,
    specs: [WORKSPACE_SPEC],
  },
  {
    name: 'a removal is forgotten with the one before it',
    file: WORKSPACES,
    find: ` AND removed_at <= ?', [
        ...[workspace, userId, removedAt],`,
    replace: `', [
        ...[workspace, userId],`,
    specs: [WORKSPACE_SPEC],
  },
  {
    name: 'of two who save a turn the second undoes the first',
    file: TURNS,
    find: ` AND session_id = ? AND version = ?\`,
          [workspace, turn.turnId, turn.sessionId, before.version],`,
    replace: ` AND session_id = ?\`,
          [workspace, turn.turnId, turn.sessionId],`,
    specs: [WRITES],
  },
  {
    name: 'a save leaves its events out of the trail',
    file: TURNS,
    find: `        appendEvents(this.database, workspace, events);
        return { value: true, isKept: true };`,
    replace: `        return { value: true, isKept: true };`,
    specs: [WRITES],
  },
  {
    name: 'a new turn leaves its events out of the trail',
    file: TURNS,
    find: `        appendEvents(this.database, workspace, events);
        return { value: turn, isKept: true };`,
    replace: `        return { value: turn, isKept: true };`,
    specs: [WRITES],
  },
  {
    name: 'events of no state that are sent again are recorded twice',
    file: TURNS,
    find: `events.filter((event) => !isRecorded(this.database, workspace, event))`,
    replace: `events`,
    specs: [WRITES],
  },
  {
    name: 'who came second with a name is told that its turn stands',
    file: TURNS,
    find: `value: isThis ? turn : known`,
    replace: `value: turn`,
    specs: [WRITES],
  },
  {
    name: 'a save whose answer was lost is answered as one that lost its race',
    file: TURNS,
    find: `value: this.isStored(workspace, turn), isKept: false`,
    replace: `value: false, isKept: false`,
    specs: [WRITES],
  },
  {
    name: 'who loses the race for a call is told that its save was made',
    file: TURNS,
    find: `return current.calls.every((call, at) => JSON.stringify(call) === JSON.stringify(turn.calls[at]));`,
    replace: `return true;`,
    specs: [WRITES],
  },
  {
    name: 'who loses the race for a turn is told that its save was made',
    file: TURNS,
    find: ` || rows.stateOf(current) !== rows.stateOf(turn)) return false;`,
    replace: `) return false;`,
    specs: [WRITES],
  },
  {
    name: 'results that a save brings are not stored',
    file: TURNS,
    find: `        insertResults(this.database, id, turn, resultRows);
        this.countResults(`,
    replace: `        this.countResults(`,
    specs: [WRITES],
  },
  {
    name: 'a turn that is due in this very millisecond is not told of',
    file: TURNS,
    find: `WHERE due_at <= ? ORDER`,
    replace: `WHERE due_at < ? ORDER`,
    specs: [READS],
  },
  {
    name: 'each page of open turns begins with the last one of the page before',
    file: TURNS,
    find: `'(accepted_at, id) > (SELECT`,
    replace: `'(accepted_at, id) >= (SELECT`,
    specs: [OPEN_LISTS],
  },
  {
    name: 'a save leaves the turn due when it was due before',
    file: TURN_ROWS,
    find: `    columns.push('due_at');
    values.push(turn.dueAt);\n`,
    replace: ``,
    specs: [READS, WRITES],
  },
  {
    name: 'a turn that has ended stays among the open ones',
    file: TURN_ROWS,
    find: `    columns.push('status');
    values.push(turn.status);\n`,
    replace: ``,
    specs: [WRITES],
  },
  {
    name: 'a save forgets which client the session used',
    file: TURN_ROWS,
    find: `    columns.push('last_client_id');
    values.push(turn.lastClientId);\n`,
    replace: ``,
    specs: [WRITES, READS],
  },
  {
    name: 'a second small result takes the place of the first',
    file: RESULTS,
    find: `WHERE id = ? AND result IS NULL
  AND NOT EXISTS`,
    replace: `WHERE id = ?
  AND NOT EXISTS`,
    specs: [WRITES],
  },
  {
    name: 'a small result takes the place of a large one',
    file: RESULTS,
    find: `
  AND NOT EXISTS (SELECT 1 FROM turn_results r WHERE r.id = turn_calls.id AND r.result <> '\${NO_RESULT}')`,
    replace: ``,
    specs: [WRITES],
  },
  {
    name: 'a second large result takes the place of the first',
    file: RESULTS,
    find: `WHERE result = '\${NO_RESULT}' AND excluded.result <> '\${NO_RESULT}' AND excluded.edited_arguments IS NULL`,
    replace: `WHERE excluded.result <> '\${NO_RESULT}' AND excluded.edited_arguments IS NULL`,
    specs: [WRITES],
  },
  {
    name: 'a result that could not be stored is acknowledged',
    file: RESULTS,
    find: `    if (changes === 0) throw new Error(\`Call \${callId} has a result already.\`);\n`,
    replace: ``,
    specs: [WRITES],
  },
  {
    name: 'a large text is gone after the next start',
    file: STAGING,
    find: `    take(database, column);\n`,
    replace: ``,
    specs: [TEXT_SPEC, LARGE_SPEC],
  },
  {
    name: 'large texts of a write that lost its race stay',
    file: STAGING,
    find: `      if (!isKept && made.length > 0) await discard(this.database, made).catch(() => undefined);\n`,
    replace: ``,
    specs: [LARGE_SPEC],
  },
  {
    name: 'a large text that could not be stored whole leaves its first parts',
    file: TEXTS,
    find: `    await discard(database, [columnOf(id, bytes)]).catch(() => undefined);\n`,
    replace: ``,
    specs: [LARGE_SPEC],
  },
  {
    name: 'the last part of a large text is left out',
    file: TEXTS,
    find: `  if (pending !== '') await store(pending);\n`,
    replace: ``,
    specs: [TEXT_SPEC],
  },
  {
    name: 'bytes of an hour are those that came last',
    file: TURN_BYTES,
    find: `DO UPDATE SET bytes = bytes + excluded.bytes`,
    replace: `DO UPDATE SET bytes = excluded.bytes`,
    specs: [BYTES_SPEC],
  },
  {
    name: 'bytes that are written are counted on as if they waited',
    file: SMALL,
    find: `    this.remove(due);
    return [due];`,
    replace: `    return [due];`,
    specs: ['src/storage/small-additions.spec.ts', BYTES_SPEC],
  },
  {
    name: 'a number of the trail is left out',
    file: EVENTS,
    find: `let seq = lastSeq(database, workspace);`,
    replace: `let seq = lastSeq(database, workspace) + (events.length > 1 ? 1 : 0);`,
    specs: [WRITES, AUDIT_SPEC],
  },
  {
    name: 'an event of a call is recorded again, as it is looked for without its turn',
    file: EVENTS,
    find: `const [index, ofTurn] = turnId === null ?`,
    replace: `const [index, ofTurn] = true ?`,
    specs: [WRITES],
  },
  {
    name: 'each page of the trail begins with the last event of the page before',
    file: AUDIT,
    find: `WHERE workspace = ? AND seq > ? AND seq <= ?\${where}`,
    replace: `WHERE workspace = ? AND seq >= ? AND seq <= ?\${where}`,
    specs: [AUDIT_SPEC],
  },
  {
    name: 'a search that looked at all it may says that there is no more',
    file: AUDIT,
    find: `nextAfter: after < last ? after : null`,
    replace: `nextAfter: null`,
    specs: [AUDIT_SPEC],
  },
  {
    name: 'the last event of each step of a search is passed over',
    file: AUDIT,
    find: `      after = to;\n`,
    replace: `      after = to + 1;\n`,
    specs: [AUDIT_SPEC],
  },
  {
    name: 'of two writers who saw the same revision of a file both win',
    file: FILE_ROWS,
    find: `WHERE file_id = ? AND workspace = ? AND revision = ? AND folder = 0\`,
    [file.id, workspace, expectedRevision],`,
    replace: `WHERE file_id = ? AND workspace = ? AND folder = 0\`,
    [file.id, workspace],`,
    specs: [FILE_SPEC, FILE_RACES],
  },
  {
    name: 'a file that could not move to a taken path is told to have moved',
    file: FILE_ROWS,
    find: `  if (changes === 0) return null;\n`,
    replace: ``,
    specs: [FILE_SPEC],
  },
  {
    name: 'a move to another spelling of a path is not made',
    file: FILE_ROWS,
    find: `if (path === file.path && deletedAt`,
    replace: `if (docPath === file.docPath && deletedAt`,
    specs: [FILE_SPEC],
  },
  {
    name: 'two spellings of one path are two files',
    file: `${ROOM}/migrations/0002-files.ts`,
    find: `CREATE UNIQUE INDEX files_live ON files (workspace, doc_path)`,
    replace: `CREATE UNIQUE INDEX files_live ON files (workspace, path)`,
    specs: [FILE_SPEC, FOLDER_SPEC],
  },
  {
    name: 'a folder that was removed is removed again, by another',
    file: FILE_ROWS,
    find: `folder = 1 AND deleted_at IS NULL',`,
    replace: `folder = 1',`,
    specs: [FOLDER_SPEC],
  },
  {
    name: 'a folder that a file has left is listed on',
    file: FILE_ROWS,
    find: `  settleAbove(database, workspace, docPath);\n`,
    replace: ``,
    specs: [FOLDER_SPEC],
  },
  {
    name: 'a folder that a file has moved into is not listed',
    file: FILE_ROWS,
    find: `  if (docPath !== file.docPath) settleAbove(database, workspace, file.docPath);\n`,
    replace: ``,
    specs: [FOLDER_SPEC],
  },
  {
    name: 'a folder that was removed is gone with what is in it',
    file: IMPLIED,
    find: `  settle(database, workspace, docPath);
  settleAbove(database, workspace, docPath);`,
    replace: `  settleAbove(database, workspace, docPath);`,
    specs: [FOLDER_SPEC],
  },
  {
    name: 'a folder in which only folders lie is not listed',
    file: IMPLIED,
    find: ` ??
    database.get<[string, number]>(
      \`SELECT path, created_at FROM implied_folders \${inFolder} ORDER BY path LIMIT 1\`,
      [workspace, docPath],
    )`,
    replace: ``,
    specs: [FOLDER_SPEC, FOLDER_RACES],
  },
  {
    name: 'a write to a file that is sent again is recorded twice',
    file: FILES,
    find: `if (outcome === 'made') appendEvents`,
    replace: `if (outcome !== 'refused') appendEvents`,
    specs: [FILE_SPEC],
  },
  {
    name: 'a write to a file that was refused is recorded',
    file: FILES,
    find: `if (outcome === 'made') appendEvents`,
    replace: `if (outcome !== 'made before') appendEvents`,
    specs: [FILE_SPEC],
  },
  {
    name: 'a version whose answer was lost is refused as a conflict',
    file: FILES,
    find: `return refusedUnless(hasVersion(this.database, file.id, version.id));`,
    replace: `return 'refused';`,
    specs: [FILE_SPEC],
  },
  {
    name: 'a deleted file counts on for its holder',
    file: FILES,
    find: `        this.count(file, updated);
        return 'made';
      }
      const`,
    replace: `        return 'made';
      }
      const`,
    specs: [USAGE_SPEC],
  },
  {
    name: 'each page of versions begins with the last one of the page before',
    file: FILES,
    find: `'number < ? ORDER BY number DESC LIMIT ?'`,
    replace: `'number <= ? ORDER BY number DESC LIMIT ?'`,
    specs: [FILE_SPEC],
  },
  {
    name: 'each page of a folder begins with the last entry of the page before',
    file: LISTINGS,
    find: `parent_path = ? AND path > ?'`,
    replace: `parent_path = ? AND path >= ?'`,
    specs: [FOLDER_SPEC],
  },
  {
    name: 'of files that were deleted at one path the next page has the last one again',
    file: LISTINGS,
    find: `f.file_id > ?))`,
    replace: `f.file_id >= ?))`,
    specs: [FILE_SPEC],
  },
  {
    name: 'bytes that a version refers to go with the sweep',
    file: BLOBS,
    find: `  if (known !== null) database.run('DELETE FROM loose_blobs WHERE blob = ?', [known]);
  else if`,
    replace: `  if (known !== null) return;
  else if`,
    specs: [BLOB_SPEC],
  },
  {
    name: 'a version is stored without its bytes',
    file: BLOBS,
    find: `  else throw new DomainError('CONFLICT', \`The workspace`,
    replace: `  else new DomainError('CONFLICT', \`The workspace`,
    specs: [FILE_SPEC, BLOB_SPEC],
  },
  {
    name: 'bytes that are removed are counted on',
    file: BLOBS,
    find: `  if (share !== null) count(`,
    replace: `  if (false) count(`,
    specs: [USAGE_SPEC],
  },
  {
    name: 'bytes that are put again keep their mark, and go',
    file: BLOB_STORE,
    find: `SET put_at = ?, marked_at = NULL WHERE blob`,
    replace: `SET put_at = ? WHERE blob`,
    specs: [BLOB_SPEC],
  },
  {
    name: 'bytes that were put again long after are as old as at first',
    file: BLOB_STORE,
    find: `'UPDATE loose_blobs SET put_at = ?, marked_at = NULL WHERE blob = ?', [now, known]`,
    replace: `'UPDATE loose_blobs SET marked_at = NULL WHERE blob = ?', [known]`,
    specs: [BLOB_SPEC],
  },
  {
    name: 'bytes that are about to go are told to be there',
    file: BLOB_STORE,
    find: `blob === null || this.isMarked(blob)`,
    replace: `blob === null`,
    specs: [BLOB_SPEC, SWEEP_SPEC],
  },
  {
    name: 'the mark of bytes is set anew with each round, and they never go',
    file: BLOB_STORE,
    find: `WHERE marked_at IS NULL AND put_at < ?`,
    replace: `WHERE put_at < ?`,
    specs: [BLOB_SPEC],
  },
  {
    name: 'bytes go in the moment in which they were marked',
    file: BLOB_STORE,
    find: `WHERE marked_at < ? ORDER`,
    replace: `WHERE marked_at <= ? ORDER`,
    specs: [BLOB_SPEC],
  },
  {
    name: 'a batch whose turn is stored goes with the sweep',
    file: PATCHES,
    find: `        if (hasTurn === 1) this`,
    replace: `        if (hasTurn > 1) this`,
    specs: [PATCH_SPEC],
  },
  {
    name: 'a batch that was found to have its turn is looked at for ever',
    file: PATCHES,
    find: `this.database.run('UPDATE patch_batches SET loose = 0 WHERE id = ?', [id]);`,
    replace: `continue;`,
    specs: [PATCH_SPEC],
  },
  {
    name: 'parts of a batch that was removed are found on',
    file: PATCHES,
    find: `    this.database.run(\`DELETE FROM patch_parts WHERE batch IN (\${batches})\`, parameters);\n`,
    replace: ``,
    specs: [PATCH_SPEC],
  },
  {
    name: 'a batch that is sent again counts twice',
    file: PATCHES,
    find: `      if (changes === 0) return;
      // In one`,
    replace: `      if (changes === 0)
        return countTurnBytes(this.database, { workspace, userId: record.userId, at: createdAt, bytes });
      // In one`,
    specs: [BYTES_SPEC, PATCH_SPEC],
  },
];
