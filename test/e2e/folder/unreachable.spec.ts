import { DEEDS, type Deed, Meeting } from '../../support/folder-meeting.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import type { HttpProxy } from '../../support/http-proxy.js';
import { LiveClient } from '../../support/live-client.js';
import { waitFor } from '../../support/wait-for.js';

const FAILED = 'could not be synced';

describe('a folder whose server does not answer requests for a while', () => {
  let fixture: FolderFixture;
  let wire: HttpProxy;
  let client: LiveClient;
  const meetings = new Map<Deed, Meeting>();

  beforeAll(async () => {
    fixture = await FolderFixture.start();
    wire = await fixture.wire();
    const [laptop, model] = [fixture.machine('laptop', 'proj', wire), fixture.model()];
    for (const deed of DEEDS) meetings.set(deed, new Meeting(fixture, laptop, model, { deed, name: deed }));
    await Meeting.prepare(laptop, [...meetings.values()]);
    client = await LiveClient.connect(laptop);
  });
  afterAll(async () => {
    await client.close();
    await fixture.close();
    await wire.close();
  });

  /** So that no hint of what was done is under way any more. */
  const givesUp = async (): Promise<void> => {
    await waitFor(() => client.said.some((line) => line.includes(FAILED)), 'the person to be told');
    for (let tried = 0; tried !== wire.cut; await new Promise((resolve) => setTimeout(resolve, 700)))
      tried = wire.cut;
  };

  it('sends the changes made meanwhile when the server answers again', async () => {
    wire.cut = 1_000_000;
    for (const meeting of meetings.values()) await meeting.act();
    await givesUp();
    wire.cut = 0;
    for (const meeting of meetings.values()) await meeting.settles();
  }, 60_000);
});
