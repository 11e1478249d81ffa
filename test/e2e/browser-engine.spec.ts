import type * as Client from '@patchbay/client/relay';
import { sha256 } from '@patchbay/protocol/hash';
import type { textEditor } from '@patchbay/workspace/text';
import type * as Sample from '../../packages/client/src/journal/journals.sample.js';
import { EXPECTED } from '../../packages/client/src/journal/journals.sample.js';
import type { Browser, Page } from 'playwright-core';
import { bundleForBrowser } from '../support/browser-bundle.js';
import { launchBrowser } from '../support/chromium.js';
import { testFixture } from '../support/fixtures.js';
import { RelayFixture, createCall } from '../support/relay-fixture.js';
import { describeWith } from '../support/system-commands.js';
import { waitFor } from '../support/wait-for.js';

const SOURCES = [
  'client/src/relay',
  'client/src/indexed-db',
  'client/src/journal/journals.sample',
  'workspace/src/text',
];

/** What a page has once the bundle is loaded, and what the tests keep there. */
declare const loaded: typeof Client &
  typeof Sample & { IndexedDbJournals: new () => Client.Journals; textEditor: typeof textEditor };
interface Fixture {
  journal: Client.Journal;
  relay: Client.RelayClient;
  ran: number;
  texts: Map<string, string>;
}
declare const setup: Partial<Fixture>;

describeWith('a browser engine', 'The relay client in a page', () => {
  let browser: Browser;
  let bundle: string;
  let fixture: RelayFixture;
  const context = testFixture(() => browser.newContext());
  beforeAll(async () => {
    bundle = `${await bundleForBrowser(...SOURCES.map((path) => `./packages/${path}.ts`))}; var setup = {};`;
    browser = await launchBrowser();
    fixture = await RelayFixture.start();
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.close();
  });

  /** A page of the server's own origin, with the SDK in it. */
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${fixture.server.url}/health/live`);
    await page.evaluate(bundle);
    return page;
  };
  const client = () => ({ url: fixture.server.url, workspaceId: fixture.workspaceId, clientId: 'page' });

  it.each(Object.keys(EXPECTED))('keeps the word of a journal in IndexedDB: %s', async (promise) => {
    const page = await open();
    const found = await page.evaluate(
      (name) => loaded.CONTRACT[name]!(new loaded.IndexedDbJournals()),
      promise,
    );
    expect(found).toEqual(EXPECTED[promise]);
  });

  it('bars a second tab from its journal, until the first is closed', async () => {
    const [first, second] = [await open(), await open()];
    const lock = (page: Page) =>
      page.evaluate(async (of) => {
        try {
          setup.journal = await loaded.Journal.open(new loaded.IndexedDbJournals(), of);
          return 'open';
        } catch (error) {
          return error instanceof loaded.ClientLockedError ? 'locked' : String(error);
        }
      }, client());
    expect(await lock(first)).toBe('open');
    expect(await lock(second)).toBe('locked');
    await first.close();
    await waitFor(async () => (await lock(second)) === 'open', 'the lock of a tab that is gone');
  });

  it('runs a call once, though its page is loaded anew before the result is home', async () => {
    const connect = (page: Page) =>
      page.evaluate(
        async ([of, token]) => {
          setup.ran = 0;
          setup.relay = new loaded.RelayClient({
            ...{ ...of, token, journal: new loaded.IndexedDbJournals() },
            tools: {
              workspace_create_file: {
                run: async (_call, context) => {
                  await context.start();
                  setup.ran! += 1;
                  return new Promise(() => undefined);
                },
                recover: async (call) => {
                  const { path } = call.arguments as { path: string };
                  const flags = { created: true, overwritten: false };
                  const made = { message: 'Made.', path, sizeBytes: 2, hash: 'a'.repeat(64), ...flags };
                  return { result: { success: true, ...made, errorCode: null } };
                },
              },
            },
          });
          await setup.relay.connect();
        },
        [client(), fixture.user.token] as const,
      );
    const page = await open();
    await connect(page);
    const { body } = await fixture.post([createCall('c', 'a.txt')]);
    await waitFor(() => page.evaluate(() => setup.ran === 1), 'the call to run');
    await page.reload();
    await page.evaluate(bundle);
    await connect(page);
    const { body: ended } = await fixture.get(body.result.turnId, 10_000);
    expect(ended.result.toolResults).toMatchObject([{ toolCallId: 'c', status: 'succeeded' }]);
    expect(await page.evaluate(() => setup.ran)).toBe(0);
    await page.evaluate(() => setup.relay!.close());
  });

  it('is an editor of texts: creates, patches, reads and uploads', async () => {
    // A session stays with the client of its first call, which another test has closed.
    await fixture.newSession();
    const page = await open();
    await page.evaluate(
      async ([of, token]) => {
        setup.texts = new Map([['page/a.md', 'eins\nzwei ü\n']]);
        const by = 'page';
        const approver = {
          decide: async () => ({ decision: 'allow', by, at: new Date().toISOString() }) as const,
        };
        const rootId = '7d1f2c1e-52f4-4d52-9d0c-6f3b7f7f0a11';
        setup.relay = new loaded.RelayClient({
          ...{ ...of, token, journal: new loaded.IndexedDbJournals() },
          ...loaded.textEditor({ name: 'page', rootId, texts: setup.texts, approver }),
        });
        await setup.relay.connect();
      },
      [client(), fixture.user.token] as const,
    );
    const change = {
      operation: 'replace',
      startLine: 2,
      endLine: 2,
      expectedOriginalLines: ['zwei ü'],
      newLines: ['drei é'],
    };
    const file = { docPath: 'page/a.md', originalSha256: sha256('eins\nzwei ü\n'), changes: [change] };
    const calls = [
      { toolCallId: 'p', name: 'workspace_write_patch', arguments: { files: [file] } },
      createCall('c', 'b.md', 'neu\r\n'),
    ];
    const { body } = await fixture.post(calls, { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([
      {
        status: 'succeeded',
        result: { files: [{ newSha256: sha256('eins\ndrei é\n'), versionId: expect.any(String) as string }] },
      },
      { status: 'succeeded', result: { hash: sha256('neu\n') } },
    ]);
    expect(await page.evaluate(() => [...setup.texts!])).toEqual([
      ['page/a.md', 'eins\ndrei é\n'],
      ['page/b.md', 'neu\n'],
    ]);
    const read = { toolCallId: 'r', name: 'workspace_read_file', arguments: { docPath: 'page/a.md' } };
    const answer = await fixture.post([read], { waitMs: 20_000 });
    expect(answer.body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { sha256: sha256('eins\ndrei é\n') } },
    ]);
    await page.evaluate(() => setup.relay!.close());
  });
});
