import { Injectable } from '@nestjs/common';
import { type LoginRecord, LoginStore, type Rotation } from '../ports/logins.store.js';
import { SqliteDatabase } from './database.js';

const COLUMNS =
  'login_id, user_id, family_hash, token_hash, previous_hash, seed, rotated_at, expires_at, created_at';

type LoginRow = [string, string, string, string, string | null, string | null, number, number, number];

@Injectable()
export class SqliteLoginStore extends LoginStore {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  insert(login: LoginRecord): Promise<void> {
    return this.database.write(() => {
      this.database.run(
        `INSERT INTO logins (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [
          login.id,
          login.userId,
          login.familyHash,
          login.tokenHash,
          login.previousHash,
          login.seed,
          login.rotatedAt,
          login.expiresAt,
          login.createdAt,
        ],
      );
    });
  }

  async byId(id: string): Promise<LoginRecord | null> {
    const row = this.database.get<LoginRow>(`SELECT ${COLUMNS} FROM logins WHERE login_id = ?`, [id]);
    if (row === null) return null;
    const [loginId, userId, familyHash, tokenHash, previousHash, seed, rotatedAt, expiresAt, createdAt] = row;
    return {
      id: loginId,
      userId,
      familyHash,
      tokenHash,
      previousHash,
      seed,
      rotatedAt,
      expiresAt,
      createdAt,
    };
  }

  rotate(id: string, newestHash: string, next: Rotation): Promise<boolean> {
    const { tokenHash, previousHash, seed, rotatedAt, expiresAt } = next;
    return this.database.write(() => {
      const { changes } = this.database.run(
        `UPDATE logins SET token_hash = ?, previous_hash = ?, seed = ?, rotated_at = ?, expires_at = ?
         WHERE login_id = ? AND token_hash = ?`,
        [tokenHash, previousHash, seed, rotatedAt, expiresAt, id, newestHash],
      );
      if (changes === 1) return true;
      const sql = 'SELECT 1 FROM logins WHERE login_id = ? AND token_hash = ?';
      return this.database.get(sql, [id, tokenHash]) !== null;
    });
  }

  remove(id: string): Promise<void> {
    return this.database.write(() => {
      this.database.run('DELETE FROM logins WHERE login_id = ?', [id]);
    });
  }

  removeExpired(before: number): Promise<void> {
    return this.database.write(() => {
      this.database.run('DELETE FROM logins WHERE expires_at < ?', [before]);
    });
  }
}
