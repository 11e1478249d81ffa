import { FolderFixture } from '../../support/folder-fixture.js';
import { DEEDS, type Deed, Meeting, type Moment, MOMENTS } from '../../support/folder-meeting.js';
import { LiveClient } from '../../support/live-client.js';

/** What becomes of a patch that the person's deed gets in the way of. */
const PATCHED: Record<Deed, string> = {
  edit: 'STALE',
  checkout: 'STALE',
  'checkout of a branch': 'STALE',
  delete: 'NOT_FOUND',
  rename: 'NOT_FOUND',
  'mode change': 'succeeded',
};

describe('a person’s change during a patch by the model', () => {
  let fixture: FolderFixture;
  let client: LiveClient;
  const meetings = new Map<string, Meeting>();
  const pairs = MOMENTS.flatMap((moment) => DEEDS.map((deed): [Deed, Moment] => [deed, moment]));

  beforeAll(async () => {
    fixture = await FolderFixture.start();
    const [laptop, model] = [fixture.machine(), fixture.model()];
    for (const [deed, moment] of pairs) {
      const name = `${deed} ${moment}`;
      meetings.set(name, new Meeting(fixture, laptop, model, { deed, name }));
    }
    await Meeting.prepare(laptop, [...meetings.values()]);
    client = await LiveClient.connect(laptop);
  });
  afterAll(async () => {
    await client.close();
    await fixture.close();
  });
  beforeEach(() => {
    client.onAsked = () => Promise.resolve();
  });

  it.each(pairs)('%s, %s it', async (deed, moment) => {
    const meeting = meetings.get(`${deed} ${moment}`)!;
    const planned = await meeting.reads();
    if (moment === 'before') await meeting.act();
    if (moment === 'during') client.onAsked = () => meeting.act();
    const outcome = await meeting.patches(planned);
    expect(outcome).toBe(moment === 'after' ? 'succeeded' : PATCHED[deed]);
    client.onAsked = () => Promise.resolve();
    if (moment === 'after') await meeting.act();
    // One read later, at once, the model can go on.
    if (outcome === 'STALE') expect(await meeting.patches(await meeting.reads())).toBe('succeeded');
    await meeting.settles();
  });
});
