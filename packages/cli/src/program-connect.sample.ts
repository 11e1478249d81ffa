import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Ack,
  FilePut,
  FilePutAnswer,
  ResumeAnswer,
  ToolCallDelivery,
  ToolResultReport,
} from '@patchbay/protocol';
import { Server, type Socket } from 'socket.io';

import { CliFixture } from './program.sample.js';

/* A server with a relay for tests of `patchbay connect`; not part of the build. */

/** A logged-in person, a folder to connect, and the relay that delivers calls. */
export class ConnectFixture extends CliFixture {
  io!: Server;
  project!: string;
  deliver!: (
    args: ToolCallDelivery['arguments'],
    more?: Partial<ToolCallDelivery>,
  ) => Promise<ToolResultReport>;
  statuses: string[] = [];
  uploads: string[] = [];
  clientIds: string[] = [];

  override async open(): Promise<void> {
    await super.open();
    this.statuses = [];
    this.uploads = [];
    this.clientIds = [];
    this.routes['POST /workspaces/w1/blobs/missing'] = () => [200, { missing: [] }];
    this.routes['POST /workspaces/w1/files/commit'] = ({ body }) => [
      200,
      {
        files: (body.files as { path: string }[]).map(({ path }) => ({ path, fileId: 'f', versionId: 'v' })),
      },
    ];
    this.project = join(this.home, '..', `${this.home.split('/').at(-1)}-project`);
    await mkdir(this.project);
    this.io = new Server(this.http);
    this.io.of('/relay').on('connection', (socket: Socket) => {
      this.clientIds.push((socket.handshake.auth as { clientId: string }).clientId);
      socket.on('client:resume', (_calls: unknown, ack: (answer: Ack<ResumeAnswer>) => void) =>
        ack({ ok: true, forget: [], resume: [] }),
      );
      socket.on('tool:status', (status: { status: string }, ack: (answer: Ack) => void) => {
        this.statuses.push(status.status);
        ack({ ok: true });
      });
      socket.on('folder:status', (_status: unknown, ack: (answer: Ack) => void) => ack({ ok: true }));
      socket.on('files:put', (file: FilePut, ack: (answer: Ack<FilePutAnswer>) => void) => {
        this.uploads.push(file.path);
        ack({ ok: true, versionId: 'v1', fileId: 'f1', path: '/p/f' });
      });
      this.deliver = (args, more = {}) =>
        new Promise((resolve) => {
          socket.once('tool:result', (report: ToolResultReport, ack: (answer: Ack) => void) => {
            ack({ ok: true });
            resolve(report);
          });
          const ids = {
            callId: 'k1',
            toolCallId: 'c1',
            sessionId: 's1',
            conversationId: 'v1',
            turnId: 't1',
          };
          const deadlines = { deliveryAt: null, approvalAt: null, executionAt: null };
          const name = 'workspace_create_file';
          const call = { ...ids, attempt: 1, name, arguments: args, deadlines, ...more };
          socket.emit('tool:call', call, () => undefined);
        });
    });
    await this.loginAs();
  }

  override async close(): Promise<void> {
    await this.io.close();
    await rm(this.project, { recursive: true });
    await super.close();
  }

  async connected(): Promise<void> {
    for (let i = 0; !this.out.text.includes('connected\n'); i++) {
      if (i > 300) throw new Error(`It did not connect: ${this.err.text}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
