import { Injectable } from '@nestjs/common';
import { type UserRecord, UserStore } from '../ports/users.store.js';
import { SqliteDatabase } from './database.js';

type UserRow = [string, string, string | null, string, number];

const SELECT = 'SELECT user_id, email, full_name, password_hash, created_at FROM users';

@Injectable()
export class SqliteUserStore extends UserStore {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  insert(user: UserRecord): Promise<boolean> {
    return this.insertWhere('true', user);
  }

  insertFirst(user: UserRecord): Promise<boolean> {
    return this.insertWhere('NOT EXISTS (SELECT 1 FROM users)', user);
  }

  async isEmpty(): Promise<boolean> {
    return this.database.get('SELECT 1 FROM users LIMIT 1', []) === null;
  }

  async byId(id: string): Promise<UserRecord | null> {
    return toUser(this.database.get<UserRow>(`${SELECT} WHERE user_id = ?`, [id]));
  }

  async byEmail(email: string): Promise<UserRecord | null> {
    return toUser(this.database.get<UserRow>(`${SELECT} WHERE email = ?`, [email]));
  }

  async byIds(ids: string[]): Promise<UserRecord[]> {
    const users: UserRecord[] = [];
    for (const id of new Set(ids)) {
      const user = toUser(this.database.get<UserRow>(`${SELECT} WHERE user_id = ?`, [id]));
      if (user !== null) users.push(user);
    }
    return users;
  }

  private insertWhere(condition: string, user: UserRecord): Promise<boolean> {
    return this.database.write(() => {
      const { changes } = this.database.run(
        `INSERT INTO users (user_id, email, full_name, password_hash, created_at)
         SELECT ?, ?, ?, ?, ? WHERE ${condition} ON CONFLICT DO NOTHING`,
        [user.id, user.email, user.fullName, user.passwordHash, user.createdAt],
      );
      if (changes === 1) return true;
      return this.database.get('SELECT 1 FROM users WHERE user_id = ?', [user.id]) !== null;
    });
  }
}

function toUser(row: UserRow | null): UserRecord | null {
  if (row === null) return null;
  const [id, email, fullName, passwordHash, createdAt] = row;
  return { id, email, fullName, passwordHash, createdAt };
}
