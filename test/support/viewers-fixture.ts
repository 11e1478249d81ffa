import type { FakeClient } from './fake-client.js';
import { PatchFixture } from './patch-fixture.js';
import type { RelayFixture } from './relay-fixture.js';
import type { TestServer, TestUser } from './server.js';

/** The decision of a person, but for what was decided. */
export const APPROVAL = { by: 'ben', at: '2025-06-01T12:00:00Z' };

/** Ben, a member, whose client takes calls and patches; Ada, an owner; Cleo, another member. */
export class ViewersFixture {
  readonly patches: PatchFixture;
  ada!: TestUser;
  ben!: TestUser;
  cleo!: TestUser;

  constructor(private readonly server: () => TestServer) {
    this.patches = new PatchFixture(server);
  }

  get fixture(): RelayFixture {
    return this.patches.fixture;
  }

  get client(): FakeClient {
    return this.patches.client;
  }

  /** All of them in a new workspace, for the next test. */
  async open(): Promise<void> {
    await this.patches.open();
    const { user, workspaceId } = this.fixture;
    this.ben = user;
    [this.ada, this.cleo] = await Promise.all([this.server().register(), this.server().register()]);
    await user.addMember(workspaceId, this.cleo);
    await user.addMember(workspaceId, this.ada);
    await this.setRole(user, this.ada, 'owner');
    await this.setRole(this.ada, user, 'member');
  }

  async setRole(by: TestUser, user: TestUser, role: string): Promise<void> {
    const path = `/workspaces/${this.fixture.workspaceId}/members/${user.id}`;
    expect((await by.request('PUT', path, { role })).status).toBe(200);
  }
}

/** All of the words are in it. */
export function expectIn(text: string, words: readonly string[]): void {
  expect(words.filter((word) => !text.includes(word))).toEqual([]);
}

/** None of the words is in it. */
export function expectNotIn(text: string, words: readonly string[]): void {
  expect(words.filter((word) => text.includes(word))).toEqual([]);
}
