import { ShiftedClock } from './shifted-clock.js';
import { rm } from 'node:fs/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { AppModule } from '../../src/app.module.js';
import { APP_OPTIONS, setUp } from '../../src/bootstrap.js';
import { Bus, type Listener, type Reach } from '../../src/events/bus.js';
import type { BusMessage } from '../../src/events/messages.js';
import { ChannelListeners } from '../../src/events/channel-listeners.js';
import { type Channel, channelOf } from '../../src/events/channels.js';
import { fastifyAdapter } from '../../src/http/fastify.js';
import { Config, type Settings } from '../../src/config/config.js';
import { NodeId } from '../../src/storage/ports/node-id.js';
import { SqliteDatabase } from '../../src/storage/sqlite/database.js';
import { backendSettings, ON_MONGO } from './backend.js';
import { newDataDirectory } from './data-directory.js';
import { watchedLog } from './log-watch.js';
import { TEST_SETTINGS, TestServer } from './server.js';

/** What becomes of a message on its way from one node to another. */
export type Line = 'sound' | 'faulty' | 'cut';

/** Carries messages between the nodes of a test: at once and once each, or late, twice and not at all, or never. */
export class BusNetwork {
  private readonly ends: NetworkBus[] = [];
  private state = 0x2545_f491;
  line: Line = 'sound';

  connect(): NetworkBus {
    const end = new NetworkBus(this);
    this.ends.push(end);
    return end;
  }

  carry(message: BusMessage, from: NetworkBus): void {
    for (const end of this.ends) if (end !== from) this.send(message, end);
  }

  /** From 0 to 1, the same in every run. */
  random(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.state / 2 ** 32;
  }

  private send(message: BusMessage, to: NetworkBus): void {
    if (this.line === 'cut') return;
    const copies = this.line === 'sound' ? 1 : [0, 1, 1, 2][Math.floor(this.random() * 4)]!;
    for (let copy = 0; copy < copies; copy += 1) {
      const delayMs = this.line === 'sound' ? 0 : this.random() * 80;
      setTimeout(() => to.hear(message), delayMs).unref();
    }
  }
}

export class NetworkBus extends Bus {
  private readonly listeners = new ChannelListeners();

  constructor(private readonly network: BusNetwork) {
    super();
  }

  override get reach(): Reach {
    return this.network.line === 'cut' ? 'unlinked' : 'linked';
  }

  /** What a node tells itself is never lost. */
  publish(message: BusMessage): void {
    this.hear(message);
    this.network.carry(message, this);
  }

  subscribe(channel: Channel, listener: Listener): () => void {
    return this.listeners.add(channel, listener);
  }

  hear(message: BusMessage): void {
    this.listeners.call(channelOf(message), message);
  }
}

/** Several nodes of the real server in this process, over one store, with a bus of the test's between them. */
export class TestNodes {
  readonly network = new BusNetwork();
  readonly clock = new ShiftedClock();
  /** The nodes that were started and not stopped. */
  readonly running = new Set<TestServer>();

  private constructor(
    /** Null on a backend that the nodes open themselves. */
    private readonly database: SqliteDatabase | null,
    private readonly dataDir: string,
    private readonly settings: Partial<Settings>,
    private readonly busOf: (() => Bus) | null,
  ) {}

  /** @param busOf the bus of a node that starts; null: that of the test's network. */
  static async open(settings: Partial<Settings> = {}, busOf: (() => Bus) | null = null): Promise<TestNodes> {
    const dataDir = await newDataDirectory();
    return new TestNodes(ON_MONGO ? null : SqliteDatabase.open(dataDir), dataDir, settings, busOf);
  }

  /** Starts a node; one of the same id takes over from itself. */
  async start(id: string): Promise<TestServer> {
    const { dataDir } = this;
    const config = Config.with({
      ...{ ...TEST_SETTINGS, port: 0 },
      ...backendSettings(dataDir),
      ...this.settings,
      dataDir,
    });
    const testing = Test.createTestingModule({
      imports: [AppModule.with({ config, clock: this.clock, logDestination: watchedLog() })],
    });
    if (this.database !== null) testing.overrideProvider(SqliteDatabase).useValue(sharedBy(this.database));
    const module = await testing
      .overrideProvider(Bus)
      .useValue(this.busOf?.() ?? this.network.connect())
      .overrideProvider(NodeId)
      .useValue(new NodeId(id))
      .compile();
    const app = module.createNestApplication<NestFastifyApplication>(fastifyAdapter(config), APP_OPTIONS);
    await setUp(app, config);
    const server = await TestServer.around(app, dataDir);
    this.running.add(server);
    return server;
  }

  async stop(server: TestServer): Promise<void> {
    this.running.delete(server);
    await server.close();
  }

  async close(): Promise<void> {
    for (const server of this.running) await this.stop(server);
    this.database?.close();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** The database as a node gets it: a node that has ended reads and writes no more, the others do. */
function sharedBy(database: SqliteDatabase): SqliteDatabase {
  const close = function (this: SqliteDatabase): void {
    Object.defineProperty(this, 'closed', { value: true });
  };
  return Object.create(database, { close: { value: close } }) as SqliteDatabase;
}
