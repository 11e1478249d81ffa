import { Injectable } from '@nestjs/common';
import { type LoginRecord, LoginStore } from '../ports/logins.store.js';
import { SqliteDatabase } from './database.js';

type LoginRow = [string, string, string, number, number];

@Injectable()
export class SqliteLoginStore extends LoginStore {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  insert(login: LoginRecord): Promise<void> {
    return this.database.write(() => {
      this.database.run(
        'INSERT INTO logins (login_id, user_id, token_hash, expires_at, created_at) VALUES (?, ?, ?, ?, ?)',
        [login.id, login.userId, login.tokenHash, login.expiresAt, login.createdAt],
      );
    });
  }

  async byId(id: string): Promise<LoginRecord | null> {
    const row = this.database.get<LoginRow>(
      'SELECT login_id, user_id, token_hash, expires_at, created_at FROM logins WHERE login_id = ?',
      [id],
    );
    if (row === null) return null;
    const [loginId, userId, tokenHash, expiresAt, createdAt] = row;
    return { id: loginId, userId, tokenHash, expiresAt, createdAt };
  }

  rotate(id: string, expectedHash: string, newHash: string, expiresAt: number): Promise<boolean> {
    return this.database.write(() => {
      const { changes } = this.database.run(
        'UPDATE logins SET token_hash = ?, expires_at = ? WHERE login_id = ? AND token_hash = ?',
        [newHash, expiresAt, id, expectedHash],
      );
      return changes === 1;
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
