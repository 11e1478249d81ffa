import type { INestApplicationContext } from '@nestjs/common';
import { getConnectionToken } from '@nestjs/mongoose';
import mongoose, { type Connection, type mongo } from 'mongoose';

/** What a command of the driver looks for. */
export interface Query {
  collection: string;
  command: string;
  filter: mongo.Document;
  sort: mongo.Sort;
  hint?: string | undefined;
}

/** A stage that looks at more than what it gives: every document, or all that fit before the first. */
const TOO_MUCH = /"stage":"(COLLSCAN|SORT)"/;

/** The queries of a server on MongoDB, and how the database would go about them. Its URI needs `monitorCommands=true`. */
export class QueryPlans {
  private readonly sent = new Map<string, Query>();
  /** What the driver has sent that nobody has said yet how to explain. */
  private readonly unknown = new Set<string>();

  private constructor(private readonly connection: Connection) {
    connection.getClient().on('commandStarted', ({ command }) => {
      const queries = queriesOf(command);
      if (queries === null) this.unknown.add(Object.keys(command)[0]!);
      for (const query of queries ?? []) this.sent.set(formOf(query), query);
    });
  }

  /** Of what the server asks from now on. */
  static of(app: INestApplicationContext): QueryPlans {
    return new QueryPlans(app.get<Connection>(getConnectionToken()));
  }

  /** One of those that differ in nothing but their values. */
  get queries(): Query[] {
    return [...this.sent.values()];
  }

  /** Throws where a query is served by no index, but for those of `known` forms, to which it adds its own. */
  async check(known = new Set<string>()): Promise<void> {
    if (this.unknown.size > 0) throw new Error(`What do these look for? ${[...this.unknown].join()}`);
    const asked = [...this.sent].filter(([form]) => !known.has(form));
    // Of a server that a test has stopped itself.
    if (this.connection.readyState !== mongoose.STATES.connected) return;
    const scan = { collection: 'logins', command: 'find', filter: { seed: 'a' }, sort: {} };
    const scanned = await this.planOf(scan).catch(() => null);
    // Of the servers in ../shared/mongo one explains nothing.
    if (scanned === null) return;
    if (!TOO_MUCH.test(scanned)) throw new Error(`No scan is said to be one: ${scanned}`);
    for (const [form, query] of asked) {
      known.add(form);
      const plan = await this.planOf(query);
      if (TOO_MUCH.test(plan)) throw new Error(`No index serves ${JSON.stringify(query)}: ${plan}`);
    }
  }

  private async planOf({ collection, filter, sort, hint }: Query): Promise<string> {
    const found = this.connection.db!.collection(collection).find(filter, { sort, ...(hint && { hint }) });
    const { queryPlanner } = (await found.explain('queryPlanner')) as { queryPlanner: mongo.Document };
    return JSON.stringify(queryPlanner.winningPlan);
  }
}

/** What a command looks for: nothing, or with each of its statements something; null where we can't say. */
function queriesOf(command: mongo.Document): Query[] | null {
  const name = Object.keys(command)[0]!;
  const query = (filter: mongo.Document, { sort = {}, hint }: mongo.Document): Query => ({
    ...{ collection: command[name] as string, command: name, filter },
    // The driver makes a Map of it, which JSON would show as nothing.
    sort: sort instanceof Map ? (Object.fromEntries(sort) as mongo.Document) : (sort as mongo.Sort),
    hint: hint as string | undefined,
  });
  switch (name) {
    case 'find':
      // Whether there is anything at all.
      if (Object.keys(command.filter as object).length === 0 && command.limit === 1) return [];
      return [query(command.filter as mongo.Document, command)];
    case 'aggregate': {
      const [first, second] = command.pipeline as mongo.Document[];
      return [
        query(first!.$match as mongo.Document, {
          sort: second?.$sort as object,
          hint: command.hint as string,
        }),
      ];
    }
    case 'findAndModify':
      return [query(command.query as mongo.Document, command)];
    case 'update':
      return (command.updates as mongo.Document[]).map((one) => query(one.q as mongo.Document, one));
    case 'delete':
      return (command.deletes as mongo.Document[]).map((one) => query(one.q as mongo.Document, one));
    case 'insert':
    case 'getMore':
    case 'killCursors':
    case 'endSessions':
    case 'ping':
    case 'explain':
      return [];
    default:
      return null;
  }
}

/** The same for all that differ in nothing but their values. */
function formOf(query: Query): string {
  const form = JSON.stringify(query, (_name, value: unknown) => {
    if (Array.isArray(value)) return value.slice(0, 2) as unknown[];
    return typeof value === 'object' && value !== null ? value : typeof value;
  });
  return `${query.collection} ${query.hint ?? ''} ${JSON.stringify(query.sort)} ${form}`;
}
